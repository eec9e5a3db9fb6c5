"""From run folders on disk to the evaluation: what is planned, skipped, broken and kept."""

from dataclasses import replace

import pytest

from benchmarks import synthetic_runs
from evalsuite.errors import EvalsuiteError, NothingMeasured
from evalsuite.model import Skip
from evalsuite.report.book.book import Book
from evalsuite.report.book.tally import tally
from evalsuite.results.evaluation import evaluate
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests import runfolders, synthetic


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

    found = evaluate(store)

    assert found.skips == (skip,)
    assert (found.profile, found.repeats) == ("quick", 3)


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
