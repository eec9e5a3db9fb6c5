"""How the pages of a site call models, cases, versions and changes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalsuite.core.model import Machine, MachineNode, Protocol
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text import words as words_room
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Words
from evalsuite.results.compare.changes import Change
from evalsuite.site.history import HistoryLine, HistoryPoint


def slug(model: str) -> str:
    return model if SAFE_NAME.match(model) else names.anchor("m", model)


SAFE_NAME = re.compile(r"^[a-z0-9][a-z0-9._-]*$")


def change_number(ratio: float) -> Number:
    return numbers.change(ratio - 1)


def change_text(change: Change, words: Words) -> Rendered:
    value = change_number(change.shown)
    if change.ratio.low is None or change.ratio.high is None:
        return words.same(value.text)
    return words(
        "history.ratio_interval",
        ratio=value,
        low=change_number(change.ratio.low),
        high=change_number(change.ratio.high),
    )


def case_name(line: HistoryLine, words: Words, *, named_scripts: bool) -> Rendered:
    """What is unusual (XLA, options, a short protocol) is in brackets. *named_scripts*: scripts are named."""
    case = line.case
    framework = names.framework(case.framework)
    if named_scripts or case.kind == "official":
        framework = f"{framework} · {names.visible(case.recipe)}"
    plain = words(
        "history.case_on_cpu" if case.device == "cpu" else "history.case",
        framework=framework,
        precision=names.precision(case.precision),
        batch=numbers.plain(case.batch_per_device),
        nodes=numbers.count(case.nodes),
        devices=numbers.count(case.total_devices),
    )
    more: list[Any] = [words("history.xla")] if case.xla else []
    of_options = words_room.read()
    more += [options.option(name, value, of_options) for name, value in case.options]
    if case.protocol != Protocol():
        steps = {"warmup": str(case.protocol.warmup_steps), "measured": str(case.protocol.measured_steps)}
        more.append(words("history.steps", **steps))
    return words("history.case_more", case_text=plain, more=words.listed(more)) if more else plain


def machine(machines: Iterable[Machine], words: Words) -> Rendered:
    """Machines as runs record them, the cores and the driver in the language of the page."""
    parts = [_node(node, words) for machine in machines for node in machine.nodes or (machine.name,)]
    return replace(words.listed(parts), separators=" + ")


def _node(node: MachineNode | str, words: Words) -> Rendered | str:
    if isinstance(node, str):
        return names.visible(node)
    cpu: list[Rendered | str] = [names.visible(node.cpu)]
    if node.cores:
        cpu.append(words("site.cores", n=f"{node.cores:g}"))
    parts: list[Rendered | str] = [f"{count} x {names.visible(name)}" for name, count in node.accelerators]
    parts.append(replace(words.listed(cpu), separators=""))
    if node.driver:
        parts.append(words("site.driver", version=names.visible(node.driver)))
    return replace(words.listed(parts), separators=", ")


def versions(point: Mapping[str, Sequence[str]] | HistoryPoint) -> str:
    if isinstance(point, HistoryPoint):
        return ", ".join(names.visible(version) for version in point.versions)
    return " · ".join(
        f"{names.framework(name)} {', '.join(names.visible(v) for v in each)}" for name, each in point.items()
    )
