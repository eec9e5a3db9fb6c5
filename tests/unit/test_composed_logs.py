"""Logs of runs whose speed is known are read to that speed, or refused: whatever has happened to them since.

Composed before the reader was run on them (`tests/composed.py`). "The total" is the script's own figure over the whole
run, start-up inside: status `partial` says so. A number that another clock contests is said to be contested.
"""

import re
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

from evalsuite.findings import ClockDisagrees
from evalsuite.logs import catalogue
from evalsuite.logs.reading import Reading, read_file
from tests import composed
from tests.composed import Training

DIALECTS = catalogue.discover()
RUN = Training()
GIVEN = {"devices": RUN.devices, "batch_per_device": RUN.batch}
NEAR = 0.02

# what is told by the log alone
TOLD = (
    *(composed.hf, composed.hf_5, composed.hf_tokens, composed.trl, composed.llamafactory, composed.ultralytics),
    *(composed.mmengine, composed.torchvision, composed.mae, composed.timm, composed.swin, composed.nemo_2),
    *(composed.megatron, composed.megatron_deepspeed, composed.nanogpt, composed.llm_c, composed.composer),
    *(composed.nanochat, composed.deepspeed, composed.gpt_neox, composed.fairseq, composed.verl),
)
# what takes --devices or --batch-per-device
ASKED = (
    *(composed.hf_without_head, composed.mmengine_json, composed.detectron2, composed.detectron2_json, composed.keras),
    *(composed.torchtune, composed.litgpt, composed.torchtitan, composed.maxtext, composed.olmo_core),
    composed.levanter,
)
# what tells no throughput of the steps, whatever is given
UNTOLD = (composed.ultralytics_csv, composed.modded_nanogpt, composed.hf_state)
EVERY = (*TOLD, *ASKED, *UNTOLD)
Printer = Callable[[Training], str]


def read(folder: Path, text: str | bytes, **given: int) -> Reading:
    log = folder / "log"
    log.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_file(log, dialects=DIALECTS, **given)


@cache
def printed(printer: Printer) -> str:
    return printer(RUN)


def value_of(found: Reading) -> float | None:
    return None if found.throughput is None else found.throughput.items_per_s


def named(printer: Printer) -> str:
    return printer.__name__


@pytest.mark.parametrize("printer", TOLD, ids=named)
def test_a_log_that_says_all_is_read_to_the_truth(tmp_path, printer):
    found = read(tmp_path, printer(RUN))

    assert (found.status, value_of(found)) == ("ok", pytest.approx(RUN.items_per_s(found.unit), rel=NEAR))


@pytest.mark.parametrize("printer", ASKED, ids=named)
def test_a_log_that_does_not_say_all_asks_for_it_and_is_then_read_to_the_truth(tmp_path, printer):
    alone = read(tmp_path, printer(RUN))
    given = read(tmp_path, printer(RUN), **GIVEN)

    assert (value_of(alone), "say --" in alone.reason) == (None, True) or alone.status == "partial"
    assert (given.status, value_of(given)) == ("ok", pytest.approx(RUN.items_per_s(given.unit), rel=NEAR))


def test_a_csv_of_epochs_tells_no_throughput_whatever_the_batch(tmp_path):
    found = read(tmp_path, composed.ultralytics_csv(RUN), **GIVEN)

    assert value_of(found) is None
    assert "not how many steps it covers" in found.reason


@pytest.mark.parametrize("printer", [composed.modded_nanogpt, composed.nanogpt], ids=named)
def test_a_batch_of_sequences_makes_no_tokens_per_second(tmp_path, printer):
    headless = "".join(line for line in printer(RUN).splitlines(keepends=True) if not line.startswith("tokens per"))
    sequences = read(tmp_path, headless, **GIVEN)
    tokens = read(tmp_path, headless, devices=RUN.devices, batch_per_device=RUN.batch * RUN.tokens)

    assert (value_of(sequences), "sequences × their length" in sequences.reason) == (None, True)
    assert value_of(tokens) == pytest.approx(RUN.items_per_s("tokens/s"), rel=NEAR)


def test_the_scripts_own_total_is_no_window_and_its_status_says_so(tmp_path):
    found = read(tmp_path, composed.hf_without_head(RUN))

    assert (found.status, found.throughput.method) == ("partial", "final figure")
    assert "start-up included; " in found.reason
    assert "say --batch-per-device" in found.reason


# what happens to logs


def lines(text: str) -> list[str]:
    return [line for line in re.split(r"(?<=\n)", text) if line]


def relayed(prefix: Callable[[str, str], str]) -> Callable[[str], str]:
    """*prefix* gets day and time of day: lines come by 16, as a pipe's buffer passes them on."""

    def made(text: str) -> str:
        said = lines(text)
        stamped = []
        for number, line in enumerate(said):
            share = min(1.0, (number // 16 + 1) * 16 / len(said))
            at = RUN.start + timedelta(seconds=share * RUN.seconds(RUN.steps), microseconds=10 * (number % 16))
            stamped.append(prefix(f"{at:%Y-%m-%d}", f"{at:%H:%M:%S.%f}") + line)
        return "".join(stamped)

    return made


def wrapped(columns: int) -> Callable[[str], str]:
    def made(text: str) -> str:
        said = text.split("\n")
        return "\n".join(line[at : at + columns] for line in said for at in range(0, max(1, len(line)), columns))

    return made


def by_ranks(count: int) -> Callable[[str], str]:
    return lambda text: "".join(f"[rank{rank}]:{line}" for line in lines(text) for rank in range(count))


def of_pods(text: str) -> str:
    """Two pods whose lines are mixed, of which the second says the same a little later."""
    return "".join(f"[pod/train-worker-{pod}/main] {line}" for line in lines(text) for pod in (0, 1))


HAPPENED: dict[str, Callable[[str], str | bytes]] = {
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "decimal commas": lambda text: re.sub(r"(?<=\d)\.(?=\d)", ",", text),
    "kubectl": relayed(lambda day, time: f"{day}T{time}123Z "),
    "kubectl --prefix": relayed(lambda day, time: f"[pod/train-worker-0/main] {day}T{time}123Z "),
    "docker compose": relayed(lambda day, time: f"trainer-1  | {day}T{time}123Z "),
    "journald": relayed(lambda day, time: f"Mar 02 {time[:8]} node7 torchrun[4711]: "),
    "journald, precise": relayed(lambda day, time: f"Mar 02 {time} node7 torchrun[4711]: "),
    "a collector": relayed(lambda day, time: f"{day} {time[:12]}\tINFO\t"),
    "wrapped at 80": wrapped(80),
    "wrapped at 120": wrapped(120),
    "srun": lambda text: "".join("0: " + line for line in lines(text)),
    "two ranks": by_ranks(2),
    "eight ranks": by_ranks(8),
    "two pods": of_pods,
    "bars as lines": lambda text: text.replace("\r", "\n"),
    "old line ends": lambda text: text.replace("\n", "\r"),
    "cut": lambda text: text[: len(text) * 3 // 5],
    "without its head": lambda text: text[len(text) // 3 :],
    "twice": lambda text: text + text,
    "each line twice": lambda text: "".join(2 * line for line in lines(text)),
    "a hole": lambda text: text[: len(text) // 2] + "\0" * 5000 + text[len(text) // 2 :],
    "noise": lambda text: "".join(line + "NCCL INFO channel 00 [0] 3.1\n" for line in lines(text)),
    "after a failed attempt": lambda text: f"{text[: len(text) // 8]}\nRuntimeError: NCCL error: unhandled\n{text}",
}


@pytest.mark.parametrize("happened", HAPPENED.values(), ids=HAPPENED)
@pytest.mark.parametrize("printer", EVERY, ids=named)
def test_whatever_happened_to_a_log_its_number_is_the_truth_or_there_is_none(tmp_path, printer, happened):
    for given in ({}, GIVEN):
        found = read(tmp_path, happened(printed(printer)), **given)

        value = value_of(found)
        if value is None or found.status not in ("ok", "partial"):
            continue
        told = found.throughput.findings if found.throughput else ()
        contested = any(isinstance(finding, ClockDisagrees) for finding in told)
        if not contested and not (found.status == "partial" and found.throughput.method == "final figure"):
            assert value == pytest.approx(RUN.items_per_s(found.unit), rel=0.04), (given, found.reason, found.findings)


def in_blocks(size: int) -> Callable[[str], str]:
    """A collector stamps *size* lines when the last of them was printed, in a form that no relay is known by."""

    def made(text: str) -> str:
        said = lines(text)
        ends = [min(len(said), (number // size + 1) * size) / len(said) for number in range(len(said))]
        stamps = (RUN.at(max(1, round(share * RUN.steps))) for share in ends)
        return "".join(
            f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d}\tINFO\t{line}"
            for at, line in zip(stamps, said, strict=True)
        )

    return made


@pytest.mark.parametrize("size", [33, 64])
def test_stamps_of_blocks_are_no_clock_where_the_script_prints_a_rate(tmp_path, size):
    found = read(tmp_path, in_blocks(size)(composed.composer(RUN)), **GIVEN)

    assert value_of(found) == pytest.approx(RUN.items_per_s(found.unit), rel=NEAR)
    assert found.certainty == "printed only"


@pytest.mark.parametrize("printer", [composed.hf, composed.trl, composed.composer, composed.olmo_core], ids=named)
@pytest.mark.parametrize("happened", ["kubectl", "kubectl --prefix", "docker compose", "journald", "two pods"])
def test_a_relay_does_not_break_a_report_of_several_lines(tmp_path, printer, happened):
    found = read(tmp_path, HAPPENED[happened](printer(RUN)), **GIVEN)

    assert (found.status, value_of(found)) == ("ok", pytest.approx(RUN.items_per_s(found.unit), rel=NEAR))


@pytest.mark.parametrize(
    "printer", [composed.ultralytics, composed.mmengine, composed.megatron, composed.hf], ids=named
)
def test_of_two_runs_in_one_file_one_is_read_and_a_finding_says_that_there_were_two(tmp_path, printer):
    slower = Training(step_s=0.8, start=RUN.start + timedelta(hours=5))
    found = read(tmp_path, printer(RUN) + printer(slower))

    speeds = [run.items_per_s(found.unit) for run in (RUN, slower)]
    assert any(value_of(found) == pytest.approx(speed, rel=0.04) for speed in speeds)
    assert {"Restarted", "BeginsAgain"} & {type(finding).__name__ for finding in found.findings}
