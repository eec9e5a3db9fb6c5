"""How good the models became and how long it took: table, curves, time to solution (docs/numbers.md#convergence)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from evalsuite.core.model import Measurement, Row, Score, Summary, Target
from evalsuite.report import figures
from evalsuite.report.book.blocks import Block, Column, Model
from evalsuite.report.book.states import MARKS
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Text, Words
from evalsuite.results.measure import convergence as room
from evalsuite.results.measure.convergence import Solution
from evalsuite.results.rules.flops_and_energy import energy

Trial = tuple[Row, Measurement]
METRICS = ("top1", "accuracy", "top5", "loss")
MOST_CURVES = 8  # of one chart
MOST_FIGURES = 6  # of curves, in one report


@dataclass(frozen=True, kw_only=True)
class TrainedRow:
    column: Column
    summary: Row
    run: Measurement
    epochs: int
    values: tuple[Number | None, ...]
    time: Number | None
    solution: Number | None
    scaled: bool  # the time to solution was not measured to the end
    missed: bool  # the final value is below the target (D24)
    judgement: Text | None
    arrival: tuple[tuple[str, Number | Text | None], ...]  # the way to the target, by column

    @property
    def ref(self) -> str:
        return names.case_anchor(self.summary.case)


@dataclass(frozen=True, kw_only=True)
class Trained:
    block: Block
    metrics: tuple[tuple[str, str], ...]
    rows: tuple[TrainedRow, ...]
    target: Target | None

    @property
    def id(self) -> str:
        return f"{self.block.id}-c"

    @property
    def legend(self) -> tuple[str, ...]:
        missing = any(value is None for row in self.rows for value in (*row.values, row.time))
        missing = missing or (self.target is not None and any(row.solution is None for row in self.rows))
        return ("missing",) * missing + ("flagged",) * any(row.missed for row in self.rows)

    @property
    def scaled(self) -> bool:
        return any(row.scaled for row in self.rows)


def sections(subject: Subject) -> Iterable[Section]:
    evaluation = subject.book.evaluation
    if tables := trained(subject.models, evaluation.targets, subject.words):
        yield Section(
            id="convergence",
            title=subject.words("convergence.title"),
            template="convergence/convergence.html.j2",
            facts=lambda: {
                "tables": tables,
                "charts": {table.id: _curves(table, subject) for table in tables[:MOST_FIGURES]},
            },
            finding=lambda _: _title(tables[0], subject.words),
        )


def trained(models: Sequence[Model], targets: Sequence[Target], words: Words) -> tuple[Trained, ...]:
    trainings = (_of_block(block, targets, words) for model in models for block in model.blocks)
    return tuple(training for training in trainings if training is not None)


def _of_block(block: Block, targets: Sequence[Target], words: Words) -> Trained | None:
    runs = [(summary, run) for summary in block.summaries if (run := room.run_of(summary)) is not None]
    if not runs:
        return None
    present = {(score.split, score.metric) for _, run in runs for score in run.scores}
    metrics = tuple((split, metric) for metric in METRICS for split in room.SPLITS if (split, metric) in present)
    rows = tuple(_row(block, summary, run, metrics, runs, targets, words) for summary, run in runs)
    target = next((reached[0] for row, run in runs if (reached := room.target_of(row.case, run, targets))), None)
    return Trained(block=block, metrics=metrics, rows=rows, target=target)


def _row(
    block: Block,
    summary: Row,
    run: Measurement,
    metrics: Sequence[tuple[str, str]],
    runs: Sequence[Trial],
    targets: Sequence[Target],
    words: Words,
) -> TrainedRow:
    column = block.column_of(summary.case)
    finals = [room.final(run, split, metric) for split, metric in metrics]
    reached = room.target_of(summary.case, run, targets)
    solved = room.solution(run, reached[0]) if reached else None
    last = max(run.scores, key=lambda score: score.epoch)
    solution = numbers.seconds(solved.seconds) if solved else None
    if solution and solved and solved.scaled:
        solution = replace(solution, text=f"{MARKS['simulated']}{solution.text}")
    return TrainedRow(
        column=column,
        summary=summary,
        run=run,
        epochs=last.epoch,
        values=tuple(None if score is None else number(score) for score in finals),
        time=None if last.at_s is None else numbers.seconds(last.at_s),
        solution=solution,
        scaled=bool(solved and solved.scaled),
        missed=bool(solved and reached and reached[1].value < reached[0].value),
        judgement=_judgement(*reached, solved, _base(summary, runs, targets), words) if reached else None,
        arrival=tuple(_arrival_cells(summary, reached[0], words)) if reached else (),
    )


def _arrival_cells(summary: Row, target: Target, words: Words) -> Iterator[tuple[str, Number | Text | None]]:
    """(name of a column, what stands in it) of the way to *target*; none of a case without trainings."""
    own = room.arrivals(summary, target)
    if not own.trainings:
        return
    reached = {"reached": numbers.count(len(own.epochs)), "trainings": numbers.count(own.trainings)}
    yield "reached", words("convergence.reached_of", **reached)
    epochs, seconds = own.epochs_each, own.seconds_each
    for name, known, form in (("epochs_to", epochs, numbers.plain), ("time_to", seconds, numbers.seconds)):
        yield name, form(known.value) if known else None
        yield f"{name}_span", numbers.interval(known, form)
    joules = None
    if isinstance(summary, Summary) and seconds and (taken := energy(summary)):
        joules = taken.joules_per_item * summary.items_per_s.value * seconds.value
    yield "energy", numbers.quantity(joules / 1000, "kJ") if joules else words("convergence.energy_unknown")


def number(score: Score) -> Number:
    """Accuracies with two decimals, because 0.1 points matter; a loss with four digits."""
    if score.metric in room.IN_PERCENT:
        return Number(text=f"{score.value:.2f}%", raw=score.value)
    return numbers.significant(score.value)


def _judgement(target: Target, score: Score, solved: Solution | None, base: Score | None, words: Words) -> Text:
    if solved is None:
        return words("convergence.too_short", epochs=numbers.count(target.epochs))
    if score.value < target.value:
        return words("convergence.missed", target=_plain(target), points=numbers.points(score.value - target.value))
    if base is None:
        return words("convergence.reached", target=_plain(target))
    if room.same(score, base, target):
        return words("convergence.same", tolerance=numbers.plain(target.tolerance))
    return words("convergence.different", points=numbers.points(score.value - base.value))


def _plain(target: Target) -> Number:
    return Number(text=f"{target.value:g}%", raw=target.value)


def _base(summary: Row, runs: Sequence[Trial], targets: Sequence[Target]) -> Score | None:
    series = [(result, run) for result, run in runs if result.case.series == summary.case.series]
    smallest, run = min(series, key=lambda pair: (pair[0].case.global_batch, pair[0].case.nodes))
    reached = room.target_of(smallest.case, run, targets)
    return None if smallest is summary or reached is None else reached[1]


def _curves(table: Trained, subject: Subject) -> figures.Chart | None:
    """Of the first metric that has curves: of the validation, where there is one."""
    words, ours, target = subject.words, table.rows[:MOST_CURVES], table.target
    called = names.labels(row.summary.case for row in ours)
    for split, metric in _of_validation_first(table):
        lines = [
            figures.Line(
                name=words.same(called[row.summary.case]),
                framework=row.summary.case.framework,
                points=tuple(figures.Point(x=float(each.epoch), value=each.value, ref=row.ref) for each in curve),
            )
            for row in ours
            if len(curve := room.curve(row.run, split, metric)) > 1
        ]
        if lines:
            meant = room.ALSO_CALLED.get(target.metric, (target.metric,)) if target and split == "validation" else ()
            return figures.chart(
                lines,
                subject.look,
                words,
                id=f"f-{table.id}",
                title=_title(table, words),
                reading=[words("convergence.see_target")] * (metric in meant),
                share=False,
                target=target.value if target and metric in meant else None,
            )
    return None


def _of_validation_first(table: Trained) -> Sequence[tuple[str, str]]:
    return sorted(table.metrics, key=lambda of: of[0] != "validation")


def _title(table: Trained, words: Words) -> Text:
    split, metric = _of_validation_first(table)[0]
    return words(f"scores.{split}_{metric}")
