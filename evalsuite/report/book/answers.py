"""Answers in words: who is fastest where, the ranked with their runs, every reason."""

from collections.abc import Sequence
from dataclasses import replace

from evalsuite.core.messages import Message
from evalsuite.core.model import Case, Protocol, Summary
from evalsuite.report.book import why_not_comparable
from evalsuite.report.book.book import warnings
from evalsuite.report.text import findings, names, numbers, options
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Phrase, Rendered, Text, Words
from evalsuite.results.compare import answers as compared
from evalsuite.results.compare.answers import Answer, Apart, Missing
from evalsuite.results.compare.decisions import PUBLISHED, Ranked, speed
from evalsuite.results.compare.fairness import Obstacle
from evalsuite.results.compare.significance import EQUAL_WITHIN, LEAST_GAP, LEVEL
from evalsuite.results.measure.summary import FULL_REPEATS, failed_runs

MOST_BESIDE = 2  # reasons in a headline
SEVERAL = {"zh": "；", "en": "; "}
LONGEST_REASON = 320  # characters of a log line that a reason quotes


def setting(answer: Answer, words: Words) -> Rendered:
    rows: list[Ranked | Apart] = [*answer.ranked, *answer.apart]
    known, of = answer.setting, rows[0].summary.case.framework if answer.scope.among == "variants" and rows else None
    parts: list[Rendered | str] = [words.same(names.framework(of))] if of else []
    batch = names.bsz(known.batch_per_device or known.strong_batch or 0, strong=known.strong_batch is not None)
    parts += [options.precision(known.precision, known.options), batch, *["XLA"] * bool(known.xla)]
    return options.apart([*parts, *(options.option(*pair, words) for pair in known.options)], words)


def anchor(answer: Answer) -> str:
    return names.anchor("a", repr((answer.setting, answer.nodes, answer.devices_per_node)))


def scale(answer: Answer) -> str:
    rows: list[Ranked | Apart] = [*answer.ranked, *answer.apart]
    return names.scale(rows[0].summary.case) if rows else f"{answer.nodes}×{answer.devices_per_node}"


def value(answer: Answer, item: Ranked | Apart, words: Words) -> Number | Text:
    beside, own = answer.ranked[0].summary.items_per_s.value, item.summary
    number = numbers.rounded(own.items_per_s.value, beside).to(names.case_anchor(own.case))
    return with_signs(number, own, words)


def with_signs(number: Number, summary: Summary, words: Words) -> Number | Text:
    """A value has everywhere what it must not be read without."""
    signs = "§" * (summary.grounds == "printed") + "○" * summary.disturbed + "⚠" * bool(warnings(summary))
    return words("answers.flagged_value", value=number, marks=signs) if signs else number


def passed(answer: Answer, words: Words) -> Rendered:
    """Who is not ranked and no slower than the second, without whom no lead is printed."""
    told = list[Text]()
    for each in answer.passed_over:
        known = {"value": value(answer, each, words), "why_text": why_not_comparable.briefly(each.obstacles, words)}
        told.append(words("answers.passed", framework=name(answer, each.summary, words), **known))
    return options.apart(told, words, SEVERAL)


def sentence(answer: Answer, words: Words) -> Text:
    if not answer.ranked:
        return words("answers.none")
    first = answer.ranked[0].summary
    fewest, most = (of(answer.compared, key=lambda summary: summary.n) for of in (min, max))
    repeats = "–".join(dict.fromkeys((str(fewest.n), str(most.n))))
    values: dict[str, object] = {
        "first": _named(answer, first, words),
        "value": value(answer, answer.ranked[0], words),
        "unit": names.visible(first.unit),
        "n": replace(numbers.count(fewest.n), text=repeats),
        "frameworks": words.listed(_named(answer, entry.summary, words) for entry in answer.leaders),
        "values": words.listed(value(answer, entry, words) for entry in answer.leaders),
    }
    if answer.lead is not None:
        values["lead"] = numbers.gain(answer.lead)
    if (pair := answer.lead_pair) and answer.second:
        values["second"] = _named(answer, pair.second, words)
        values["second_value"] = value(answer, answer.second, words)
        values["rounds"] = numbers.count(pair.compared.rounds)
    if answer.why and not answer.level:
        values["why_text"] = _why(answer, words)
    if answer.known == "equal":
        values["within"] = numbers.limit(EQUAL_WITHIN)
    key = f"{answer.outcome}{_form(answer)}"
    if key == "no_value" and first.origin not in PUBLISHED and all(gap.why == "not_planned" for gap in answer.missing):
        key = "alone"
    if facts := unstated(answer):
        key, values["facts"] = "unstated", words.listed(why_not_comparable.name(each, words) for each in facts)
    said, others = words.pick(f"answers.{key}", values), answer.passed_over
    return words("answers.and_passed", said_text=said, passed_text=passed(answer, words)) if others else said


def _form(answer: Answer) -> str:
    """Of the sentence of its outcome: with the lead, or without it where none may be said."""
    open_ = bool(answer.why) and not answer.level
    if answer.known is None or answer.lead is not None:
        return "_order" if open_ else ""
    if answer.level:
        return "_all"
    return "_open" if open_ else "_in_rounds" if answer.disturbed else "_of_ranked"


def _why(answer: Answer, words: Words) -> Rendered:
    """Why it is not decided; where runs that do not count are the cause, what was found of the first."""
    of = [(each.summary, run) for each in answer.ranked if each.summary.partial for run in each.summary.measurements]
    left_out = [(whose, each) for whose, run in of for each in run.findings if each.severity == "exclude"]
    for whose, found in [pair for pair in left_out if answer.why == "runs" and not pair[1].aside]:
        known = {"framework": _named(answer, whose, words), "cause_text": findings.cause(found, words)}
        return words("answers.why_left_out", **known)
    open_ = answer.why == "runs" and answer.deciding and answer.deciding.facts
    return words.listed([why(str(answer.why), answer.compared, words), *[words("answers.why_facts")] * bool(open_)])


def why(of: str, rows: Sequence[Summary], words: Words) -> Rendered:
    """What *of* is of these *rows*; of runs, all of their shortcomings that are there."""
    full, partial = Protocol().measured_steps, [row for row in rows if row.partial]
    known = {
        "simulated": any(row.origin == "simulated" for row in rows),
        "few": any(row.n < FULL_REPEATS for row in partial),
        "short": any(row.n >= FULL_REPEATS or row.case.protocol.measured_steps < full for row in partial),
        "failed": any(map(failed_runs, rows)),
        "disturbed": any(row.disturbed for row in rows),
    }
    keys = [key for key, held in known.items() if held and of == "runs"]
    return words.listed(words(f"answers.why_{key}") for key in keys[: known["simulated"] or None] or [of])


def unstated(answer: Answer) -> list[Obstacle]:
    obstacles = {each.key: each for entry in answer.apart for each in entry.obstacles}
    if len(answer.ranked) != 1 or not all(map(why_not_comparable.is_unstated, obstacles.values())):
        return []
    return list(obstacles.values())


def name(answer: Answer, summary: Summary, words: Words) -> Rendered:
    return options.candidate_name(answer.candidate(summary), answer.scope, words)


def _named(answer: Answer, summary: Summary, words: Words) -> Rendered:
    return options.candidate_in_sentence(answer.candidate(summary), answer.scope, words)


def deciding(answer: Answer, words: Words) -> Rendered | None:
    if (repeats := answer.deciding) is None:
        return None
    named = [words("answers.fact_key", name_text=words(f"values.fact.{of}"), key=of) for of in repeats.facts]
    levels = {"level": numbers.limit(round(repeats.level, 4)), "whole": numbers.limit(LEVEL)}
    runs = {"runs": numbers.count(repeats.runs), "anew": numbers.count(repeats.anew)}
    values = {**runs, **levels, "facts": words.listed(named), "each_text": words(f"answers.each_{answer.scope.among}")}
    needed = ["facts"] * bool(named and repeats.runs) + ["extension" if repeats.anew else repeats.needed]
    said = [words.pick(f"answers.needs_{each}", values) for each in needed]
    first, second = (speed(entry.summary) for entry in answer.ranked[:2])
    if first < (1 + LEAST_GAP) * second and repeats.runs:
        said.append(words("answers.no_lead", least=numbers.limit(LEAST_GAP)))
    return words.sentences(said)


def reason_beside(answer: Answer, words: Words) -> Rendered | None:
    """What would decide, and what else a reader of the sentence must know."""
    if lacking := unstated(answer):
        asked = " ".join(f"--set {each.key.removeprefix('facts.')}=…" for each in lacking)
        return words("answers.state_facts", asked=asked)
    failed = ((entry.summary, why) for entry in answer.ranked for why in compared.left_over(entry.summary))
    reasons = list[Text]()
    for entry in answer.few:
        outcome, n = words(f"outcome.{entry.outcome}"), numbers.count(entry.summary.n)
        few = {"framework": _named(answer, entry.summary, words), "value": value(answer, entry, words), "n": n}
        reasons.append(words("answers.few", **few, outcome_text=outcome))
    for of, why in failed:
        known = {"framework": name(answer, of, words), "why_text": why_not_comparable.sentence(why, words)}
        reasons.append(words("answers.closed", said_text=words("answers.of_framework", **known)))
    needed = deciding(answer, words) if len(answer.ranked) > 1 else None
    texts: list[Rendered] = [*reasons[:MOST_BESIDE], *([needed] if needed else [])]
    return words.sentences(texts) if texts else None


def caution(answer: Answer, words: Words) -> Rendered | None:
    """How often the rule errs, of an order that it tells."""
    if answer.false_exclusion is None:
        return None
    n = numbers.count(len(answer.ranked) - len(answer.few))
    return words("answers.false_exclusion", share=numbers.chance(answer.false_exclusion), n=n)


def missing(absence: Missing, answer: Answer, words: Words) -> Text:
    if absence.why == "elsewhere":
        settings = words.listed(elsewhere(case, answer, words) for case in absence.others)
        return words("answers.elsewhere", settings=replace(settings, separators=SEVERAL))
    of_log = absence.reason.values.get("kind") if isinstance(absence.reason, Message) else None
    told = of_log if isinstance(of_log, str) else absence.reason  # the list of failures has its line
    reason = Phrase(words=words, text=told, longest=LONGEST_REASON)
    return words(f"answers.{absence.why}_because", reason=reason) if reason else words(f"answers.{absence.why}")


def elsewhere(case: Case, answer: Answer, words: Words) -> Rendered:
    """In what its setting is another than the one that is asked about."""
    unlike = compared.unlike_settings(compared.setting_of(case, answer.scope), answer.setting)
    return words.listed(why_not_comparable.brief(each, words) for each in unlike)
