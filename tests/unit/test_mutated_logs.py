"""Whatever happened to a log, its number is what it should be, there is none, or something is said. Logs as they were
found (`tests/logs`) are held to their own number; logs composed of runs whose speed is known, some with a trap in them
(`tests/composed.py`), to the truth. "The total" is the script's own figure over the whole run, start-up inside: status
`partial` says so."""

import itertools
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from evalsuite.logs.reading import Reading, read_file
from tests import composed, sources
from tests.composed import OF_FOLDER, RUN
from tests.mutations import ALONE, ALTERED, HARMLESS, OF_FOUND, OF_TRAPS, Mutation, lines, mutations
from tests.readings import LOGS, codes, counted, read, value

GIVEN = {"devices": RUN.devices, "batch_per_device": RUN.batch}
TRAPPED = OF_FOLDER["traps"]
OF_TRAPPED = {"devices": TRAPPED.devices, "batch_per_device": TRAPPED.batch}
NEAR = 0.02
COMPLETE, NEEDS_OPTIONS, WITHOUT_RATE, TRAPS = map(
    composed.names, ("complete", "needs_options", "without_rate", "traps")
)


def given(name: str) -> dict[str, int]:
    of_job = {"devices": 1, "batch_per_device": TRAPPED.global_batch}
    return of_job if name == "traps/keras_whose_last_bar_holds_the_validation" else OF_TRAPPED


# logs as they were found


def unrelated(number: int, of: int) -> datetime:
    """A relay's clock that has nothing to do with the training: blocks of 40 lines, each in one write."""
    return datetime(2026, 11, 21, 4) + timedelta(seconds=7 * (number // 40) + 0.0001 * (number % 40))


FOUND = sorted(path.name for path in LOGS.glob("*.log") if path.stat().st_size < 400_000)
MUTATIONS = {name: mutations(unrelated)[name] for name in OF_FOUND}
KNOWN: tuple[dict[str, int], ...] = ({}, {"devices": 8}, {"devices": 8, "batch_per_device": 32})
# of folded logs: reports over more lines than are looked at; a bar whose words are all apart; a figure of the end
# beside reports
READ_WRONG = {
    *("verl_2025.log", "caffe_2014.log", "keras_3.log", "dllogger_mxnet.log", "gluonnlp_bert.log"),
    *("ultralytics.log", "hf_trainer_seconds.log"),
}
SHORT = {"nanotron_2024.log"}  # three steps of its own speed each: two of them are another mean
FALLEN_BACK = 0.1  # what is left is the script's own total, with its start-up; the certainty says so
WAS_WRONG = sources.table("mutated_logs.toml")["was_wrong"]


def sample(kind: str) -> list[str]:
    """Every ninth log, another ninth for each kind, at night every third; and those that were read wrongly once."""
    part = 3 if sources.NIGHTLY else 9
    turn = list(MUTATIONS).index(kind) % part
    left_out = READ_WRONG if "folded" in kind else SHORT if kind.startswith("cut") else set()
    return sorted({*FOUND[turn::part], *WAS_WRONG.get(kind, ())} - left_out)


def silently_wrong(before: Reading, after: Reading, *, of_total: bool) -> bool:
    """More than 2 % from the log as it was, with a status that counts and no finding that the log had not before.
    *of_total*: the script's own total may stand for its reports."""
    old, new = counted(before), counted(after)
    if old is None or new is None or abs(new / old - 1) <= NEAR:
        return False
    fallen_back = (
        of_total and after.certainty == "printed only" != before.certainty and abs(new / old - 1) <= FALLEN_BACK
    )
    return not fallen_back and not codes(after) - codes(before)


@pytest.mark.parametrize("kind", MUTATIONS)
def test_a_mutated_log_has_no_silent_wrong_number(kind, tmp_path):
    wrong = []
    for name in sample(kind):
        # the least that must be given for a number of it
        readings = ((read_file(LOGS / name, **known), known) for known in KNOWN)
        whole = (reading for reading in readings if counted(reading[0]) is not None)
        before, known = next(whole, (read_file(LOGS / name), {}))
        path = tmp_path / name
        path.write_bytes(MUTATIONS[kind]((LOGS / name).read_bytes()))
        after = read_file(path, **known)
        changed = kind in HARMLESS and counted(before) and counted(after) != pytest.approx(counted(before), rel=NEAR)
        if changed or silently_wrong(before, after, of_total=kind not in ALTERED):
            wrong.append((name, before.dialect, after.dialect, value(before), value(after), after.status))

    assert wrong == []


# logs of runs whose speed is known


def in_step(number: int, of: int) -> datetime:
    """Lines come by 16, as a pipe's buffer passes them on."""
    share = min(1.0, (number // 16 + 1) * 16 / of)
    return RUN.start + timedelta(seconds=share * RUN.seconds(RUN.steps), microseconds=10 * (number % 16))


def of_trapped(number: int, of: int) -> datetime:
    """A collector stamps twelve lines when the last of them was printed."""
    return TRAPPED.at(max(1, round(min(1.0, (number // 12 + 1) * 12 / of) * TRAPPED.steps)))


def wrong_after(folder: Path, name: str, kinds: dict[str, Mutation], known: dict[str, int], sayings: set[str]):
    """What of a log is read to another number than the truth, after each of *kinds*, and without a word of it. By day
    every fourth of them, another fourth for each log."""
    text, run = composed.log(name).encode(), composed.run_of(name)
    part = 1 if sources.NIGHTLY else 4
    turn = (*COMPLETE, *NEEDS_OPTIONS, *WITHOUT_RATE, *TRAPS).index(name) % part
    tried = itertools.islice(kinds.items(), turn, None, part)
    found = [(kind, beside, read(folder, mutate(text), **beside)) for kind, mutate in tried for beside in ({}, known)]
    return [
        (kind, beside, value(one), one.status, one.reason)
        for kind, beside, one in found
        if counted(one) is not None
        and not codes(one) & sayings
        and not (one.status == "partial" and one.throughput.method == "final figure")
        and counted(one) != pytest.approx(run.items_per_s(one.unit), rel=0.04)
    ]


@pytest.mark.parametrize("name", [*COMPLETE, *NEEDS_OPTIONS, *WITHOUT_RATE])
def test_whatever_happened_to_a_log_its_number_is_the_truth_or_there_is_none(tmp_path, name):
    kinds = {kind: mutate for kind, mutate in mutations(in_step).items() if kind not in ALONE}

    assert wrong_after(tmp_path, name, kinds, GIVEN, {"clock_disagrees"}) == []


@pytest.mark.parametrize("name", TRAPS)
def test_whatever_happened_to_a_log_with_a_trap_no_number_is_wrong_in_silence(tmp_path, name):
    kinds = {kind: mutations(of_trapped)[kind] for kind in OF_TRAPS}

    assert wrong_after(tmp_path, name, kinds, given(name), {"clock_disagrees", "D10", "scope_assumed"}) == []


def truth(found: Reading):
    return pytest.approx(RUN.items_per_s(found.unit), rel=NEAR)


def status_of(name: str) -> str:
    """Each figure of these is that of one batch, and no clock confirms it."""
    of_one = "nanogpt, timm, torchvision, llm_c, nanochat, verl, litgpt, maxtext, torchtune"
    return "partial" if name.rpartition("/")[2] in of_one.split(", ") else "ok"


@pytest.mark.parametrize("name", COMPLETE)
def test_a_log_that_says_all_is_read_to_the_truth(tmp_path, name):
    reading = read(tmp_path, composed.log(name))

    assert (reading.status, value(reading)) == (status_of(name), truth(reading))


@pytest.mark.parametrize("name", NEEDS_OPTIONS)
def test_a_log_that_does_not_say_all_asks_for_it_and_is_then_read_to_the_truth(tmp_path, name):
    alone = read(tmp_path, composed.log(name))
    reading = read(tmp_path, composed.log(name), **GIVEN)

    assert ("say --" in alone.reason and value(alone) in (None, truth(alone))) or alone.status == "partial"
    assert (reading.status, value(reading)) == (status_of(name), truth(reading))


@pytest.mark.parametrize("name", TRAPS)
def test_a_log_with_a_trap_is_read_to_the_truth(tmp_path, name):
    reading = read(tmp_path, composed.log(name), **given(name))

    assert value(reading) == pytest.approx(TRAPPED.items_per_s(reading.unit), rel=0.04), reading


@pytest.mark.parametrize("name", ["without_rate/modded_nanogpt", "complete/nanogpt"])
def test_a_batch_of_sequences_makes_no_tokens_per_second(tmp_path, name):
    lines_of = composed.log(name).splitlines(keepends=True)
    headless = "".join(line for line in lines_of if not line.startswith("tokens per"))
    sequences = read(tmp_path, headless, **GIVEN)
    tokens = read(tmp_path, headless, devices=RUN.devices, batch_per_device=RUN.batch * RUN.tokens)

    assert (sequences.unit, "sequences × their length" in sequences.reason) == ("steps/s", True)
    assert value(tokens) == pytest.approx(RUN.items_per_s("tokens/s"), rel=NEAR)


@pytest.mark.parametrize("name", ["mmengine", "hf"])
def test_of_two_runs_in_one_file_one_is_read_and_a_finding_says_that_there_were_two(tmp_path, name):
    slower = replace(RUN, step_s=0.8, start=RUN.start + timedelta(hours=5))
    reading = read(tmp_path, "".join(composed.log(f"complete/{name}", run) for run in (RUN, slower)))

    speeds = [run.items_per_s(reading.unit) for run in (RUN, slower)]
    assert any(value(reading) == pytest.approx(speed, rel=0.04) for speed in speeds)
    assert {"Restarted", "SeveralRuns", "BeginsAgain"} & {type(finding).__name__ for finding in reading.findings}


@pytest.mark.parametrize("name", COMPLETE)
def test_of_two_jobs_that_print_at_once_one_is_read_or_none(tmp_path, name):
    slower = replace(RUN, step_s=0.8, start=RUN.start + timedelta(seconds=3))
    both = [lines(composed.log(name, run).encode()) for run in (RUN, slower)]
    reading = read(tmp_path, b"".join(itertools.chain(*itertools.zip_longest(*both, fillvalue=b""))), **GIVEN)

    speeds = [run.items_per_s(reading.unit) for run in (RUN, slower) if counted(reading)]
    assert not speeds or any(value(reading) == pytest.approx(speed, rel=0.04) for speed in speeds)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("llamafactory_in_whole_seconds", {"D10", "printed_only"}), ("lightning_with_silent_evaluations", {"D10"})],
)
def test_an_evaluation_that_a_short_run_does_not_print_is_told_by_the_lines_around_it(tmp_path, name, expected):
    reading = read(tmp_path, composed.log(f"short/{name}"), **OF_TRAPPED)

    told = {finding.code: finding for finding in (*reading.findings, *reading.throughput.findings)}
    assert (expected <= set(told), reading.certainty) == (True, "one clock")
    assert told["D10"].seconds == pytest.approx(TRAPPED.evaluation_s, abs=2)
