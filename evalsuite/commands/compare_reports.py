"""`evalsuite compare-reports`: what changed between two evaluations, and what cannot be compared."""

import json
from functools import cache
from pathlib import Path

from evalsuite.errors import Exit

HELP = "say what changed between two finished reports, and what cannot be compared"
EXAMPLES = """  evalsuite compare-reports old/report new/report
  evalsuite compare-reports old/report new/report --fail-on-regression
  evalsuite compare-reports cluster-a/report cluster-b/report --across-environments --json
"""


def add_arguments(parser) -> None:
    parser.add_argument("before", metavar="A", type=Path, help="folder of the earlier report")
    parser.add_argument("after", metavar="B", type=Path, help="folder of the later report")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
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


def run(arguments) -> int:
    from evalsuite import changes, finished

    before, after = finished.read(arguments.before), finished.read(arguments.after)
    found = changes.between(before.summaries, after.summaries, across_environments=arguments.across_environments)
    if arguments.json:
        print(json.dumps(facts(before, after, found), indent=1, ensure_ascii=False))
    else:
        _print(found)
    failed = arguments.fail_on_regression and found.those("slower")
    return Exit.CRITERION_FAILED if failed else Exit.DONE


def facts(before, after, found) -> dict:
    """The comparison as plain values."""
    return {
        "before": _report(before),
        "after": _report(after),
        "changes": [_change(change) for change in found.changes],
        "not_compared": [_unpaired(one) for one in found.unpaired],
        "tested": found.tested,
        "expected_by_chance": found.expected_by_chance,
        "slower": len(found.those("slower")),
        "faster": len(found.those("faster")),
    }


def _report(report) -> dict:
    return {
        "folder": str(report.folder),
        "title": report.title,
        "period": list(report.period) if report.period else None,
        "input_sha256": report.input_sha256,
        "framework_versions": {name: list(versions) for name, versions in report.versions.items()},
        "environments": list(report.environments),
    }


def _change(change) -> dict:
    return {
        "case": change.case.id,
        "outcome": change.outcome,
        "reason": sentence(change.why) if change.why else None,
        "unit": change.after.unit,
        "before": _side(change.before),
        "after": _side(change.after),
        "ratio": {"value": change.ratio.value, "low": change.ratio.low, "high": change.ratio.high,
                  "coverage": change.ratio.coverage},
    }  # fmt: skip


def _side(summary) -> dict:
    from evalsuite import changes

    return {
        "median": summary.items_per_s.value,
        "low": summary.items_per_s.low,
        "high": summary.items_per_s.high,
        "n": summary.n,
        "framework_versions": list(changes.versions(summary)),
    }


def _unpaired(one) -> dict:
    return {"case": one.case.id, "only_in": one.only_in, "reason": sentence(one.why)}


def sentence(why) -> str:
    """*why* in English, for terminals and JSON."""
    return _words()(f"why.{why.key}", **dict(why.values)).plain("en")


@cache
def _words():
    from evalsuite.report import wording

    return wording.read(("en",))


def _print(found) -> None:
    from evalsuite.terminal import table

    columns = [("outcome", "left"), ("series", "left"), ("scale", "left"), ("before", "right"), ("after", "right"),
               ("after / before", "right"), ("n", "right")]  # fmt: skip
    order = ("slower", "faster", "cannot_tell", "no_difference")
    ordered = [change for outcome in order for change in found.those(outcome)]
    if ordered:
        table("", columns, [_row(change) for change in ordered])
    if found.unpaired:
        columns = [("not compared", "left"), ("scale", "left"), ("why", "left")]
        table("", columns, [(one.case.series, one.case.scale, sentence(one.why)) for one in found.unpaired])
    print(_total(found))


def _row(change) -> tuple[str, ...]:
    why = f"\n{sentence(change.why)}" if change.why else ""
    return (
        SIGNS[change.outcome] + _words()(f"outcome.{change.outcome}").plain("en") + why,
        change.case.series,
        change.case.scale,
        _value(change.before),
        _value(change.after),
        _ratio(change.ratio),
        f"{change.before.n}/{change.after.n}",
    )


SIGNS = {"slower": "▼ ", "faster": "▲ ", "no_difference": "= ", "cannot_tell": "? "}


def _value(summary) -> str:
    from evalsuite import changes

    versions = ", ".join(changes.versions(summary)) or "version not recorded"
    return f"{summary.items_per_s.value:,.2f} {summary.unit}\n{versions}"


def _ratio(ratio) -> str:
    if ratio.low is None:
        return f"{ratio.value:.3f}"
    return f"{ratio.value:.3f}\n[{ratio.low:.3f}, {ratio.high:.3f}]"


def _total(found) -> str:
    tested = f"{found.tested} tested; if nothing had changed, up to {found.expected_by_chance:.2g} would look changed"
    return (
        f"{len(found.those('slower'))} slower, {len(found.those('faster'))} faster, "
        f"{len(found.those('no_difference'))} without a significant difference, "
        f"{len(found.those('cannot_tell'))} cannot be told, {len(found.unpaired)} not compared ({tested})."
    )
