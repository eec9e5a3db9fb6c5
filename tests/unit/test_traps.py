"""Logs with a trap in each are read to the truth; whatever happened to them, to the truth or to no number.

They go through the command, as people would read them.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evalsuite.cli import main
from tests import traps

GIVEN = ["--devices", str(traps.DEVICES), "--batch-per-device", str(traps.EACH)]
WHOLE_JOB = {
    traps.keras_whose_last_bar_holds_the_validation: ["--devices", "1", "--batch-per-device", str(traps.BATCH)]
}
NEAR = 0.04
COUNTS = ("ok", "partial")


def parsed(capsys, path: Path, text: str | bytes, *options: str) -> dict:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    main(["parse", str(path), "--json", *options])
    return json.loads(capsys.readouterr().out)[0]


def lines(text: str) -> list[str]:
    return [line for line in re.split(r"(?<=\n)", text) if line]


def in_blocks(text: str) -> str:
    """A collector stamps twelve lines when the last of them was printed."""
    said = lines(text)
    shares = [min(len(said), (number // 12 + 1) * 12) / len(said) for number in range(len(said))]
    stamps = [traps.at(max(1, round(share * traps.STEPS))) for share in shares]
    return "".join(
        f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d} stdout F {line}"
        for at, line in zip(stamps, said, strict=True)
    )


def wrapped(text: str) -> str:
    return "\n".join(line[at : at + 80] for line in text.split("\n") for at in range(0, max(1, len(line)), 80))


HAPPENED: dict[str, Callable[[str], str]] = {
    "a collector": in_blocks,
    "wrapped": wrapped,
    "clipped": lambda text: "\n".join(line[:100] for line in text.split("\n")),
    "without its head": lambda text: text[len(text) * 2 // 5 :],
    "appended": lambda text: text + text,
}


@pytest.mark.parametrize("made", traps.TRUTH, ids=lambda made: made.__name__)
def test_a_log_with_a_trap_is_read_to_the_truth(capsys, tmp_path, made):
    found = parsed(capsys, tmp_path / "log", made(), *WHOLE_JOB.get(made, GIVEN))

    assert found["throughput"] == pytest.approx(traps.TRUTH[made], rel=NEAR), found


@pytest.mark.parametrize(
    ("made", "codes"),
    [
        (traps.llamafactory_in_whole_seconds, {"long_stall", "coarse_figures"}),
        (traps.lightning_with_silent_evaluations, {"long_stall"}),
    ],
    ids=lambda made: getattr(made, "__name__", ""),
)
def test_an_evaluation_that_a_short_run_does_not_print_is_told_by_the_lines_around_it(capsys, tmp_path, made, codes):
    found = parsed(capsys, tmp_path / "log", made(), *GIVEN)

    told = {one["code"]: one["text"] for one in found["findings"]}
    assert (codes <= set(told), found["certainty"]) == (True, "one clock")
    assert float(re.search(r"([\d.]+)\s*s longer", told["long_stall"])[1]) == pytest.approx(traps.EVALUATION_S, abs=2)


def test_seconds_too_few_for_a_clock_of_whole_ones_make_no_number(capsys, tmp_path):
    found = parsed(capsys, tmp_path / "log", traps.llamafactory_in_whole_seconds(evaluation_s=0), *GIVEN)

    assert found["throughput"] is None
    assert found["reason"].startswith("the times that the log prints are too coarse")


@pytest.mark.parametrize("made", traps.TRUTH, ids=lambda made: made.__name__)
def test_whatever_happened_to_a_log_with_a_trap_no_number_is_wrong_in_silence(capsys, tmp_path, made):
    silent, text = [], made()
    for happened, change in HAPPENED.items():
        for options in ((), WHOLE_JOB.get(made, GIVEN)):
            found = parsed(capsys, tmp_path / "log", change(text), *options)
            contested = {one["code"] for one in found["findings"]} & {"clock_disagrees", "long_stall", "scope_assumed"}
            total = found["status"] == "partial" and found["method"] == "final figure"
            if found["throughput"] is None or found["status"] not in COUNTS or contested or total:
                continue
            if found["throughput"] != pytest.approx(traps.TRUTH[made], rel=NEAR):
                silent.append((happened, options, found["throughput"], found["status"], found["findings"]))

    assert silent == []
