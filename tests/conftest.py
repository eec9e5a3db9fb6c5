"""Shared by both floors: toy cases, and adapters that need no framework."""

import functools
import itertools
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
import reports

from evalsuite.commands.printing import i18n
from evalsuite.core import locks
from tests import sources

HERE = Path(__file__).resolve().parent
SHARED = HERE.parent.parent / "shared"

os.environ.setdefault("NO_COLOR", "1")
LOCKS, TESTS = tempfile.TemporaryDirectory(prefix="evalsuite-", ignore_cleanup_errors=True), itertools.count()
os.environ["EVALSUITE_NODE_LOCK"] = LOCKS.name  # no test waits for what runs beside it
os.environ["LC_ALL"] = "C.UTF-8"  # commands print in the language of the locale

# A property is tried on few examples by day, always the same, and on many at night; a busy machine is no failure.
hypothesis.settings.register_profile("day", max_examples=12, deadline=None, derandomize=True)
hypothesis.settings.register_profile("night", max_examples=300, deadline=None)
hypothesis.settings.load_profile("night" if sources.NIGHTLY else "day")

# A CI job or `nohup` may start us with these ignored, and what is ignored stays so in every program that the tests
# start and end by signal.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


LEFT = sources.table("nightly.toml")

LONG = (  # files that take long begin first, so that no worker is left alone with one (`--no-loadscope-reorder`)
    *("test_frameworks", "test_faults", "test_accessibility", "test_made_data_sets"),
    *("test_packaging", "test_rehearse", "test_browser", "test_pdf"),
    *("test_questions", "test_crashes", "test_mpi_launchers"),
)


def pytest_collection_modifyitems(config, items):
    items.sort(key=lambda item: LONG.index(item.path.stem) if item.path.stem in LONG else len(LONG))
    seen = Counter[str]()
    for item in items:
        seen[item.originalname] += 1
        if HERE / "real" in item.path.parents:
            item.add_marker(pytest.mark.real)
        if is_nightly(item) or (seen[item.originalname] - 1) % LEFT["each"].get(item.originalname, 1):
            item.add_marker(pytest.mark.nightly)
    if not sources.NIGHTLY:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("nightly")])
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]


def is_nightly(item) -> bool:
    names, file = {item.name, item.originalname}, item.path.stem
    kept = file not in LEFT["daily"] or bool(names & set(LEFT["daily"][file]))
    return file in LEFT["files"] or not kept or bool(names & set(LEFT["tests"]))


def pytest_runtest_setup():
    """The agents of one test do not wait for those that another has left."""
    os.environ["EVALSUITE_NODE_LOCK"] = f"{LOCKS.name}/{next(TESTS)}"
    i18n.choose(None)  # another may have chosen Chinese


@pytest.fixture
def shared():
    """The folder of reference logs and figures beside the project; the test skips where there is none."""
    if not SHARED.is_dir():
        pytest.skip("../shared is not here: this test reads reference material that is not part of the project")
    return SHARED


@pytest.fixture(scope="session")
def figure_cache(tmp_path_factory) -> Path:
    """A cache for the whole session: no figure is drawn twice, and none is kept in the user's cache."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def built(tmp_path_factory, figure_cache) -> Callable[[str], reports.Built]:
    """built("quick") is the finished report of `synthetic.quick()`: built once for all workers, and only looked at."""
    base = tmp_path_factory.getbasetemp()
    place = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def finished(name: str) -> reports.Built:
        with pytest.MonkeyPatch.context() as patch, locks.hold_lock(place / f"built-{name}.lock"):
            patch.setenv("EVALSUITE_CACHE", str(figure_cache))
            return reports.built(name, place / f"built-{name}")

    return functools.cache(finished)
