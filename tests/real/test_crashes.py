"""Kills at moments drawn from a seed: nothing that was finished is lost or changed, and no process is left. One of each
here; `make test-nightly` takes the whole series and prints counts."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest

from evalsuite import report
from tests.runfolders import contents
from tests.sources import NIGHTLY, leave
from tests.toys import TOYNET

SEED = int(os.environ.get("EVALSUITE_SEED", "15"))
RUNS = 4 if NIGHTLY else 2
LATEST_KILL_S = 6.0  # a run takes two seconds, and three times that on a machine that does other work
LINGER_S = 60.0  # a guard looks every second, and gives a training five to end; more on a busy machine

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the node agent runs on Linux")


def started(folder, command="run"):
    words = [command, "--runs", str(folder / "runs")]
    if command == "run":
        words += [*TOYNET, "--scales", "1x1", "--repeats", str(RUNS), "--steps", "5+60"]
    else:
        words += ["--out", str(folder / "report")]
    line = [sys.executable, "-m", "evalsuite", *words]
    with open(folder / "said.txt", "ab") as said:
        return subprocess.Popen(line, stdout=said, stderr=said, start_new_session=True)


def outcomes(folder):
    """Folder of each finished run → all that lies in it."""
    return {file.parent: contents(file.parent) for file in (folder / "runs").glob("*/r*/outcome.json")}


def ours(folder, *words, without="\0"):
    """Processes of the runs in *folder* whose command line holds all *words*, and not what it is to be *without*."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            line, where = " ".join(process.cmdline()), process.cwd()
            if (str(folder) in line or str(folder) in where) and all(word in line for word in words):
                found += [process] if without not in line else []
    return found


def nothing_left(folder):
    """Seconds until no process of *folder* was left."""
    began = time.monotonic()
    while left := ours(folder):
        assert time.monotonic() - began < LINGER_S, [each.cmdline() for each in left]
        time.sleep(0.05)
    return time.monotonic() - began


def whole(folder, statuses):
    """All runs have ended, each as one of *statuses*, and nothing half-written lies among them."""
    found = [json.loads((run / "outcome.json").read_text()) for run in outcomes(folder)]
    assert len(found) == RUNS, (folder / "said.txt").read_text()[-2000:]
    assert {each["status"] for each in found} <= statuses
    for run in outcomes(folder):
        assert not (run / "scratch").exists()
        assert not list(run.glob(".*.json.*"))
    return found


def killed(folder, moments, wanted, victims):
    """Runs the evaluation in folders below *folder* until *wanted* of *victims* are killed; counts of what was seen."""
    counts = {"kills": 0, "lives": 0, "evaluations": 0, "finished": 0, "failed": 0, "worst_linger_s": 0.0}
    while counts["kills"] < wanted:
        place = folder / f"e{counts['evaluations']}"
        place.mkdir()
        counts["evaluations"] += 1
        while len(outcomes(place)) < RUNS:
            before = outcomes(place) if (place / "runs").is_dir() else {}
            process = started(place)
            counts["lives"] += 1
            while process.poll() is None and counts["kills"] < wanted:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(moments.uniform(0.3, LATEST_KILL_S))
                if process.poll() is None and (victim := victims(place, process, moments)):
                    counts["kills"] += _kill(victim)
                    if victim == process.pid:
                        process.wait()
            process.wait(600)
            after = outcomes(place)
            assert {run: after.get(run) for run in before} == before
        counts["worst_linger_s"] = max(counts["worst_linger_s"], round(nothing_left(place), 2))
        ended = whole(place, {"completed"} if victims is evaluator else {"completed", "failed"})
        counts["finished"] += len(ended)
        counts["failed"] += sum(each["status"] == "failed" for each in ended)
        assert "Traceback" not in (place / "said.txt").read_text()
    print(f"\n{victims.__name__}: {counts}")
    lost = RUNS * counts["evaluations"] - counts["finished"]
    leave(
        f"kills_{victims.__name__}",
        f"tests/real/test_crashes.py -k {victims.__name__}",
        tried=counts["kills"],
        bad=lost,
    )
    return counts


def _kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return 0
    return 1


def evaluator(place, process, moments):
    return process.pid


def agent(place, process, moments):
    """The guard or the agent proper: either may be met."""
    found = ours(place, "evalsuite", "sample", "--for-run")
    return moments.choice(found).pid if found else None


def child(place, process, moments):
    found = [each for each in ours(place, "train.py", without=" sample ") if each.pid != process.pid]
    return moments.choice(found).pid if found else None


@pytest.mark.parametrize(("victims", "few", "many"), [(evaluator, 1, 100), (agent, 1, 30), (child, 1, 20)])
def test_no_kill_loses_a_finished_run_or_leaves_a_process(victims, few, many, tmp_path):
    wanted = many if NIGHTLY else few

    counts = killed(tmp_path, random.Random(SEED), wanted, victims)

    assert counts["kills"] >= wanted
    assert counts["finished"] == RUNS * counts["evaluations"]
    assert counts["failed"] <= counts["kills"]


def test_a_report_that_is_killed_leaves_no_half_file_and_the_next_writes_the_same_bytes(tmp_path):
    assert started(tmp_path).wait(600) == 0
    undisturbed = tmp_path / "undisturbed"
    assert started(tmp_path, "report").wait(600) == 0
    (tmp_path / "report").rename(undisturbed)
    moments, kills = random.Random(SEED), 0

    while kills < (60 if NIGHTLY else 3):
        process = started(tmp_path, "report")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(moments.uniform(0.2, 4.0))
        kills += process.poll() is None
        process.kill()
        process.wait()
        for name in ("report.html", "summary.json"):
            file = tmp_path / "report" / name
            assert not file.exists() or file.read_bytes() == (undisturbed / name).read_bytes()

    assert started(tmp_path, "report").wait(600) == 0
    shutil.rmtree(tmp_path / "report" / report.BESIDE, ignore_errors=True)  # of a killed one: kept for an hour
    assert contents(tmp_path / "report") == contents(undisturbed)
    print(f"\nreport: {kills} kills")
