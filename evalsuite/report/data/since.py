"""What changed since an earlier report: how its cases moved, and whether the order of the headlines is the same."""

from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.findings import BusyMachine
from evalsuite.core.model import Evaluation, Since
from evalsuite.finished.finished import Finished, instant
from evalsuite.report.book import answers
from evalsuite.report.book.book import Book
from evalsuite.results.compare import changes
from evalsuite.results.compare.answers import Answer


def since(before: Finished, evaluation: Evaluation) -> Since:
    """Raises EvalsuiteError where *before* is of later runs: what changed would be told the wrong way round."""
    book = Book(evaluation=evaluation)
    if before.period and book.period and instant(before.period[1]) > book.period.last:
        facts = {"folder": before.folder, "last": before.period[1], "here": book.period.last.isoformat()}
        raise EvalsuiteError.of("report.since_later", **facts)
    moved = changes.between(before.summaries, evaluation.summaries)
    old = {_question(answer): _order(answer) for answer in before.answers if answer.ranked}
    now = answers.headlines(book)
    found = (each for each in evaluation.findings if isinstance(each, BusyMachine))
    busy = {place for finding in found for place in (finding.where, *finding.also)}
    return Since(
        at=before.period[1] if before.period else None,
        outcomes=tuple((outcome, len(moved.those(outcome))) for outcome in moved.outcomes),
        disturbed=(before.disturbed, len(busy)),
        ordered=tuple(answer.setting.model for answer in now if old.get(_question(answer)) == _order(answer)),
        reordered=tuple(
            answer.setting.model for answer in now if old.get(_question(answer), _order(answer)) != _order(answer)
        ),
    )


def _question(answer: Answer) -> object:
    return answer.setting, answer.nodes, answer.devices_per_node


def _order(answer: Answer) -> tuple[object, ...]:
    return tuple(answer.candidate(ranked.summary) for ranked in answer.ranked)
