"""What the tests in a browser share: one browser a file, and the reports it opens."""

import chromium
import pytest

from tests import namespaces


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    with chromium.browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def reached():
    """Three hosts with sshd, and what `ssh -F` takes to reach them."""
    with namespaces.with_ssh("a", "b", "c") as hosts_and_config:
        yield hosts_and_config


@pytest.fixture(scope="session")
def address(built):
    """address("quick") is the address of that synthetic report."""
    return lambda name: (built(name).folder / "report.html").as_uri()
