"""What was measured is kept until a file of the run changes: the same again costs no reading, other bytes always do."""

import contextlib
import os
import pickle
import shutil
from pathlib import Path

import pytest

from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.results.measure import measurement as measurement_room
from evalsuite.results.measure import measuring as cached
from evalsuite.runs.store import RunFolder, Store

RUNS = Store(paths.DATA / "recorded").finished()
HOUSE = measurement_room.HOUSE


@pytest.fixture
def folder(tmp_path):
    return RunFolder(Path(shutil.copytree(RUNS[0].path, tmp_path / "case" / "r0")))


@pytest.fixture
def read(monkeypatch):
    """Counts the folders that are really read."""
    seen = []
    known = measurement_room.measured
    monkeypatch.setattr(measurement_room, "measured", lambda *args: seen.append(args) or known(*args))
    return seen


@pytest.mark.parametrize("run", RUNS[::3], ids=lambda run: f"{run.path.parent.name}-{run.path.name}")
def test_what_is_kept_equals_what_was_measured(run, tmp_path):
    direct = measurement_room.measurement(run)

    for _ in range(2):
        assert cached.measure(run, HOUSE, tmp_path).measurement == direct


def test_the_same_folder_is_read_once(folder, tmp_path, read):
    first, again = (cached.measure(folder, HOUSE, tmp_path / "cache") for _ in range(2))

    assert first == again
    assert len(read) == 1


def _again(folder, cache):
    """A folder whose case or repeat cannot be read any more is an error of its own, and read as well."""
    with contextlib.suppress(EvalsuiteError):
        cached.measure(folder, HOUSE, cache)


def test_no_file_of_a_run_changes_without_a_new_reading(folder, tmp_path, read):
    """One byte more, less or other in each file, with the old times put back, a new file, a file less."""
    cache = tmp_path / "cache"
    cached.measure(folder, HOUSE, cache)
    changes = 0
    for file in sorted(folder.path.iterdir()):
        old, about = file.read_bytes(), file.stat()
        flipped = old[:-1] + bytes([old[-1] ^ 1]) if old else b"x"
        for new in (flipped, old + b" ", old[:-1]):
            if new == old:
                continue
            file.write_bytes(new)
            os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
            _again(folder, cache)
            changes += 1
        file.unlink()
        _again(folder, cache)
        file.write_bytes(old)
        changes += 1
    (folder.path / "log.other.txt").write_bytes(b"")
    cached.measure(folder, HOUSE, cache)

    assert len(read) == 1 + changes + 1


def test_what_changes_while_it_is_read_is_not_kept(folder, tmp_path, read, monkeypatch):
    """Else what was read of the new bytes would lie where the old ones are looked for."""
    (log,) = folder.path.glob("log.*")
    old, counted = log.read_bytes(), measurement_room.measured

    def measured_late(*args):
        log.write_bytes(old[: len(old) // 2])
        return counted(*args)

    monkeypatch.setattr(measurement_room, "measured", measured_late)
    cached.measure(folder, HOUSE, tmp_path / "cache")
    monkeypatch.setattr(measurement_room, "measured", counted)
    log.write_bytes(old)

    assert cached.measure(folder, HOUSE, tmp_path / "cache").measurement == measurement_room.measurement(folder)


def test_other_code_reads_again_and_with_dialects_of_others_nothing_is_kept(folder, tmp_path, read, monkeypatch):
    cached.measure(folder, HOUSE, tmp_path / "cache")
    files.version_folder.cache_clear()
    monkeypatch.setattr(files, "fingerprint", lambda: "of other code")
    cached.measure(folder, HOUSE, tmp_path / "cache")
    files.version_folder.cache_clear()
    assert len(read) == 2

    for _ in range(2):
        cached.measure(folder, (tmp_path,), tmp_path / "cache")
    assert len(read) == 4


class Program:
    def __reduce__(self):
        return Path.touch, (Path("was here"),)


SPOILT = [b"", b"\x80", b"no pickle", *map(pickle.dumps, (None, {"status": "ok"}, Program()))]


@pytest.mark.parametrize("bad", SPOILT)
def test_an_entry_that_is_spoilt_is_made_again_and_no_program_in_it_is_run(folder, tmp_path, bad, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cache = tmp_path / "cache"
    found = cached.measure(folder, HOUSE, cache)
    (entry,) = (file for file in cache.rglob("*") if file.is_file())
    entry.write_bytes(bad)

    assert cached.measure(folder, HOUSE, cache) == found
    assert not (tmp_path / "was here").exists()


def test_a_cache_that_cannot_be_written_costs_time_alone(folder, tmp_path):
    (tmp_path / "cache").write_text("a file where a folder should be")

    assert cached.measure(folder, HOUSE, tmp_path / "cache").measurement == measurement_room.measurement(folder)
