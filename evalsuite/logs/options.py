"""The options that a script prints at its start, as words of a command line: `--optimizer=sgd`."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from evalsuite.core import paths
from evalsuite.logs.text.logfile import Unreadable, chunks

HEAD_BYTES = 1 << 18  # scripts print their options before they train
_LINES, _PAIRS = paths.read_data("log_words.toml")["options"].values()
_NAMESPACE, _DOTTED, _LISTED, _PAIRED, _HOST, _COLON, _COMMAND, _OPTION = (re.compile(of.encode()) for of in _LINES)
_MEMBER, _PAIR = map(re.compile, _PAIRS)
_OFF, _ON = ("False", "None", "false", "none", "null"), ("True", "true")


def printed(head: bytes) -> tuple[str, ...]:
    return tuple(_words(_pairs(head)))


def loosely_printed(head: bytes) -> tuple[str, ...]:
    """With command lines and pairs of YAML and JSON, where a name has one value: they may be of anything printed."""
    values: dict[str, set[str]] = {}
    for match in _COLON.finditer(head):
        values.setdefault(match[1].decode(), set()).add(match[2].decode("utf-8", "replace"))
    for line in _COMMAND.finditer(head):
        for match in _OPTION.finditer(line[0]):
            values.setdefault(match[1].decode(), set()).add((match[2] or b"True").decode("utf-8", "replace"))
    return (*printed(head), *_words((name, *given) for name, given in values.items() if len(given) == 1))


def hosts(head: bytes) -> tuple[str, ...]:
    named = _HOST.finditer(head) if b"NCCL INFO" in head or b"name" in head.lower() else ()
    return tuple(sorted({(match[1] or match[2]).decode() for match in named} - {"localhost"}))


def head(path: Path) -> bytes:
    text = b""
    try:
        for chunk in chunks(path):
            text += chunk.text[: HEAD_BYTES - len(text)]
            if len(text) >= HEAD_BYTES:
                break
    except Unreadable:
        pass
    return text


def _words(pairs: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for name, value in pairs:
        if value in _ON:
            yield f"--{name}"
        elif value:
            yield f"--no_{name}" if value in _OFF else f"--{name}={value}"


def _pairs(text: bytes) -> Iterator[tuple[str, str]]:
    for space in _NAMESPACE.finditer(text) if b"Namespace(" in text else ():
        for member in _MEMBER.finditer(space[1].decode("utf-8", "replace")):
            yield member[1], member[2].strip("'\"[]")
    for line in _PAIRED.finditer(text) if text.count(b"=") > 2 else ():
        yield from _PAIR.findall(line[0].decode("utf-8", "replace"))
    for shape, sign in ((_DOTTED, b" ..."), (_LISTED, b" = ")):
        for line in shape.finditer(text) if sign in text else ():
            yield line[1].decode(), line[2].decode("utf-8", "replace")
