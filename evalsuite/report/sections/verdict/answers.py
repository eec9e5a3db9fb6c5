"""Answers in words: who is fastest where, the ranked with their runs, every reason."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from evalsuite.core.model import Case, Summary, by_key
from evalsuite.report.book import why_not_comparable
from evalsuite.report.book.book import Book
from evalsuite.report.figures import ticks
from evalsuite.report.text import findings, names, numbers, options
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Phrase, Rendered, Text, Words
from evalsuite.results.compare import answers as compared
from evalsuite.results.compare.answers import Answer, Apart, Conditions, Missing
from evalsuite.results.compare.decisions import Candidate, Ranked
from evalsuite.results.compare.equivalence import has_receipt
from evalsuite.results.compare.fairness import Obstacle
from evalsuite.results.compare.significance import EQUAL_WITHIN
from evalsuite.results.measure.summary import values

OF_OTHERS = ("printed", "cited")  # figures that nobody clocked
MOST_IN_ORDER = 5
MOST_BESIDE = 2  # reasons in a headline
DOTS_WIDTH = 200  # of the strip of runs, in its own units
EDGE = 6
TICKS = 3  # and 0
MOST_ELSEWHERE = 3
SEVERAL = {"zh": "；", "en": "; "}
LONGEST_REASON = 160  # characters of a log line that a reason quotes


class Answered(Protocol):
    @property
    def models(self) -> tuple[str, ...]: ...
    @property
    def answers(self) -> tuple[Answer, ...]: ...


@dataclass(frozen=True, kw_only=True)
class AnsweredQuestion:
    id: str
    answer: Answer
    model: str
    setting: Rendered
    scale: str
    chosen: bool
    sentence: Text
    deciding: Text | None
    caution: Rendered | None  # how often the rule errs, of an order that it tells
    unit: str
    ticks: tuple[tuple[str, str], ...]  # of the strip, which begins at 0: where, what
    places: Sequence[Mapping[str, Any]]
    reasons: tuple[Text, ...]
    head: Text
    unproven: Rendered | None


def questions(book: Book, words: Words) -> tuple[AnsweredQuestion, ...]:
    known = {answer.setting for answer in book.answers if answer.ranked}
    first, labels = set(map(anchor, headlines(book))), settings(book.answers, words)
    asked = (answer for answer in book.answers if answer.setting in known)
    return tuple(_question(answer, book, labels[answer.setting], anchor(answer) in first, words) for answer in asked)


def _not_shown(answer: Answer, book: Book, words: Words) -> Rendered | None:
    """Whose computation no receipt shows, and of whose learning its log from elsewhere says nothing."""
    known = book.evaluation
    ranked = [entry.summary for entry in answer.ranked if entry.summary.grounds not in OF_OTHERS]
    lacking = {
        "no_receipt": [row for row in ranked if not has_receipt(row, known.commands, known.receipts)],
        "no_loss": [
            row for row in ranked if row.origin == "imported" and not any(r.first_losses for r in row.measurements)
        ],
    }
    said = [
        words(f"answers.{key}", frameworks=words.listed(_named(answer, row, words) for row in rows))
        for key, rows in lacking.items()
        if rows
    ]
    return words.sentences(said) if said else None


def headlines(book: Answered) -> tuple[Answer, ...]:
    of_model = by_key((answer.setting.model, answer) for answer in book.answers)
    return tuple(answer for model in book.models if (answer := compared.headline(of_model.get(model, ()))))


def settings(every: Collection[Answer], words: Words) -> dict[Conditions, Rendered]:
    """The setting of each, by what tells those of a model apart."""
    texts: dict[Conditions, Rendered] = {}
    for answers in by_key((answer.setting.model, answer) for answer in every).values():
        own = list(dict.fromkeys(answer.setting for answer in answers))
        common = set.intersection(*(set(each.options) for each in own))
        variants = [answer for answer in answers if answer.scope.among == "variants"]
        of = {entry.summary.case.framework for answer in variants for entry in answer.ranked}
        of |= {entry.candidate.framework for answer in variants for entry in answer.missing}
        for each in own:
            parts: list[Rendered | str] = [words.same(names.framework(framework)) for framework in of]
            batch, strong = each.batch_per_device or each.strong_batch or 0, each.strong_batch is not None
            parts += [names.precision(each.precision), names.bsz(batch, strong=strong)]
            parts += [words(names.KINDS[each.device])] * (len({other.device for other in own}) > 1)
            parts += ["XLA"] * bool(each.xla)
            parts += [options.option(*pair, words) for pair in each.options if pair not in common]
            if sum(replace(other, protocol=each.protocol) == each for other in own) > 1:
                parts.append(f"{each.protocol.warmup_steps}+{each.protocol.measured_steps}")
            texts[each] = options.apart(parts, words)
    return texts


def anchor(answer: Answer) -> str:
    return names.anchor("a", repr((answer.setting, answer.nodes, answer.devices_per_node)))


def scale(answer: Answer) -> str:
    return f"{answer.nodes}×{answer.devices_per_node}"


def workers(answer: Answer, words: Words) -> Text:
    return words(
        "answers.cpus" if answer.setting.device == "cpu" else "answers.gpus",
        n=numbers.count(answer.devices).about(anchor(answer)),
    )


def _question(answer: Answer, book: Book, setting: Rendered, chosen: bool, words: Words) -> AnsweredQuestion:
    high = max((value for entry in answer.ranked for value in values(entry.summary)), default=1.0)
    marks = ticks.linear(0, high, TICKS)
    end = marks[-1] if marks[-1] >= high else marks[-1] + marks[1]
    unit = answer.ranked[0].summary.unit if answer.ranked else ""
    beside = [(answer.candidate(entry.summary), _apart(answer, entry, words)) for entry in answer.apart]
    beside += [(each.candidate, missing(each, answer, words)) for each in answer.missing]
    return AnsweredQuestion(
        id=anchor(answer),
        answer=answer,
        model=names.model(answer.setting.model),
        setting=setting,
        scale=scale(answer),
        chosen=chosen,
        sentence=sentence(answer, words),
        deciding=deciding(answer, words),
        caution=_caution(answer, words),
        unit=names.visible(unit),
        ticks=tuple((f"{_at(mark, end) / 2}%", ticks.number(mark)) for mark in dict.fromkeys((*marks, end))),
        places=[_place(answer, entry, end, words) for entry in answer.ranked],
        reasons=tuple(_reason(answer, candidate, why, words) for candidate, why in beside),
        unproven=_not_shown(answer, book, words),
        head=words("words.framework" if answer.scope.among == "frameworks" else "answers.variants_head"),
    )


def _at(value: float, end: float) -> float:
    return round(EDGE + (DOTS_WIDTH - 2 * EDGE) * value / end, 1)


def _place(answer: Answer, entry: Ranked, end: float, words: Words) -> Mapping[str, Any]:
    summary = entry.summary
    interval = numbers.interval(summary.items_per_s, numbers.rounded)
    runs = [(f"M{_at(run.value or 0.0, end)} 8h0", run) for run in summary.measurements if run.counts or run.set_aside]
    return {
        "name": name(answer, summary, words),
        "ratio": f"{entry.ratio:.3f}",
        "ahead": summary.case.id in answer.ahead,
        "flagged": bool(entry.flags),
        "value": numbers.throughput(summary.items_per_s.value).to(names.case_anchor(summary.case)),
        "interval": interval.text if interval else "",
        "n": summary.n,
        "dots": "".join(dot for dot, _ in runs),  # path of the strip: a dot for each run
        "holes": "".join(dot for dot, run in runs if run.disturbed),
        "median": f"M{_at(summary.items_per_s.value, end)} 2v12",
    }


def value(answer: Answer, item: Ranked | Apart, words: Words, devices: int = 1) -> Number | Text:
    """Of one *item*, or of each of so many *devices*; never without its marks."""
    beside = answer.ranked[0].summary.items_per_s.value / devices
    number = numbers.rounded(item.summary.items_per_s.value / devices, beside).to(names.case_anchor(item.summary.case))
    marks = "§" * (item.summary.grounds == "printed") + "○" * item.summary.disturbed + "⚠" * bool(item.flags)
    return words("answers.flagged_value", value=number, marks=marks) if marks else number


def passed(answer: Answer, words: Words, devices: int = 1) -> Text:
    """Who is as fast and not ranked, without whom no lead is printed."""
    first, *others = answer.passed_over
    why = why_not_comparable.briefly(first.obstacles, words)
    text = words(
        "answers.passed",
        framework=options.candidate_name(answer.candidate(first.summary), answer.scope, words),
        value=value(answer, first, words, devices),
        why_text=why,
    )
    return words("answers.passed_more", passed_text=text, n=numbers.count(len(others))) if others else text


def sentence(answer: Answer, words: Words) -> Text:
    if not answer.ranked:
        return words("answers.none")
    first = answer.ranked[0].summary
    fewest, most = (of(answer.compared, key=lambda summary: summary.n) for of in (min, max))
    repeats = "–".join(dict.fromkeys((str(fewest.n), str(most.n))))
    order: list[object] = [
        words("answers.with_value", framework=_named(answer, each.summary, words), value=value(answer, each, words))
        for each in answer.ranked
    ]
    order[MOST_IN_ORDER:] = ["…"] * (len(order) > MOST_IN_ORDER)
    values: dict[str, object] = {
        "first": _named(answer, first, words),
        "value": value(answer, answer.ranked[0], words),
        "unit": names.visible(first.unit),
        "n": replace(numbers.count(fewest.n), text=repeats).about(names.case_anchor(fewest.case)),
        "frameworks": words.listed(_named(answer, entry.summary, words) for entry in answer.leaders),
        "values": words.listed(value(answer, entry, words) for entry in answer.leaders),
        "order": words.ordered(order, answer.steps if answer.fewest > 1 else (True,) * len(order)),
    }
    if pair := answer.lead_pair:
        values["second"] = _named(answer, pair.second, words)
        values["lead"] = numbers.gain(pair.lead).about(names.case_anchor(pair.second.case))
        values["all"] = numbers.count(len(answer.ranked)).about(anchor(answer))
        values["rounds"] = numbers.count(pair.compared.rounds).about(anchor(answer))
    if answer.why and not answer.level:
        values["why_text"] = words(f"answers.why_{answer.why}")
    if answer.known == "equal":
        values["within"] = numbers.limit(EQUAL_WITHIN).about(anchor(answer))
    if facts := unstated(answer):
        values["facts"] = words.listed(why_not_comparable.name(each, words) for each in facts)
    form = (
        "_order" if "why_text" in values else "_all" if answer.level and (answer.disturbed or not answer.next) else ""
    )
    key = f"{answer.outcome}{'_in_rounds' if answer.disturbed and answer.outcome == 'ahead' else form}"
    if unstated(answer):
        key = "unstated"
    elif answer.outcome == "not_comparable":
        each_by_its_best: dict[Candidate, Rendered] = {}
        entries: list[Ranked | Apart] = [*answer.ranked, *answer.apart]
        for entry in sorted(entries, key=lambda entry: -entry.summary.items_per_s.value):
            named = _named(answer, entry.summary, words)
            said = words("answers.with_value", framework=named, value=value(answer, entry, words))
            if entry.summary.unit == first.unit:
                each_by_its_best.setdefault(answer.candidate(entry.summary), said)
        values["order"] = words.listed(each_by_its_best.values())
    said = words.pick(f"answers.{key}", values)
    if not answer.passed_over:
        return said
    return words("answers.and_passed", said_text=said, passed_text=passed(answer, words))


def unstated(answer: Answer) -> list[Obstacle]:
    obstacles = {each.key: each for entry in answer.apart for each in entry.obstacles}
    if len(answer.ranked) != 1 or not all(map(why_not_comparable.is_unstated, obstacles.values())):
        return []
    return list(obstacles.values())


def name(answer: Answer, summary: Summary, words: Words) -> Rendered:
    said = options.candidate_name(answer.candidate(summary), answer.scope, words)
    if answer.scope.among == "frameworks":
        return said
    return said.about(names.case_anchor(summary.case))


def _named(answer: Answer, summary: Summary, words: Words) -> Rendered:
    said = options.candidate_in_sentence(answer.candidate(summary), answer.scope, words)
    return said.about(names.case_anchor(summary.case))


def deciding(answer: Answer, words: Words) -> Text | None:
    repeats = answer.deciding
    if repeats is None:
        return None
    if repeats.needed == "facts":
        named = [words("answers.fact_key", name_text=words(f"values.fact.{of}"), key=of) for of in repeats.facts]
        return words("answers.needs_facts", facts=words.listed(named))
    if repeats.needed in ("base", "campaign"):
        return words(f"answers.needs_{repeats.needed}")
    return words(f"answers.needs_{repeats.needed}", runs=numbers.count(repeats.runs).about(anchor(answer)))


def reason_beside(answer: Answer, words: Words) -> Rendered | None:
    """What would decide, and what else a reader of the sentence must know."""
    if unstated(answer):
        return words("answers.state_facts").about(anchor(answer))
    ranked, alone = {answer.candidate(entry.summary) for entry in answer.ranked}, len(answer.ranked) == 1
    apart, absent = (answer.apart, answer.missing) if alone else ((), ())
    others = [(answer.candidate(entry.summary), _apart(answer, entry, words)) for entry in apart if entry.obstacles]
    others += [(gap.candidate, missing(gap, answer, words)) for gap in absent if gap.why == "no_valid_run"]
    unranked = [_reason(answer, of, why, words) for of, why in others if of not in ranked]
    failed = ((entry.summary, why) for entry in answer.ranked for why in compared.left_over(entry.summary))
    said = ((answer.candidate(summary), why_not_comparable.sentence(why, words)) for summary, why in failed)
    reasons = [words("answers.closed", said_text=each) for each in unranked]
    for entry in answer.leaders:
        if entry.flags:
            rules = words.listed(findings.rule(code, words) for code in entry.flags[:MOST_BESIDE])
            reasons.append(words("answers.flagged", framework=_named(answer, entry.summary, words), rules=rules))
    reasons += [_few(answer, entry, words) for entry in answer.few]
    reasons += [words("answers.closed", said_text=_reason(answer, of, why, words)) for of, why in said]
    needed = deciding(answer, words) if not alone else None
    texts: list[Rendered] = [*reasons[:MOST_BESIDE], *([needed] if needed else [])]
    return words.sentences(texts).about(anchor(answer)) if texts else None


def _few(answer: Answer, entry: Ranked, words: Words) -> Text:
    known = words(f"outcome.{entry.outcome}")
    n = numbers.count(entry.summary.n).about(names.case_anchor(entry.summary.case))
    named = _named(answer, entry.summary, words)
    return words("answers.few", framework=named, value=value(answer, entry, words), n=n, outcome_text=known)


def _caution(answer: Answer, words: Words) -> Rendered | None:
    if answer.false_exclusion is None:
        return None
    n = numbers.count(len(answer.ranked) - len(answer.few))
    said = words("answers.false_exclusion", share=numbers.chance(answer.false_exclusion), n=n)
    return said.about(anchor(answer))


def _reason(answer: Answer, candidate: Candidate, why: Text, words: Words) -> Text:
    name = options.candidate_name(candidate, answer.scope, words).about(anchor(answer))
    return words("answers.of_framework", framework=name, why_text=why)


def _apart(answer: Answer, entry: Apart, words: Words) -> Text:
    if not entry.obstacles:
        return words(
            "answers.slower_script",
            recipe=names.visible(entry.summary.case.recipe),
            value=value(answer, entry, words),
        )
    why = words.listed(why_not_comparable.sentence(each, words) for each in entry.obstacles[:2])
    return words("answers.apart", value=value(answer, entry, words), why=why)


def missing(absence: Missing, answer: Answer, words: Words) -> Text:
    if absence.why == "elsewhere":
        settings: list[Rendered] = [elsewhere(case, answer, words) for case in absence.others[:MOST_ELSEWHERE]]
        if (more := len(absence.others) - MOST_ELSEWHERE) > 0:
            settings.append(words("matrix.more", n=numbers.count(more)))
        return words("answers.elsewhere", settings=replace(words.listed(settings), separators=SEVERAL))
    reason = Phrase(words=words, text=absence.reason, longest=LONGEST_REASON)
    return words(f"answers.{absence.why}_because", reason=reason) if reason else words(f"answers.{absence.why}")


def elsewhere(case: Case, answer: Answer, words: Words) -> Rendered:
    """In what its setting is another than the one that is asked about."""
    unlike = compared.unlike_settings(compared.setting_of(case, answer.scope), answer.setting)
    return words.listed(why_not_comparable.brief(each, words) for each in unlike).about(names.case_anchor(case))
