"""The script's own figures next to its steps: utilisation, TFLOP/s, memory, the wait for data."""

import contextlib
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsuite.contracts.dialect import Dialect, Line
from evalsuite.core import paths
from evalsuite.logs.text.logfile import Unreadable, chunks
from evalsuite.logs.text.records import matches, positive, rate_of

MOST_BYTES = 4 << 20  # of a log without a window, so much is looked at


@dataclass(frozen=True, kw_only=True)
class AlsoPrinted:
    """Figures that a log prints next to its steps, over the measured ones; None where it prints none."""

    items_per_s_per_device: float | None = None  # median, where the printed rate is that of one device
    mfu: float | None = None  # median share of the device's peak; 1.0 = all of it
    tflop_per_s_per_device: float | None = None  # median; harmonic mean where no rate of one device is printed
    mean_items_per_s: float | None = None  # the last, of all devices since the start
    memory_gib: float | None = None  # the most that one device held
    data_wait_s: float | None = None  # mean, of a step
    spread_of_rates: float | None = None  # highest ÷ lowest beside one and the same TFLOP/s; None: that moves too
    spread_items_per_s: float | None = None  # ± of the final figure, all devices: 1.96 deviations; None: two differ


_N = r"(?P<rate>\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?)"
_TAKEN: Mapping[str, Callable[[Sequence[float]], float | None]] = {
    **{"memory_gib": max, "data_wait_s": statistics.fmean},
    "mean_items_per_s": lambda values: values[-1],
    "spread_items_per_s": lambda values: values[0] if len({*values}) == 1 else None,
}


def also_printed(path: Path, dialect: Dialect, first_line: int | None, last_line: int | None) -> AlsoPrinted | None:
    """Of the measured steps; without a window, of the first part of the log. None where nothing is printed."""
    columns = _columns(dialect)
    if not columns:
        return None
    figures: dict[str, list[float]] = {}
    with contextlib.suppress(Unreadable):  # what was found before is shown
        for texts in _texts(path, dialect, first_line or 1, last_line, any(place == "final" for *_, place in columns)):
            for name, line, factor, place in columns:
                said = (line.read(match) for match in line.compiled.finditer(texts[place]))
                values: Iterable[float | None] = (rate_of(fields) for fields in said if fields is not None)
                if line.groups == ("rate",) and line.fields is None:
                    values = map(positive, line.compiled.findall(texts[place]))  # in half the time
                figures.setdefault(name, []).extend(value * factor for value in values if value is not None)
    taken = {name: _TAKEN.get(name, statistics.median)(values) for name, values in figures.items() if values}
    tflops, rates = (figures.get(name) or [] for name in ("tflop_per_s_per_device", "items_per_s_per_device"))
    if tflops and not rates and min(tflops) > 0:
        taken["tflop_per_s_per_device"] = statistics.harmonic_mean(tflops)  # beside a mean of step times
    if len({*tflops}) == 1 and len(tflops) == len(rates) > 2 and min(rates) > 0:
        taken["spread_of_rates"] = max(rates) / min(rates)
    return AlsoPrinted(**taken) if taken else None


def _columns(dialect: Dialect) -> list[tuple[str, Line, float, str]]:
    shapes = [
        (name, Line(pattern=pattern, sample=b"", source=""), row.get("times", 1.0), row.get("place", ""))
        for name, columns in paths.read_data("also_printed.toml").items()
        for row in columns
        if dialect.name in row["dialects"]
        for pattern in [row["pattern"].replace("{N}", _N).encode()]
    ]
    if dialect.scope == "per_device":
        rated = [line for line in dialect.step if {"rate", "rate_k"} & set(line.groups)]
        shapes += [("items_per_s_per_device", line, 1.0, "") for line in rated]
    return shapes


def _texts(path: Path, dialect: Dialect, first: int, last: int | None, to_end: bool) -> Iterator[dict[str, bytes]]:
    """Of each part of the log by place: lines of the window's steps, all lines there ("apart"), all from it on."""
    for chunk in chunks(path, bare=dialect.spans_lines):
        if last is None and chunk.offset > MOST_BYTES:
            return
        if chunk.first_line + chunk.line_ends < first:
            continue
        lines = chunk.text.split(b"\n")
        begin = max(0, first - chunk.first_line)
        text = b"\n".join(lines[begin : len(lines) if last is None else max(0, last - chunk.first_line + 1)]) + b"\n"
        behind = b"\n".join(lines[begin:]) if to_end else b""
        yield {"": b"".join(_whole_lines(text, dialect)), "apart": text, "final": behind}
        if last is not None and last < chunk.first_line + chunk.line_ends and not to_end:
            return


def _whole_lines(text: bytes, dialect: Dialect) -> Iterator[bytes]:
    behind = 0
    for match, _ in matches(text, (*dialect.step, *dialect.final)):
        if match.end() > behind:  # else another match in a line that is taken already
            begin = max(behind, text.rfind(b"\n", 0, match.start()) + 1)
            yield text[begin : text.find(b"\n", match.end()) + 1 or len(text)]
