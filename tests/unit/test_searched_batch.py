"""`batch = "max"`: the batch is found before the runs, by trials that stay; a plan is made of what they found."""

import re
from dataclasses import replace

import pytest

from evalsuite import cli
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.launch import batch_search, runner
from evalsuite.logs import catalogue
from evalsuite.plan import plan as planning
from evalsuite.plan.largest import SearchedBatch, Tried, find_largest
from evalsuite.plan.plan import Machine
from evalsuite.plan.spec import Spec
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import TRIALS, RunFolder, Store
from tests import sources
from tests.toys import CASE, LAUNCHER, toynet

KNOWING = replace(LAUNCHER, dialects=catalogue.known())
MACHINE = Machine(cores=64, accelerators=0, device="cpu")
ADAPTERS = {"toynet": toynet()}
SPEC = Spec(frameworks=("toynet",), scales=((1, 1), (1, 4), (2, 4)), batch_per_device=(16, 8), find_batch=True)


def planned(of: Spec = SPEC):
    return planning.plan(of, ADAPTERS, MACHINE)


def found(batch, *tried):
    return SearchedBatch(of=planned().to_search[0], batch=batch, tried=tried)


def test_one_search_is_asked_for_where_memory_is_scarcest_and_what_it_found_is_the_batch_of_the_series():
    made = planned()
    assert [(case.scale, case.batch_per_device) for case in made.to_search] == [("1x4", 8)]
    assert {case.scale for case in made.cases} == {"1x1", "1x4", "2x4"}
    assert planned(replace(SPEC, find_batch=False, batch_policy="max")).to_search == ()

    made = planned(replace(SPEC, searched=(found(44),)))
    assert {(case.batch_per_device, case.batch_policy) for case in made.cases} == {(44, "max")}
    assert made.to_search == () and made.cases[0].batch_per_device == 44

    with pytest.raises(EvalsuiteError, match=r"batch = max and scaling = strong.* expected one of the two"):
        planned(replace(SPEC, scaling="strong"))
    with pytest.raises(EvalsuiteError, match=r"b8.*another part measures it"):
        planned(replace(SPEC, parts=(SPEC, replace(SPEC, find_batch=False))))


@pytest.mark.parametrize(("tried", "said"), sources.cases("searched_batch.toml")["without_a_batch"])
def test_a_search_without_a_batch_makes_skips_with_its_reason(tried, said):
    made = planned(replace(SPEC, searched=(found(None, Tried(**tried)),)))

    assert (made.cases, made.to_search) == ((), ())
    for skip in made.skips:
        assert re.search(said, skip.reason)


def test_finished_trials_tell_the_batch_and_a_missing_one_leaves_it_open(tmp_path):
    (case,) = planned().to_search
    recipe, dialects = ADAPTERS["toynet"].recipes[0], catalogue.known()
    store = Store(tmp_path / TRIALS)

    def trial(batch, aim, reason):
        run = batch_search.trial_run(case, batch, aim)
        with store.claim(run) as folder:
            folder.write_case(run)
            folder.log_path("n").write_text(reason)
            folder.write_outcome(Outcome(status="failed" if reason else "completed", reason="", exit_code=None))

    full = "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: …\n"
    trial(8, "grow", "")
    trial(16, "grow", full)
    assert batch_search.search_batch(case, recipe, store, dialects, most=64) is None
    for batch, reason in ((12, full), (10, ""), (11, full)):
        trial(batch, "bisect", reason)
    trial(10, "confirm", "")

    whole = batch_search.search_batch(case, recipe, store, dialects, most=64)
    assert (whole.batch, len(whole.tried)) == (10, 6)


def test_on_a_processor_nothing_limits_a_search(capsys, tmp_path):
    axes = ["--frameworks", "pytorch", "--device", "cpu", "--batch-sizes", "max", "--runs", str(tmp_path)]

    assert cli.main(["plan", *axes]) == Exit.USAGE
    assert "Try batch sizes" in capsys.readouterr().err


class Trials:
    """Trials of toynet that take an hour each and fit up to 16."""

    def __init__(self, folder, monkeypatch):
        self.store, self.made = Store(folder / TRIALS), []
        (self.case,) = planned().to_search
        monkeypatch.setattr(runner, "launch", self._launch)

    def _launch(self, run, recipe, folder, launcher):
        self.made.append(run.case.batch_per_device)
        full = run.case.batch_per_device > 16
        folder.write_case(run)
        folder.log_path("n").write_text("RuntimeError: CUDA out of memory\n" if full else "")
        ended = Outcome(status="failed" if full else "completed", reason="", exit_code=None, duration_s=3600.0)
        folder.write_outcome(ended)
        return ended

    def search(self, budget):
        recipe = ADAPTERS["toynet"].recipes[0]
        return batch_search.search_batch(self.case, recipe, self.store, KNOWING.dialects, 64, KNOWING, budget=budget)


def test_trials_count_among_the_device_hours_and_none_begins_beyond_their_limit(tmp_path, monkeypatch):
    lab = Trials(tmp_path, monkeypatch)
    hours = lab.case.total_devices

    poor = batch_search.DeviceHourBudget(most=1.5 * hours)
    assert lab.search(poor) is None
    assert (lab.made, poor.spent) == ([8, 16], 2.0 * hours)

    rich = batch_search.DeviceHourBudget()
    assert lab.search(rich).batch == 16
    assert lab.made[2:] == [32, 24, 20, 18, 17, 16] and rich.spent == 6.0 * hours  # what was tried is not tried again


# the largest batch that fits: the search, and how a trial is judged


OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB\n"


def memory(limit, unsteady=()):
    """A device that takes *limit*; batches in *unsteady* fit only the first time."""

    def trial(batch, aim):
        fits = batch <= limit and not (batch in unsteady and aim == "confirm")
        return ("fits" if fits else "out_of_memory"), ""

    return trial


@pytest.mark.parametrize(("limit", "start"), [(1, 1), (7, 8), (100, 8), (100, 300), (4095, 1), (777, 64)])
def test_the_search_ends_within_a_sixteenth_of_what_fits(limit, start):
    search = find_largest(memory(limit), start, most=65_536)

    assert search.batch is not None
    assert limit * (1 - 1 / 16) - 1 <= search.batch <= limit
    assert search.tried[-1].aim == "confirm"
    assert len(search.tried) < 25


def test_each_batch_is_tried_once_the_last_again_and_the_limit_is_not_passed_and_said():
    found, limited = find_largest(memory(100), 8, most=1024), find_largest(memory(10**9), 8, most=100)

    batches = [trial.batch for trial in found.tried if trial.aim != "confirm"]
    assert batches[:5] == [8, 16, 32, 64, 128]
    assert len(batches) == len(set(batches))
    assert (limited.batch, limited.at_limit) == (100, True)
    assert max(trial.batch for trial in limited.tried) == 100


def test_a_batch_that_fits_once_or_not_at_all_is_not_relied_on():
    steady = find_largest(memory(100), 8, most=1024).batch
    search = find_largest(memory(100, unsteady={steady}), 8, most=1024)
    assert search.batch is not None and search.batch < steady

    nothing = find_largest(memory(0), 8, most=64)
    broken = find_largest(lambda batch, aim: ("failed", "no such file"), 8, most=64)
    assert (nothing.batch, [trial.batch for trial in nothing.tried]) == (None, [8, 4, 2, 1])
    assert (broken.batch, len(broken.tried), broken.tried[0].reason) == (None, 1, "no such file")


@pytest.mark.parametrize(("log", "outcome", "ends"), sources.cases("searched_batch.toml")["only_memory_makes"])
def test_only_memory_makes_a_batch_too_large(log, outcome, ends, tmp_path):
    folder = RunFolder(tmp_path)
    folder.log_path("n0").write_text(log)
    folder.write_outcome(Outcome(**outcome))

    assert batch_search.read_trial(folder, CASE, "pytorch_examples", catalogue.known())[0] == ends
