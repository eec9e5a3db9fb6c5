"""What changed since an earlier report: how its cases moved, and whether the order of the headlines is the same."""

from evalsuite.findings import BusyMachine
from evalsuite.model import Evaluation, Since
from evalsuite.report.book.book import Book
from evalsuite.report.data.finished import Finished
from evalsuite.report.sections.verdict import answers
from evalsuite.results.compare import changes
from evalsuite.results.compare.answers import Answer


def since(before: Finished, evaluation: Evaluation) -> Since:
    moved = changes.between(before.summaries, evaluation.summaries)
    old = {_question(one): _order(one) for one in before.answers if one.ranked}
    found = answers.headlines(Book(evaluation=evaluation))
    busy = {one.where for one in evaluation.findings if isinstance(one, BusyMachine)}
    return Since(
        at=before.period[1] if before.period else None,
        outcomes=tuple((outcome, len(moved.those(outcome))) for outcome in moved.outcomes),
        together=(pooled.outcome, pooled.least, pooled.most) if (pooled := moved.together) else None,
        disturbed=(before.disturbed, len(busy)),
        ordered=tuple(one.setting.model for one in found if old.get(_question(one)) == _order(one)),
        reordered=tuple(one.setting.model for one in found if old.get(_question(one), _order(one)) != _order(one)),
    )


def _question(one: Answer) -> object:
    return one.setting, one.nodes, one.devices_per_node


def _order(one: Answer) -> tuple[object, ...]:
    return tuple(one.candidate(ranked.summary) for ranked in one.ranked)
