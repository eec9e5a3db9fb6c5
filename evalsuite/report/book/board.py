"""The board: what was found, and who stands where. Made once; page, Markdown, spreadsheet, PDF and terminal draw it.

A sheet is of one work: a model in a precision, with what else changes the work. It has a table for each scale, whose
rows are the frameworks (or the variants of the only one), the fastest first. Nobody is left out: who may not be ranked
stands in place with the reason, and another option of a framework that is faster has a row below it.
"""

import functools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from evalsuite.core.findings import BusyMachine, NothingExchanged
from evalsuite.core.model import Case, Protocol, Summary, Trained, by_key
from evalsuite.report.book import answers, why_not_comparable
from evalsuite.report.book.book import Book, warnings
from evalsuite.report.book.changes import changes
from evalsuite.report.book.tally import tally, unseen
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import ALIKE, Rendered, Words
from evalsuite.results.compare import answers as compared
from evalsuite.results.compare import fairness
from evalsuite.results.compare.answers import Answer, Conditions, Missing
from evalsuite.results.compare.decisions import PUBLISHED, Candidate, RankingScope, speed
from evalsuite.results.compare.equivalence import has_receipt
from evalsuite.results.compare.fairness import Obstacle
from evalsuite.results.compare.significance import LEAST_GAP, looked, looks
from evalsuite.results.judge.breaks import Ladder
from evalsuite.results.measure.convergence import FEWEST_SEEDS, IN_SEQUENCES, guessed
from evalsuite.results.measure.summary import FULL_REPEATS

NOTHING = "—"
CELLS = ("framework", "throughput", "runs", "ratio", "efficiency", "notes")  # of a row, in every form
BUSY_FROM = 0.25  # of the runs: from here on the first sentence is about the machine
LOST_FROM = 0.05  # of ideal scaling: a smaller loss is no cause worth a word
FASTER_FROM = 0.01  # of another option: less is none
OTHERS = ("printed", "cited")  # grounds of figures that nobody clocked
PLACE = attrgetter("nodes", "devices", "setting.batch_per_device")  # of an answer
DEVICES = (("gpu", "why.gpu"), ("job_cpu", "why.cpu"))
STAGES = ("within", "crossing", "between")
DRAWN = (*STAGES, "data", "allreduce")  # losses with a name of their own


@dataclass(frozen=True, kw_only=True)
class BoardRow:
    name: Rendered
    framework: str
    summary: Summary | None = None  # None: without a value
    ratio: float | None = None  # to the fastest, of those that are ranked and have a lead
    unlike: bool = False  # of another unit: its bar would say nothing
    why: Rendered | None = None  # it is not ranked
    ahead: bool = False
    cause: Rendered | None = None
    script: Rendered | None = None  # where there are several of the same conditions
    guessed: Rendered | None = None  # its loss or accuracy is that of guessing
    marks: tuple[Rendered, ...] = ()
    efficiency: Number | None = None  # None: without a base, or its own
    curve: tuple[tuple[int, float, bool, str], ...] = ()  # devices, efficiency, whether it or its base is weak, case

    @property
    def ref(self) -> str:
        return names.case_anchor(self.summary.case) if self.summary else ""

    @property
    def printed(self) -> bool:
        return self.summary is not None and self.summary.grounds == "printed"

    @property
    def weak(self) -> bool:
        """Whether its efficiency rests on what others disturbed."""
        own = self.summary.case.total_devices if self.summary else None
        return any(weak for devices, _, weak, _ in self.curve if devices == own)

    def cells(self, words: Words) -> tuple[Rendered, ...]:
        """Its text in the order of `CELLS`, the same in every form."""
        nothing = words.same(NOTHING)
        why = words("board.unranked", why_text=self.why) if self.why and self.summary else self.why
        said = [each for each in (why or self.cause, self.script, self.guessed, *self.marks[:1]) if each]
        notes = replace(words.listed(said), separators=answers.SEVERAL) if said else nothing
        if self.summary is None:
            return (self.name, *[nothing] * 4, notes)
        summary, spread = self.summary, numbers.interval(self.summary.items_per_s, numbers.rounded)
        number, unit = numbers.throughput(speed(summary)).to(self.ref), [names.visible(summary.unit)] * self.unlike
        efficiency: list[object] = [answers.with_signs(self.efficiency, summary, words) if self.efficiency else NOTHING]
        if self.efficiency and summary.base and summary.base.total_devices > 1:
            efficiency.append(words("board.based", scale=names.scale(summary.base)))
        return (
            self.name,
            replace(words.listed([answers.with_signs(number, summary, words), *unit]), separators=" "),
            options.apart([*([words.same(spread.text)] if spread else []), words("answers.runs", n=summary.n)], words),
            words.listed([numbers.percent(self.ratio)]) if self.ratio is not None else nothing,
            replace(words.listed(efficiency), separators=" "),
            notes,
        )


@dataclass(frozen=True, kw_only=True)
class BoardTable:
    """At one scale."""

    answer: Answer
    setting: Rendered
    sentence: Rendered
    beside: Rendered | None  # what would decide, how sure it is, and what else one must know
    rows: tuple[BoardRow, ...]
    by_scale: Rendered | None = None  # the settings of all scales, where they differ

    @property
    def id(self) -> str:
        return answers.anchor(self.answer)

    @property
    def scale(self) -> str:
        return answers.scale(self.answer)

    @property
    def unit(self) -> str:
        return names.visible(next((row.summary.unit for row in self.rows if row.summary), ""))

    @functools.cached_property
    def highest(self) -> float:
        return max((value for row in self.rows if not row.unlike for value, _ in runs(row)), default=1.0)


@dataclass(frozen=True, kw_only=True)
class BoardSheet:
    id: str
    model: str
    title: Rendered  # model and precision, and what else tells it from other sheets
    tab: Rendered  # what tells it from others; of one that goes on with the model and precision before it what differs
    also: bool  # it goes on
    lead: Rendered  # who leads and by how much, where that is decided
    tables: tuple[BoardTable, ...]  # the smallest scale first
    chosen: BoardTable

    @property
    def in_order(self) -> Sequence[BoardTable]:
        """The one that says most, then the others."""
        return [self.chosen, *(table for table in self.tables if table is not self.chosen)]

    @property
    def curves(self) -> Mapping[str, BoardRow]:
        """Name → its row in the table that says most, else at its largest scale, of those measured at several."""
        rows = (row for table in (*self.tables, self.chosen) for row in table.rows if len(row.curve) > 1)
        return {row.name.plain(row.name.words.languages[0]): row for row in rows}


@dataclass(frozen=True, kw_only=True)
class Chip:
    text: Rendered
    good: bool


@dataclass(frozen=True, kw_only=True)
class Board:
    finding: Rendered
    first: Rendered  # the head of the names
    beside: Rendered | None
    again: str | None  # the command that makes again what others disturbed
    chips: tuple[Chip, ...]
    sheets: tuple[BoardSheet, ...]

    @property
    def heads(self) -> tuple[Rendered, ...]:
        """Of `CELLS`."""
        keys = ("columns.items_per_s", "board.runs", "board.ratio", "columns.efficiency", "board.notes")
        return (self.first, *map(self.finding.words, keys))

    def sentences_of(self, table: BoardTable) -> list[Rendered]:
        """The sentences of a table, beyond what the finding has said."""
        first = self.finding.words.languages[0]
        told = self.finding.plain(first).endswith(table.sentence.plain(first))
        said = [] if told or not table.answer.ranked else [table.sentence, table.beside]
        return [each for each in (*said, table.by_scale) if each and each is not self.beside]


def shares_cores(case: Case) -> bool:
    return case.device == "cpu" and case.cores_per_device is None and case.devices_per_node > 1


def runs(row: BoardRow) -> list[tuple[float, bool]]:
    """The value of each run, and whether others disturbed it."""
    every = row.summary.measurements if row.summary else ()
    return [(run.value or 0.0, run.disturbed) for run in every if run.counts or run.set_aside]


def board(book: Book, words: Words) -> Board:
    maker = _Maker(book, words)
    sheets = maker.sheets()
    finding, beside, again = _finding(book, sheets, words)
    counts, document = tally(book), book.evaluation.document
    said = [words("board.not_of_platform")] if book.published and document and document.platform else list[Rendered]()
    chips = [*_chips(book, [table for sheet in sheets for table in sheet.tables], counts, maker.trained, words)]
    if gone := counts["gone"]:
        of = by_key((book.planned_of.get(run.rpartition("/r")[0]), run) for run in gone)
        cases = words.listed(f"{names.framework(case.framework)} {names.scale(case)}" for case in of if case)
        said.append(words("board.gone", n=numbers.count(len(gone)), cases=cases))
        chips.insert(0, Chip(text=words("board.chip_gone", n=numbers.count(len(gone))), good=False))
    if counts["runs_left"]:
        known = {"made": numbers.count(counts["runs_made"]), "all": numbers.count(counts["runs_planned"])}
        said.append(words("board.provisional", **known))
        chips.insert(0, Chip(text=words("board.chip_provisional", **known), good=False))
        again = None  # it is being run
    beside = words.sentences([*said, *filter(None, [beside])]) if said else beside
    return Board(finding=finding, first=maker.head, beside=beside, again=again, chips=tuple(chips), sheets=sheets)


class _Maker:
    def __init__(self, book: Book, words: Words) -> None:
        self.book, self.words = book, words
        self.trained = [*dict.fromkeys(row.trained for row in book.valid if row.origin not in PUBLISHED)]
        self.watched = not all(unseen(run) for row in book.valid for run in row.measurements)
        self.first: object = None  # where the first of alike sheets stands
        self.losses = {ladder.last.case.id: ladder for ladder in book.ladders}
        machines = {str(run.environment.hardware) for run in book.measurements if run.environment}
        short = {of: names.visible(of.partition(" (")[0].replace("(R)", "")) for of in machines}
        self.machines = short if len({*short.values()}) == len(short) else {of: names.visible(of) for of in machines}
        self.curves = by_key((row.case.series, row) for row in book.valid)
        scope_of = book.ranking_scopes | {answer.setting.model: answer.scope for answer in book.answers}
        places = ((case, scope_of[case.model]) for case in book.planned)
        each = ((compared.work_of(compared.setting_of(case, of)), of.candidate(case), case) for case, of in places)
        self.planned = by_key(((work, candidate), case) for work, candidate, case in each)
        self.asked = by_key(self.planned)
        scopes = [of for of in book.ranking_scopes.values() if of.among == "variants"]
        known = {() if of.scripts else tuple(name for name, _ in of.options) for of in scopes}
        self.titles = known.pop() if len(known) == 1 else ()  # in what all variants differ: their names are the values
        self.head: Rendered = words("board.variant" if scopes else "words.framework")
        if self.titles:
            self.head = options.apart((options.title(name, words) for name in self.titles), words)

    def _name(self, of: Candidate, scope: RankingScope) -> Rendered:
        if not self.titles or scope.among == "frameworks":
            return options.candidate_name(of, scope, self.words)
        default = self.words("variants.default")
        return options.apart((options.value_of(n, v, self.words) if v else default for n, v in of.options), self.words)

    def sheets(self) -> tuple[BoardSheet, ...]:
        of_work = by_key((compared.work_of(answer.setting), answer) for answer in self.book.answers)
        ordered = sorted(of_work, key=_order)
        several = by_key(((work.model, work.precision), work) for work in ordered)
        return tuple(self._sheet(work, of_work[work], several[work.model, work.precision]) for work in ordered)

    def _sheet(self, work: Conditions, asked: Sequence[Answer], alike: Sequence[Conditions]) -> BoardSheet:
        usual = compared.headline(asked)
        at = by_key(((answer.devices, answer.nodes), answer) for answer in asked)
        preferred = usual.setting if usual else None
        shown = [compared.headline(at[scale], preferred) or at[scale][0] for scale in sorted(at)]
        own = list(dict.fromkeys(answer.setting for answer in asked))
        tables = {id(answer): self._table(answer, at[answer.devices, answer.nodes], own) for answer in shown}
        chosen = next((answer for answer in shown if answer is usual), shown[-1])
        common = set.intersection(*(set(each.options) for each in alike))
        of = {candidate.framework for candidate in self.asked[work]} if chosen.scope.among == "variants" else ()
        precision = options.precision(work.precision, chosen.setting.options)
        told = len({case.precision for case in self.book.planned}) > 1
        parts: list[Rendered | str] = [*map(names.framework, of), names.model(work.model), precision]
        parts += [self.words(names.KINDS[work.device])] * (len({each.device for each in alike}) > 1)
        parts += [self.words("board.strong")] * (work.strong_batch is not None)
        parts += [options.option(*pair, self.words) for pair in work.options if pair not in common]
        also = work is not alike[0] and work.device == alike[0].device
        called = options.value_of if alike[2:] else options.option  # of a row of numbers the first is named
        settings = {table.setting.plain(self.words.languages[0]): table for table in tables.values()}
        if len(settings) > 1:
            each = (options.apart([table.scale, table.setting], self.words, " ") for table in tables.values())
            said = self.words("board.by_scale", settings=options.apart(each, self.words, answers.SEVERAL))
            tables = {of: replace(table, by_scale=said) for of, table in tables.items()}
        own_values = [called(*pair, self.words) for pair in work.options if also and pair not in common]
        if own_values:  # beside the first: at its scale, with its batch
            chosen = next((each for each in shown if PLACE(each) == self.first), chosen)
        self.first = self.first if own_values else PLACE(chosen)
        return BoardSheet(
            id=names.anchor("sheet", repr(work)),
            model=work.model,
            title=options.apart(parts, self.words),
            tab=options.apart(own_values or (each for each in parts if each is not precision or told), self.words),
            also=bool(own_values),
            lead=_lead(chosen, self.words),
            tables=tuple(tables.values()),
            chosen=tables[id(chosen)],
        )

    def _table(self, answer: Answer, alike: Sequence[Answer], settings: Sequence[Conditions]) -> BoardTable:
        """*alike*: all answers of the same work at this scale; *settings*: those of its sheet."""
        every = [*(entry.summary for each in alike for entry in each.ranked)]
        every += [entry.summary for each in alike for entry in each.apart]
        of = by_key((answer.candidate(row), row) for row in sorted(every, key=lambda row: -speed(row)))
        rows = [row for candidate in of for row in self._rows(answer, candidate, of[candidate], alike)]
        rows.sort(key=lambda of: -speed(row) if (row := of.summary) and row.trained != "did_not_train" else 0.0)
        asked = {*of, *self.asked[compared.work_of(answer.setting)]}
        for gap in answer.missing:
            if gap.candidate in asked and gap.candidate not in of:
                name = self._name(gap.candidate, answer.scope)
                rows.append(BoardRow(name=name, framework=gap.candidate.framework, why=self._absent(gap, answer)))
        texts = [each.summary for each in answer.ranked if each.summary.unit in IN_SEQUENCES]  # too few print a loss
        counts = [sum(bool(run.course) for run in row.measurements if run.counts) for row in texts]
        few = len(texts) > 1 and any(0 < n < FEWEST_SEEDS for n in counts)
        beside = [
            *filter(None, (answers.reason_beside(answer, self.words), answers.caution(answer, self.words))),
            *[self.words("board.losses_open", n=numbers.count(FEWEST_SEEDS))] * few,
        ]
        of_run = next((run.environment for row in every for run in row.measurements if run.environment), None)
        machine = [self.machines[str(of_run.hardware)]] if of_run and len(self.machines) > 1 else []  # of several
        return BoardTable(
            answer=answer,
            setting=options.apart([self._setting(answer.setting, settings), *machine], self.words),
            sentence=answers.sentence(answer, self.words),
            beside=self.words.sentences(beside) if beside else None,
            rows=tuple(rows),
        )

    def _absent(self, gap: Missing, answer: Answer) -> Rendered:
        own = self.planned.get((compared.work_of(answer.setting), gap.candidate))
        if gap.why == "not_planned" and own:
            return self.words("answers.planned_at", scales=self.words.listed(names.scales(own)))
        return answers.missing(gap, answer, self.words)

    def _rows(self, answer: Answer, of: Candidate, own: Sequence[Summary], alike: Sequence[Answer]) -> list[BoardRow]:
        """What it is ranked by, or else what is most alike; and its fastest of that batch, where that is another."""
        name = self._name(of, answer.scope)
        ranked = next((each.summary for each in answer.ranked if answer.candidate(each.summary) == of), None)
        first = ranked or min(own, key=lambda row: len(self._unlike(answer, row)))
        batch = [row for row in own if row.case.series_batch == first.case.series_batch]
        setting = compared.setting_of(first.case, answer.scope)
        same = [row for row in own if compared.setting_of(row.case, answer.scope) == setting]
        row = self._row(answer, first, name)
        row = replace(row, script=self._script(first, same, based=row.efficiency is not None))
        like = (each for each in alike if each is not answer and not each.withheld)
        for each in like if row.why else ():  # where it stands among those of its own conditions
            if any(entry.summary is first for entry in each.ranked[1:]):
                leader, share = each.ranked[0].summary, speed(first) / speed(each.ranked[0].summary)
                known = {"share": numbers.percent(share), "framework": answers.name(each, leader, self.words)}
                value = answers.value(each, each.ranked[0], self.words)
                row = replace(row, why=self.words("board.like", why_text=row.why, value=value, **known))
        gap = next((gap for gap in answer.missing if gap.candidate == of and gap.why == "no_valid_run"), None)
        if gap and row.why:  # why it is not there as the others are
            said = self.words.listed([row.why, answers.missing(gap, answer, self.words)])
            row = replace(row, why=replace(said, separators=answers.SEVERAL))
        if not ranked and answer.ranked and row.why is None:
            row = replace(row, why=self.words("outcome.not_comparable"))
        if (best := batch[0]) is first or best.unit != first.unit or speed(best) / speed(first) - 1 < FASTER_FROM:
            return [row]
        other = self._row(answer, best, name)
        why = other.why or self._script(best, batch) or self.words.same(best.case.recipe)
        called = self.words("board.option", name_text=name, option_text=why)
        if entry := next((each for each in answer.ranked if each.summary is ranked), None):  # so it bars no lead
            why = self.words("board.own", why_text=why, value=answers.value(answer, entry, self.words))
        return [row, replace(other, name=called, why=why)]

    def _script(self, of: Summary, among: Sequence[Summary], *, based: bool = False) -> Rendered | None:
        """Of several, the fastest first, whose value it is; *based*: and what of the same its efficiency rests on."""
        scripts = {row.case.recipe for row in among}
        base = (based and of.base and self.book.valid_of.get(of.base.id)) or of
        known = {"script": of.case.recipe, "n": numbers.count(len(scripts)), "scale": names.scale(base.case)}
        key, known["value"] = "fastest_of" if base is of else "fastest_from", numbers.throughput(speed(base))
        return self.words.pick(f"board.{key}", known) if len(scripts) > 1 and of is among[0] else None

    def _setting(self, setting: Conditions, others: Sequence[Conditions]) -> Rendered:
        common = set.intersection(*(set(each.options) for each in others))
        batch, strong = setting.batch_per_device or setting.strong_batch or 0, setting.strong_batch is not None
        parts: list[Rendered | str] = [names.bsz(batch, strong=strong), *["XLA"] * bool(setting.xla)]
        parts += [options.option(*pair, self.words) for pair in setting.options if pair not in common]
        if len({each.protocol for each in others}) > 1:
            parts.append(str(setting.protocol))
        return options.apart(parts, self.words)

    def _row(self, answer: Answer, summary: Summary, name: Rendered) -> BoardRow:
        leader = answer.ranked[0].summary if answer.ranked else summary
        is_ranked = any(entry.summary is summary for entry in answer.ranked)
        alone = tuple(answers.unstated(answer)) or self._alone(answer)
        unlike = alone if is_ranked else self._unlike(answer, summary)
        share, own = summary.efficiency, summary.base != summary.case
        known = is_ranked and answer.ranked[1:] and not unlike and not answer.withheld
        return BoardRow(
            name=name,
            framework=summary.case.framework,
            summary=summary,
            ratio=speed(summary) / speed(leader) if known else None,
            unlike=summary.unit != leader.unit,
            why=why_not_comparable.briefly(unlike, self.words) if unlike else None,
            ahead=is_ranked and summary.case.id in answer.ahead,
            cause=self._cause(summary),
            guessed=self._guessed(summary),
            marks=tuple(self._marks(summary, {each.key for each in unlike})),
            efficiency=numbers.beside(self.book.efficiency_threshold)(share.value) if share and own else None,
            curve=self._curve(summary),
        )

    def _alone(self, answer: Answer) -> tuple[Obstacle, ...]:
        """Of one that is left to rank alone: in what its work is unlike that of the next, who is not ranked either."""
        if len(answer.ranked) != 1 or not answer.left_out:
            return ()
        other = fairness.obstacles(answer.ranked[0].summary, answer.apart[0].summary, answer.scope.purpose)
        return tuple(each for each in other if each.key.startswith(fairness.FACT))

    def _unlike(self, answer: Answer, summary: Summary) -> tuple[Obstacle, ...]:
        """Why it is not ranked with the first."""
        if apart := next((entry for entry in answer.apart if entry.summary is summary), None):
            return apart.obstacles
        unlike = compared.unlike_settings(compared.setting_of(summary.case, answer.scope), answer.setting)
        if answer.ranked:
            named = {why_not_comparable.bare(each) for each in unlike}
            others = fairness.obstacles(summary, answer.ranked[0].summary, answer.scope.purpose)
            unlike = (*unlike, *(each for each in others if why_not_comparable.bare(each) not in named))
        return tuple(each for each in unlike if not why_not_comparable.is_choice(each)) or unlike

    def _cause(self, summary: Summary) -> Rendered | None:
        """What is lost at the largest scale of a series, and its largest part; else what the devices do."""
        ladder, words, base = self.losses.get(summary.case.id), self.words, summary.base
        if summary.disturbed or (ladder and ladder.scales[0].disturbed):
            return None
        used = {each.resource: numbers.quantity(each.mean, unit="%") for each in summary.utilisation}
        busy = (words("board.busy_devices", share=used[of], what_text=words(key)) for of, key in DEVICES if of in used)
        said: list[Rendered | None] = [self._lost(ladder) if ladder else next(busy, None)]
        said += [words("board.unwatched_row")] * (self.watched and any(map(unseen, summary.measurements)))
        if base and (ratio := summary.speedup) and (ratio.high or ratio.value) < 1 / (1 + LEAST_GAP):
            said.append(words("board.slower", scale=names.scale(base)))
        return words.clauses(told) if (told := [each for each in said if each]) else None

    def _lost(self, ladder: Ladder) -> Rendered | None:
        key, share = max(ladder.losses, key=lambda loss: loss[1], default=("", 0.0))
        if max(share, 1 - ladder.left) < LOST_FROM:
            return None
        case, points = ladder.last.case, numbers.percent(share).text.rstrip("%")
        card = None if self.book.huge else names.anchor("why", f"{case.model} {case.framework}")
        lost, what = numbers.percent(1 - ladder.left).to(card), f"why.key_{key if key in DRAWN else 'rest'}"
        of = "cause_of_parts" if share < LOST_FROM else "cause" if lost.text == f"{points}%" else "cause_part"
        return self.words.pick(f"board.{of}", {"lost": lost, "points": points, "what_text": self.words(what)})

    def _marks(self, summary: Summary, unlike: set[str]) -> Iterable[Rendered]:
        words = self.words
        said = {summary.doubts[0].split()[0]} if fairness.CLOCKS in unlike and summary.doubts else set[str]()
        unseen = {of.code for run in summary.measurements for of in run.findings if isinstance(of, NothingExchanged)}
        yield from (words(f"rules.{code}.title") for code in (*warnings(summary), *unseen) if code not in said)
        if summary.origin in PUBLISHED and not self.book.published:  # else a chip says it of all
            yield words(f"board.{summary.origin}")
        elif summary.grounds == "printed" and fairness.GROUNDS not in unlike:
            yield words("board.printed")
        yield from [words("board.disturbed")] * summary.disturbed
        if not (summary.origin in PUBLISHED or len(self.trained) == 1 or summary.trained == "did_not_train"):  # told
            yield words(f"values.trained.{summary.trained}")

    def _guessed(self, summary: Summary) -> Rendered | None:
        classes = int(names.model_facts(summary.case.model).get("classes", 0))
        if not classes or summary.trained not in ("too_seldom", "not_shown"):
            return None
        metric, value = guessed(summary, classes) or ("", 0.0)
        known = {"value": numbers.significant(value), "classes": numbers.count(classes)}
        known |= {"chance": numbers.significant(math.log(classes))}
        return self.words.pick(f"board.guessed_{metric}", known) if metric else None

    def _curve(self, summary: Summary) -> tuple[tuple[int, float, bool, str], ...]:
        rows = sorted(self.curves[summary.case.series], key=lambda row: row.case.total_devices)
        base = next((row for row in rows if row.base == row.case), None)
        return tuple(
            (row.case.total_devices, row.efficiency.value, base.disturbed or row.disturbed, names.case_anchor(row.case))
            for row in rows
            if row.efficiency and base and row.base == base.case  # what is its own base has no other to lose against
        )


def _order(work: Conditions) -> tuple[object, ...]:
    known = list(names.PRECISIONS)
    precision = known.index(work.precision) if work.precision in known else len(known)
    strong, options_ = work.strong_batch is not None, names.options_order(work.options)
    return (*names.model_order(work.model), precision, work.precision, work.device, strong, options_)


def _lead(answer: Answer, words: Words) -> Rendered:
    """Who leads by how much, where that is decided."""
    if not answer.ranked:
        return words("board.no_result")
    first = answers.name(answer, answer.ranked[0].summary, words)
    if len(answer.ranked) < 2:
        only = words("board.only", framework=first, scale=answers.scale(answer))
        return words("outcome.not_comparable") if answer.left_out else only
    if answer.known == "equal":
        return options.apart((answers.name(answer, entry.summary, words) for entry in answer.leaders), words, ALIKE)
    if answer.known != "ahead":
        return words("outcome.not_decided")
    return first if answer.lead is None else words("board.lead", framework=first, lead=numbers.gain(answer.lead))


def _finding(book: Book, sheets: Sequence[BoardSheet], words: Words) -> tuple[Rendered, Rendered | None, str | None]:
    """One sentence, what belongs to it, and the command that would make it better."""
    shown = [sheet.chosen for sheet in sheets]
    left = [run for run in book.measurements if not run.set_aside]
    busy = [run for run in left if run.disturbed]
    tested = [table for table in shown if len(table.answer.ranked) > 1]
    if busy and len(busy) >= BUSY_FROM * len(left):
        others = [each.others for run in left for each in run.findings if isinstance(each, BusyMachine)]
        taken = {"share": numbers.least_and_most(others, numbers.percent)} if others else {}
        counted = _of(sum(run.disturbed for run in book.measurements), len(book.measurements))  # those set aside too
        said = words("board.busy" if others else "board.slowed", **counted, **taken)
        told = [table.sentence for table in tested if table.answer.known == "ahead"]
        still = words.sentences(told[:2]) if told else words("board.busy_nothing")
        again = f"evalsuite compare {f'--profile {book.profile}' if book.profile else '--spec FILE'}"  # it adds rounds
        return said, still, again if any(run.origin == "measured" for run in busy) else None
    if not book.valid:
        made = len(book.measurements)
        none = words("board.nothing_valid", n=numbers.count(made)) if made else words("headlines.none_made")
        return none, None, None
    if len(sheets) == 1:
        first, alone = shown[0], len(sheets[0].tables) == 1 or not shown[0].answer.ranked
        sentence = first.sentence if alone else words("board.at_scale", scale=first.scale, said_text=first.sentence)
        return _changed(book, first, words) or sentence, first.beside, None
    if not tested:
        return words("board.nothing_compared", n=numbers.count(len(sheets))), None, None
    places = {scale: len(of) for scale, of in by_key((table.scale, table) for table in tested).items()}
    at = words.listed(words("board.at_places", n=numbers.count(n), scale=scale) for scale, n in places.items())
    beside = [words("board.most_shared", scales=at)] * (len(places) > 1)
    beside += [words("board.not_compared", n=numbers.count(len(sheets) - len(tested)))] * (len(sheets) > len(tested))
    ordered = {answer.setting for answer in book.answers if answer.ranked[1:]}
    if hidden := ordered - {table.answer.setting for sheet in sheets for table in sheet.tables}:
        beside.append(words("board.in_chapters", n=numbers.count(len(hidden))))
    return _of_several(tested, words), words.sentences(beside) if beside else None, None


def _changed(book: Book, table: BoardTable, words: Words) -> Rendered | None:
    """Of variants of one framework: what each option changes, where the cases that differ in it alone were run."""
    ranked = [entry.summary.case for entry in table.answer.ranked]
    known = [change for change in changes(book, ranked) if change.ratio]
    if table.answer.scope.among != "variants" or not known:
        return None
    said = replace(words.listed(change.sentence(words) for change in known), separators=answers.SEVERAL)
    open_ = all(change.outcome == "not_decided" for change in known)
    return words("board.changed_open" if open_ else "board.changed", scale=table.scale, changes_text=said)


def _of_several(tables: Sequence[BoardTable], words: Words) -> Rendered:
    """In how many comparisons who is ahead, and by how much."""
    won, highest, open_ = dict[str, list[float]](), dict[str, list[float]](), Counter[str]()
    ties = sum(table.answer.known == "equal" for table in tables)
    others = [table.answer for table in tables if table.answer.known != "equal"]
    for answer in others:
        first = names.framework(answer.ranked[0].summary.case.framework)
        if answer.lead is None:
            open_[first] += 1
        else:
            (won if answer.known == "ahead" else highest).setdefault(first, []).append(answer.lead)
    all_, decided = numbers.count(len(tables)), ties + sum(answer.known == "ahead" for answer in others)
    said: list[Rendered] = []
    for key, of in (("board.won", won), ("board.highest", highest)):
        for place, (name, leads) in enumerate(sorted(of.items(), key=lambda each: -len(each[1]))):
            n, lead = numbers.count(len(leads)), numbers.least_and_most(leads, numbers.gain)
            said.append(words("board.one_more" if place else key, framework=name, n=n, lead=lead))
    if ties:
        said.insert(len(won), words("board.ties", n=numbers.count(ties)))
    said += [words("board.highest_ranked", framework=name, n=numbers.count(n)) for name, n in open_.most_common()]
    parts = replace(words.listed(said), separators=answers.SEVERAL)
    whys = {table.answer.why for table in tables}
    if decided:
        key = "board.decided_all" if decided == len(tables) else "board.decided"
        return words.pick(key, {**_of(decided, len(tables)), "parts_text": parts})
    if len(whys) == 1 and (why := whys.pop()) and why != "scatter":
        rows = [summary for table in tables for summary in table.answer.compared]
        open_facts = sum(bool(why == "runs" and of.deciding and of.deciding.facts) for of in others)
        reasons: list[Rendered] = [answers.why(why, rows, words)]
        reasons += [words("board.unstated_in", n=numbers.count(open_facts))] * bool(open_facts)
        return words("board.none_decided_because", all=all_, why_text=words.listed(reasons), parts_text=parts)
    return words("board.none_decided", all=all_, parts_text=parts)


def _of(n: int, all_: int) -> dict[str, object]:
    return {"n": numbers.count(n), "all": numbers.count(all_)}


def _chips(
    book: Book, tables: Sequence[BoardTable], total: Mapping[str, int], trained: Sequence[Trained], words: Words
) -> Iterable[Chip]:
    """On how much all of it rests: each is red where it is less than it should be."""
    if not (rows := book.valid):
        return
    made = [(of.run.case.protocol, of.throughput) for row in rows for of in row.measurements if of.counts]
    steps = [min(rate.window.steps, of.measured_steps) for of, rate in made if rate and rate.window]
    cited = [row for row in rows if row.grounds in OTHERS]
    if len(cited) < len(rows):
        enough = min(counts := [row.n for row in rows]) >= FULL_REPEATS
        yield Chip(text=words("answers.runs", n=numbers.least_and_most(counts, numbers.plain)), good=enough)
        full = Protocol().measured_steps <= min(steps, default=0)
        if steps:
            yield Chip(text=words("board.steps", n=numbers.least_and_most(steps, numbers.plain)), good=full)
    if len(trained) == 1:
        yield Chip(text=words(f"values.trained.{trained[0]}"), good=trained[0] == "trained")
    elif trained:
        of = Counter(row.trained for row in rows if row.origin not in PUBLISHED)
        told = [words("board.trained_some", **_of(of["trained"], of.total()))]
        told += [words(f"board.trained_{key}", n=numbers.count(n)) for key, n in of.most_common() if key != "trained"]
        yield Chip(text=words.listed(told), good=False)
    if again := [row for row in rows if looks(row) > 1]:
        times = looked(max(again, key=looks)).items()
        why = words.listed(words(f"board.looks_{key}", n=numbers.count(n)) for key, n in times if n)
        known = {"times": numbers.least_and_most([*map(looks, again)], numbers.plain), **_of(len(again), len(rows))}
        yield Chip(text=words("board.looks", **known, why_text=why), good=False)
    if cited:
        kind = "published" if any(row.origin in PUBLISHED for row in cited) else "printed"
        yield Chip(text=words(f"board.chip_{kind}", **_of(len(cited), len(rows))), good=False)
    if total["runs_sampled"]:
        busy, counted = total["runs_disturbed"], _of(total["runs_disturbed"], total["runs_sampled"])
        yield Chip(text=words("board.busy_in", **counted) if busy else words("board.quiet"), good=not busy)
    unwatched = total["runs_made"] - total["runs_sampled"]
    if unwatched and any(row.origin == "measured" for row in rows):
        key = f"board.unwatched{'_all' * (unwatched == total['runs_made'])}"
        yield Chip(text=words.pick(key, _of(unwatched, total["runs_made"])), good=False)
    orders = [table.answer for table in tables if len(table.answer.ranked) > 1]
    each = [of.summary for order in orders for of in order.ranked]
    if ranked := {of.case.id: of for of in each if of.grounds not in OTHERS}:
        proven = sum(has_receipt(row, book.evaluation.commands, book.evaluation.receipts) for row in ranked.values())
        among = all(order.scope.among == "variants" for order in orders)  # of one script, which has no proof
        key = "same" if proven == len(ranked) else "same_some" if proven else "same_variants" if among else "same_none"
        yield Chip(text=words.pick(f"board.{key}", _of(proven, len(ranked))), good=proven == len(ranked))
    if shared := sum(shares_cores(row.case) for row in rows):
        yield Chip(text=words("board.shared", **_of(shared, len(rows))), good=False)
    if not book.evaluation.campaigns and any(row.origin == "measured" for row in rows):
        yield Chip(text=words("board.no_journal"), good=False)
    if book.evaluation.recorded_elsewhere:
        yield Chip(text=words("board.elsewhere"), good=True)
