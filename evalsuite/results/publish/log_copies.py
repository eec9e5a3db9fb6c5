"""Copies of logs for others: each secret is overwritten by as many `*`, so lines and places stay what they were. What
was packed or in UTF-16 is copied as its text."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsuite.core import redaction
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Measurement
from evalsuite.logs.text import logfile
from evalsuite.runs.store import Store

_KEY_BEGINS = b"-----BEGIN PRIVATE KEY-----"
_KEY_EDGE = re.compile(rb"-----(BEGIN|END)[ A-Z]*PRIVATE KEY-----")


@dataclass(frozen=True, kw_only=True)
class LogCopy:
    run_id: str
    name: str  # below the folder of runs: CASE/r0/log.HOST.txt
    file: Path

    def pieces(self) -> Iterator[bytes]:
        """The copy, in order. Raises EvalsuiteError where the log can be read no further."""
        try:
            yield from masked(raw for raw, _ in logfile.pieces(self.file))
        except logfile.Unreadable as error:
            raise EvalsuiteError.of("results.log_copy", path=self.name, error=error) from error


Logs = Callable[[Sequence[Measurement]], Iterator[LogCopy]]


def of(store: Store, runs: Sequence[Measurement]) -> Iterator[LogCopy]:
    for run in runs:
        folder = store.folder(run.run)
        for log in folder.logs():
            yield LogCopy(run_id=run.run.id, name=f"{folder.place}/{log.name}", file=log.path)


def masked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """*pieces* of whole lines less their secrets; a private key may go over several of them."""
    inside = False
    for piece in pieces:
        before = _KEY_BEGINS if inside else b""
        yield redaction.mask_secrets(before + piece)[len(before) :]
        edges = _KEY_EDGE.findall(piece)
        inside = edges[-1] == b"BEGIN" if edges else inside
