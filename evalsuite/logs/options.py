"""The options that a script prints at its start, as words of a command line: `--optimizer=sgd`.

Three shapes are known: argparse's Namespace in one line, Megatron's names with dots after them, and lines of
`name = value`. Which options mean something is not known here.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from evalsuite.logs.text.logfile import Unreadable, chunks

HEAD_BYTES = 1 << 18  # scripts print their options before they train
# Namespace(arch='resnet50', batch_size=256, amp=True, max_grad_norm=None)
_NAMESPACE = re.compile(rb"\bNamespace\((.{0,20000})\)")
_MEMBER = re.compile(r"""\b([A-Za-z]\w*)=('[^']*'|"[^"]*"|\[\w+\]|[^,()\[\]{}\s]+)(?=,|$)""")
#   optimizer ....................................... adam
_DOTTED = re.compile(rb"(?m)^(?:\S+: ?)?\s*([a-z]\w*) \.{3,} ?(\S+)\s*$")
# gradient_clipping = 0.0
_LISTED = re.compile(rb"(?m)^([a-z]\w*) = (\S+)\s*$")
# workload: framework=pytorch precision=fp32 image_size=64 threads=1
_PAIRED = re.compile(rb"(?m)^[^(\n]*(?: [a-z]\w*=[^\s=(]+){3}[^(\n]*$")
_PAIR = re.compile(r"(?<!\S)([a-z]\w*)=([^\s=,;]+)[,;]?(?!\S)")
# node7:3141:3150 [0] NCCL INFO … · hostname: node7 · SLURMD_NODENAME=node7
_HOST = re.compile(
    rb"(?m)^(?:\[\d+\] ?)?([\w.-]+):\d+:\d+ \[\d+\] NCCL INFO"
    rb"|(?i:\b(?:host ?name|nodename|node_name)\b|SLURMD_NODENAME)['\"]? ?[:=] ?['\"]?([a-z][\w.-]*)"
)
#   precision: bf16 · {"arch": "resnet18", "batch_size": 64}
_COLON = re.compile(rb"(?:^\s*|[{,] ?)[\"']?([a-z]\w*)[\"']?: ?[\"']?([\w./-]+)[\"']?(?=[,}]|\s*$)", re.MULTILINE)
# + python main.py --arch resnet50 --resolution 128 · … is skipped (--dry-run)
_COMMAND = re.compile(rb"(?m)^.*\.py\b.*$|\( *--[^()\n]+\)")
_OPTION = re.compile(rb"(?:^|[ (])--([a-z][\w-]*)(?:[= ]([\w./][\w./-]*)|(?=[\s)]|$))")
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
    return tuple(sorted({(match[1] or match[2]).decode() for match in _HOST.finditer(head)} - {"localhost"}))


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
    for line in _PAIRED.finditer(text):
        yield from _PAIR.findall(line[0].decode("utf-8", "replace"))
    for shape, sign in ((_DOTTED, b" ..."), (_LISTED, b" = ")):
        for line in shape.finditer(text) if sign in text else ():
            yield line[1].decode(), line[2].decode("utf-8", "replace")
