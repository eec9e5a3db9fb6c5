"""Values on the command line: digits as everybody types them, and nothing that Python alone takes for a number."""

import argparse

from evalsuite.commands.printing.i18n import worded
from evalsuite.core import decode
from evalsuite.core.messages import Message
from evalsuite.core.model import Protocol


def whole(text: str) -> int:
    value = decode.whole(text.removeprefix("-"))
    if value is None:
        raise argparse.ArgumentTypeError(worded(Message("commands.whole_number", text=text[:60])))
    return -value if text.startswith("-") else value


def number(text: str) -> float:
    value = decode.number(text)
    if value is None:
        raise argparse.ArgumentTypeError(worded(Message("commands.a_number", text=text[:60])))
    return value


def share(text: str) -> float:
    value = decode.number(text.removesuffix("%"))
    if value is None or not text.endswith("%") or not 0 <= value < 100:
        raise argparse.ArgumentTypeError(worded(Message("commands.a_share", text=text[:60])))
    return value / 100


def count(text: str) -> int:
    value = decode.whole(text)
    if not value:
        raise argparse.ArgumentTypeError(worded(Message("commands.no_count", text=text[:60])))
    return value


def steps(text: str) -> Protocol:
    warmup, measured = (decode.whole(part) for part in text.partition("+")[::2])
    if warmup is None or not measured:
        raise argparse.ArgumentTypeError(worded(Message("commands.no_steps", text=text[:60])))
    return Protocol(warmup_steps=warmup, measured_steps=measured)


def pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise argparse.ArgumentTypeError(worded(Message("commands.no_name_value", text=text)))
    return name, value
