"""Amounts on the command line: digits as everybody types them, and nothing that Python alone takes for a number."""

import argparse
import re

from evalsuite.commands.printing.i18n import worded
from evalsuite.messages import Message

MOST_DIGITS = 12


def whole(text: str) -> int:
    """Of an option that takes a whole number."""
    if not re.fullmatch(rf"-?[0-9]{{1,{MOST_DIGITS}}}", text):
        raise argparse.ArgumentTypeError(worded(Message("commands.whole_number", text=text[:60])))
    return int(text)


def number(text: str) -> float:
    """Of an option that takes a number with decimals."""
    if not re.fullmatch(rf"-?[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{1,{MOST_DIGITS}}})?", text):
        raise argparse.ArgumentTypeError(worded(Message("commands.a_number", text=text[:60])))
    return float(text)
