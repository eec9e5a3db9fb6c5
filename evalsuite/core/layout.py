"""The layout of a model over devices: which numbers contradict each other (data/layouts.toml)."""

import math
import re
from collections.abc import Mapping
from typing import Any

from evalsuite.core import paths
from evalsuite.core.decode import whole
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

Layout = Mapping[str, int]  # part → number: {"TP": 8}


def table() -> Mapping[str, Any]:
    return paths.read_data("layouts.toml")


def of_case(case: Case) -> Layout:
    return {part: size for name, part in table()["parts"].items() if (size := whole(case.option(name, "")))}


def of_text(text: str) -> Layout:
    """`TP 8 · ZeRO 1` → {"TP": 8}"""
    return {part: int(number) for part, number in re.findall(r"(\w+) (\d+)", text) if part in table()["order"]}


def contradiction(layout: Layout, case: Case, stack: str = "") -> Message | None:
    """Why no run of *case* can have *layout*; *stack*: words that may name whose rule holds for experts."""
    over, devices = table()["over_devices"], case.total_devices
    text = " · ".join(f"{part} {layout[part]}" for part in table()["order"] if part in layout)
    product = math.prod(layout.get(part, 1) for part in over)
    copies_stated = "DP" in layout and "FSDP" in layout
    if devices % product or (copies_stated and product != devices):
        return Message("core.layout_devices", layout=text, product=product, devices=devices)
    if layout.get("VP", 1) > 1 and layout.get("PP", 1) == 1:
        return Message("core.layout_virtual", layout=text)
    inside = next((parts for name, parts in table()["experts"].items() if name in stack.lower()), [*over])
    copies = devices // product  # that no part states
    room = copies * math.prod(layout.get(part, 1) for part in inside if part != "PP")
    if room % layout.get("EP", 1):
        parts = "·".join(part for part in inside if part != "PP")
        return Message("core.layout_experts", layout=text, experts=layout["EP"], parts=parts, room=room)
    sequence, context = whole(case.option("sequence_length", "")), layout.get("CP", 1)
    if context > 1 and sequence and sequence % (2 * context):
        return Message("core.layout_context", layout=text, sequence=sequence, context=context)
    return None
