"""A small training killed at twenty instants and resumed: `parse --goodput` against its own record."""

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

TRAINING = Path(__file__).parents[1] / "files" / "goodput_training.py.in"
STEPS, ATTEMPTS, NEAR = 60, 20, 0.02
LEAD = 4  # moments up to the end of the first step
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
evalsuite = [sys.executable, "-m", "evalsuite"]


def train(folder, attempt, pauses, killed_at=None):
    """When it was killed; *killed_at*: moments of its own record after which it is, and how many seconds later."""
    argv = [*evalsuite, "sample", "-o", folder / f"attempt-{attempt}", "--share", "--for-run", "all", "--"]
    words = [sys.executable, TRAINING, folder, str(STEPS), *(f"{seconds:.2f}" for seconds in pauses)]
    process = subprocess.Popen([*argv, *words], env=ONE_THREAD)
    if killed_at is not None:
        moments, later_s = killed_at
        while len(moments_of(folder)) < moments:
            time.sleep(0.01)
        time.sleep(later_s)
        asked = ["pgrep", "-f", f"^{sys.executable} {TRAINING} {folder}"]
        os.kill(int(subprocess.run(asked, capture_output=True, text=True).stdout.split()[0]), signal.SIGKILL)
    ended = time.time()
    process.wait(timeout=120)
    return ended


def moments_of(folder):
    file = folder / "truth.jsonl"
    return [json.loads(row) for row in file.read_text().splitlines()] if file.exists() else []


def truth(folder, killed):
    """Seconds of each phase, by the script's own record: what a first step took longer than the median is warm-up, and
    nothing but a start what was killed before its first step ended."""
    moments = moments_of(folder)
    [again] = [number for number, moment in enumerate(moments) if moment["phase"] == "start" and number]
    resumed = moments[again + 1]["step"]
    first = [*moments[:again], {"at_s": killed, "phase": "killed"}]
    pairs = [*pairwise(first), (first[-1] | {"phase": "restart"}, moments[again]), *pairwise(moments[again:])]
    usual = statistics.median(after["at_s"] - one["at_s"] for one, after in pairs if one["phase"] == "steps")
    found = Counter()
    begun = again <= LEAD  # the first attempt
    for number, (one, after) in enumerate(pairs):
        phase, seconds, later = one["phase"], after["at_s"] - one["at_s"], number >= again
        if phase == "steps" and pairs[number - 1][0]["phase"] == "compile":
            found["restart" if later else "compile"] += max(0.0, seconds - usual)
            seconds = min(seconds, usual)
        if not later and begun:
            phase = "start"
        elif later and phase in ("start", "compile"):
            phase = "restart"
        lost = phase in ("data_wait", "steps") and not later and one["step"] >= resumed
        found["lost_progress" if lost else phase] += seconds
    return found


@pytest.mark.parametrize("instant", range(ATTEMPTS))
def test_the_time_of_a_training_that_was_killed_and_resumed_is_divided_as_it_was_spent(tmp_path, instant):
    chance = random.Random(instant)
    killed_at = chance.randint(1, 125), chance.uniform(0.0, 0.1)
    pauses = [[chance.uniform(0.5, 2.0) for _ in range(3)] for _ in range(2)]
    killed = train(tmp_path, 1, pauses[0][:2], killed_at)
    time.sleep(pauses[0][2])
    train(tmp_path, 2, pauses[1][:2])

    argv = [*evalsuite, "parse", "--goodput", tmp_path / "attempt-1", tmp_path / "attempt-2", "--json"]
    document = json.loads(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)
    true, seconds = truth(tmp_path, killed), document["buckets"]

    assert sum(seconds.values()) == pytest.approx(document["seconds"], rel=0.01)
    near = NEAR * document["seconds"]
    assert seconds["steps"] + seconds["data_wait"] == pytest.approx(true["steps"] + true["data_wait"], abs=near)
    for bucket in ("start", "compile", "restart", "lost_progress", "evaluation", "checkpoint", "idle_end"):
        assert seconds[bucket] == pytest.approx(true[bucket], abs=near), bucket
