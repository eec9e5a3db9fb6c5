"""The journal beside the run folders: starts of an evaluation, and every attempt at a run."""

import json
import threading
from dataclasses import replace

import pytest

from evalsuite.core.documents import CampaignPlace
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.findings import EvaluatedBefore, RoundsMissing
from evalsuite.core.model import Attempt, Run
from evalsuite.launch import campaign
from evalsuite.logs import catalogue
from evalsuite.logs.reading import read_file
from evalsuite.results.measure.measuring import Measured
from evalsuite.results.rules import attempts
from evalsuite.runs import journal
from evalsuite.runs.journal import Campaign, Journal, JournalLine
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests import sources
from tests.toys import CASE, COMMAND, measured

RUN = Run(case=CASE, repeat=0)
AT = "2026-11-20T10:00:00+08:00"
PLAN = Planned(profile="full", repeats=5, cases=(CASE, CASE.at_scale(2, 8)), skips=())
CAMPAIGN = Campaign(id="a", started_at=AT, plan=PLAN, plan_sha256=journal.seal(PLAN.cases, PLAN.repeats))


def ended(attempt, status="completed"):
    return JournalLine(event="ended", run=RUN.id, attempt=attempt, campaign="a", at=AT, status=status)


def test_attempts_at_a_run_are_counted_from_one_and_have_their_end_and_value(tmp_path):
    kept = Journal(tmp_path)
    value = {"attempt": 1, "campaign": "a", "at": AT, "items_per_s": 9.5, "unit": "images/s"}

    assert (kept.started(RUN, "a", AT), kept.started(replace(RUN, repeat=1), "a", AT)) == (1, 1)
    kept.note(ended(1))
    kept.note(JournalLine(event="measured", run=RUN.id, **value))
    assert kept.started(RUN, "b", AT) == 2
    first, second = (attempt for attempt in kept.attempts() if attempt.run == RUN.id)
    assert (first.status, first.items_per_s, first.unit) == ("completed", 9.5, "images/s")
    assert (second.number, second.status, second.items_per_s) == (2, None, None)


def test_a_line_taken_out_or_changed_breaks_the_chain(tmp_path):
    kept = Journal(tmp_path)
    for _ in range(3):
        kept.started(RUN, "a", AT)
    assert kept.chained
    file = tmp_path / journal.ATTEMPTS
    first, second, third = file.read_text().splitlines(keepends=True)

    for changed in (first + third, second + third, first.replace("10:00", "11:00") + second + third):
        file.write_text(changed)

        assert not kept.chained


@pytest.mark.parametrize(
    ("values", "aside", "whole"),
    [
        ((9.0,), "r0.interrupted-1", True),
        ((9.0, 9.0), "", True),
        ((8.0, 9.0), "", False),
        ((9.0,), "redone-r0-1", False),
    ],
)
def test_an_attempt_has_one_value_and_what_is_set_aside_had_ended(values, aside, whole, tmp_path):
    kept = Journal(tmp_path)
    kept.note(JournalLine(event="ended", run=RUN.id, attempt=1, campaign="a", at=AT, status="completed"))
    for value in values:
        kept.note(JournalLine(event="measured", run=RUN.id, attempt=1, campaign="a", at=AT, items_per_s=value))
    for name in ("r0", aside):
        (tmp_path / CASE.id / name).mkdir(parents=True, exist_ok=True)
    (tmp_path / RUN.id / "outcome.json").touch()

    assert kept.chained is whole


@pytest.mark.parametrize(("begun", "missing"), [({"a": 1}, [0]), ({"a": 1, "early": 1}, [])])
def test_a_plan_from_before_the_first_run_with_no_run_is_named(begun, missing):
    early = replace(CAMPAIGN, id="early", started_at="2026-11-20T08:00:00+08:00")
    place = CampaignPlace(id="a", plan_sha256=CAMPAIGN.plan_sha256, attempt=1, round=0, order=0)
    recorded = attempts.Recorded(campaigns=(early, CAMPAIGN), begun=begun)

    found, _ = attempts.findings(
        recorded, {f"{case.id}/r0": replace(COMMAND, campaign=place) for case in PLAN.cases[:1]}
    )
    said = [each.here for of in found.values() for each in of if isinstance(each, RoundsMissing)]
    assert [here for here in said if here == 0] == missing


def test_a_line_that_was_cut_off_is_written_over(tmp_path):
    kept = Journal(tmp_path)
    kept.started(RUN, "a", AT)
    with open(tmp_path / journal.ATTEMPTS, "a") as file:
        file.write('{"schema": 1, "eve')

    assert kept.started(RUN, "a", AT) == 2
    assert [attempt.number for attempt in kept.attempts()] == [1, 2]
    assert kept.chained


def test_two_processes_that_write_at_once_lose_nothing(tmp_path):
    numbers = []
    writers = [
        threading.Thread(target=lambda: numbers.extend(Journal(tmp_path).started(RUN, "a", AT) for _ in range(10)))
        for _ in range(4)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert sorted(numbers) == list(range(1, 41))
    assert Journal(tmp_path).chained


@pytest.mark.parametrize("text", ["no json\n", "[]\n", '{"schema": 1}\n', "\udcff\n"])
def test_a_line_that_is_none_is_refused_with_its_number(tmp_path, text):
    kept = Journal(tmp_path)
    kept.started(RUN, "a", AT)
    with open(tmp_path / journal.ATTEMPTS, "ab") as file:
        file.write(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(EvalsuiteError, match=r"attempts\.jsonl:2: .*expected"):
        kept.attempts()


def test_no_journal_is_an_empty_one_and_a_seal_is_that_of_the_cases_and_repeats_in_any_order(tmp_path):
    assert (Journal(tmp_path).attempts(), Journal(tmp_path).campaigns(), Journal(tmp_path).chained) == ((), (), True)

    one, other = CASE, CASE.at_scale(2, 8)
    assert journal.seal([one, other], 5) == journal.seal([other, one], 5)
    assert len({journal.seal([one, other], 5), journal.seal([one, other], 6), journal.seal([one], 5)}) == 3


def test_a_campaign_comes_back_with_its_seal_whole_and_a_plan_that_was_changed_is_not(tmp_path):
    Journal(tmp_path).begin(CAMPAIGN)
    assert Journal(tmp_path).campaigns() == (CAMPAIGN,)
    assert CAMPAIGN.whole
    file = tmp_path / journal.CAMPAIGNS / "a.json"
    facts = json.loads(file.read_text())
    file.write_text(json.dumps({**facts, "plan": {**facts["plan"], "repeats": 7}}))

    (found,) = Journal(tmp_path).campaigns()

    assert not found.whole


@pytest.mark.parametrize(("places", "own", "elsewhere"), sources.table("journal.toml")["plans_beside"])
def test_the_same_plan_started_beside_a_folder_is_counted_and_found(tmp_path, places, own, elsewhere):
    planned = replace(PLAN, cases=(CASE,))
    for place in places:
        campaign.begin(planned, Store(tmp_path / "lab" / place))
    campaign.begin(replace(planned, repeats=planned.repeats + 1), Store(tmp_path / "lab" / "another"))

    started = campaign.begin(planned, Store(tmp_path / "lab" / own))

    place = CampaignPlace(id=started.id, plan_sha256=started.plan_sha256, attempt=1, round=0, order=0)
    findings, _ = attempts.findings(
        attempts.read(Journal(tmp_path / "lab" / own), None, None), {"x/r0": replace(COMMAND, campaign=place)}
    )
    said = [item.evaluations for each in findings.values() for item in each if isinstance(item, EvaluatedBefore)]
    assert (started.elsewhere, said) == (elsewhere, [elsewhere] if elsewhere else [])


def test_a_night_that_is_published_costs_the_next_no_level_and_one_that_is_not_does(tmp_path):
    nights = [campaign.begin(PLAN, Store(tmp_path / night / "runs")) for night in ("mon", "tue", "wed")]
    for night, place in zip(nights[:2], ("site/reports/1", "site/reports/2"), strict=True):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "summary.json").write_text(json.dumps({"campaigns": [{"id": night.id}]}, indent=1))

    assert campaign.begin(PLAN, Store(tmp_path / "thu" / "runs")).elsewhere == 1  # wednesday is nowhere


# several runs in one log, and what happened to a run: each is said, and only the last attempt can have failed


DIALECTS = catalogue.known()
CRASH = ["Traceback (most recent call last):", "RuntimeError: CUDA out of memory. Tried to allocate 1.02 GiB"]


def steps(first, last, seconds=0.5, loss="6.7e+00"):
    return [
        f"Epoch: [0][{step:3d}/900]\tTime {seconds:6.3f} ({seconds:6.3f})\tData  0.002 ( 0.001)\tLoss {loss} ({loss})"
        for step in range(first, last + 1)
    ]


def read(tmp_path, lines):
    path = tmp_path / "train.log"
    path.write_text("".join(f"{line}\n" for line in lines))
    return read_file(path, dialects=DIALECTS, devices=1, batch_per_device=8)


def codes(reading):
    return [finding.code for finding in reading.findings]


@pytest.mark.parametrize(("lines", "found"), sources.cases("journal.toml")["happened"])
def test_what_happened_to_a_run_is_said_and_its_last_attempt_read(tmp_path, lines, found):
    said = [steps(*line) if isinstance(line, tuple) else CRASH if line == "crash" else [line] for line in lines]
    reading = read(tmp_path, [line for each in said for line in each])

    status = "doubtful" if "restarted" in found else "ok"  # several starts, perhaps of other models
    assert (reading.status, reading.throughput.items_per_s) == (status, pytest.approx(8 / [*lines[-1][2:], 0.5][0]))
    assert codes(reading) == list(found)
    assert ("read is start 2 of 2 in this file" in reading.reason) == ("restarted" in found)


def test_a_short_copy_is_said(tmp_path):
    assert "D04" in codes(read(tmp_path, 2 * steps(1, 60)))


def test_what_was_measured_before_the_last_attempt_died_is_doubtful_and_says_of_what(tmp_path):
    reading = read(tmp_path, [*steps(1, 160), *steps(1, 30), *CRASH])

    assert reading.status == "doubtful" and "out of memory, line 192" in reading.reason


def test_a_loss_that_becomes_nan_is_said_with_its_line(tmp_path):
    reading = read(tmp_path, [*steps(1, 60), *steps(61, 130, loss="nan")])

    (finding,) = reading.findings
    assert (finding.code, finding.line) == ("no_learning", 61)


@pytest.mark.parametrize(
    ("held", "counts"), [({"case.json": "a"}, True), ({"case.json": "b"}, False), ({}, False), (None, True)]
)
def test_a_run_whose_files_are_not_those_of_its_end_does_not_count(held, counts, tmp_path):
    of_now = replace(measured(CASE, 0, 10.0), records={"case.json": "a"})
    end = Attempt(run=RUN.id, number=1, campaign="a", started_at=AT, status="completed", sha256=held)

    recorded = attempts.Recorded(attempts=(end,))
    (found,) = attempts.mark_changed([Measured(of_now, None)], recorded, Store(tmp_path).folder)

    assert found.counts is counts
