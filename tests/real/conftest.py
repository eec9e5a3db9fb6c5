"""What the tests in a browser share: one browser a file, and the reports it opens."""

import chromium
import pytest


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    with chromium.browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="session")
def address(built):
    """address("quick") is the address of that synthetic report."""
    return lambda name: (built(name).folder / "report.html").as_uri()
