"""What happened to a run beside its steps, as its log says: a loss that is no number, a resume, a second run."""

import re
from collections.abc import Iterator

from evalsuite.dialect import Dialect
from evalsuite.findings import BeginsAgain, LossNotANumber, Resumed
from evalsuite.logs.text.logfile import Chunk
from evalsuite.model import Finding

QUOTED_CHARACTERS = 120
SHORTEST_ANCHOR = 6  # bytes; what is shorter stands in a log by chance
# Loss nan (6.7e+00) · train_loss: nan · "loss": NaN · lm loss: NAN
_NAN_LOSS = re.compile(rb"(?i)loss[\w/-]{0,16}\"?[ \t:=(]{1,4}nan\b")
# Resuming from checkpoint /ckpt/model.pt · resumed from epoch 3 · => loaded checkpoint 'checkpoint.pth.tar' (epoch 3)
_RESUMED = re.compile(
    rb"(?i:\bresum(?:ing|ed) (?:training )?(?:from|at)\b)[^\r\n]{0,200}|=> loaded checkpoint '[^\r\n]{0,200}"
)


class Incidents:
    """A loss that is no number, a resume, a second run in one log."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._anchor: bytes | None = None  # what the first step line says before and of its number
        self._nan_line: int | None = None
        self._resumed: tuple[int, str] | None = None
        self._again_line: int | None = None

    def add(self, chunk: Chunk, *, only_steps: bool = False) -> None:
        text = chunk.text
        self._begin(text)
        spelt = b"nan" in text or (b"N" in text and (b"NaN" in text or b"NAN" in text))  # a byte is found 10 x faster
        if self._nan_line is None and spelt:
            self._nan_line = _line(chunk, _NAN_LOSS.search(text))
        if self._resumed is None and not only_steps and (b"esum" in text or b"=> loaded" in text):
            found = _RESUMED.search(text)
            line = _line(chunk, found)
            if found is not None and line is not None:
                self._resumed = line, found[0].decode("utf-8", "replace")[:QUOTED_CHARACTERS]

    def behind(self, chunk: Chunk, begin: int) -> None:
        """What lies after the window, from *begin* on."""
        self._begin(chunk.text)
        if self._again_line is None and self._anchor:
            at = chunk.text.find(self._anchor, begin)
            if at >= 0:
                self._again_line = chunk.first_line + chunk.text.count(b"\n", 0, at)

    def _begin(self, text: bytes) -> None:
        if self._anchor is None:
            self._anchor = _anchor(text, self._dialect)

    def findings(self) -> Iterator[Finding]:
        if self._again_line is not None:
            yield BeginsAgain(line=self._again_line)
        if self._resumed is not None:
            yield Resumed(line=self._resumed[0], text=self._resumed[1])
        if self._nan_line is not None:
            yield LossNotANumber(line=self._nan_line)


def _line(chunk: Chunk, match: "re.Match[bytes] | None") -> int | None:
    return None if match is None else chunk.first_line + chunk.text.count(b"\n", 0, match.start())


def _anchor(text: bytes, dialect: Dialect) -> bytes | None:
    """The first step line up to its number; b"" where that is not its place in the run."""
    present = [line for line in dialect.step if line.literal in text]
    found = [match for line in present if (match := line.compiled.search(text)) is not None]
    if not found:
        return None
    match = min(found, key=lambda one: one.start())
    groups = match.re.groupindex
    needed = ("step", "epoch") if dialect.steps_restart == "epoch" else ("step",)
    if any(name not in groups or match[name] is None for name in needed):
        return b""
    anchor = text[match.start() : max(match.end(name) for name in needed) + 1]
    return anchor if len(anchor) >= SHORTEST_ANCHOR else b""
