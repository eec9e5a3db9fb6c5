"""What a log says of its job: by lines of its dialect, and by one list of how scripts spell batch and devices."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache

from evalsuite import paths
from evalsuite.dialect import Dialect, Line
from evalsuite.logs.text.intact import WIDTHS, may_be_cut, unfolded
from evalsuite.logs.text.logfile import Piece
from evalsuite.logs.text.records import is_whole, matches

FACT_BYTES = 1 << 20  # they are printed before or soon after the start
OVERRULING = frozenset({"reduced_batch"})  # the last counts, not the first
PIECES = ("tokens/s", "words/s")  # an item of the batch holds many of them
_GOES_ON = re.compile(rb"\d[.,]\d")  # a number after the end of a match
# the header of our own reference workloads, whatever dialect they print in
HEADER = Line(
    pattern=rb"reference workload: [^\r\n]*?\bbatch_per_device=(?P<batch_per_device>\d+) processes=(?P<devices>\d+)",
    sample=b"reference workload: framework=mxnet version=1.9.1 model=resnet50_v1.5 batch_per_device=8 processes=2",
    source="evalsuite adapters/workloads/common.py, announce_case()",
)
# what it is where no dialect says so: arguments of a script, of whose steps nobody knows whether they are whole ones
_ARGUED = {
    "per_device": "argued_batch_per_device",
    "all": "argued_global_batch",
    "accumulation": "argued_parts",
    "parts": "argued_parts",
    "train": "bare_batch",
    "bare": "bare_batch",
    "devices": "world_size",
}
_BATCHES = frozenset({"batch_per_device", "global_batch", "reduced_batch"})
_WORD = re.compile(
    rb"batch|accum|samples[_.]per|world.size|num.gpus|gpu.number|[gct]pus *:|devices|nodes|tokens[ /]|seq|block|dp_rep"
)
# dp_replicate=1, dp_shard=8, cp=1, tp=1, pp=1: an expert's devices are among these
_MESH = re.compile(rb"\bdp_replicate[=:] ?(\d+), dp_shard[=:] ?(\d+), cp[=:] ?(\d+), tp[=:] ?(\d+)(?:, pp[=:] ?(\d+))?")
_BETWEEN = r"['\"]?(?:[ \t]{0,24}[:=][ \t]{0,3}|(?<=[a-z])[ \t]|, \"value\": | \.{3,} ?)"
_VALUE = r"(?P<value>\d{1,3}(?:,\d{3})+|\d{1,9})(?![\w.,]*\d)(?!\.\w)"


@cache
def _spelling() -> "re.Pattern[bytes]":
    kinds = paths.read_data("job_facts.toml")["spelling"]
    names = ["|".join(kind["names"]).replace(" ", "[_. -]") for kind in kinds]
    before = [kind.get("before", r"(?<!\w )") for kind in kinds]
    named = [f"{lead}(?P<{kind['kind']}>{name})" for kind, name, lead in zip(kinds, names, before, strict=True)]
    return re.compile(rf"(?i)(?<![\w-])(?:--)?(?:{'|'.join(named)}){_BETWEEN}{_VALUE}".encode())


def spelt(text: bytes) -> Iterator[tuple[str, bytes, bytes]]:
    """(kind, number, as printed) of what lines say of the job. Found by a word first: nearly no line has one."""
    low, end = text.lower(), 0
    while found := _WORD.search(low, end):
        begin, end = text.rfind(b"\n", 0, found.start()) + 1, text.find(b"\n", found.start())
        end = len(text) if end < 0 else end
        for line in text[begin:end].split(b"\r"):
            for match in _spelling().finditer(line):
                kind, name = next(pair for pair in match.groupdict().items() if pair[1] is not None)
                variable = name.isupper() and kind != "devices"  # MICRO_BATCH_SIZE=4, of a shell
                if not variable and (match.end() < len(line) or len(line) not in WIDTHS):
                    yield kind, match["value"], match[0].strip(b"- ")
            if mesh := _MESH.search(line):
                yield "devices", b"%d" % math.prod(int(part) for part in mesh.groups(b"1")), mesh[0]


@cache
def _prints_batch(dialect: Dialect) -> bool:
    named = (*dialect.named_facts.values(), *(group for line in dialect.lines for group in line.groups))
    return not _BATCHES.isdisjoint(named)


@dataclass
class FactCollector:
    """What the log says of the job, by names of `dialect.GROUPS`; what its dialect does not name, as arguments."""

    dialect: Dialect
    said: dict[str, bytes | float] = field(default_factory=dict)
    is_altered: bool = False  # is a fact whole only where folded lines are joined?
    _begun: bool = False  # arguments are printed before the first step

    def add(self, piece: Piece) -> None:
        if piece.steps_alone or piece.chunk.offset >= FACT_BYTES:
            return
        text = piece.chunk.text
        for match, line in matches(text, (HEADER, *self.dialect.facts)):
            if not is_whole(match, line) or _GOES_ON.match(text, match.end() - 1) or may_be_cut(match, line):
                continue  # 491 of 491,520
            for name, value in (line.read(match) or {}).items():
                if name in OVERRULING and value is not None:
                    self.said[name] = value
                elif value is not None:
                    self.said.setdefault(name, value)
        if not self._begun:
            for kind, value, shown in spelt(text):
                self._take(kind, value, shown)
            self._begun = bool(piece.records)
            if not self.is_altered and (whole := unfolded(text)):
                other = FactCollector(self.dialect, dict(self.said))
                other.add(Piece(chunk=replace(piece.chunk, text=whole)))
                self.is_altered = other.said.keys() != self.said.keys()

    def _take(self, kind: str, value: bytes, shown: bytes) -> None:
        tokens = kind == "tokens" and self.dialect.unit in PIECES
        if name := "global_batch" if tokens else self.dialect.named_facts.get(kind):
            self.said.setdefault(name, value)
            return
        name = _ARGUED.get(kind)
        default = value == b"1" and kind in ("accumulation", "devices")  # says nothing
        asked = kind == "devices" or not _prints_batch(self.dialect)
        if name and asked and not default and b"," not in value and name not in self.said:
            self.said |= {name: value, f"{name}_text": shown}
