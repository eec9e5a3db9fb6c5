"""The published schema of `summary.json`, and a file held against it."""

import functools
import json
import re
from collections.abc import Mapping
from typing import Any

from evalsuite.core import paths
from evalsuite.core.decode import Kind, Mistake, Wrong, inside, message, mistakes_of, optional, refuse

FILE = "data/schema/summary.schema.json"


@functools.cache
def published() -> Mapping[str, Any]:
    row: Mapping[str, Any] = json.loads((paths.DATA / "schema" / "summary.schema.json").read_text(encoding="utf-8"))
    return row


@functools.cache
def kind() -> Kind:
    return _kind(published())


def _kind(schema: Mapping[str, Any]) -> Kind:
    if "$ref" in schema:
        return _kind(published()["$defs"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return optional(_kind(schema["anyOf"][0]))  # the other is null
    if "items" in schema:
        item = _kind(schema["items"])
        values = _of_parts(
            list, "list", lambda values: [(item, f"[{place}]", each) for place, each in enumerate(values)]
        )
        return optional(values) if "null" in schema["type"] else values
    if schema.get("type") == "object":
        return _object(schema)
    return Kind(functools.partial(message, "schema_value", wanted=_wanted(schema)), functools.partial(_leaf, schema))


def _object(schema: Mapping[str, Any]) -> Kind:
    keys = {name: _kind(each) for name, each in schema.get("properties", {}).items()}
    other = _kind(schema["additionalProperties"]) if "additionalProperties" in schema else None

    def parts(row: Mapping[str, Any]) -> list[tuple[Kind, str, object]]:
        missing = [(_MISSING, name, None) for name in schema.get("required", ()) if name not in row]
        named = [(keys.get(name, other), name, each) for name, each in row.items()]
        return [*missing, *((each, name, value) for each, name, value in named if each is not None)]

    return _of_parts(dict, "object", parts)


def _of_parts(type_: type, name: str, parts: Any) -> Kind:
    def take(value: Any) -> Any:
        if not isinstance(value, type_):
            refuse(value, message(name))
        if wrong := inside(parts(value)):
            raise Wrong(wrong)
        return value

    return Kind(functools.partial(message, name), take)


def _miss(value: object) -> Any:
    raise Wrong([Mistake("", message("missing", expected=message("anything")))])


_MISSING = Kind(functools.partial(message, "anything"), _miss)
_TYPES: Mapping[str, Any] = {"boolean": bool, "integer": int, "number": float, "string": str}


def _leaf(schema: Mapping[str, Any], value: Any) -> Any:
    types = schema.get("type", ())
    names = [types] if isinstance(types, str) else types
    is_one = (
        not names
        or (value is None and "null" in names)
        or any(not mistakes_of(value, _TYPES[name]) for name in names if name != "null")
    )
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    allowed = (
        value in schema.get("enum", (value,))
        and value == schema.get("const", value)
        and (not isinstance(value, str) or re.search(schema.get("pattern", ""), value))
        and (not is_number or value >= schema.get("minimum", value))
        and (not is_number or "exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"])
        and (not is_number or value <= schema.get("maximum", value))
    )
    return value if is_one and allowed else refuse(value, message("schema_value", wanted=_wanted(schema)))


def _wanted(schema: Mapping[str, Any]) -> str:
    return json.dumps({word: value for word, value in schema.items() if word != "description"})
