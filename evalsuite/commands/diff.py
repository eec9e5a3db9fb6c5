"""`evalsuite diff`: what changed between two evaluations, or two lists of numbers, and what cannot be compared."""

import argparse
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from evalsuite.commands import checks
from evalsuite.commands.checks import Check
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import note, print_json, table
from evalsuite.core import decode, files
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.messages import wording
from evalsuite.core.model import Case, Summary
from evalsuite.finished import finished
from evalsuite.finished.finished import Finished
from evalsuite.report.text import numbers, words
from evalsuite.results.compare import changes, fairness
from evalsuite.results.compare.changes import Change, Changes, Difference, Why

MOST_BYTES = 1 << 20  # of a list of numbers
SIGNS = {"slower": "▼ ", "faster": "▲ ", "no_difference": "= ", "cannot_tell": "? "}


def run(arguments: argparse.Namespace) -> int:
    given = [path for path in (arguments.before, arguments.after) if path]
    lists = [words for words in (arguments.against, arguments.values) if words]
    if len(given) + len(lists) != 2:
        raise EvalsuiteError.of("commands.two_sides", n=len(given) + len(lists))
    if lists or all(path.is_file() and path.name != finished.PAGE for path in given):
        before, after = arguments.against or given.pop(0), arguments.values or given.pop()
        if arguments.across_environments:
            raise EvalsuiteError.of("commands.option_needs", option="--across-environments", others="REPORT REPORT")
        return _of_numbers(before, after, arguments)
    checks.check_place(arguments.junit, arguments.before, arguments.after)
    before, after = (finished.read(path, vouched=True) for path in (arguments.before, arguments.after))
    moved = changes.between(before.summaries, after.summaries, across_environments=arguments.across_environments)
    if arguments.json:
        print_json(facts(before, after, moved))
    else:
        _print(before, after, moved)
    outcomes = {change.case: changes.verdict(change, arguments.at_most) for change in moved.changes}
    checks.tell([*_checks(moved, outcomes)], arguments)
    is_gate = arguments.fail_on_regression or arguments.at_most is not None
    if gone := before.gone + after.gone:
        note(say("audit.runs_gone", n=gone))
    code = _exit_code(moved, [*outcomes.values()], arguments.allow_missing) if is_gate else Exit.DONE
    return Exit.UNDETERMINED if gone and is_gate and code == Exit.DONE else code


def _numbers(given: Path | str) -> list[float]:
    """Those of an option, or of a file: one a line, without what follows a #. A comma may be a decimal point."""
    if isinstance(given, str):
        words = [(given, word) for word in re.split(r"\s*,\s*|\s+", given.strip())]
    else:
        lines = files.read_bytes(given, most=MOST_BYTES, follow=True).decode("utf-8-sig", "replace").splitlines()
        told = ((f"{given}:{place}", line.partition("#")[0].strip()) for place, line in enumerate(lines, 1))
        words = [each for each in told if each[1]] or [(str(given), "")]
    found = [(where, word, decode.number(word) or 0.0) for where, word in words]
    if wrong := next((each for each in found if each[2] <= 0), None):
        raise EvalsuiteError.of("commands.no_numbers", where=wrong[0], got=decode.shown(wrong[1]))
    return [number for *_, number in found]


def _of_numbers(before: Path | str, after: Path | str, arguments: argparse.Namespace) -> int:
    old, new = _numbers(before), _numbers(after)
    found, medians = changes.of_values(old, new), [statistics.median(side) for side in (old, new)]
    told = {name: numbers.throughput(value).text for name, value in zip(("before", "after"), medians, strict=True)}
    reason = f" ({_sentence(found.why)})" if found.why else ""
    outcome, n = _say(f"outcome.{found.outcome}") + reason, f"{len(old)}/{len(new)}"
    sentence = _say("compare.values", **told, ratio=_ratio(found), n=n, outcome=outcome)
    if arguments.json:
        sides = [{"median": value, "n": len(side)} for value, side in zip(medians, (old, new), strict=True)]
        why = _sentence(found.why, "en") or None
        told_of_both = {"ratio": asdict(found.ratio), "outcome": found.outcome, "reason": why}
        print_json({"before": sides[0], "after": sides[1], **told_of_both})
    else:
        print(sentence)
    decided = changes.verdict(found, arguments.at_most)
    checks.tell([Check(name=f"{before} → {after}", outcome=decided, text=sentence)], arguments)
    codes = {"pass": Exit.DONE, "fail": Exit.CRITERION_FAILED, "undetermined": Exit.UNDETERMINED}
    return codes[decided] if arguments.fail_on_regression or arguments.at_most is not None else Exit.DONE


def _exit_code(moved: Changes, outcomes: Sequence[str], allow_missing: bool) -> Exit:
    if "fail" in outcomes or (moved.lost and not allow_missing):
        return Exit.CRITERION_FAILED
    if not moved.changes or (not allow_missing and (moved.gone or "undetermined" in outcomes)):
        return Exit.UNDETERMINED
    return Exit.DONE


def _checks(moved: Changes, outcomes: Mapping[Case, str]) -> Iterable[Check]:
    for change in moved.changes:
        parts = (_say(f"outcome.{change.outcome}"), _ratio(change), _sentence(change.why))
        yield Check(name=change.case.id, outcome=outcomes[change.case], text=" · ".join(filter(None, parts)))
    for lone in moved.unpaired:
        outcome = "fail" if lone in moved.lost else "undetermined"
        yield Check(name=lone.case.id, outcome=outcome, text=_sentence(lone.why))


def facts(before: Finished, after: Finished, moved: Changes) -> dict[str, object]:
    return {
        "before": _report(before),
        "after": _report(after),
        "changes": [
            {
                "case": change.case.id,
                "outcome": change.outcome,
                "reason": _sentence(change.why, "en") or None,
                "by_campaigns": change.by_campaigns,
                "unit": change.after.unit,
                "before": _side(change.before),
                "after": _side(change.after),
                "ratio": asdict(change.ratio),
            }
            for change in moved.changes
        ],
        "not_compared": [
            {"case": lone.case.id, "only_in": lone.only_in, "reason": _sentence(lone.why, "en")}
            for lone in moved.unpaired
        ],
        "order": _order(before, after) or "as_given",
        "disturbed_runs": {"before": before.disturbed, "after": after.disturbed},
        "tested": sum(change.tested for change in moved.changes),
        "slower": len(moved.those("slower")),
        "faster": len(moved.those("faster")),
    }


def _order(before: Finished, after: Finished) -> str | None:
    """How the two are not known to follow each other; None: they do."""
    if before.period is None or after.period is None:
        return "undated"
    return "backwards" if finished.instant(after.period[1]) < finished.instant(before.period[0]) else None


def _report(report: Finished) -> dict[str, object]:
    return {
        **{"folder": str(report.folder), "title": report.title},
        "period": list(report.period) if report.period else None,
        "input_sha256": report.input_sha256,
        "framework_versions": {name: list(versions) for name, versions in report.versions.items()},
        "environments": list(map(str, report.machines)),
    }


def _side(summary: Summary) -> dict[str, object]:
    return {
        **{"median": summary.items_per_s.value, "low": summary.items_per_s.low, "high": summary.items_per_s.high},
        "n": summary.n,
        "framework_versions": list(fairness.versions(summary)),
        "campaigns": len(changes.campaign_medians(summary)) or None,
    }


def _sentence(why: Why | None, language: str = "") -> str:
    if why is None:
        return ""
    language = language or i18n.language()
    return _say(f"why.{why.key}", language, **{name: wording(value, language) for name, value in why.values})


def _say(key: str, language: str = "", **values: str) -> str:
    return words.read_beyond_the_page()(key, **values).plain(language or i18n.language())


def _print(before: Finished, after: Finished, moved: Changes) -> None:
    if unlike := _order(before, after):
        print(_say(f"compare.{unlike}"))
    if before.disturbed or after.disturbed:
        print(_say("compare.disturbed", before=str(before.disturbed), after=str(after.disturbed)))
    if moved.changes or not moved.unpaired:
        counts = {name: str(len(moved.those(name))) for name in changes.BY_ATTENTION}
        print(_say("compare.total", **counts, not_compared=str(len(moved.unpaired))))
    else:
        print(_say("compare.none_compared", n=str(len(moved.unpaired))))
    heads = [(_say(f"compare.{name}"), "left") for name in ("outcome", "case")]
    heads += [(_say(f"compare.{name}"), "right") for name in ("before", "after", "ratio", "n")]
    if moved.changes:
        table("", heads, [_row(each) for name in moved.outcomes for each in moved.those(name)])
    if moved.unpaired:
        heads = [(_say(f"compare.{name}"), "left") for name in ("not_compared", "why")]
        table("", heads, [(lone.case.id, _sentence(lone.why)) for lone in moved.unpaired])


def _row(change: Change) -> tuple[str, ...]:
    reason = _sentence(change.why)
    outcome = SIGNS[change.outcome] + _say(f"outcome.{change.outcome}")
    values = [
        f"{numbers.throughput(side.items_per_s.value).text} {side.unit}\n"
        + (", ".join(fairness.versions(side)) or _say("compare.version_unknown"))
        for side in (change.before, change.after)
    ]
    repeats = f"{change.before.n}/{change.after.n}"
    return ("\n".join(filter(None, (outcome, reason))), change.case.id, *values, _ratio(change, "\n"), repeats)


def _ratio(change: Difference, between: str = " ") -> str:
    ratio = change.ratio
    return f"{change.shown:.3f}" + ("" if ratio.low is None else f"{between}[{ratio.low:.3f}, {ratio.high:.3f}]")
