"""Networks and algorithms: cases of one script that differ in one option alone (docs/report.md#variants)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalsuite.core.model import Case, Protocol, Summary
from evalsuite.report.book import cells
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import Cell, OfAll
from evalsuite.report.sections.variants.effects import Cost, Effect, effect, judged_alike, title
from evalsuite.report.text import candidates, names, numbers, options
from evalsuite.report.text.candidates import NEUTRAL
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.compare.ranking import WORK
from evalsuite.results.compare.scaling import Scaled, above_base
from evalsuite.results.measure import convergence as room

METRICS = ("top1", "accuracy", "top5")  # the first that both sides have tells the cost


@dataclass(frozen=True, kw_only=True)
class Setting:
    values: tuple[tuple[str, str | None], ...]

    def name(self, words: Words) -> Rendered:
        several = len(self.values) > 1
        given = [
            candidates.option_in_name(name, value, several, words) for name, value in self.values if value is not None
        ]
        return options.together(given, words) if given else words("variants.default")


@dataclass(frozen=True, kw_only=True)
class Level:
    batch_per_device: int
    nodes: int
    devices: int
    cells: tuple[Cell, ...]
    scaled: tuple[Scaled, ...]


@dataclass(frozen=True, kw_only=True)
class Family:
    conditions: Case  # what all share; its scale and batch size say nothing
    shared: tuple[tuple[str, str], ...]
    settings: tuple[Setting, ...]  # the base first
    changes: tuple[Effect, ...]
    of_changes: OfAll
    levels: tuple[Level, ...]
    of_levels: OfAll
    summaries: tuple[Summary, ...]
    unit: str
    has_twin: bool  # another family differs in the protocol alone

    @property
    def id(self) -> str:
        return names.anchor("v", f"{self.conditions.model} {self.conditions.series}")

    @property
    def framework(self) -> str:
        return names.framework(self.conditions.framework)

    @property
    def judged(self) -> str | None:
        return judged_alike(self.changes)

    @property
    def costs(self) -> bool:
        return any(change.cost for change in self.changes)

    @property
    def bases(self) -> tuple[int, ...]:
        return tuple(sorted({point.base.total_devices for level in self.levels for point in level.scaled}))

    @property
    def coverages(self) -> tuple[float, ...]:
        values = {point.efficiency.coverage for level in self.levels for point in level.scaled}
        return tuple(sorted(share for share in values if share is not None))

    @property
    def has_ranges(self) -> bool:
        return any(point.efficiency.is_range for level in self.levels for point in level.scaled)

    @property
    def legend(self) -> tuple[str, ...]:
        shown = [cell for change in self.changes for cell in (change.before_cell, change.after_cell)]
        shown += [cell for level in self.levels for cell in level.cells]
        missing = self.costs and any(change.cost is None for change in self.changes)
        return cells.legend(shown, *["missing"] * missing)

    def setting_of(self, case: Case) -> Setting:
        return _setting(case, tuple(name for name, _ in self.settings[0].values))

    def of(self, setting: Setting, batch: int) -> tuple[Summary, ...]:
        return tuple(
            row
            for row in self.summaries
            if row.case.series_batch == batch and row.unit == self.unit and self.setting_of(row.case) == setting
        )


def families(book: Book) -> tuple[Family, ...]:
    groups: dict[Case, list[Case]] = {_conditions(case): [] for case in book.planned if case.options}
    for case in book.planned:
        if (key := _conditions(case)) in groups:
            groups[key].append(case)
    families = (_family(book, key, cases, groups) for key, cases in groups.items())
    return tuple(family for family in families if family is not None)


def _conditions(case: Case) -> Case:
    options = tuple(pair for pair in case.options if pair[0] in WORK)
    return replace(case, nodes=1, devices_per_node=1, batch_per_device=1, options=options)


def _family(book: Book, key: Case, planned: Sequence[Case], groups: Iterable[Case]) -> Family | None:
    options = [dict(case.options) for case in planned]
    given = sorted({name for each in options for name in each})
    varying = tuple(name for name in given if len({each.get(name) for each in options}) > 1)
    changes, of_changes = cells.lift_shared(_changes(book, planned, varying))
    if not changes:
        return None
    settings = sorted(
        {_setting(case, varying) for case in planned},
        key=lambda setting: [_value_order(value) for _, value in setting.values],
    )
    summaries = tuple(book.valid_of[case.id] for case in planned if case.id in book.valid_of)
    units = Counter(summary.unit for summary in summaries)
    levels, of_levels = cells.lift_shared(_levels(book, planned, settings, varying))
    protocols = [each for each in groups if replace(each, protocol=Protocol()) == replace(key, protocol=Protocol())]
    return Family(
        conditions=key,
        shared=tuple((name, options[0][name]) for name in given if name not in varying),
        settings=tuple(settings),
        changes=changes,
        of_changes=of_changes,
        levels=levels,
        of_levels=of_levels,
        summaries=summaries,
        unit=units.most_common(1)[0][0] if units else "",
        has_twin=len(protocols) > 1,
    )


def _setting(case: Case, varying: Sequence[str]) -> Setting:
    return Setting(values=tuple((name, case.option(name)) for name in varying))


def _value_order(value: str | None) -> tuple[int, int, str]:
    if value is None:
        return (0, 0, "")
    return (1, NEUTRAL.index(value), "") if value in NEUTRAL else (2, 0, value)


def _changes(book: Book, planned: Sequence[Case], varying: Sequence[str]) -> Iterable[Effect]:
    for option in varying:
        alike: dict[Case, list[Case]] = {}
        for case in planned:
            rest = tuple(pair for pair in case.options if pair[0] != option)
            alike.setdefault(replace(case, options=rest), []).append(case)
        for group in alike.values():
            base, *others = sorted(group, key=lambda case: _value_order(case.option(option)))
            yield from (replace(effect(book, option, base, case), cost=_cost(book, base, case)) for case in others)


def _cost(book: Book, before: Case, after: Case) -> Cost | None:
    known = (book.summary_of.get(case.id) for case in (before, after))
    first, second = (room.run_of(summary) if summary else None for summary in known)
    if first is None or second is None:
        return None
    for metric in METRICS:
        a, b = room.final(first, "validation", metric), room.final(second, "validation", metric)
        if a is not None and b is not None:
            return Cost(metric=metric, before=a, after=b)
    return None


def _levels(
    book: Book, planned: Sequence[Case], settings: Sequence[Setting], varying: Sequence[str]
) -> Iterable[Level]:
    for batch in sorted({case.series_batch for case in planned}):
        ours = [case for case in planned if case.series_batch == batch]
        known = [point for case in ours if (point := _scaled(book, case)) is not None]
        reach = Counter((point.case.total_devices, point.case.nodes) for point in known)
        common = max((scale for scale, variants in reach.items() if variants > 1), default=None)
        if common is not None:
            there = [case for case in ours if (case.total_devices, case.nodes) == common]
            at = {_setting(case, varying): case for case in there}
            yield Level(
                batch_per_device=there[0].batch_per_device,
                nodes=common[1],
                devices=common[0],
                cells=tuple(_efficiency(book, at.get(each)) for each in settings),
                scaled=tuple(point for point in known if point.case in there),
            )


def _scaled(book: Book, case: Case) -> Scaled | None:
    summary = book.valid_of.get(case.id)
    return above_base(summary) if summary else None


def _efficiency(book: Book, case: Case | None) -> Cell:
    if case is None:
        return Cell(state="not_planned")
    cell = cells.efficiency_cell(book, case)
    alone = cell.state == "value" and _scaled(book, case) is None  # the base itself: 100 % would say nothing
    return Cell(state="no_base", ref=cell.ref) if alone else cell


def heading(family: Family, words: Words) -> Text:
    case = family.conditions
    conditions = [names.precision(case.precision), words(names.KINDS[case.device])]
    conditions += ["XLA"] * bool(case.xla)
    conditions += [options.option(name, value, words) for name, value in family.shared]
    if family.has_twin:
        steps = (case.protocol.warmup_steps, case.protocol.measured_steps)
        conditions.append(words("variants.steps", warmup=numbers.count(steps[0]), measured=numbers.count(steps[1])))
    return words(
        "variants.family",
        model=names.model(case.model),
        framework=family.framework,
        recipe=names.visible(case.recipe),
        conditions_text=words.listed(conditions),
    )


def finding(families: Sequence[Family], words: Words) -> Text:
    ours = [change for family in families for change in family.changes if not change.obstacles]
    return title(ours, words("variants.one_changed"), words, framework=len(families) > 1)


def value(option: str, given: str | None, words: Words) -> Rendered:
    return options.value_of(option, given, words) if given else words("variants.default")
