"""What `parse --explain` prints."""

from collections.abc import Iterator
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any

from evalsuite.commands.printing.i18n import say, worded

if TYPE_CHECKING:
    from evalsuite.contracts.dialect import Dialect
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
    step, unit = dialect.step[0], "samples/s" if dialect.unit == "steps/s" else dialect.unit
    scope = dialect.scope if b"(?P<rate" in step.pattern else "global"
    said = vars(dialect) | {"name": "my_script", "title": "who prints it", "scope": scope, "unit": unit}
    others = {each.name: value for each in fields(dialect) if (value := said[each.name]) not in (each.default, {})}
    lines = "".join(f"        {name}={_written(value)},\n" for name, value in others.items())
    used = filter(None, (getattr(step.fields, "func", step.fields), dialect.second))
    names = "".join(f"from {kind.__module__} import {kind.__name__}\n" for kind in used)
    head = "from functools import partial\n\n" if isinstance(step.fields, partial) else ""
    head += f"from evalsuite.contracts.dialect import Dialect, line\n{names}"
    return f"{head}\nDIALECTS = (\n    Dialect(\n{lines}    ),\n)"


def _written(value: Any) -> str:
    """As people write it: a pattern without doubled backslashes."""
    if isinstance(value, tuple):
        said = ((name, getattr(value[0], name)) for name in ("pattern", "sample", "source", "fields"))
        parts = "".join(f"            {name}={_written(one)},\n" for name, one in said if one)
        return f"line(\n{parts}        )"
    if isinstance(value, partial):
        return f"partial({', '.join([value.func.__name__, *map(repr, value.args)])})"
    raw = f'rb"{value.decode("utf-8", "replace")}"' if isinstance(value, bytes) else ""
    plain = raw.isascii() and raw.count('"') == 2 and "\n" not in raw and "\r" not in raw and "\\" in raw
    return raw if plain else value.__name__ if callable(value) else repr(value)
