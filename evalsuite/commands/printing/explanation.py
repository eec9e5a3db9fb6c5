"""What `dialects --explain` prints: which dialects were considered, what each line is to the chosen one, and why."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evalsuite.commands.printing.i18n import say, worded

if TYPE_CHECKING:
    from evalsuite.logs.explaining import Explanation
    from evalsuite.logs.unknown.groups import Group

INDENT = " " * 8  # the width of a line's number


def sentences(found: "Explanation") -> Iterator[str]:
    if found.sampled:
        yield say("dialects.explain_sampled", parts=worded(found.sampled))
    for candidate in found.candidates:
        yield say("dialects.explain_candidate", name=candidate.name, n=candidate.lines, why=worded(candidate.why))
    if not found.candidates:
        yield say("dialects.explain_none")
    for group in found.groups:
        yield from _group(group)
    if not found.candidates:
        yield say("dialects.explain_declare" if found.template else "dialects.explain_template")
    if found.template:
        yield found.template
    for line in found.lines:
        yield f"{line.number:>8}  {line.kind:<10}  {worded(line.why)}"
        yield f"{INDENT}  {line.text}"
    if found.counts:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(found.counts.items()))
        yield say("dialects.explain_counts", counts=counts)


def _group(group: "Group") -> Iterator[str]:
    yield say("dialects.explain_group", n=group.count, line=group.line, last=group.last)
    yield f"{INDENT}  {group.text}"
    taken = say("dialects.explain_taken", roles=group.said) if group.said else ""
    lacks = say("dialects.explain_lacks", why=worded(group.lacks)) if group.lacks else ""
    yield f"{INDENT}  {'; '.join(filter(None, (taken, lacks)))}"
