"""Shared by both floors: toy cases, and adapters that need no framework."""

import os
import signal
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SHARED = HERE.parent.parent / "shared"

os.environ.setdefault("NO_COLOR", "1")

# A CI job or `nohup` may start us with these ignored, and what is ignored stays so in every program that the tests
# start and end by signal.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE / "real" in item.path.parents:
            item.add_marker(pytest.mark.real)


@pytest.fixture
def shared():
    """The folder of reference logs and figures beside the project; the test skips where there is none."""
    if not SHARED.is_dir():
        pytest.skip("../shared is not here: this test reads reference material that is not part of the project")
    return SHARED
