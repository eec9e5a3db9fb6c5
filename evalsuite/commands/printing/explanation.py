"""What `dialects --explain` prints."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evalsuite.commands.printing.i18n import say, worded

if TYPE_CHECKING:
    from evalsuite.dialect import Dialect
    from evalsuite.logs.explaining import Explanation
    from evalsuite.logs.unknown.groups import Group

INDENT = " " * 8  # the width of a line's number


def sentences(explanation: "Explanation") -> Iterator[str]:
    if explanation.sampled:
        yield say("dialects.explain_sampled", parts=worded(explanation.sampled))
    for candidate in explanation.candidates:
        yield say("dialects.explain_candidate", name=candidate.name, n=candidate.lines, why=worded(candidate.why))
    if not explanation.candidates:
        yield say("dialects.explain_none")
    for group in explanation.groups:
        yield from _group(group)
    declared = next((group.dialect for group in explanation.groups if group.dialect), None)
    if not explanation.candidates:
        yield say("dialects.explain_declare" if declared else "dialects.explain_template")
    if declared:
        yield declaration(declared)
    for line in explanation.lines:
        yield f"{line.number:>8}  {line.kind:<10}  {worded(line.why)}"
        yield f"{INDENT}  {line.text}"
    if explanation.counts:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(explanation.counts.items()))
        yield say("dialects.explain_counts", counts=counts)


def _group(group: "Group") -> Iterator[str]:
    yield say("dialects.explain_group", n=group.count, line=group.line, last=group.last)
    yield f"{INDENT}  {group.text}"
    taken = say("dialects.explain_taken", roles=worded(group.outline)) if group.outline else ""
    lacks = say("dialects.explain_lacks", why=worded(group.lacks)) if group.lacks else ""
    yield f"{INDENT}  {'; '.join(filter(None, (taken, lacks)))}"


def declaration(dialect: "Dialect") -> str:
    """The template of docs/adding-a-dialect.md, with what was found in this log."""
    step = dialect.step[0]
    fields = {"name": "my_script", "title": "who prints it", "framework": None, "averaging": dialect.averaging}
    fields |= {"unit": dialect.unit, "scope": dialect.scope, "steps_restart": dialect.steps_restart}
    said: dict[str, str | bytes] = {
        "pattern": step.pattern,
        "sample": step.sample,
        "source": "OWNER/REPOSITORY@COMMIT:FILE",
    }
    lines = "".join(f"        {name}={value!r},\n" for name, value in fields.items())
    parts = "".join(f"            {name}={_literal(value)},\n" for name, value in said.items())
    head = "from evalsuite.dialect import Dialect, line\n\nDIALECTS = (\n    Dialect(\n"
    return f"{head}{lines}        step=line(\n{parts}        ),\n    ),\n)"


def _literal(value: str | bytes) -> str:
    """As people write it: a pattern without doubled backslashes."""
    raw = f'rb"{value.decode("utf-8", "replace")}"' if isinstance(value, bytes) else ""
    plain = raw.isascii() and raw.count('"') == 2 and "\n" not in raw and "\r" not in raw and "\\" in raw
    return raw if plain else repr(value)
