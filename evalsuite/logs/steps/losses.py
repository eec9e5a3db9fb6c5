"""The loss of a training over its steps, by the first rank that prints."""

import itertools
import math
import statistics
from pathlib import Path

from evalsuite.contracts.dialect import Dialect
from evalsuite.core.findings import LossNotFalling
from evalsuite.core.model import LossCurve, by_key
from evalsuite.logs.text.logfile import chunks
from evalsuite.logs.text.records import Extractor, Record

FEWEST = LossNotFalling.fewest
STRETCHES = 32
MOST_BYTES = 1 << 22
MOST_REDONE = 100
LARGEST = 1e100  # its square is a number, too


def read_losses(path: Path, dialect: Dialect, printers: int) -> LossCurve | None:
    """None of steps without numbers, in a later epoch, or of ranks that nothing names."""
    share, records = min(1.0, MOST_BYTES / max(1, path.stat().st_size)), list[Record]()
    for chunk in chunks(path, bare=dialect.spans_lines):
        part, _ = chunk.lines_from(0, math.ceil(share * len(chunk.text)))
        Extractor(dialect).extend(records, part)
    own = (line for line in records if line.rank == records[0].rank)
    ours = [line for line in own if line.step is not None and line.loss is not None and abs(line.loss) < LARGEST]
    if len(ours) < FEWEST or (printers > 1 and records[0].rank is None):
        return None
    first = ours[0].epoch or 0
    by_epoch = dialect.steps_restart == "epoch" and ours[0].epoch is not None
    if by_epoch and first > 1:
        return None
    length = max(line.of or (line.step or 0) + 1 for line in ours) if by_epoch else 0
    passed = [((line.epoch or 0) - first) * length + (line.step or 0) for line in ours]
    losses = list(zip(passed, (line.loss or 0.0 for line in ours), strict=True))
    at = next((at for at, (before, after) in enumerate(itertools.pairwise(passed), 1) if after <= before), len(ours))
    earlier, held = dict(losses[:at]), dict(losses)
    gone_on = passed[at:][:MOST_REDONE] if passed[at:] and passed[at] > passed[0] else []  # else it is begun anew
    redone = tuple((step, earlier[step], held[step]) for step in gone_on if step in earlier)
    gap = statistics.median(after - before for before, after in itertools.pairwise(passed))
    begins = passed[0] - 1 if passed[0] > 2 * gap + 1 else 0
    again = passed[at] if at < len(ours) else begins or None
    width = max(held) / STRETCHES
    inside = by_key((min(STRETCHES, max(1, math.ceil(step / width))), loss) for step, loss in sorted(held.items()))
    points = tuple((round(number * width), statistics.fmean(each)) for number, each in sorted(inside.items()))
    return LossCurve(points=points, resumed_at=again, redone=redone, reports=len(held))
