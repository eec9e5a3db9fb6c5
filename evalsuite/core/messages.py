"""What evalsuite says of a problem: an id and values, worded in every language.

A `Message` is its English wording, and goes wherever a text goes: into an error, a reason, a JSON file.

    raise EvalsuiteError.of("plan.unknown_key", path=path, key=key, near=near)
    wording(error.message, "zh")

The words are in `data/text/messages/<first part of the id>.toml`:

    [unknown_key]
    en = '{path}: unknown key "{key}"; the keys are {names}.{near}'
    zh = '{path}：没有“{key}”这个键；可用的键有 {names}。{near}'

Places take Python's formats, `{seconds:.1f}`, and English plurals, `{n} {n|run|runs}`; `{{` is a brace. A value may
be a message or a list of them. An f-string with a message has its English text: use a value of another message.
"""

import errno
import functools
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from pathlib import Path

PLACE = re.compile(r"\{\{|\}\}|\{(\w+)(?::([^{}|]+)|\|([^{}|]*)\|([^{}|]*))?\}")  # {name}, {name:.1f}, {name|one|many}
BETWEEN = {"en": ", ", "zh": "、"}  # the parts of a list
LANGUAGES = ("zh", "en")  # in the order in which a report shows them
ENGLISH = "en"

Value = str | int | float | bool | tuple["Value", ...]  # a Message is a str


class Message(str):
    """A translated text, equal by its English wording. Raises KeyError if *id* has no words."""

    __slots__ = ("id", "values")

    id: str
    values: Mapping[str, Value]

    def __new__(cls, id: str, /, **values: object) -> "Message":
        plain = {name: of if isinstance(of, str | int | float) else _value(of) for name, of in values.items()}
        message = super().__new__(cls, _worded(id, plain, ENGLISH))
        object.__setattr__(message, "id", id)
        object.__setattr__(message, "values", MappingProxyType(plain))
        return message

    def map(self, change: Callable[[str], str]) -> "Message":
        """The same message with each text among its values as *change* makes it."""
        return Message(self.id, **{name: _mapped(value, change) for name, value in self.values.items()})

    def to_json(self) -> dict[str, object]:
        """`{"id": …, "values": {…}}`, for run folders."""
        return {"id": self.id, "values": {name: _to_json(value) for name, value in self.values.items()}}

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name}: a message is frozen")

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Value]]:
        return (self.id,), dict(self.values)

    def __getstate__(self) -> None:
        """Nothing but the arguments of its making."""


Phrase = Message | str  # words of a log or a tool have one language


def wording(text: Value, language: str) -> str:
    """*text* in *language* ("en" or "zh"); as it is if it is no message."""
    if language == ENGLISH or not isinstance(text, Message):
        return str(text)
    return _worded(text.id, text.values, language)


def join(*phrases: str | None) -> str:
    """Those of *phrases* that say something, one after the other; "" if none does."""
    given = [phrase for phrase in phrases if phrase]
    return functools.reduce(lambda first, second: Message("system.then", first=first, second=second), given or [""])


def dotted(*parts: str) -> str:
    if not any(isinstance(part, Message) for part in parts):
        return " · ".join(parts)
    return functools.reduce(lambda first, second: Message("system.apart", first=first, second=second), parts)


def message_of(error: BaseException) -> str:
    """The message of *error*; what the system says, without the file; else its text."""
    if isinstance(error, OSError) and error.errno is not None:
        name = errno.errorcode.get(error.errno, "").lower()
        return named("system", name) or error.strerror or str(error)
    if isinstance(error, UnicodeDecodeError):
        line = error.object.count(b"\n", 0, error.start) + 1
        return Message("system.no_utf8", line=line, byte=f"{error.object[error.start]:02x}")
    own = error.args[0] if error.args and isinstance(error.args[0], Message) else None
    return own or named("system", type(error).__name__.lower()) or str(error)


def named(room: str, name: str) -> Message | None:
    """The message of a thing that *room* may have words for, such as a system's error."""
    return Message(f"{room}.{name}") if name in _table(room) else None


def from_json(document: object) -> str:
    """The phrase in *document*, a text or the JSON of a message. Raises ValueError."""
    if isinstance(document, str):
        return document
    if isinstance(document, dict) and document.keys() == {"id", "values"}:
        try:
            return Message(document["id"], **({name: _from_json(value) for name, value in document["values"].items()}))
        except (AttributeError, KeyError, OSError, TypeError) as error:
            raise ValueError(f"{document['id']} has no words here, or others than its values") from error
    raise ValueError("neither a text nor a message")


@functools.cache
def places(sentence: str) -> frozenset[str]:
    return frozenset(place[1] for place in PLACE.finditer(sentence) if place[1])


def _value(value: object) -> Value:
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, BaseException):
        return message_of(value)
    return tuple(map(_value, value)) if isinstance(value, Iterable) and not isinstance(value, bytes) else str(value)


def _mapped(value: Value, change: Callable[[str], str]) -> Value:
    if isinstance(value, Message):
        return value.map(change)
    if isinstance(value, tuple):
        return tuple(_mapped(each, change) for each in value)
    return change(value) if isinstance(value, str) else value


def _to_json(value: Value) -> object:
    if isinstance(value, Message):
        return value.to_json()
    return [_to_json(each) for each in value] if isinstance(value, tuple) else value


def _from_json(value: object) -> object:
    if isinstance(value, dict):
        return from_json(value)
    return tuple(map(_from_json, value)) if isinstance(value, list) else value


def _worded(id: str, values: Mapping[str, Value], language: str) -> str:
    room, _, key = id.partition(".")
    sentence = _table(room)[key][language]
    if places(sentence) != values.keys():
        raise KeyError(f"{id} has the places {sorted(places(sentence))} and the values {sorted(values)}")
    text, at = "", 0
    for place in PLACE.finditer(sentence):
        value = values[place[1]] if place[1] else place[0][0]  # {{ is a brace
        if place[3] is not None:
            said = place[3] if value in (1, "1") else place[4]
        elif isinstance(value, tuple):
            said = BETWEEN[language].join(wording(each, language) for each in value)
        else:
            said = format(value if place[2] or language == ENGLISH else wording(value, language), place[2] or "")
        text, at = text + sentence[at : place.start()] + said, place.end()
    return text + sentence[at:]


def folder() -> "Path":
    from evalsuite.core import paths

    return paths.DATA / "text" / "messages"


@functools.cache
def _table(room: str) -> Mapping[str, Mapping[str, str]]:
    import tomllib  # slow, and rarely needed

    if not re.fullmatch(r"\w+", room):
        raise KeyError(room)
    return tomllib.loads((folder() / f"{room}.toml").read_text(encoding="utf-8"))
