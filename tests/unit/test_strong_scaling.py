"""Strong scaling: the job keeps its batch as devices are added; planned, summed up, judged and shown as such."""

from dataclasses import replace

import pages
import synthetic

from evalsuite.finished import finished
from evalsuite.plan.plan import Machine, plan
from evalsuite.plan.spec import Spec
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from evalsuite.report.sections.reproduction import provenance
from evalsuite.results.compare import answers
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import breaks, criteria, extrapolation
from evalsuite.results.judge.verdicts import verdicts
from evalsuite.results.measure.summary import summaries
from evalsuite.runs.endings import Outcome
from evalsuite.runs.planned import AskedRun
from evalsuite.runs.store import Store
from tests.toys import measured, toynet

MACHINE = Machine(cores=64, accelerators=0, device="cpu")
SPEC = Spec(frameworks=("toynet",), scales=((1, 1), (1, 2), (1, 3), (1, 4)), repeats=5, scaling="strong")
LADDER = tuple(case for case in plan(SPEC, {"toynet": toynet()}, MACHINE).cases)
CRITERIA = criteria.Criteria(C1=criteria.Threshold(threshold=0.8, min_nodes=1))


def rows(*rates: float):
    runs = [measured(case, k, rate + k / 100) for case, rate in zip(LADDER, rates, strict=True) for k in range(5)]
    return with_scaling(summaries(runs))


def test_the_batch_of_the_smallest_scale_is_divided_over_the_devices():
    made = plan(SPEC, {"toynet": toynet()}, MACHINE)
    of_many = plan(replace(SPEC, scales=((2, 8), (1, 8))), {"toynet": toynet()}, MACHINE)

    batches = [(case.scale, case.batch_per_device, case.global_batch) for case in made.cases]
    assert batches == [("1x1", 32, 32), ("1x2", 16, 32), ("1x4", 8, 32)]
    assert len({case.series for case in made.cases}) == 1
    (skip,) = made.skips
    assert skip.case.scale == "1x3" and "32" in skip.reason and "3 devices" in skip.reason
    assert {case.scale: case.batch_per_device for case in of_many.cases} == {"1x8": 32, "2x8": 16}


def test_no_run_is_shared_with_weak_scaling_and_resuming_finds_its_own(tmp_path):
    weak = plan(replace(SPEC, scaling="weak", batch_per_device=(16,)), {"toynet": toynet()}, MACHINE)
    store = Store(tmp_path)
    run = next(run for run in plan(SPEC, {"toynet": toynet()}, MACHINE).runs if run.case.scale == "1x2")
    with store.claim(run) as folder:
        folder.write_case(run)
        folder.write_outcome(Outcome(status="completed", reason="", exit_code=0))

    assert {case.id for case in weak.cases}.isdisjoint(case.id for case in LADDER)
    assert store.folder(run).finished and store.folder(run).run() == run
    assert AskedRun.from_json(AskedRun.of(run).to_json(), "case.json").run == run


def test_one_series_whose_efficiency_no_weak_threshold_judges():
    found = rows(10.0, 14.0, 16.0)

    assert [round(each.efficiency.value, 2) for each in found] == [1.0, 0.7, 0.4]
    (verdict,) = verdicts(found, CRITERIA, LADDER)
    assert (verdict.outcome, verdict.notes) == ("undetermined", ("strong_only",))
    assert breaks.ladders(found, 0.8) == ()


def test_it_is_one_question_at_each_scale_in_one_setting_and_no_ground_of_a_forecast():
    found = rows(10.0, 14.0, 16.0)

    asked = answers.answers(found, LADDER, ())
    assert {answer.setting.strong_batch for answer in asked} == {32} and len({answer.setting for answer in asked}) == 1
    facts = [summary_json.plain_of(None, {"$ref": "answer"}, question, "") for question in asked]
    assert [fact["batch_per_device"] for fact in facts] == [32, 16, 8]
    by_id = {row.case.id: row for row in found}
    assert [finished.answer_of(fact, by_id).setting for fact in facts] == [question.setting for question in asked]
    (outlook,) = extrapolation.outlooks(found, (*LADDER, LADDER[0].at_scale(1, 8)))
    assert [refusal.reason for refusal in outlook.refusals] == ["strong"]


def test_a_command_that_repeats_it_asks_for_the_same_cases():
    words = provenance.rerun_command(LADDER[1:], repeats=5)

    assert words[words.index("--batch-sizes") + 1] == "16" and words[words.index("--scaling") + 1] == "strong"
    again = replace(SPEC, scales=((1, 2), (1, 4)), batch_per_device=(16,))
    assert plan(again, {"toynet": toynet()}, MACHINE).cases == LADDER[1:]


def test_the_page_says_what_stays_the_same_and_draws_no_threshold(tmp_path):
    from evalsuite import report

    found = []
    for framework, speed in (("pytorch", 10.0), ("mxnet", 9.0)):
        for devices, gain in ((1, 1.0), (2, 1.3), (4, 1.5)):
            of = synthetic.case(framework, (1, 1), strong_batch=32, batch_per_device=32).at_scale(1, devices)
            found.append(synthetic.summary(synthetic.measured(of, k, speed * gain + k / 100) for k in range(5)))
    of = synthetic.evaluation(with_scaling(found), repeats=5)
    report.build(of, tmp_path)

    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "scales near-linearly" not in text
    page = pages.read(text)
    section = page.one("section", id="model-resnet50_v1.5")
    assert "global bsz 32" in section.text("en")
    assert "global bsz 32" in section.text("zh-CN")
    book = Book(evaluation=of)
    case = summary_json.document(book, "0" * 64)["summaries"][-1]["case"]
    assert case["strong_batch"] == 32 and finished.case_of(case) in {row.case for row in found}
