"""How good the model was after each epoch, as the log prints it (docs/report.md#convergence)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from evalsuite.dialect import SCORE, Dialect
from evalsuite.logs.text.logfile import Chunk
from evalsuite.logs.text.records import is_whole, matches, number, printer, whole
from evalsuite.model import Score

MOST_LINES = 20_000  # of one log: memory stays bounded


Split = Literal["train", "validation"]
Value = tuple[Split, str, float]
"""(split, metric, value)"""


@dataclass(frozen=True, kw_only=True)
class Printed:
    """One line as it was printed."""

    epoch: int | None
    elapsed_s: float | None
    values: tuple[Value, ...]
    end: int  # offset just after the line, for its arrival
    line: int


class ScoreCollector:
    """The scores in one log."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._found: list[Printed] = []
        self._rank: str | None = None

    def add(self, chunk: Chunk) -> None:
        if not self._dialect.scores or len(self._found) >= MOST_LINES:
            return
        text = chunk.text
        for match, line in matches(text, self._dialect.scores):
            fields = (line.read(match) if is_whole(match, line) else None) or {}
            known = tuple(one for name, text in fields.items() if (one := _value(name, text)) is not None)
            begin = text.rfind(b"\n", 0, match.start()) + 1
            if known and self._first_rank(printer(text[begin : match.start()])):
                end = text.find(b"\n", match.end()) + 1 or len(text)
                self._found.append(
                    Printed(
                        epoch=whole(fields.get("epoch")),
                        elapsed_s=number(fields.get("elapsed_s")),
                        values=known,
                        end=chunk.raw_offset(end),
                        line=chunk.first_line + text.count(b"\n", 0, match.start()),
                    )
                )

    def _first_rank(self, rank: str | None) -> bool:
        """Only the rank that prints first is read: each has its own share of the data."""
        if not self._found:
            self._rank = rank
        return rank == self._rank

    def scores(self, arrival: Callable[[int], float | None] | None) -> tuple[Score, ...]:
        """By epoch; the first of each metric and split, where an epoch is printed again."""
        found: dict[tuple[int, Split, str], Score] = {}
        for place, one in enumerate(self._found, 1):
            epoch = place if one.epoch is None else one.epoch - self._dialect.first_epoch + 1
            at_s = one.elapsed_s if one.elapsed_s is not None else arrival(one.end) if arrival else None
            for split, metric, value in one.values:
                score = Score(metric=metric, split=split, value=value, epoch=epoch, at_s=at_s, line=one.line)
                found.setdefault((epoch, split, metric), score)
        return tuple(found[key] for key in sorted(found))


def _value(name: str, text: bytes | float | None) -> Value | None:
    """Shares of 1 become per cent, errors what is right. None if it is no score, or no number."""
    score, value = SCORE.fullmatch(name), number(text)
    if score is None or value is None:
        return None
    split: Split = "train" if score[1] == "train" else "validation"
    metric, form = score[2], score[3]
    if form == "_error_share":
        value = 1 - value
    return (split, metric, round(value * 100, 6) if form else value)
