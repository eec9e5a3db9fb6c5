"""What `dialects --explain` prints: which dialects were considered, what each line is to the chosen one, and why."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evalsuite.commands.printing.i18n import say, worded

if TYPE_CHECKING:
    from evalsuite.logs.explaining import Explanation
    from evalsuite.logs.nearest import Near

INDENT = " " * 8  # the width of a line's number


def sentences(found: "Explanation") -> Iterator[str]:
    if found.sampled:
        yield say("dialects.explain_sampled", parts=worded(found.sampled))
    for candidate in found.candidates:
        yield say("dialects.explain_candidate", name=candidate.name, n=candidate.lines, why=worded(candidate.why))
    if not found.candidates:
        yield say("dialects.explain_none")
    for near in found.nearest:
        yield from _near(near)
    if not found.candidates and not found.nearest:
        yield say("dialects.explain_nothing_near")
    if not found.candidates:
        yield say("dialects.explain_template")
    for line in found.lines:
        yield f"{line.number:>8}  {line.kind:<10}  {worded(line.why)}"
        yield f"{INDENT}  {line.text}"
    if found.counts:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(found.counts.items()))
        yield say("dialects.explain_counts", counts=counts)


def _near(near: "Near") -> Iterator[str]:
    yield say("dialects.explain_near", name=near.name, title=near.title, line=near.number)
    yield f"{INDENT}  {near.text}"
    has = ", ".join(near.found)
    lacks = "; ".join(say("dialects.explain_part", group=part.group, sample=part.sample) for part in near.missing)
    had = say("dialects.explain_lacks", has=has, lacks=lacks) if lacks else say("dialects.explain_order", has=has)
    yield f"{INDENT}  {had}"
    yield f"{INDENT}  {say('dialects.explain_sample', sample=near.sample)}"
