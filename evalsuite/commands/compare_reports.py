"""`evalsuite compare-reports`: what changed between two evaluations, and what cannot be compared."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evalsuite.errors import Exit
from evalsuite.model import Interval, Summary

if TYPE_CHECKING:
    from evalsuite.report.data.finished import Finished
    from evalsuite.report.text.words import Words
    from evalsuite.results.changes import Change, Changes, Outcome, Unpaired, Why

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
            for line in _together(before, after, found, language):
                print(line)
            _print(found, language)
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


def _print(found: "Changes", language: str) -> None:
    from evalsuite.commands.terminal import table

    left, right = ("outcome", "series", "scale"), ("before", "after", "ratio", "n")
    columns = [
        *((_head(name, language), "left") for name in left),
        *((_head(name, language), "right") for name in right),
    ]
    order: tuple[Outcome, ...] = ("slower", "faster", "cannot_tell", "no_difference")
    ordered = [change for outcome in order for change in found.those(outcome)]
    told = found.together is not None  # once for all
    if ordered:
        table("", columns, [_row(change, language, brief=told) for change in ordered])
    if found.unpaired:
        columns = [(_head(name, language), "left") for name in ("not_compared", "scale", "why")]
        table("", columns, [(one.case.series, one.case.scale, sentence(one.why, language)) for one in found.unpaired])
    print(_total(found, language))


def _together(before: "Finished", after: "Finished", found: "Changes", language: str) -> list[str]:
    """What all cases have in common, with what is on record of the machines first."""
    moved = found.together
    if moved is None:
        return []
    lines = []
    if before.disturbed or after.disturbed:
        lines.append(said("compare.disturbed", language, before=str(before.disturbed), after=str(after.disturbed)))
    sizes = sorted({f"{100 * moved.least:.0f}", f"{100 * moved.most:.0f}"}, key=int)
    sentence = said(f"compare.together_{moved.outcome}", language, cases=str(moved.cases), change="–".join(sizes) + "%")
    return [*lines, sentence]


def _head(name: str, language: str) -> str:
    return said(f"compare.{name}", language)


def _row(change: "Change", language: str, *, brief: bool) -> tuple[str, ...]:
    why = f"\n{sentence(change.why, language)}" if change.why and not brief else ""
    return (
        SIGNS[change.outcome] + said(f"outcome.{change.outcome}", language) + why,
        change.case.series,
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
    return said(
        "compare.total",
        language,
        **outcomes,
        not_compared=str(len(found.unpaired)),
        tested=str(found.tested),
        expected=f"{found.expected_by_chance:.2g}",
    )
