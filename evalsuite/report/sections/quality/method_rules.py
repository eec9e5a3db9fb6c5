"""What Hoefler and Belli's twelve rules (doi.org/10.1145/2807591.2807644) and ACM's badges ask, for this report."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evalsuite.core import paths
from evalsuite.core.model import Measurement
from evalsuite.report.book.book import Book
from evalsuite.report.sections.quality.repeats import MOST_REPEATS_DRAWN
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Text, Words
from evalsuite.results.measure import latency
from evalsuite.results.rules import flops_and_energy

Status = Literal["met", "part", "not", "absent", "open"]
Counted = tuple[int, int]  # how many do, of how many that should
RECIPE_FACTS = ("at_one_device", "printed_by", "steps", "clock")
WITHOUT_TIME = ("final figure", "cited step time", "cited figure")
TESTED = ("decided", "tie", "open")


@dataclass(frozen=True, kw_only=True)
class Rule:
    text: Text
    status: Status
    reason: Text


def facts(book: Book, words: Words) -> Mapping[str, object]:
    return {
        "rules": [_rule(name, count(book), words) for name, count in RULES.items()],
        "badges": [_rule(name, count(book), words) for name, count in BADGES.items()],
        "recipes": [(names.framework(of), names.visible(recipe), known) for of, recipe, known in recipes(book)],
        "recipe_facts": RECIPE_FACTS,
    }


def recipes(book: Book) -> list[tuple[str, str, Mapping[str, str]]]:
    used = dict.fromkeys((case.framework, case.recipe) for case in book.planned)
    return [(*pair, _known().get("/".join(pair), {})) for pair in used]


@functools.cache
def _known() -> Mapping[str, Mapping[str, str]]:
    entries = paths.read_data("recipe_method.toml")["method"]
    return {
        name: {key: item[key] for key in RECIPE_FACTS if key in item} for item in entries for name in item["recipes"]
    }


def _rule(name: str, counted: Counted | None, words: Words) -> Rule:
    if counted is None:
        return Rule(text=words(f"method.{name}"), status="open", reason=words(f"method.why_{name}"))
    known, every = counted
    status: Status = "absent" if not every else "met" if known == every else "part" if known else "not"
    reason = words(f"method.why_{name}", n=numbers.count(known), all=numbers.count(every))
    return Rule(text=words(f"method.{name}"), status=status, reason=reason)


def _count(answers: Sequence[bool]) -> Counted:
    return sum(answers), len(answers)


def _bases(book: Book) -> Counted:
    known = {(framework, recipe) for framework, recipe, facts in recipes(book) if "at_one_device" in facts}
    bases = [summary.base for summary in book.valid if summary.speedup and summary.base]
    return _count([base.total_devices == 1 and (base.framework, base.recipe) in known for base in bases])


def _shown(book: Book) -> Counted:
    reasons = {case.id for case in book.planned if book.state(case) != "not_planned"}
    return len(reasons), len(book.planned)


def _tests(book: Book) -> list[bool]:
    return [decision.evidence in TESTED for decision in book.decisions if decision.evidence != "apart"]


def _runs(fits: Callable[[Book, Measurement], object]) -> Callable[[Book], Counted]:
    return lambda book: _count([bool(fits(book, run)) for run in book.measurements if run.counts])


def _assumed(book: Book) -> Counted:
    """Intervals are of order statistics; a test of an order takes the runs as normal."""
    intervals = _intervals(book)[0]
    return intervals, intervals + sum(_tests(book))


def _intervals(book: Book) -> Counted:
    return _count([summary.items_per_s.coverage is not None for summary in book.valid])


def _commanded(book: Book, run: Measurement) -> bool:
    command = book.evaluation.commands.get(run.run.id)
    return command is not None and bool(command.argv)


def _pinned(book: Book, run: Measurement) -> bool:
    command = book.evaluation.commands.get(run.run.id)
    return command is not None and bool(command.recipe.commit or command.lock_sha256 or command.workload_sha256)


RULES: Mapping[str, Callable[[Book], Counted]] = {
    "rule1": _bases,
    "rule2": _shown,
    "rule3": _runs(lambda book, run: run.throughput and run.throughput.method not in WITHOUT_TIME),
    "rule4": lambda book: _count([True for row in book.valid if row.speedup]),  # always of medians, never averaged
    "rule5": _intervals,
    "rule6": _assumed,
    "rule7": lambda book: _count(_tests(book)),
    "rule8": lambda book: _count([latency.of_case(summary) is not None for summary in book.valid]),
    "rule9": _runs(lambda book, run: run.environment and _commanded(book, run) and run.records),
    "rule10": lambda book: _count(["clock" in facts and "printed_by" in facts for *_, facts in recipes(book)]),
    "rule11": lambda book: _count([bool((c := flops_and_energy.compute(summary)) and c.mfu) for summary in book.valid]),
    "rule12": lambda book: (
        min(len(book.valid), MOST_REPEATS_DRAWN if book.large else len(book.valid)),
        len(book.valid),
    ),
}
BADGES: Mapping[str, Callable[[Book], Counted | None]] = {
    "functional": _runs(lambda book, run: run.log_sha256 and _commanded(book, run)),
    "reusable": _runs(_pinned),
    "available": lambda book: None,
    "reproduced": lambda book: None,
}
