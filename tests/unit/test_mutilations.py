"""What practice does to logs: whatever happened to a log, its number is near the old one, or something is said.

Sixteen kinds of mutilation over a sample of the logs of `tests/logs`. A silent wrong number is a throughput more than
2 % from that of the log as it was, with a status that counts and no finding that the log as it was had not.
"""

import bz2
import gzip
import lzma
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from evalsuite.logs import catalogue
from evalsuite.logs.reading import Reading, read_file

LOGS = Path(__file__).resolve().parents[1] / "logs"
DIALECTS = catalogue.discover()
NAMES = sorted(path.name for path in LOGS.iterdir() if path.suffix != ".md" and path.stat().st_size < 400_000)
KNOWN: tuple[dict[str, int], ...] = ({}, {"devices": 8}, {"devices": 8, "batch_per_device": 32})
NEAR = 0.02
FALLEN_BACK = 0.1  # what is left is the script's own total, with its start-up; the certainty says so
COUNTS = ("ok", "partial")


def prefixed(prefix: Callable[[int], str]) -> Callable[[bytes], bytes]:
    """Each line behind what a relay writes before it."""

    def made(text: bytes) -> bytes:
        return b"".join(prefix(number).encode() + line for number, line in enumerate(text.splitlines(keepends=True)))

    return made


def clock(number: int) -> str:
    """A relay's clock that has nothing to do with the training: blocks of 40 lines, each in one write."""
    seconds = 7 * (number // 40) + 0.0001 * (number % 40)
    return f"{4 + int(seconds) // 3600:02d}:{int(seconds) // 60 % 60:02d}:{seconds % 60:09.6f}"


def wrapped(text: bytes) -> bytes:
    lines = text.split(b"\n")
    return b"\n".join(line[at : at + 80] for line in lines for at in range(0, max(1, len(line)), 80))


def coloured(text: bytes) -> bytes:
    return b"".join(b"\x1b[32m" + line + b"\x1b[0m\n" for line in text.rstrip(b"\n").split(b"\n"))


def interleaved(text: bytes) -> bytes:
    return b"".join(f"{rank}: ".encode() + line for line in text.splitlines(keepends=True) for rank in (0, 1))


MUTILATIONS: dict[str, Callable[[bytes], bytes]] = {
    "appended": lambda text: text.rstrip(b"\n") + b"\n" + text,
    "kubectl": prefixed(lambda number: f"2026-11-21T{clock(number)}Z "),
    "journald": prefixed(lambda number: f"Nov 21 {clock(number)} node7 python[4711]: "),
    "srun": prefixed(lambda number: "0: "),
    "docker_compose": prefixed(lambda number: f"trainer-1  | 2026-11-21T{clock(number)}Z "),
    "wrapped": wrapped,
    "decimal_commas": lambda text: re.sub(rb"(?<=\d)\.(?=\d)", b",", text),
    "utf_16": lambda text: text.decode("utf-8", "replace").encode("utf-16"),
    "crlf": lambda text: text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "truncated": lambda text: text[: 3 * len(text) // 4],
    "doubled": lambda text: b"".join(2 * line for line in text.splitlines(keepends=True)),
    "two_ranks": interleaved,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "colours": coloured,
}


WAS_WRONG = {  # before it was mended
    "decimal_commas": ["nanogpt.log"],
    "appended": ["keras_3.log", "keras_3_verbose_2.log"],
    "doubled": ["hugectr.log", "keras_3.log", "mlperf_mllog.log"],
    "kubectl": ["detectron2.log", "swin.log"],
    "truncated": ["keras_3.log", "keras_3_verbose_2.log"],
    "two_ranks": ["tf_estimator.log"],
    "wrapped": ["dllogger_mxnet.log", "maxtext.log", "mlperf_blocks.log"],
}


def sample(kind: str) -> list[str]:
    """Every third log, another third for each kind, so that all are met; and those that were read wrongly once."""
    turn = list(MUTILATIONS).index(kind) % 3
    return sorted({*NAMES[turn::3], *WAS_WRONG.get(kind, ())})


def value(reading: Reading) -> float | None:
    return None if reading.throughput is None or reading.status not in COUNTS else reading.throughput.items_per_s


def said(reading: Reading) -> set[str]:
    return {one.name for one in (*reading.findings, *(reading.throughput.findings if reading.throughput else ()))}


@cache
def as_it_was(name: str) -> tuple[Reading, dict[str, int]]:
    """The log *name*, and the least that must be given for a number of it."""
    readings = ((read_file(LOGS / name, dialects=DIALECTS, **known), known) for known in KNOWN)
    return next((found for found in readings if value(found[0]) is not None), (read_file(LOGS / name), {}))


def mutilated(kind: str, name: str, folder: Path) -> Reading:
    path = folder / name
    path.write_bytes(MUTILATIONS[kind]((LOGS / name).read_bytes()))
    return read_file(path, dialects=DIALECTS, **as_it_was(name)[1])


def silently_wrong(before: Reading, after: Reading) -> bool:
    old, new = value(before), value(after)
    if old is None or new is None or abs(new / old - 1) <= NEAR:
        return False
    fallen_back = after.certainty == "printed only" != before.certainty and abs(new / old - 1) <= FALLEN_BACK
    return not fallen_back and not said(after) - said(before)


@pytest.mark.parametrize("kind", MUTILATIONS)
def test_a_mutilated_log_has_no_silent_wrong_number(kind, tmp_path):
    wrong = []
    for name in sample(kind):
        before, after = as_it_was(name)[0], mutilated(kind, name, tmp_path)
        if silently_wrong(before, after):
            wrong.append((name, before.dialect, after.dialect, value(before), value(after), after.status))

    assert wrong == []


@pytest.mark.parametrize("kind", ["utf_16", "crlf", "gz", "bz2", "xz", "colours"])
def test_what_changes_nothing_of_a_log_changes_nothing_of_its_number(kind, tmp_path):
    changed = []
    for name in sample(kind):
        before, after = as_it_was(name)[0], mutilated(kind, name, tmp_path)
        if value(before) is not None and value(after) != pytest.approx(value(before), rel=NEAR):
            changed.append((name, before.dialect, after.dialect, value(before), value(after), after.reason[:60]))

    assert changed == []
