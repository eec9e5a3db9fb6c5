"""Why a run ended badly: the decisive line after the last sign of training, and what kind of failure it is."""

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evalsuite import paths
from evalsuite.messages import Message

REASON_CHARACTERS = 300


@dataclass(frozen=True, kw_only=True)
class Failure:
    kind: str
    text: str
    line: int

    @property
    def reason(self) -> str:
        """The line as printed, less what looks like a secret."""
        from evalsuite.redaction import redact  # its patterns cost as much as to read a log, and few logs end so

        return Message(
            "logs.failure_line",
            kind=Message(f"logs.failure_{self.kind.replace(' ', '_')}"),
            line=self.line,
            text=redact(self.text),
        )


_SURVIVED = re.compile(rb"not a failure|[Ww]arning|\bWARN\b|\bINFO\b|retry")
_TRACEBACK = b"Traceback (most recent call last)"
# RuntimeError: ImageNet requires GPU support.
_EXCEPTION = re.compile(rb"[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Iteration|Failure|Failed)\b(?=:|\s*$|\\n)")


@functools.cache
def _ranks() -> list[dict[str, "re.Pattern[bytes]"]]:
    """Compiled at the first use: many logs have no lines after their training."""
    ranks = paths.read_data("failures.toml")["rank"]
    return [
        {kind: re.compile("|".join(parts).encode(), re.MULTILINE) for kind, parts in rank.items()} for rank in ranks
    ]


def failure(lines: Iterable[tuple[int, bytes]]) -> Failure | None:
    """None if nothing in *lines* (number, text) says so."""
    lines = [(number, text) for number, text in lines if text.strip()]
    if not lines:
        return None
    exceptions, whole = list(_exceptions(lines)), b"\n".join(text for _, text in lines)
    for rank, patterns in enumerate(_ranks()):
        present = {kind: pattern for kind, pattern in patterns.items() if pattern.search(whole)}
        hits = [hit for kind, pattern in present.items() if (hit := _first(lines, kind, pattern))]
        if rank == 1:
            hits += exceptions[:1]  # an exception says as much as a broken connection: the earlier one wins
        if hits:
            return min(hits, key=lambda hit: hit.line)
    return None


def _first(lines: list[tuple[int, bytes]], kind: str, pattern: "re.Pattern[bytes]") -> Failure | None:
    for number, text in lines:
        if pattern.search(text) and not _SURVIVED.search(text):
            return Failure(kind=kind, text=shown(text), line=number)
    return None


def _exceptions(lines: list[tuple[int, bytes]]) -> Iterator[Failure]:
    column, said = -1, None
    for number, text in lines:
        at = text.find(_TRACEBACK)
        if at >= 0:
            column, said = at, (number, text)
        elif column >= 0:
            match = _EXCEPTION.match(text, column)
            if match:
                yield Failure(kind=_kind(match[0]), text=shown(text[column:]), line=number)
                column, said = -1, None
    if said is not None:
        yield Failure(kind="Python exception", text=shown(said[1]), line=said[0])


def _kind(name: bytes) -> str:
    return "interrupted" if name.endswith((b"KeyboardInterrupt", b"SystemExit")) else "Python exception"


def shown(text: bytes) -> str:
    """As a sentence may quote it: no control characters, not too long."""
    plain = "".join(c if c.isprintable() else " " for c in text.decode("utf-8", "replace")).strip()
    return plain if len(plain) <= REASON_CHARACTERS else plain[: REASON_CHARACTERS - 1] + "…"
