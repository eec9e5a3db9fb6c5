"""Ways to run until a criterion passes, each made happen with the launching code, and what is said of it now."""

import contextlib
import json
import shutil

import pytest

from evalsuite import cli
from evalsuite.core.model import Run
from evalsuite.report.book import identity
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from evalsuite.report.sections.verdict import cards
from evalsuite.report.text import words
from evalsuite.results.evaluation import evaluate
from evalsuite.runs import journal
from tests import lab as lab_of_runs
from tests import runfolders
from tests.lab import RUN, Interrupted

SPOKEN = words.read()
BASE = RUN.case
SCALE = BASE.at_scale(1, 2)
CASES = (BASE, SCALE)


class Lab(lab_of_runs.Lab):
    def __init__(self, folder, monkeypatch):
        super().__init__(folder, monkeypatch)
        self.criteria = folder / "criteria.toml"
        self.criteria.write_text("[C1]\nthreshold = 0.8\nmin_nodes = 1\n")

    def start(self, repeats=5, cases=CASES):
        with contextlib.suppress(Interrupted):
            super().start(repeats, cases)

    def remove(self, case, *repeats):
        for repeat in repeats:
            shutil.rmtree(self.store.folder(Run(case=case, repeat=repeat)).path)

    def evaluation(self):
        return evaluate(self.store, criteria_file=self.criteria)

    def c1(self):
        (verdict,) = self.evaluation().verdicts
        return verdict.outcome, " ".join((verdict.reason, *verdict.notes[:1]))

    def codes(self):
        kept = {"taken_away"}
        return sorted({finding.code for finding in self.evaluation().findings} & kept)


@pytest.fixture
def lab(tmp_path, monkeypatch):
    return Lab(tmp_path, monkeypatch)


def slow(case, *repeats):
    """Runs of *case* that would keep C1 from passing."""
    return {Run(case=case, repeat=repeat).id: 0.8 for repeat in repeats}


def test_an_honest_evaluation_passes_without_a_word_and_a_case_that_was_taken_away_whole_is_spoken_of(lab):
    lab.start()
    assert (lab.c1(), lab.codes()) == (("pass", "met"), [])

    lab.start()
    lab.remove(SCALE, *range(5))
    assert lab.codes() == ["taken_away"]
    assert lab.c1() == ("undetermined", "no_value missing")


@pytest.mark.parametrize(("repeats", "of"), [(range(5), [SCALE]), ((4,), [SCALE]), ((0,), [SCALE]), (range(5), CASES)])
def test_runs_that_were_taken_away_and_made_again_until_c1_passes_decide_nothing(lab, repeats, of):
    lab.seconds = slow(SCALE, *repeats)
    lab.start()
    for case in of:
        lab.remove(case, *repeats)
    lab.seconds = {}
    lab.start()

    assert (lab.c1(), lab.codes()) == (("undetermined", "not_comparable taken_away"), ["taken_away"])


def test_the_worst_runs_of_many_taken_away_leave_no_lucky_five(lab):
    lab.seconds = slow(SCALE, 5, 6)
    lab.start(repeats=7)
    lab.remove(SCALE, 5, 6)

    assert (lab.c1(), lab.codes()) == (("undetermined", "not_comparable taken_away"), ["taken_away"])


def test_a_run_ended_by_hand_or_failed_and_made_again_marks_the_pass(lab):
    lab.seconds = {Run(case=SCALE, repeat=2).id: 0, Run(case=SCALE, repeat=1).id: None}
    lab.start()
    lab.remove(SCALE, 1)
    lab.seconds = {}
    lab.start()

    assert (lab.c1(), lab.codes()) == (("pass", "met again"), ["taken_away"])
    said = cards._card(lab.evaluation().verdicts[0], SPOKEN).reason.plain("en")
    assert "2 attempts were interrupted or failed" in said


def test_a_scale_of_another_start_than_its_base_lacks_one_round_of_both_which_decides(lab):
    lab.start(cases=[BASE])
    lab.start(cases=CASES)

    verdict = lab.evaluation().verdicts[0]
    assert (verdict.outcome, verdict.reason, verdict.notes) == ("undetermined", "not_decided", ("starts", "price"))
    said = cards._card(verdict, SPOKEN).reason.plain("en")
    assert "The base and 1×2 were not measured in one start" in said and "Price: 2 runs, about 0.035 h" in said

    lab.start(repeats=6)
    assert lab.c1() == ("pass", "met starts_agree")
    assert "3 starts" in cards._card(lab.evaluation().verdicts[0], SPOKEN).reason.plain("en")


def test_a_base_whose_starts_differ_widens_the_interval_or_decides_nothing(lab):
    lab.start(cases=[BASE])
    lab.seconds = {Run(case=case, repeat=repeat).id: 0.51 for case in CASES for repeat in range(10)}
    lab.start(repeats=6)
    widened = lab.evaluation().verdicts[0]
    assert lab.c1() == ("pass", "met starts_differ") and widened.measured.high - widened.measured.low > 0.019

    lab.seconds = {run: 0.6 for run in lab.seconds}
    lab.start(repeats=7)
    assert lab.c1() == ("undetermined", "not_comparable starts_apart")


def test_runs_of_an_earlier_version_say_nothing_of_their_campaign(lab):
    for case in CASES:
        for repeat in range(5):
            own = runfolders.Host(printed=(runfolders.steps(seconds=0.5 + 0.0001 * repeat),))
            runfolders.finished(lab.store.root, own, case=case, repeat=repeat)

    assert (lab.c1(), lab.codes()) == (("undetermined", "not_comparable unlike"), [])


@pytest.mark.parametrize("change", ["journal deleted", "campaigns deleted", "a line taken out", "plan changed"])
def test_a_journal_with_gaps_decides_nothing(lab, change):
    lab.start()
    lines = lab.store.root / journal.ATTEMPTS
    (plan,) = (lab.store.root / journal.CAMPAIGNS).glob("*.json")
    match change:
        case "journal deleted":
            lines.unlink()
        case "campaigns deleted":
            plan.unlink()
        case "a line taken out":
            lines.write_text("".join(lines.read_text().splitlines(keepends=True)[1:]))
        case "plan changed":
            facts = json.loads(plan.read_text())
            plan.write_text(json.dumps({**facts, "plan": {**facts["plan"], "repeats": 9}}))

    assert {row.grounds for row in lab.evaluation().summaries} == {"disputed"}
    assert (lab.c1(), lab.codes()) == (("undetermined", "not_comparable taken_away"), ["taken_away"])


def test_repeats_added_once_the_results_are_known_are_said(lab):
    lab.start(repeats=5)
    lab.start(repeats=7)

    findings = [finding for finding in lab.evaluation().findings if finding.code == "taken_away"]

    assert {(finding.planned, finding.later) for finding in findings} == {(5, 7)}


def test_what_counts_for_nothing_stays_visible_with_its_value(lab, tmp_path):
    lab.start()
    lab.remove(SCALE, 1)
    lab.start()

    evaluation = lab.evaluation()
    (lost,) = evaluation.superseded
    facts = summary_json.document(Book(evaluation=identity.ordered(evaluation)), "0" * 64)
    assert (lost.run, lost.number, lost.status, round(lost.items_per_s)) == (f"{SCALE.id}/r1", 1, "completed", 128)
    assert [attempt["items_per_s"] for attempt in facts["superseded_attempts"]] == [lost.items_per_s]
    assert [campaign["whole"] for campaign in facts["campaigns"]] == [True, True]
    out = tmp_path / "out"
    cli.main(["report", "--runs", str(lab.store.root), "--out", str(out), "--criteria", str(lab.criteria)])
    page = (out / "report.html").read_text(encoding="utf-8")
    assert all(said in page for said in ("id=attempts-table", "completed, then removed", "已完成，后被移走"))
