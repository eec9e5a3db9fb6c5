"""Locks on file systems with flock and without."""

import errno
import fcntl
import os
import re
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import pytest

from evalsuite import report
from evalsuite.commands import env
from evalsuite.contracts import registry
from evalsuite.core import locks, paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Run
from evalsuite.launch.provision.recipe_locks import find_mistakes
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import Store
from tests import sources
from tests.toys import CASE


@pytest.fixture
def refusal(request, monkeypatch):
    """The file system answers flock with that error; None: it gives locks."""
    if request.param is not None:

        def flock(handle, operation):
            raise OSError(request.param, os.strerror(request.param))

        monkeypatch.setattr(fcntl, "flock", flock)
    return request.param


no_flock = pytest.mark.parametrize("refusal", [errno.ENOLCK], indirect=True)
with_and_without = pytest.mark.parametrize(
    "refusal", [None, errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP], indirect=True
)


@with_and_without
def test_one_holds_a_lock_and_the_next_gets_it_after_that(refusal, tmp_path):
    lock = tmp_path / "lock"
    with locks.hold_lock(lock) as first, locks.hold_lock(lock, wait=False) as second:
        assert (first, second) == (True, False)
    with locks.hold_lock(lock, wait=False) as third:
        assert third


@with_and_without
def test_a_run_is_claimed_by_one_alone_and_run_once(refusal, tmp_path):
    run = Run(case=CASE, repeat=0)
    with Store(tmp_path).claim(run) as first, Store(tmp_path).claim(run) as second:
        assert second is None
        first.write_outcome(Outcome(status="completed", reason=""))

    with Store(tmp_path).claim(run) as again:
        assert again is None
    assert not list(tmp_path.rglob("*.held"))


@with_and_without
def test_who_waits_is_told_once_and_gets_the_lock_when_it_is_free(refusal, tmp_path):
    told, got = threading.Event(), threading.Event()

    def second():
        with locks.hold_lock(tmp_path / "lock", waiting=told.set):
            got.set()

    with locks.hold_lock(tmp_path / "lock"):
        other = threading.Thread(target=second)
        other.start()
        assert told.wait(60)
        assert not got.is_set()
    other.join(60)

    assert got.is_set()


@no_flock
def test_without_flock_a_killed_holder_is_no_hindrance(refusal, tmp_path):
    program = f"""
import fcntl, os, pathlib
def flock(*_): raise OSError({errno.ENOLCK}, "")
fcntl.flock = flock
from evalsuite.core import locks
with locks.hold_lock(pathlib.Path({str(tmp_path / "lock")!r})): os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", program], check=False)
    assert (tmp_path / "lock.held").is_file()

    with locks.hold_lock(tmp_path / "lock", wait=False) as ours:
        assert ours


@no_flock
def test_without_flock_a_holder_elsewhere_is_believed_and_the_file_is_named(refusal, tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "LONGEST_WAIT_S", 0.1)
    (tmp_path / "lock.held").write_text("7\nanother-host\n")

    with locks.hold_lock(tmp_path / "lock", wait=False) as ours:
        assert not ours
    with pytest.raises(EvalsuiteError, match=r"lock\.held: held for more than .* remove the file"):
        locks.hold_lock(tmp_path / "lock").__enter__()


# the lock files name all that is wanted, each version once for each Python, each file by its hash


ROOT = Path(__file__).resolve().parents[2]


def blocks(name):
    text = (ROOT / name).read_text(encoding="utf-8").removeprefix("-r requirements.lock\n")
    return re.split(r"\n(?=\S)", text.strip())


LOCKS = {name: blocks(name) for name in ("requirements.lock", "requirements-test.lock")}
PINNED = {
    name: [re.match(r"(?P<name>[\w.-]+)==(?P<version>[\w.!+]+)", block) for block in lock]
    for name, lock in LOCKS.items()
}
UNLOCKED = sources.table("locks.toml")["unlocked"]
RECIPE_LOCKS = sorted((ROOT / "data" / "locks").glob("*.txt"))
FREE = re.compile(r"MIT|BSD|Apache|Python Software Foundation|PSF|HPND|CC0|Zlib|ISC|Mozilla|MPL", re.IGNORECASE)


@pytest.mark.parametrize("name", LOCKS)
def test_every_line_pins_one_version_and_has_hashes_alone(name):
    assert len(LOCKS[name]) > 20
    for block, pinned in zip(LOCKS[name], PINNED[name], strict=True):
        _, *hashes = block.split("--hash=")

        assert pinned is not None, block[:60]
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}[\s\\]*", hashe) for hashe in hashes)


def test_what_the_project_its_build_and_its_tests_depend_on_is_locked_at_a_version_that_it_allows():
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = whole["project"]["optional-dependencies"]
    of_setup = [*whole["project"]["dependencies"], *whole["build-system"]["requires"]]
    of_setup += extras["xlsx"]
    locked = {name: {each["name"]: numbers(each["version"]) for each in found} for name, found in PINNED.items()}
    with_tests = locked["requirements.lock"] | locked["requirements-test.lock"]

    assert not locked["requirements.lock"].keys() & locked["requirements-test.lock"].keys() - {"colorama"}
    for lines, there in ((of_setup, locked["requirements.lock"]), (extras["test"], with_tests)):
        for line in lines:
            name, least = re.match(r"([\w.-]+)>=([\d.]+)", line).groups()
            assert there[name] >= numbers(least), line


def test_each_lock_of_a_recipe_is_of_pins_that_are_and_names_every_file_by_its_hash_and_no_place():
    recipes = [(f"{name}/{item.name}", item) for name, each in registry.discover().items() for item in each.recipes]
    known = env.environments(recipes, with_data=True).values()
    line = re.compile(r"#[^/]*|[\w.-]+==[\w.!+]+( --hash=sha256:[0-9a-f]{64})+(  # built here, from this source)?")

    assert {file.stem for file in RECIPE_LOCKS} <= {each.name for each in known}
    assert {each.name for each in known if not each.file.is_file()} == UNLOCKED.keys()
    assert {each.name: mistakes for each in known if each.file.is_file() and (mistakes := find_mistakes(each))} == {}
    for file in RECIPE_LOCKS:
        assert [text for text in file.read_text().splitlines() if not line.fullmatch(text)] == []


def numbers(version):
    return tuple(int(part) for part in re.findall(r"\d+", version))


def test_a_lock_with_torch_for_cpus_takes_the_torchvision_for_cpus_beside_it():
    texts = [file.read_text().splitlines() for file in (paths.DATA / "locks").glob("*.txt")]
    pairs = [line for lock in texts if "+cpu " in "".join(lock) for line in lock if line.startswith("torchvision==")]

    assert {line.split()[0] for line in pairs} == {"torchvision==0.28.0"}
    assert all("1dad604dfc0177ecebe0891bd9701fe2c62ec3f7819a247be541b3fb6effee99" in line for line in pairs)


def test_every_locked_distribution_has_a_licence_that_lets_it_be_passed_on():
    stated = {row["distribution"]: row["licence"] for row in paths.read_rows(ROOT / "licences.csv")}

    of_windows = {"colorama"}
    assert {pinned["name"] for pinned in PINNED["requirements.lock"]} - stated.keys() <= of_windows
    assert [name for name, licence in stated.items() if not FREE.search(licence)] == []


def test_what_a_killed_report_left_goes_with_the_next_one_and_what_another_still_writes_stays(tmp_path):
    killed, writing = (tmp_path / report.BESIDE / name for name in ("killed", "writing"))
    killed.mkdir(parents=True)
    writing.mkdir()
    with locks.hold_lock(writing / report.LOCK), pytest.raises(FileNotFoundError), report.renewed(tmp_path) as new:
        assert sorted(killed.parent.iterdir()) == sorted([writing, new])
