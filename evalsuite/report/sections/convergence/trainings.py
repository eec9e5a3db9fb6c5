"""Trainings to a stated accuracy, and the loss over steps with the band of its seeds."""

from collections.abc import Iterator
from dataclasses import replace

from evalsuite.core.author_document import TrainingPrice
from evalsuite.core.model import Row, Summary, Target
from evalsuite.report import figures
from evalsuite.report.book.blocks import Block
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, label, setting
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Text, Words
from evalsuite.results.measure import convergence as room
from evalsuite.results.measure import loss_curves
from evalsuite.results.rules.flops_and_energy import energy

JOULES_PER_KWH = 3.6e6


def cells(
    summary: Row, block: Block, target: Target, price: TrainingPrice | None, words: Words
) -> Iterator[tuple[str, Number | Text | None]]:
    """(name of a column, what stands in it) of the way to *target*; none of a case without trainings."""
    own = room.arrivals(summary, target)
    if not own.trainings:
        return
    reference = room.reference_of(summary, target, block.summaries)
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
    if price:
        hours = summary.case.total_devices * seconds.value / 3600 if seconds else None
        drawn = (joules or 0.0) / JOULES_PER_KWH * (price.per_kwh or 0.0)
        amount = numbers.significant(hours * price.per_device_hour + drawn) if hours else None
        yield "money", amount and replace(amount, text=f"{amount} {price.currency}")
    yield "reference", _against(summary, reference, target, words)
    yield "band", _band(summary, reference, words)


def _against(summary: Row, reference: Row | None, target: Target, words: Words) -> Text | None:
    pair = room.against(summary, target, reference)
    if pair is None:
        return words("convergence.reference_own") if reference is summary else None
    about = {"n": numbers.count(pair.n), "m": numbers.count(pair.reference_n)}
    if pair.difference is not None and pair.within is not None:
        about |= {"difference": numbers.points(pair.difference), "within": numbers.plain(round(pair.within, 2))}
    return words(f"convergence.reference_{pair.outcome}", **about)


def _band(summary: Row, reference: Row | None, words: Words) -> Text | None:
    own, theirs = loss_curves.band(summary), loss_curves.band(reference) if reference else None
    if own is None:
        return None
    seeds = numbers.count(own.seeds)
    if reference is None or reference is summary or theirs is None:
        return words("convergence.band_of", seeds=seeds)
    about = {"seeds": seeds, "framework": names.framework(reference.case.framework)}
    if outside := theirs.outside(tuple((step, mean) for step, mean, *_ in own.rows)):
        return words("convergence.band_apart", parts=numbers.count(len(outside)), **about)
    return words("convergence.band_within", **about)


def draw_losses(block: Block, words: Words) -> CaptionedFigure | None:
    curves = tuple(curve for summary in block.summaries for curve in _curves(block, summary))
    if not curves:
        return None
    said = words("scores.train_loss")
    panel = figures.CurvePanel(label=label(said), curves=curves)
    look = figures.look([curve.key for curve in curves])
    figure = figures.convergence((panel,), look, id=f"f-{block.id}-l", x_key="step")
    return CaptionedFigure(
        figure=figure,
        title=words("convergence.figure_losses"),
        help=words("convergence.see_losses"),
        reading=(setting(block, words),),
        labels=(said,) * len(figure.table.rows),
    )


def _curves(block: Block, summary: Row) -> Iterator[figures.Curve]:
    band, ref = loss_curves.band(summary), names.case_anchor(summary.case)
    if band is None:
        return
    name = next(column.label for column in block.columns if column.series == summary.case.series)
    name = name if len(block.scales) == 1 else f"{name} {names.scale(summary.case)}"
    sides = ([(row[0], row[side]) for row in band.rows] for side in (1, 2, 3))
    points, low, high = map(tuple, sides)
    yield figures.Curve(name=name, key=name, points=points, low=low, high=high, ref=ref)
    for run in summary.measurements:
        if run.losses and run.losses.resumed_at is not None:
            again = f"{name} r{run.run.repeat}"
            yield figures.Curve(name=again, key=again, points=loss_curves.parts(run.losses.points), ref=ref)
