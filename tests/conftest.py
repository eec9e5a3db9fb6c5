"""Shared by both floors: toy cases, and adapters that need no framework."""

import os
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SHARED = HERE.parent.parent / "shared"

os.environ.setdefault("NO_COLOR", "1")


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
