"""`evalsuite compare-reports`: what changed between two evaluations, and what cannot be compared."""

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evalsuite.errors import Exit
from evalsuite.model import Case, Interval, Summary

if TYPE_CHECKING:
    from evalsuite.report.data.finished import Finished
    from evalsuite.report.text.words import Words
    from evalsuite.results.changes import Change, Changes, Unpaired, Why

HELP = "say what changed between two finished reports, and what cannot be compared"
EXAMPLES = """  evalsuite compare-reports old/report new/report
  evalsuite compare-reports old/report new/report --fail-on-regression
  evalsuite compare-reports old/report new/report --lang zh
  evalsuite compare-reports cluster-a/report cluster-b/report --across-environments --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="A", type=Path, help="folder of the earlier report")
    parser.add_argument("after", metavar="B", type=Path, help="folder of the later report")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--lang", metavar="L,…", default="en", help="zh, en, or zh,en one after the other (default: en)"
    )
    parser.add_argument(
        "--fail-on-regression",
        action="store_true",
        help="exit code 5 if a case became slower by a significant difference",
    )
    parser.add_argument(
        "--across-environments",
        action="store_true",
        help="compare also cases from different machines: the machines are compared then",
    )


def run(arguments: argparse.Namespace) -> int:
    from evalsuite.commands.report import check_languages
    from evalsuite.report.data import finished
    from evalsuite.results import changes

    languages = check_languages(arguments.lang)
    before, after = finished.read(arguments.before), finished.read(arguments.after)
    found = changes.between(before.summaries, after.summaries, across_environments=arguments.across_environments)
    if arguments.json:
        print(json.dumps(facts(before, after, found, languages), indent=1, ensure_ascii=False))
    else:
        for language in languages:
            _print(before, after, found, language)
    failed = arguments.fail_on_regression and found.those("slower")
    return Exit.CRITERION_FAILED if failed else Exit.DONE


def facts(
    before: "Finished", after: "Finished", found: "Changes", languages: Sequence[str] = ("en",)
) -> dict[str, object]:
    """The comparison as plain values; *languages* has the languages of its reasons."""
    return {
        "before": _report(before),
        "after": _report(after),
        "changes": [_change(change, languages) for change in found.changes],
        "not_compared": [_unpaired(one, languages) for one in found.unpaired],
        "together": asdict(found.together) if found.together else None,
        "disturbed_runs": {"before": before.disturbed, "after": after.disturbed},
        "tested": found.tested,
        "expected_by_chance": found.expected_by_chance,
        "slower": len(found.those("slower")),
        "faster": len(found.those("faster")),
    }


def _report(report: "Finished") -> dict[str, object]:
    return {
        "folder": str(report.folder),
        "title": report.title,
        "period": list(report.period) if report.period else None,
        "input_sha256": report.input_sha256,
        "framework_versions": {name: list(versions) for name, versions in report.versions.items()},
        "environments": list(report.environments),
    }


def _change(change: "Change", languages: Sequence[str]) -> dict[str, object]:
    return {
        "case": change.case.id,
        "outcome": change.outcome,
        **_reasons(change.why, languages),
        "by_campaigns": change.by_campaigns,
        "unit": change.after.unit,
        "before": _side(change.before),
        "after": _side(change.after),
        "ratio": {"value": change.ratio.value, "low": change.ratio.low, "high": change.ratio.high,
                  "coverage": change.ratio.coverage},
    }  # fmt: skip


def _side(summary: Summary) -> dict[str, object]:
    from evalsuite.results import changes, fairness

    return {
        "median": summary.items_per_s.value,
        "low": summary.items_per_s.low,
        "high": summary.items_per_s.high,
        "n": summary.n,
        "framework_versions": list(fairness.versions(summary)),
        "campaigns": len(changes.campaign_medians(summary)) or None,
    }


def _unpaired(one: "Unpaired", languages: Sequence[str]) -> dict[str, object]:
    return {"case": one.case.id, "only_in": one.only_in, **_reasons(one.why, languages)}


def _reasons(why: "Why | None", languages: Sequence[str]) -> dict[str, object]:
    """`reason` in the first of the languages, and `reasons` in all of them."""
    found = {language: sentence(why, language) for language in languages} if why else {}
    return {"reason": found[languages[0]] if found else None, "reasons": found}


def sentence(why: "Why", language: str) -> str:
    """*why* for terminals and JSON."""
    return said(f"why.{why.key}", language, **dict(why.values))


def said(key: str, language: str, **values: str) -> str:
    return _words()(key, **values).plain(language)


@cache
def _words() -> "Words":
    from evalsuite.report.text import words

    return words.read_beyond_the_page()


def _print(before: "Finished", after: "Finished", found: "Changes", language: str) -> None:
    from evalsuite.commands.terminal import table

    for line in _lead(before, after, found, language):
        print(line)
    names = Titles([*(change.case for change in found.changes), *(one.case for one in found.unpaired)], language)
    if names.shared:
        print(f"\n{names.shared}")
    columns = [
        *((_head(name, language), "left") for name in ("outcome", "series", "scale")),
        *((_head(name, language), "right") for name in ("before", "after", "ratio", "n")),
    ]
    ordered = [change for outcome in found.outcomes for change in found.those(outcome)]
    told = found.together is not None  # once for all
    if ordered:
        table("", columns, [_row(change, names.of(change.case), language, brief=told) for change in ordered])
    if found.unpaired:
        columns = [(_head(name, language), "left") for name in ("not_compared", "scale", "why")]
        rows = [(names.of(one.case), one.case.scale, sentence(one.why, language)) for one in found.unpaired]
        table("", columns, rows)


def _lead(before: "Finished", after: "Finished", found: "Changes", language: str) -> Iterable[str]:
    """What is on record of the machines, what all cases have in common, and how many changed in which way."""
    from evalsuite.report.text import campaigns

    disturbed = campaigns.disturbances(before.disturbed, after.disturbed, _words())
    if disturbed:
        yield disturbed.plain(language)
    if found.together:
        yield campaigns.moved_together(found.together, _words()).plain(language)
    yield _total(found, language)


class Titles:
    """Names of cases in words that a line can break between: what all share is said once."""

    def __init__(self, cases: Sequence[Case], language: str) -> None:
        self._parts = {case: _parts(case, language) for case in cases}
        every = list(self._parts.values())
        self._shared = [part for part in every[0][1:] if all(part in one for one in every)] if len(every) > 1 else []

    @property
    def shared(self) -> str:
        return " · ".join(self._shared)

    def of(self, case: Case) -> str:
        return " · ".join(part for part in self._parts[case] if part not in self._shared)


def _parts(case: Case, language: str) -> list[str]:
    """The framework, then all else that makes the series, without its scale."""
    from evalsuite.report.text import names, options, words

    script = [] if case.recipe.startswith("reference-") else [names.visible(case.recipe)]
    xla = ["XLA"] if case.xla else []
    return [
        names.framework(case.framework),
        *script,
        names.model(case.model),
        names.precision(case.precision),
        *xla,
        names.bsz(case.series_batch, strong=case.strong_batch is not None),
        *(options.option(name, value, words.read()).plain(language) for name, value in case.options),
        f"{case.protocol.warmup_steps}+{case.protocol.measured_steps}",
    ]


def _head(name: str, language: str) -> str:
    return said(f"compare.{name}", language)


def _row(change: "Change", name: str, language: str, *, brief: bool) -> tuple[str, ...]:
    why = f"\n{sentence(change.why, language)}" if change.why and not brief else ""
    return (
        SIGNS[change.outcome] + said(f"outcome.{change.outcome}", language) + why,
        name,
        change.case.scale,
        _value(change.before, language),
        _value(change.after, language),
        _ratio(change.ratio),
        f"{change.before.n}/{change.after.n}",
    )


SIGNS = {"slower": "▼ ", "faster": "▲ ", "no_difference": "= ", "cannot_tell": "? "}


def _value(summary: Summary, language: str) -> str:
    from evalsuite.results import fairness

    versions = ", ".join(fairness.versions(summary)) or _head("version_unknown", language)
    return f"{summary.items_per_s.value:,.2f} {summary.unit}\n{versions}"


def _ratio(ratio: Interval) -> str:
    if ratio.low is None:
        return f"{ratio.value:.3f}"
    return f"{ratio.value:.3f}\n[{ratio.low:.3f}, {ratio.high:.3f}]"


def _total(found: "Changes", language: str) -> str:
    outcomes = {name: str(len(found.those(name))) for name in ("slower", "faster", "no_difference", "cannot_tell")}
    total = said("compare.total", language, **outcomes, not_compared=str(len(found.unpaired)))
    if not found.tested:
        return total
    chance = said("compare.chance", language, tested=str(found.tested), expected=f"{found.expected_by_chance:.2g}")
    return f"{total} {chance}" if language != "zh" else f"{total}{chance}"
