"""The published schema of `summary.json`, and a file held against it."""

import functools
import json
import re
from collections.abc import Mapping
from typing import Any

from evalsuite import paths
from evalsuite.decode import Kind, Mistake, Wrong, fits, inside, message, optional, refuse

FILE = "data/schema/summary.schema.json"


@functools.cache
def published() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((paths.DATA / "schema" / "summary.schema.json").read_text(encoding="utf-8"))
    return found


@functools.cache
def kind() -> Kind:
    return _kind(published())


def _kind(schema: Mapping[str, Any]) -> Kind:
    if "$ref" in schema:
        return _defined(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return optional(_kind(schema["anyOf"][0]))  # the other is null
    if "items" in schema:
        return _list(schema)
    if schema.get("type") == "object":
        return _object(schema)
    return Kind(functools.partial(message, "schema_value", wanted=_wanted(schema)), functools.partial(_leaf, schema))


def _list(schema: Mapping[str, Any]) -> Kind:
    items = _kind(schema["items"])
    found = _of_parts(list, "list", lambda found: [(items, f"[{place}]", each) for place, each in enumerate(found)])
    return optional(found) if "null" in schema["type"] else found


@functools.cache
def _defined(name: str) -> Kind:
    return _kind(published()["$defs"][name])


def _object(schema: Mapping[str, Any]) -> Kind:
    keys = {name: _kind(each) for name, each in schema.get("properties", {}).items()}
    other = _kind(schema["additionalProperties"]) if "additionalProperties" in schema else None

    def parts(found: Mapping[str, Any]) -> list[tuple[Kind, str, object]]:
        missing = [(_MISSING, name, None) for name in schema.get("required", ()) if name not in found]
        named = [(keys.get(name, other), name, each) for name, each in found.items()]
        return [*missing, *((each, name, value) for each, name, value in named if each is not None)]

    return _of_parts(dict, "object", parts)


def _of_parts(type_: type, name: str, parts: Any) -> Kind:
    def take(found: Any) -> Any:
        if not isinstance(found, type_):
            refuse(found, message(name))
        if wrong := inside(parts(found)):
            raise Wrong(wrong)
        return found

    return Kind(functools.partial(message, name), take)


def _miss(found: object) -> Any:
    raise Wrong([Mistake("", message("missing", expected=message("anything")))])


_MISSING = Kind(functools.partial(message, "anything"), _miss)
_TYPES: Mapping[str, Any] = {"boolean": bool, "integer": int, "number": float, "string": str}


def _leaf(schema: Mapping[str, Any], found: Any) -> Any:
    types = schema.get("type", ())
    names = [types] if isinstance(types, str) else types
    is_one = (
        not names
        or (found is None and "null" in names)
        or any(fits(found, _TYPES[name]) for name in names if name != "null")
    )
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    allowed = (
        found in schema.get("enum", (found,))
        and found == schema.get("const", found)
        and (not isinstance(found, str) or re.search(schema.get("pattern", ""), found))
        and (not is_number or found >= schema.get("minimum", found))
        and (not is_number or "exclusiveMinimum" not in schema or found > schema["exclusiveMinimum"])
        and (not is_number or found <= schema.get("maximum", found))
    )
    return found if is_one and allowed else refuse(found, message("schema_value", wanted=_wanted(schema)))


def _wanted(schema: Mapping[str, Any]) -> str:
    return json.dumps({word: value for word, value in schema.items() if word != "description"})
