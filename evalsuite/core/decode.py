"""Decodes JSON, TOML or an author's module into frozen dataclasses by the types of their fields. All mistakes of a file
are named at once. Checks beyond a type are in its annotation, `Annotated[float, SHARE]`, or in a method `mistakes` of
the dataclass."""

import functools
import itertools
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NoReturn, TypeVar, cast, get_args, get_origin, get_type_hints

from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError, did_you_mean
from evalsuite.core.messages import Message, Phrase, from_json, message_of

MOST_DIGITS = 12  # of a number in a text
LONGEST_SHOWN = 60  # characters of a value in an error
MOST_TOML_BYTES, MOST_TOML_VALUES = 1 << 22, 50_000
MOST_SHOWN = 20  # mistakes of one file
Noun = TypeVar("Noun")


class Mistake(NamedTuple):
    key: str  # "C1.threshold"; "": the whole
    text: Phrase


@dataclass(frozen=True)
class Constraint:
    name: str  # of the message `decode.<name>`: "at least 1"
    fits: Callable[[Any], object]
    values: tuple[tuple[str, object], ...] = ()  # of the message
    hint: Callable[[Any], str] = lambda value: ""  # " Did you mean 0.8?"


@dataclass(frozen=True)
class From:
    """The value is what *convert* makes of *raw*, unless it raises EvalsuiteError."""

    raw: Any
    convert: Callable[[Any], Any]


def at_least(least: float) -> Constraint:
    return Constraint("at_least", lambda value: value >= least, (("least", least),))


def above(least: float) -> Constraint:
    return Constraint("above", lambda value: value > least, (("least", least),))


def between(least: float, most: float) -> Constraint:
    return Constraint("between", lambda value: least <= value <= most, (("least", least), ("most", most)))


def one_of(*names: str) -> Constraint:
    hint = functools.partial(did_you_mean, known=names, cutoff=0.4)
    return Constraint("one_of", names.__contains__, (("names", names),), hint)


FILLED = Constraint("filled", bool)
EACH_ONCE = Constraint("each_once", lambda values: len(set(values)) == len(values))
NAMES_ONCE = Constraint("names_once", lambda tables: len({table.name for table in tables}) == len(tables))
Item = TypeVar("Item")
Many = Annotated[tuple[Item, ...], FILLED, EACH_ONCE]
Word = Annotated[str, Constraint("one_line", str.isprintable)]


def message(name: str, **values: object) -> Message:
    return Message(f"decode.{name}", **values)


def refusal(value: object, expected: str, hint: str = "") -> Message:
    return message("got", found=shown(value), expected=expected, hint=hint)


def decode(cls: type[Noun], facts: object, where: Path | str, advice: str = "", *, strict: bool = False) -> Noun:
    """The *cls* in *facts*, the content of *where*. Raises EvalsuiteError with all mistakes. *advice*: the message
    `decode.<advice>` says what to try. *strict*: for what people write: unknown keys and empty texts are mistakes. Else
    unknown keys are passed over, unless the class is `CLOSED`: a later evalsuite may write more."""
    return cast(Noun, take(_kind(cls, strict), facts, where, advice, "\n  " if strict else " "))


def take(kind: "Kind", facts: object, where: Path | str, advice: str, mark: str = " ") -> Any:
    """Raises EvalsuiteError; *mark* is put before each mistake."""
    try:
        return kind.take(facts)
    except Wrong as wrong:
        raise EvalsuiteError(_message(where, wrong.mistakes, advice, mark)) from None


def mistakes_of(value: object, hint: Any) -> list[Mistake]:
    try:
        _kind(hint, False).take(value)
    except Wrong as wrong:
        return wrong.mistakes
    return []


def read_toml(path: Path, example: str, advice: str = "") -> dict[str, Any]:
    """Raises EvalsuiteError if *path* cannot be read; it should be like *example*."""
    import tomllib  # slow, and rarely needed

    try:
        text = files.read_bytes(Path(path), most=MOST_TOML_BYTES, follow=True).decode("utf-8")
        if match := _EXCESS.search(text):
            raise ValueError(message("toml_excess", text=match[0][:20]))
        if text.count("\n") + text.count(",") > MOST_TOML_VALUES:
            raise ValueError(message("toml_values", most=MOST_TOML_VALUES))
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (OSError, ValueError, RecursionError) as error:
        whole = message("no_toml", path=path, error=message_of(error), example=example)
        raise EvalsuiteError(_advised(whole, advice)) from error


def whole(text: str) -> int | None:
    """The whole number in *text*, digits as everybody types them; None if it is none. Python alone reads `1_0`, `٣`."""
    return int(text) if re.fullmatch(rf"[0-9]{{1,{MOST_DIGITS}}}", text) else None


def number(text: str) -> float | None:
    """The same with decimals, a sign and an exponent: `-1.5`, `2e-05`."""
    digits = rf"[0-9]{{1,{MOST_DIGITS}}}"
    return float(text) if re.fullmatch(rf"-?{digits}(\.[0-9]{{1,24}})?([eE][+-]?[0-9]{{1,2}})?", text) else None


def instant(stamp: str | None) -> datetime | None:
    """An ISO 8601 stamp, with the zone that it says; None if it is none, or so far off that other zones have no such
    year."""
    try:
        moment = datetime.fromisoformat(stamp or "")
    except ValueError:
        return None
    return moment if datetime.min.year < moment.year < datetime.max.year else None


_PART = r"""(?:(?<![\w-])[\w-]++|"[^"\n]*"|'[^'\n]*')"""
_EXCESS = re.compile(rf"""(?<![\w"'])[0-9A-Fa-fxob_]{{200,}}|(?:{_PART}[ \t]*\.[ \t]*){{8,}}{_PART}""")


def encode(value: Any) -> Any:
    """*value* as JSON has it, without fields that are None by default."""
    if is_dataclass(value):
        given = ((field, getattr(value, field.name)) for field in fields(value))
        return {field.name: encode(each) for field, each in given if each is not None or field.default is not None}
    if isinstance(value, Message):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: encode(each) for name, each in value.items()}
    return [encode(each) for each in value] if isinstance(value, list | tuple) else value


def shown(value: object) -> str:
    """As messages show a value: `"abc"`, `1.5`, `null`, `[…] of 3`."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f'"{_shortened(ascii(value)[1:-1] if not _is_text(value) else value)}"'
        case Mapping():
            return f"{{…}} of {len(value)}" if value else "{}"
        case list() | tuple():
            return f"[…] of {len(value)}" if value else "[]"
    named = getattr(value, "id", None)
    return Message("core.the_case", name=named) if isinstance(named, str) else _shortened(repr(value))


class Wrong(Exception):
    def __init__(self, mistakes: list[Mistake]) -> None:
        super().__init__(mistakes)
        self.mistakes = mistakes

    def inside(self, name: str) -> list[Mistake]:
        return [Mistake(f"{name}{'' if key[:1] in ('', '[', ' ') else '.'}{key}", text) for key, text in self.mistakes]


class Kind(NamedTuple):
    """What a value may be: in words, and as a function that takes it or raises Wrong."""

    words: Callable[[], Message]  # reading words takes time
    take: Callable[[Any], Any]


def refuse(value: object, expected: Message, hint: str = "") -> NoReturn:
    raise Wrong([Mistake("", refusal(value, expected, hint))])


def _kind(hint: Any, strict: bool) -> Kind:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return functools.reduce(functools.partial(_with_rule, strict), arguments[1:], _kind(arguments[0], strict))
    if origin in (typing.Union, types.UnionType):
        if len(classes := [each for each in arguments if is_dataclass(each)]) > 1:
            return _named(_object_words(strict), functools.partial(_told_apart, classes, strict))
        kinds = [_kind(each, strict) for each in arguments if each not in (types.NoneType, Message)]
        kinds = [_named("phrase", _phrase)] if Message in arguments else kinds
        kind = kinds[0] if len(kinds) == 1 else _one_of_kinds(kinds)
        return optional(kind) if types.NoneType in arguments else kind
    if origin is Literal:
        return Kind(functools.partial(message, "one_of", names=arguments), functools.partial(_one_of, arguments))
    if origin is tuple:
        return _list(arguments, strict)
    if origin is Callable:
        return _instance("function", callable)
    if origin is not None:  # Mapping[str, …]
        of_name, of_value = (_kind(each, strict) for each in arguments)
        return _named(_object_words(strict), functools.partial(_values, of_name, of_value, strict))
    if is_dataclass(hint):
        return _named(_object_words(strict), functools.partial(_object, hint, strict))
    if hint is str and strict:
        return _FILLED_TEXT
    return _SIMPLE.get(hint) or _instance(hint.__name__.lower(), lambda value: isinstance(value, hint))


def _list(arguments: tuple[Any, ...], strict: bool) -> Kind:
    if arguments[-1] is Ellipsis:
        kinds: Iterable[Kind] = itertools.repeat(_kind(arguments[0], strict))
        length = None
        words = functools.partial(message, "tables" if strict and is_dataclass(arguments[0]) else "list")
    else:
        kinds, length = [_kind(each, strict) for each in arguments], len(arguments)
        words = functools.partial(message, "list_of", n=length)

    def take(values: Any) -> tuple[Any, ...]:
        if not isinstance(values, list | tuple) or length not in (None, len(values)):
            refuse(values, words())
        try:
            return tuple(kind.take(each) for kind, each in zip(kinds, values, strict=False))
        except Wrong:
            places = (f" {place + 1}" if strict else f"[{place}]" for place in range(len(values)))
            raise Wrong(inside(zip(kinds, places, values, strict=False))) from None

    return Kind(words, take)


def _named(name: str, take: Callable[[Any], Any]) -> Kind:
    return Kind(functools.partial(message, name), take)


def _object_words(strict: bool) -> str:
    return "table" if strict else "object"


def _with_rule(strict: bool, kind: Kind, rule: Constraint | From) -> Kind:
    if isinstance(rule, From):
        return _converted(_kind(rule.raw, strict), rule.convert)
    if rule is FILLED and not strict:
        return kind  # people leave the key out; a file of ours has an empty list

    def words() -> Message:
        return message("ruled", kind=kind.words(), rule=message(rule.name, **dict(rule.values)))

    def take(given: object) -> Any:
        try:
            value = kind.take(given)
        except Wrong as wrong:
            if any(key for key, _ in wrong.mistakes):
                raise
            refuse(given, words())
        return value if rule.fits(value) else refuse(given, words(), rule.hint(value))

    return Kind(words, take)


def _converted(kind: Kind, convert: Callable[[Any], Any]) -> Kind:
    def take(given: object) -> Any:
        value = kind.take(given)
        try:
            return convert(value)
        except EvalsuiteError as error:
            raise Wrong([Mistake("", error.message)]) from error

    return Kind(kind.words, take)


def optional(kind: Kind) -> Kind:
    take = kind.take
    return Kind(kind.words, lambda value: None if value is None else take(value))


def _one_of_kinds(kinds: list[Kind]) -> Kind:
    def words() -> Message:
        return message("either", names=[kind.words() for kind in kinds])

    def first(given: object) -> Any:
        for kind in kinds:
            try:
                return kind.take(given)
            except Wrong as wrong:
                if any(key for key, _ in wrong.mistakes):
                    raise
        refuse(given, words())

    return Kind(words, first)


def _instance(name: str, test: Callable[[Any], object]) -> Kind:
    return _named(name, lambda value: value if test(value) else refuse(value, message(name)))


def _object(cls: Any, strict: bool, given: Any) -> Any:
    made = isinstance(given, cls)  # by an author's module
    facts = {field.name: getattr(given, field.name) for field in fields(cls)} if made else given
    if not isinstance(facts, Mapping):
        refuse(given, message(_object_words(strict)))
    values, wrong, keys = {}, [], _keys(cls, strict)
    for name, (kind, required) in keys.items():
        if name in facts:
            try:
                values[name] = kind.take(facts[name])
            except Wrong as error:
                wrong += error.inside(name)
        elif required:
            wrong.append(Mistake(name, message("missing", expected=kind.words())))
    if (strict or getattr(cls, "CLOSED", False)) and len(values) < len(facts):
        wrong += _unknown(facts, list(keys))
    if wrong:
        raise Wrong(wrong)
    value = given if made else cls(**values)
    if own := [Mistake(*each) for each in getattr(value, "mistakes", tuple)()]:
        raise Wrong(own)
    return value


def _told_apart(classes: list[Any], strict: bool, given: Any) -> Any:
    """Of the class whose first required key is there, or that has most of the keys: one may be misspelt."""

    def likeness(cls: Any) -> tuple[bool, int]:
        keys = _keys(cls, strict)
        return next(name for name, (_, needed) in keys.items() if needed) in given, len(keys.keys() & {*given})

    return _object(max(classes, key=likeness) if isinstance(given, Mapping) else classes[0], strict, given)


def _unknown(facts: Iterable[str], known: list[str]) -> Iterator[Mistake]:
    for key in facts:
        if key not in known:
            near = did_you_mean(key, known, cutoff=0.5)
            yield Mistake("", message("unknown", key=key, known=known, near=near))


@functools.cache
def _keys(cls: Any, strict: bool) -> Mapping[str, tuple[Kind, bool]]:
    hints = get_type_hints(cls, include_extras=True)
    required = {field.name for field in fields(cls) if field.default is MISSING is field.default_factory}
    return {field.name: (_kind(hints[field.name], strict), field.name in required) for field in fields(cls)}


def _values(name_kind: Kind, kind: Kind, strict: bool, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        refuse(given, message(_object_words(strict)))
    try:
        return {name_kind.take(name): kind.take(each) for name, each in given.items()}
    except Wrong:
        names = [ascii(name)[1:-1] for name in given]
        of_names = zip(itertools.repeat(name_kind), names, given, strict=False)
        of_values = zip(itertools.repeat(kind), names, given.values(), strict=False)
        raise Wrong(inside(itertools.chain(of_names, of_values))) from None


def inside(items: Iterable[tuple[Kind, str, object]]) -> list[Mistake]:
    wrong = []
    for kind, name, each in items:
        try:
            kind.take(each)
        except Wrong as error:
            wrong += error.inside(name)
    return wrong


def _one_of(known: tuple[object, ...], value: object) -> object:
    if isinstance(value, str) and value in known:
        return value
    near = did_you_mean(value, map(str, known), cutoff=0.4) if isinstance(value, str) else ""
    refuse(value, message("one_of", names=known), near)


def _phrase(value: object) -> str:
    try:
        text = from_json(value)
    except ValueError:
        refuse(value, message("phrase"))
    return text if _is_text(text) else refuse(value, message("text"))


def _is_text(value: object) -> bool:
    """No half of a surrogate pair, which JSON allows; bytes of a name that is no UTF-8 pass."""
    try:
        return isinstance(value, str) and value.encode("utf-8", "surrogateescape") is not None
    except UnicodeEncodeError:
        return False


def _is_number(value: object) -> bool:
    """No NaN, no Infinity, nothing beyond a float: Python's JSON has them."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


_SIMPLE: Mapping[Any, Kind] = {
    str: _instance("text", _is_text),
    bool: _instance("flag", lambda value: isinstance(value, bool)),
    int: _instance("whole", lambda value: isinstance(value, int) and _is_number(value)),
    float: _instance("number", _is_number),
    object: _instance("anything", lambda value: True),
    Any: _instance("anything", lambda value: True),
}
_FILLED_TEXT = _instance(
    "filled_text",
    lambda value: _is_text(value) and value.strip() and not any(char < " " and char not in "\n\t\r" for char in value),
)


def _message(where: Path | str, mistakes: list[Mistake], advice: str, mark: str) -> Message:
    texts = [Message("system.of", name=key, what=text) if key else text for key, text in mistakes]
    left = len(texts) - MOST_SHOWN
    whole = texts[0]
    if len(texts) > 1:
        parts = [*texts[:MOST_SHOWN], *([message("more", n=left)] if left > 0 else [])]
        whole = functools.reduce(lambda before, text: message("next", before=before, mark=mark, text=text), parts, "")
        whole = message("many", n=len(texts), texts=whole)
    return _advised(Message("system.of", name=where, what=whole), advice)


def wrong(where: Path | str, key: str, text: Message, advice: str) -> EvalsuiteError:
    return EvalsuiteError(_message(where, [Mistake(key, text)], advice, ""))


def _advised(text: Message, advice: str) -> Message:
    return message("advised", text=text, advice=message(advice)) if advice else text


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
