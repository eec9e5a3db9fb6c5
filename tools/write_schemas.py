"""Writes what the decoder's own types say of the files that people write: data/schema/*.schema.json and docs/keys.md.

    python tools/write_schemas.py

A schema knows types, ranges and names; what a key means stands in docs/site/reference.toml, in both languages.
"""

import json
import re
import sys
import tomllib
import types
from dataclasses import MISSING, fields, is_dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))

from evalsuite.contracts import own_script
from evalsuite.core.decode import Constraint, From
from evalsuite.plan import spec
from evalsuite.report.sections.author import author_file
from evalsuite.results.judge import criteria

KINDS: dict[str, Any] = {"spec": spec._SpecFile, "participants": own_script.ParticipantsFile}
KINDS |= {"criteria": criteria.Criteria, "author": author_file._AuthorFile}
MEANS: dict[str, Any] = tomllib.loads((HOUSE / "docs" / "site" / "reference.toml").read_text(encoding="utf-8"))
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
MEANS["part"] = MEANS["spec"]
SIMPLE: dict[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string", "minLength": 1},
    date: {"type": "string", "format": "date"},
}
RULES = {  # of a constraint's name → what a schema says of it
    "at_least": lambda rule: {"minimum": rule["least"]},
    "above": lambda rule: {"exclusiveMinimum": rule["least"]},
    "between": lambda rule: {"minimum": rule["least"], "maximum": rule["most"]},
    "one_of": lambda rule: {"enum": [*rule["names"]]},
    "filled": lambda rule: {"minItems": 1},
    "each_once": lambda rule: {"uniqueItems": True},
    "share": lambda rule: {"exclusiveMinimum": 0, "maximum": 1},
    "percent": lambda rule: {"exclusiveMinimum": 1, "maximum": 100},
}


def main() -> None:
    for name, text in written().items():
        (HOUSE / name).write_text(text, encoding="utf-8")


def written() -> dict[str, str]:
    """File → its text."""
    made = {kind: schema(kind) for kind in KINDS}
    texts = {f"data/schema/{kind}.schema.json": f"{json.dumps(each, indent=1)}\n" for kind, each in made.items()}
    return texts | {"docs/keys.md": page(made, "en"), "docs/keys.zh.md": page(made, "zh")}


def schema(kind: str) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    whole = _table(KINDS[kind], parts, kind)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"evalsuite: {kind}"}
    return {**head, **whole, "$defs": dict(sorted(parts.items()))}


def name_of(cls: Any) -> str:
    """As the reference has it: `OwnColumn` → `own_column`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__.strip("_")).lower()


def _table(cls: Any, parts: dict[str, Any], name: str) -> dict[str, Any]:
    hints, means = get_type_hints(cls, include_extras=True), MEANS[name]
    properties = {
        field.name: {**_value(hints[field.name], parts), "description": LINK.sub(r"\1", means[field.name]["en"])}
        for field in fields(cls)
    }
    needed = [field.name for field in fields(cls) if field.default is MISSING is field.default_factory]
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def _value(hint: Any, parts: dict[str, Any]) -> dict[str, Any]:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        found = _value(inner[0], parts) if not any(isinstance(each, From) for each in inner) else {}
        for rule in inner[1:]:
            found = _value(rule.raw, parts) if isinstance(rule, From) else {**found, **_ruled(rule, found)}
        return found
    if origin in (Union, types.UnionType):
        several = [_value(each, parts) for each in inner if each is not types.NoneType]
        return several[0] if len(several) == 1 else {"anyOf": several}
    if origin is Literal:
        return {"enum": [*inner]}
    if origin is tuple:
        return {"type": "array", "items": _value(inner[0], parts)}
    if origin is not None:  # Mapping[str, …]
        names, values = (_value(each, parts) for each in inner)
        return {"type": "object", "propertyNames": names, "additionalProperties": values}
    if is_dataclass(hint):
        name = name_of(hint)
        parts.setdefault(name, None)
        parts[name] = parts[name] or _table(hint, parts, name)
        return {"$ref": f"#/$defs/{name}"}
    return {**SIMPLE.get(hint, {})}


def _ruled(rule: Constraint, found: dict[str, Any]) -> dict[str, Any]:
    pattern = getattr(rule.fits, "__self__", None)
    if isinstance(pattern, re.Pattern):
        return {"pattern": f"^(?:{pattern.pattern})$"}
    return RULES.get(rule.name, lambda values: {})(dict(rule.values))


def page(schemas: dict[str, Any], language: str) -> str:
    words, lines = MEANS["words"][language], []
    tables = {name: part for kind, whole in schemas.items() for name, part in {kind: whole, **whole["$defs"]}.items()}
    for name, part in tables.items():
        if name != "part":  # keys of a spec, again
            lines += ["", f"## {name}", "", words["row"], "|---|---|---|"]
            for key, value in part["properties"].items():
                shown = _shown(value, words) + words["needed"] * (key in part["required"])
                lines.append(f"| `{key}` | {shown} | {MEANS[name][key][language]} |")
    for section, mark in (("placeholders", "{%s}"), ("variables", "%s")):
        lines += ["", f"## {words[section]}", "", words["variable_row"], "|---|---|"]
        lines += [f"| `{mark % name}` | {row[language]} |" for name, row in MEANS[section].items()]
    return "\n".join([f"# {words['title']}", "", words["head"].strip(), *lines, ""])


def _shown(value: dict[str, Any], words: dict[str, Any]) -> str:
    match value:
        case {"$ref": ref}:
            name = ref.rpartition("/")[2]
            return f"[{name}](#{'spec' if name == 'part' else name})"
        case {"anyOf": several}:
            return words["or"].join(_shown(each, words) for each in several)
        case {"enum": names}:
            return words["or"].join(f"`{name}`" for name in names)
        case {"type": "array", "items": items}:
            return words["list"].format(_shown(items, words))
        case {"type": "object"}:
            return words["table"]
        case {"format": "date"}:
            return words["date"]
        case {"type": kind}:
            least, most = (value.get(name) for name in ("minimum", "maximum"))
            return words[kind] + (f" {least}…{most}" if least is not None and most is not None else "")
    return words["any"]


if __name__ == "__main__":
    main()
