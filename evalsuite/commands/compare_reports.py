"""`evalsuite compare-reports`: what changed between two evaluations, and what cannot be compared."""

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path

from evalsuite.commands.operations import checks
from evalsuite.commands.operations.checks import Check
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.terminal import print_json, table
from evalsuite.commands.report import check_languages
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.messages import wording
from evalsuite.core.model import Case, Summary, by_key
from evalsuite.report.data import finished
from evalsuite.report.data.finished import Finished
from evalsuite.report.text import campaigns, names, numbers, options, words
from evalsuite.report.text.words import Words
from evalsuite.results.compare import changes, fairness
from evalsuite.results.compare.changes import NONE, OPTION, Change, Changes, Unpaired, Why
from evalsuite.results.compare.fairness import Common
from evalsuite.site import history, publishing, report_store

MOST_ALIKE = 8  # rows of cases that are not compared for one reason; more share one line


def run(arguments: argparse.Namespace) -> int:
    languages = check_languages(arguments.lang or ("en" if arguments.json else i18n.language()))
    before, after = _before(arguments), finished.read(arguments.after)
    learnt = _learnt(arguments.site) if arguments.site else {}
    compared = changes.between(
        before.summaries,
        after.summaries,
        across_environments=arguments.across_environments,
        scatter=lambda case: learnt.get(history.key(case)),
    )
    if arguments.json:
        print_json(facts(before, after, compared, languages))
    else:
        for language in languages:
            _print(before, after, compared, language)
    allowed = arguments.at_most
    outcomes = {change.case: changes.verdict(change, allowed) for change in compared.changes}
    checks.tell([*_checks(compared, outcomes, languages[0])], arguments)
    asked = arguments.fail_on_regression or allowed is not None
    return _exit_code(compared, [*outcomes.values()], arguments.allow_missing) if asked else Exit.DONE


def _checks(changes: Changes, outcomes: Mapping[Case, str], language: str) -> Iterable[Check]:
    for change in changes.changes:
        why = sentence(change.why, language) if change.why else ""
        said = (say_in(f"outcome.{change.outcome}", language), _ratio(change).replace("\n", " "), why)
        yield Check(name=change.case.id, outcome=outcomes[change.case], text=" · ".join(filter(None, said)))
    for lone in changes.unpaired:
        lost = "fail" if lone in changes.lost else "undetermined"
        yield Check(name=lone.case.id, outcome=lost, text=sentence(lone.why, language))


def _before(arguments: argparse.Namespace) -> Finished:
    if (arguments.before is None) == (arguments.baseline is None) or (arguments.baseline and not arguments.site):
        raise EvalsuiteError.of("commands.compared_with")
    if arguments.site and not (arguments.site / publishing.MARKER).is_file():
        raise EvalsuiteError.of("site.not_a_site", site=arguments.site, marker=publishing.MARKER)
    return (
        publishing.read_baseline(arguments.site, arguments.baseline)
        if arguments.baseline
        else finished.read(arguments.before)
    )


def _learnt(site: Path) -> Mapping[Common, float]:
    reports = [report for report in report_store.read_reports(site) if isinstance(report, report_store.StoredReport)]
    return history.learnt((report.id, report.report) for report in reports if not report.superseded)


def _exit_code(changes: Changes, outcomes: Sequence[str], allow_missing: bool) -> Exit:
    if "fail" in outcomes or (changes.lost and not allow_missing):
        return Exit.CRITERION_FAILED
    if not changes.changes or (not allow_missing and (changes.gone or "undetermined" in outcomes)):
        return Exit.UNDETERMINED
    return Exit.DONE


def facts(before: Finished, after: Finished, changes: Changes, languages: Sequence[str] = ("en",)) -> dict[str, object]:
    return {
        "before": _report(before),
        "after": _report(after),
        "changes": [_change(change, languages) for change in changes.changes],
        "not_compared": [
            {"case": lone.case.id, "only_in": lone.only_in, **_reasons(lone.why, languages)}
            for lone in changes.unpaired
        ],
        "together": asdict(changes.together) if changes.together else None,
        "disturbed_runs": {"before": before.disturbed, "after": after.disturbed},
        "tested": changes.tested,
        "expected_by_chance": changes.expected_by_chance,
        "slower": len(changes.those("slower")),
        "faster": len(changes.those("faster")),
    }


def _report(report: Finished) -> dict[str, object]:
    return {
        "folder": str(report.folder),
        "title": report.title,
        "period": list(report.period) if report.period else None,
        "input_sha256": report.input_sha256,
        "framework_versions": {name: list(versions) for name, versions in report.versions.items()},
        "environments": list(map(str, report.machines)),
    }


def _change(change: Change, languages: Sequence[str]) -> dict[str, object]:
    return {
        "case": change.case.id,
        "outcome": change.outcome,
        **_reasons(change.why, languages),
        "by_campaigns": change.by_campaigns,
        "unit": change.after.unit,
        "before": _side(change.before),
        "after": _side(change.after),
        "ratio": asdict(change.ratio),
    }


def _side(summary: Summary) -> dict[str, object]:
    return {
        "median": summary.items_per_s.value,
        "low": summary.items_per_s.low,
        "high": summary.items_per_s.high,
        "n": summary.n,
        "framework_versions": list(fairness.versions(summary)),
        "campaigns": len(changes.campaign_medians(summary)) or None,
    }


def _reasons(why: Why | None, languages: Sequence[str]) -> dict[str, object]:
    sentences = {language: sentence(why, language) for language in languages} if why else {}
    return {"reason": sentences[languages[0]] if sentences else None, "reasons": sentences}


def sentence(why: Why, language: str) -> str:
    values = {name: wording(value, language) for name, value in why.values}
    if why.differences:
        told = [_difference(*difference, language) for difference in why.differences]
        values["difference"] = _words().listed(told).plain(language)
    return say_in(f"why.{why.key}", language, **values)


def _difference(field: str, ours: str, theirs: str, language: str) -> str:
    option = field.removeprefix(OPTION)
    if option == field:
        sides = [say_in(f"differs.{key}", language) if f"differs.{key}" in _words() else key for key in (ours, theirs)]
        name = say_in(f"differs.{field}", language)
    else:
        report, none = words.read(), say_in("differs.none", language)
        values = (None if value == NONE else options.value_of(option, value, report) for value in (ours, theirs))
        sides = [value.plain(language) if value else none for value in values]
        name = options.title(option, report).plain(language)
    return say_in("differs.one", language, name=name, ours=sides[0], theirs=sides[1])


def say_in(key: str, language: str, **values: str) -> str:
    return _words()(key, **values).plain(language)


@cache
def _words() -> Words:
    return words.read_beyond_the_page()


def _print(before: Finished, after: Finished, changes: Changes, language: str) -> None:
    for line in _lead(before, after, changes, language):
        print(line)
    if not changes.changes and all(lone.why.key == "same_runs" for lone in changes.unpaired):
        return  # that is all there is to say
    cases = [*(change.case for change in changes.changes), *(lone.case for lone in changes.unpaired)]
    shared, titles = _titles(cases, language)
    if shared:
        print(f"\n{shared}")
    columns = [
        *((_head(name, language), "left") for name in ("outcome", "series", "scale")),
        *((_head(name, language), "right") for name in ("before", "after", "ratio", "n")),
    ]
    ordered = [change for outcome in changes.outcomes for change in changes.those(outcome)]
    told = changes.together is not None  # once for all
    if ordered:
        table("", columns, [_row(change, titles[change.case], language, brief=told) for change in ordered])
    if changes.unpaired:
        _print_unpaired(changes.unpaired, titles, language)


def _print_unpaired(unpaired: Sequence[Unpaired], titles: Mapping[Case, str], language: str) -> None:
    by_reason = by_key((lone.why.key.removesuffix("_like"), lone) for lone in unpaired)
    rows = []
    for alike in by_reason.values():
        if len(alike) <= MOST_ALIKE:
            rows += [(titles[lone.case], lone.case.scale, sentence(lone.why, language)) for lone in alike]
        else:
            rows.append((say_in("compare.cases", language, n=f"{len(alike):,}"), "", _shared_reason(alike, language)))
    table("", [(_head(name, language), "left") for name in ("not_compared", "scale", "why")], rows)
    if len(rows) < len(unpaired):
        print(say_in("compare.listed_in_json", language))


def _shared_reason(alike: Sequence[Unpaired], language: str) -> str:
    told = dict.fromkeys(
        say_in(f"why.only_{lone.only_in}", language) if lone.only_in else sentence(lone.why, language) for lone in alike
    )
    first, *others = told
    return f"{first}; …" if others else first


def _lead(before: Finished, after: Finished, changes: Changes, language: str) -> Iterable[str]:
    disturbed = campaigns.disturbances(before.disturbed, after.disturbed, _words())
    if disturbed:
        yield disturbed.plain(language)
    if changes.together:
        yield campaigns.moved_together(changes.together, _words()).plain(language)
    yield _total(changes, language) if changes.changes or not changes.unpaired else _nothing(changes.unpaired, language)


def _nothing(unpaired: Sequence[Unpaired], language: str) -> str:
    if all(lone.why.key == "same_runs" for lone in unpaired):
        return say_in("compare.all_same_runs", language, n=f"{len(unpaired):,}")
    sides = Counter(lone.only_in for lone in unpaired)
    if None not in sides:
        return say_in("compare.none_shared", language, before=f"{sides['before']:,}", after=f"{sides['after']:,}")
    return say_in("compare.none_compared", language, n=f"{len(unpaired):,}")


def _titles(cases: Sequence[Case], language: str) -> tuple[str, dict[Case, str]]:
    parts = {case: case_parts(case, language) for case in cases}
    every = list(parts.values())
    shared = [part for part in every[0][1:] if all(part in words for words in every)] if len(every) > 1 else []
    return " · ".join(shared), {of: " · ".join(part for part in own if part not in shared) for of, own in parts.items()}


def case_parts(case: Case, language: str) -> list[str]:
    steps = {"warmup": case.protocol.warmup_steps, "measured": case.protocol.measured_steps}
    return [
        names.framework(case.framework),
        names.visible(case.recipe),
        names.model(case.model),
        names.precision(case.precision),
        *(["XLA"] if case.xla else []),
        names.bsz(case.series_batch, strong=case.strong_batch is not None),
        *(options.option(name, value, words.read()).plain(language) for name, value in case.options),
        words.read()("models.steps", **steps).plain(language),
    ]


def _head(name: str, language: str) -> str:
    return say_in(f"compare.{name}", language)


def _row(change: Change, name: str, language: str, *, brief: bool) -> tuple[str, ...]:
    why = f"\n{sentence(change.why, language)}" if change.why and not brief else ""
    return (
        SIGNS[change.outcome] + say_in(f"outcome.{change.outcome}", language) + why,
        name,
        change.case.scale,
        _value(change.before, language),
        _value(change.after, language),
        _ratio(change),
        f"{change.before.n}/{change.after.n}",
    )


SIGNS = {"slower": "▼ ", "faster": "▲ ", "no_difference": "= ", "cannot_tell": "? "}


def _value(summary: Summary, language: str) -> str:
    versions = ", ".join(fairness.versions(summary)) or _head("version_unknown", language)
    return f"{numbers.throughput(summary.items_per_s.value).text} {summary.unit}\n{versions}"


def _ratio(change: Change) -> str:
    ratio = change.ratio
    return f"{change.shown:.3f}" + ("" if ratio.low is None else f"\n[{ratio.low:.3f}, {ratio.high:.3f}]")


def _total(diff: Changes, language: str) -> str:
    outcomes = {name: str(len(diff.those(name))) for name in ("slower", "faster", "no_difference", "cannot_tell")}
    total = say_in(
        "compare.total_alone" if diff.together else "compare.total",
        language,
        **outcomes,
        not_compared=str(len(diff.unpaired)),
    )
    if not diff.tested:
        return total
    chance = say_in("compare.chance", language, tested=str(diff.tested), expected=f"{diff.expected_by_chance:.2g}")
    return f"{total} {chance}" if language != "zh" else f"{total}{chance}"
