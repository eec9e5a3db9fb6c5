"""How many of everything: cases, runs, findings."""

from collections import Counter
from typing import Any

from evalsuite.core.findings import RunTakenAway
from evalsuite.core.model import Measurement
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import WORST_FIRST, run_state
from evalsuite.report.text import numbers
from evalsuite.report.text.words import Text, Words
from evalsuite.results.measure.summary import is_watched


def unseen(run: Measurement) -> bool:
    return not (run.disturbed or is_watched(run))  # other programs would not have shown


def tally(book: Book) -> dict[str, Any]:
    """By the names that `summary.json` has for them."""
    states = Counter(run_state(run) for run in book.measurements)
    severities = Counter(finding.severity for finding in book.findings)
    valid, skipped = book.valid_of.keys(), book.skip_of.keys() - book.valid_of.keys()
    if len(valid) != len(book.valid):
        raise ValueError("two summaries of one case id: a count would be impossible")
    runnable = [case.id for case in book.planned if case.id not in skipped]
    made, least = {run.run.id for run in book.measurements}, book.evaluation.repeats if book.evaluation.campaigns else 0
    taken = [each for each in book.findings if isinstance(each, RunTakenAway)]
    gone = sorted({place for each in taken for place in (each.where, *each.also)} - made)
    here = Counter(run.rpartition("/r")[0] for run in (*made, *gone))
    planned = sum(max(least, here[case]) for case in runnable)
    return {
        "cases_planned": len(book.planned),
        "cases_valid": len(valid),
        "cases_partial": sum(summary.partial for summary in book.valid),
        "cases_skipped": len(skipped),
        "cases_without": len(runnable) - len(valid),  # begun or planned, and without a valid run
        "runs_planned": planned,
        "runs_made": len(made),
        "runs_gone": len(gone),  # finished, by the journal
        "runs_left": planned - len(made) - len(gone),
        "runs_sampled": sum(not unseen(run) for run in book.measurements),
        "runs_disturbed": sum(run.disturbed for run in book.measurements),
        "gone": gone,
        "runs_valid": states["value"],
        "runs_by_state": [(state, states[state]) for state in WORST_FIRST if states[state]],
        "findings_by_severity": [(name, severities[name]) for name in ("exclude", "flag", "note") if severities[name]],
    }


def coverage(book: Book, words: Words) -> Text:
    total = tally(book)
    valid, partial = numbers.count(total["cases_valid"]), numbers.count(total["cases_partial"])
    few = f"{'all_' * (total['cases_partial'] == total['cases_valid'])}partial"
    of = "cited" if book.published else few if total["cases_partial"] else "valid"
    without = "further" if book.published else "without"  # of the planned; beside figures that are cited
    parts = [words.pick(f"headlines.coverage_{of}", {"valid": valid, "partial": partial})]
    if total["cases_skipped"]:
        parts.append(words("headlines.coverage_skipped", skipped=numbers.count(total["cases_skipped"])))
    if total["cases_without"]:
        parts.append(words(f"headlines.coverage_{without}", without=numbers.count(total["cases_without"])))
    if book.published:  # nothing was run
        return words("answers.closed", said_text=words.clauses(parts))
    made, failed = numbers.count(total["runs_made"]), numbers.count(total["runs_made"] - total["runs_valid"])
    key = "some_failed" if failed.raw else "all_valid" if made.raw else "none_made"
    runs = words.pick(f"headlines.{key}", {"runs": made, "failed": failed})
    planned = numbers.count(total["cases_planned"])
    return words("headlines.coverage", planned=planned, parts_text=words.clauses(parts), runs_text=runs)
