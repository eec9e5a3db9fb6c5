from dataclasses import replace
from types import SimpleNamespace

import pytest

from benchmarks import synthetic_runs
from evalsuite.core.documents import Gpu, HostEnvironment, UsedRecipe
from evalsuite.core.errors import EvalsuiteError, NothingMeasured
from evalsuite.core.findings import BusyMachine, UnreadableSamples
from evalsuite.core.model import Run, Skip, Throughput, Utilisation, Window
from evalsuite.launch import runner
from evalsuite.report.book.book import Book
from evalsuite.report.book.tally import tally
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure import machines, measurement
from evalsuite.runs.endings import Outcome
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests import runfolders, sources, synthetic
from tests.toys import CASE, COMMAND


def share(resource, mean, samples=20):
    return Utilisation(resource=resource, unit="%", mean=mean, p5=mean, p95=mean, samples=samples, coverage=1.0)


@pytest.mark.parametrize(("used", "flagged"), sources.cases("measure.toml")["other_programs"])
def test_other_programs_on_the_machine_are_flagged(used, flagged):
    assert bool(measurement._busy_machine(tuple(share(*each) for each in used.items()), {}, None)) is flagged


@pytest.mark.parametrize("others", [0, 40])
def test_other_programs_are_seen_around_a_window_of_two_samples(others, tmp_path):
    samples = runfolders.cpu_samples(range(10), cores=4, percent=50 + others)
    host = runfolders.Host(printed=[runfolders.steps(120, 0.01)], samples=samples)

    found = measurement.measurement(runfolders.finished(tmp_path, host))

    assert [type(each) for each in found.findings if each.code == "busy_machine"] == [BusyMachine] * bool(others)


def test_samples_that_cannot_be_unpacked_take_the_utilisation_and_leave_the_throughput(tmp_path):
    folder = runfolders.finished(tmp_path)
    folder.packed_samples_path("n0").write_bytes(b"no columns")

    measured = measurement.measurement(folder)

    assert measured.status == "ok" and measured.value and not measured.utilisation
    assert [finding.severity for finding in measured.findings if isinstance(finding, UnreadableSamples)] == ["note"]


@pytest.mark.parametrize(
    ("steps", "in_epochs", "told"),
    [(100, False, []), (30, False, ["short_window"]), (19, False, ["too_short_window"]), (3, True, ["epoch_window"])],
)
def test_a_short_window_is_noted_and_a_very_short_one_excluded(steps, in_epochs, told):
    read = SimpleNamespace(in_epochs=in_epochs)
    found = measurement._short(CASE, Window(first_step=21, last_step=20 + steps, steps=steps), read)

    assert [(finding.name, finding.severity) for finding in found] == [
        (name, "exclude" if name.startswith("too") else "note") for name in told
    ]


def test_the_environment_is_named_by_hardware_and_not_by_host():
    host = HostEnvironment(
        host="a", cpu_model="EPYC", cpu_count_usable=2.0, gpus=(Gpu(name="H200"), Gpu(name="H200")), driver="550"
    )

    key = machines.of_run({"a": host, "b": replace(host, host="b")}, COMMAND)

    assert str(key) == "2 x H200, EPYC (2 cores), driver 550"


@pytest.mark.parametrize(("printed", "recipe", "unit"), sources.cases("measure.toml")["units"])
def test_a_recipe_names_what_its_batches_hold_and_never_turns_tokens_into_sequences(printed, recipe, unit):
    measured = Throughput(items_per_s=12.0, unit=printed, method="arrivals", window=None)

    found = measurement._in_unit_of(UsedRecipe(unit=recipe), measured, CASE)

    assert (found.unit, found.items_per_s) == (unit, 12.0)


def test_a_half_written_outcome_is_a_failed_run_and_one_over_its_time_says_the_limit(tmp_path):
    with Store(tmp_path).claim(Run(case=CASE, repeat=0)) as folder:
        (folder.path / "outcome.json").write_text('{"status": "comp')
    measured = measurement.measurement(folder)
    assert (measured.status, measured.value) == ("failed", None) and "half-written" in measured.reason

    with Store(tmp_path / "late").claim(Run(case=CASE, repeat=0)) as folder:
        (folder.path / "log.n1.txt").write_text("waiting for the other worker\nSIGTERM caught at 03:27:54\n")
        folder.write_command(COMMAND)
        folder.write_outcome(Outcome(status="timed_out", reason="the time limit of 300 s was reached"))

    measured = measurement.measurement(folder)

    assert (measured.status, measured.reason) == ("timed_out", "the time limit of 300 s was reached")


@pytest.mark.parametrize(("said", "reason"), sources.table("measure.toml")["engine_said"])
def test_the_engine_is_quoted_with_the_line_that_says_why(said, reason, tmp_path):
    (tmp_path / "engine.txt").write_text(said)

    assert runner._engine_said(tmp_path / "engine.txt").startswith(reason)
    assert bool(reason) == bool(runner._engine_said(tmp_path / "engine.txt"))


# from run folders on disk to the evaluation: what is planned, skipped, broken and kept


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Ten runs: five repeats of two frameworks on one device."""
    return synthetic_runs.write(tmp_path_factory.mktemp("runs"), 10)


def test_five_repeats_make_one_summary_a_case_with_the_speed_and_the_samples_that_were_written(store):
    found = evaluate(store)
    gpu = next(used for used in found.summaries[0].utilisation if used.resource == "gpu")

    assert [(summary.case.framework, summary.n) for summary in found.summaries] == [("mxnet", 5), ("tensorflow", 5)]
    assert all(summary.items_per_s.coverage == 0.9375 for summary in found.summaries)
    # 32 images in 0.5 s a step, within the few per cent that the maker scatters them by
    assert found.summaries[0].items_per_s.value == pytest.approx(64, rel=0.05)
    # fifty seconds of 100 steps at two samples a second and five repeats, for the job's eight devices together
    assert 90 <= gpu.mean <= 99 and gpu.samples == pytest.approx(5 * 8 * 100, rel=0.2)
    verdicts = {verdict.criterion: verdict.outcome for verdict in found.verdicts}
    assert verdicts["C1"] == verdicts["C2a"] == "undetermined"  # simulated runs decide none


def test_only_the_cases_asked_for_are_evaluated(store):
    case = synthetic_runs.runs(1)[0].case

    assert [summary.case for summary in evaluate(store, only=[case]).summaries] == [case]


def test_the_skips_of_the_plan_are_kept_with_their_kind(tmp_path):
    store = synthetic_runs.write(tmp_path, 1)
    case = synthetic_runs.runs(1)[0].case
    skip = Skip(case=case.at_scale(125, 8), reason="no such cluster here", kind="not_run")
    store.write_plan(Planned(profile="quick", repeats=3, cases=(case,), skips=(skip,)))

    evaluation = evaluate(store)

    assert evaluation.skips == (skip,)
    assert (evaluation.profile, evaluation.repeats) == ("quick", 3)


def test_two_cases_of_one_id_are_refused_with_both_folders_and_no_count_is_made_of_two_summaries_of_one_case(tmp_path):
    """Two models of one recipe were one case: 751 planned, 972 valid, −221 without a valid result."""
    runfolders.finished(tmp_path)
    runfolders.finished(tmp_path, case=replace(runfolders.CASE, model="mobilenet_v2"), repeat=1)

    with pytest.raises(EvalsuiteError, match=r"r0 and .*r1: they hold two cases, which differ in model"):
        evaluate(Store(tmp_path))
    twice = synthetic.quick().summaries[:1] * 2
    with pytest.raises(ValueError, match="two summaries of one case id"):
        tally(Book(evaluation=synthetic.evaluation(twice)))


def test_an_empty_folder_says_what_to_try(tmp_path):
    with pytest.raises(NothingMeasured, match="Try `evalsuite compare`"):
        evaluate(Store(tmp_path))
