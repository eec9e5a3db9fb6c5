"""The fairness matrix: what was held equal, on the page, in Markdown and in summary.json."""

import html
import json
import re
from dataclasses import replace

import pytest
import synthetic

from evalsuite import report
from evalsuite.core.findings import NothingExchanged
from evalsuite.core.model import Fact
from evalsuite.report.book import board
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from evalsuite.report.sections.fairness import fairness
from evalsuite.report.text import words
from evalsuite.results.compare import equivalence as proven_room
from evalsuite.runs.equivalence import receipt
from tests import sources

SPOKEN = words.read()
CASE = synthetic.case("pytorch", (1, 8), device="gpu", precision="amp")


def measured(framework, without=(), batch=CASE.batch_per_device, **given):
    case = replace(CASE, framework=framework, batch_per_device=batch)
    stated = {fact.key: fact for fact in synthetic.FACTS if fact.key not in without}
    stated |= {key: Fact(key=key, value=value, source="stated") for key, value in given.items()}
    runs = [synthetic.measured(case, k, 100.0 + k) for k in range(3)]
    return synthetic.summary(replace(run, facts=tuple(stated.values())) for run in runs)


def evaluation(*of):
    return synthetic.evaluation(of)


@pytest.fixture
def page(tmp_path):
    def page_of(*of):
        return html.unescape(report.build(evaluation(*of), tmp_path, languages=["en"])[0].read_text(encoding="utf-8"))

    return page_of


def matrix(*of):
    return summary_json.document(Book(evaluation=evaluation(*of)), "0")["fairness"]


@pytest.mark.parametrize(("of", "said"), sources.cases("report_fairness.toml")["said"])
def test_what_keeps_a_pair_apart_what_nobody_states_and_what_is_the_same_is_said(of, said, page):
    shown = page(*(measured(**each) for each in of))

    assert [part for part in said if part not in shown] == []


def test_blocks_of_which_the_same_is_to_be_said_share_one_table(page):
    found = [measured(name, batch=batch) for name in ("pytorch", "mxnet") for batch in (16, 64)]

    shown = page(*found, *(measured(name, batch=32, without=["data"]) for name in ("pytorch", "mxnet")))

    assert "The same holds of: bsz 64." in shown and shown.count("The same for all: ") == 2
    assert "is stated and is the same in 2 of 3 blocks" in shown


def test_summary_json_has_each_fact_with_its_source():
    (row,) = matrix(measured("pytorch", precision="fp16"), measured("mxnet", without=["data"]))

    facts = {fact["fact"]: fact for fact in row["facts"]}
    ours = f"{CASE.id}"
    theirs = replace(CASE, framework="mxnet").id
    assert row["standing"] == "not_comparable"
    assert sorted(row["ranked_together"]) == [[theirs], [ours]]
    assert facts["precision"] == {
        "fact": "precision",
        "kind": "workload",
        "likeness": "different",
        "keeps_apart": True,
        "values": {theirs: [{"value": "amp", "source": "case"}], ours: [{"value": "fp16", "source": "stated"}]},
    }
    assert facts["data"]["values"][theirs] is None
    json.dumps(row)


RECEIPT = receipt("resnet50_v1.5")


def as_recorded(framework, **changes):
    """The command of a run of the workload that the house's receipt is about."""
    answer = RECEIPT.answer(framework)
    recorded = {"workload_sha256": answer.files, "framework_version": answer.version.partition("+")[0], **changes}
    return replace(synthetic.command(replace(CASE, framework=framework)), **recorded)


def as_book(*commands, receipts=()):
    found = [measured(name) for name, _ in commands]
    recorded = {run.run.id: of for row, (_, of) in zip(found, commands, strict=True) for run in row.measurements}
    return Book(evaluation=replace(synthetic.evaluation(found, commands=recorded), receipts=receipts))


def computed(*commands, receipts=()):
    """What summary.json says of the pairs of runs with these commands."""
    return summary_json.document(as_book(*commands, receipts=receipts), "0")["fairness"][0]["computation"]


@pytest.mark.parametrize(
    ("trained", "beside"),
    [
        (("trained", "not_shown"), {"trained ✓", "loss not seen to fall"}),
        (("trained", "not_printed"), {"trained ✓", "loss not printed"}),
        (("trained", "too_seldom"), {"trained ✓", "loss printed too seldom to tell"}),
        (("trained", "trained"), set()),  # said once, of all
    ],
)
def test_beside_each_throughput_stands_whether_its_log_shows_training(trained, beside):
    unseen = (NothingExchanged(exchanged_bytes=1.0, devices=2),)
    rows = [
        replace(row, measurements=tuple(replace(run, trained=told, findings=unseen) for run in row.measurements))
        for row, told in zip(map(measured, ("pytorch", "mxnet")), trained, strict=True)
    ]
    page = board.board(Book(evaluation=synthetic.evaluation(rows)), SPOKEN)

    marks = {mark.plain("en") for row in page.sheets[0].chosen.rows for mark in row.marks}
    assert {m for m in marks if "train" in m or "loss" in m} == beside and "no exchange of gradients seen" in marks
    assert ("trained ✓" in [chip.text.plain("en") for chip in page.chips]) is (not beside)


@pytest.mark.parametrize(("changes", "shown"), sources.cases("report_fairness.toml")["a_pair_is_proven_where"])
def test_a_pair_is_proven_where_the_scripts_that_ran_are_those_of_the_receipt(changes, shown):
    as_run = ("pytorch", as_recorded("pytorch")), ("mxnet", as_recorded("mxnet", **changes))

    (found,), chips = computed(*as_run), board.board(as_book(*as_run), SPOKEN).chips
    said = {chip.text.plain("en"): chip.good for chip in chips}
    some = "same work proven for 1 of 2 ranked"
    assert said["same work proven" if shown == "proven" else some] == (shown == "proven")
    assert found["shown"] == shown
    assert 0 < max(found["losses"]) < 1e-5 if shown == "proven" else found["losses"] is None
    assert shown != "proven" or (found["causes"], found["receipt"]) == ([], RECEIPT.day)


def test_a_receipt_of_the_lab_proves_its_own_files_and_says_whose_it_is():
    files = {"own.py": "1" * 64}
    own = replace(RECEIPT, answers=tuple(replace(answer, files=files) for answer in RECEIPT.answers), day="2026-11-23")
    as_run = [(name, as_recorded(name, workload_sha256=files)) for name in ("pytorch", "mxnet")]

    (proven,) = computed(*as_run, receipts=(RECEIPT, own))  # the first is about other files
    (alone,) = computed(*as_run)
    assert (proven["shown"], proven["receipt"], alone["shown"]) == ("proven", "2026-11-23", "other_script")


def test_official_scripts_and_frameworks_that_nobody_compared_have_no_such_proof():
    theirs = replace(as_recorded("mxnet"), recipe=replace(as_recorded("mxnet").recipe, kind="official"))
    assert computed(("pytorch", as_recorded("pytorch")), ("mxnet", theirs)) == []

    other = replace(as_recorded("mxnet"))
    (found,) = computed(("pytorch", as_recorded("pytorch")), ("chainermn", other))
    assert found["shown"] == "no_receipt"

    answers = [replace(each, settings=(replace(each.settings[0], name=each.framework),)) for each in RECEIPT.answers]
    pair = [measured("pytorch"), measured("mxnet")]
    commands = {run.run.id: as_recorded(summary.case.framework) for summary in pair for run in summary.measurements}
    assert proven_room._case_pair(*pair, commands, replace(RECEIPT, answers=tuple(answers))).shown == "no_receipt"


@pytest.mark.parametrize(
    ("frameworks", "first"),
    [(("pytorch", "mxnet", "mindspore"), "proven for 1 of 3 pairs"), (("pytorch", "mindspore"), "for 0 of 1 pair")],
)
def test_a_proof_in_float32_alone_is_said_to_be_one_and_counts_as_no_other(frameworks, first, tmp_path):
    found = [measured(name) for name in frameworks]
    recorded = {run.run.id: as_recorded(summary.case.framework) for summary in found for run in summary.measurements}

    whole = synthetic.evaluation(found, commands=recorded)
    page = html.unescape(report.build(whole, tmp_path, languages=["en"])[0].read_text(encoding="utf-8"))

    assert re.search(rf"{first}[^<]*In float32 alone \(limited proof\): {len(frameworks) - 1} pair", page)
    assert page.count("limited proof: in float32 alone") == len(frameworks) - 1


def test_the_page_says_of_each_pair_whether_the_same_computation_is_proven(tmp_path):
    found = [measured("pytorch"), measured("mxnet"), measured("tensorflow")]
    recorded = {run.run.id: as_recorded(summary.case.framework) for summary in found for run in summary.measurements}
    recorded[found[2].measurements[0].run.id] = synthetic.command(found[2].case)

    page = report.build(synthetic.evaluation(found, commands=recorded), tmp_path, languages=["en"])[0]

    shown = html.unescape(page.read_text(encoding="utf-8"))
    assert "proven for 1 of 3 pairs of reference scripts" in shown
    assert "not proven for this script" in shown
    assert "×10⁻" in shown


def test_the_largest_scale_that_most_frameworks_share_is_compared():
    small, large = replace(CASE, devices_per_node=1), replace(CASE, nodes=4)
    found = [
        synthetic.summary([synthetic.measured(replace(case, framework=name), 0, 100.0)])
        for case, names in ((small, ("pytorch", "mxnet")), (CASE, ("pytorch", "mxnet")), (large, ("pytorch",)))
        for name in names
    ]

    (comparison,) = fairness.comparisons(Book(evaluation=evaluation(*found)))

    assert {member.case.total_devices for member in comparison.members} == {8}
