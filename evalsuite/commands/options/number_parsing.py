"""Amounts on the command line: digits as everybody types them, and nothing that Python alone takes for a number."""

import argparse

from evalsuite import decode
from evalsuite.commands.printing.i18n import worded
from evalsuite.messages import Message


def whole(text: str) -> int:
    found = decode.whole(text.removeprefix("-"))
    if found is None:
        raise argparse.ArgumentTypeError(worded(Message("commands.whole_number", text=text[:60])))
    return -found if text.startswith("-") else found


def number(text: str) -> float:
    found = decode.number(text)
    if found is None:
        raise argparse.ArgumentTypeError(worded(Message("commands.a_number", text=text[:60])))
    return found
