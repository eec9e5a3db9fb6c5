"""What a source prints beside a rate: figures that imply it, of which each must agree, and others of the same name."""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from statistics import median

from evalsuite.core import findings as rules
from evalsuite.core.decode import number, whole
from evalsuite.core.documents import Citation, CitedFigure
from evalsuite.core.model import Finding, Measurement, by_key
from evalsuite.results.measure.units import BATCH_ITEMS
from evalsuite.results.rules import flops_and_energy


def denied(runs: Sequence[Measurement]) -> Iterator[tuple[int, Finding]]:
    """Of runs whose time of a step, TFLOP/s or accuracy agree neither with their rate nor with another of the model: of
    two rows the one of fewer operations an item, unless the other may count a forward pass more."""
    limit = rules.FigureDenies.limit
    known = ((place, what, share) for place, run in enumerate(runs) for what, share in _implied(run))
    alike = by_key(((what, runs[place].run.case.model), (place, share)) for place, what, share in known)
    for (what, _), shares in alike.items():
        of_cases = by_key((runs[place].run.case.id, share) for place, share in shares)
        for place, share in shares:
            others = [median(each) for case, each in of_cases.items() if case != runs[place].run.case.id]
            agree = {way: sum(abs(each / way - 1) <= limit for each in others) for way in others}
            usual = max(others, key=agree.__getitem__) if max(agree.values(), default=0) > 1 else None
            again = [0.75 * way for way in others if what == "tflops" and not usual]
            value, apart = runs[place].value, all(abs(share / way - 1) > limit for way in (1.0, *others, *again))
            usual = usual or (max(others) if again and share < min(others) else None)
            if what == "accuracy" and usual and share < rules.LearntLess.limit * usual:
                yield place, rules.LearntLess(accuracy=share, usual=usual)
            elif value and what in ("latency", usual and "tflops") and apart:
                implied = value * share / (usual or 1.0)
                yield place, rules.FigureDenies(what=what, items_per_s=value, implied=implied)


def _implied(run: Measurement) -> Iterator[tuple[str, float]]:
    """What is printed beside a rate, and the rate that it implies ÷ that rate; an accuracy in per cent."""
    case, unit = run.run.case, run.throughput.unit if run.throughput else ""
    length = whole(case.option("sequence_length", "")) if unit == "tokens/s" else 1 if unit in BATCH_ITEMS else None
    if (step_s := run.figure("step_time_stated_s")) and length and run.value:
        yield "latency", case.global_batch * length / step_s / run.value
    if (tflops := run.figure("tflops_stated_per_device")) and run.value:
        counted = flops_and_energy.run_tflops(run).values() or [run.value]  # by each rule, or by none
        yield "tflops", min((tflops * case.total_devices / each for each in counted), key=lambda way: abs(way - 1))
    if (accuracy := run.figure("accuracy_stated_percent")) is not None:
        yield "accuracy", accuracy


def cited_figure(figure: CitedFigure, where: str) -> Iterable[Finding]:
    speedups: dict[Decimal | None, tuple[str, float]] = {}
    for citation in figure.citations:
        computed = _speedup(figure.printed, citation)
        if computed is not None and citation.speedup is not None:
            speedups.setdefault(written(citation.speedup), (citation.speedup, computed))
    for text, computed in speedups.values():
        yield rules.AuthorDiffers(written=text, computed=computed, measure="speedup", where=where)
    printed = written(figure.printed)
    runs = [float(value) for value in map(written, figure.runs) if value is not None]
    beside = {other.source or other.row: text for other, text in zip(figure.others, figure.others_printed, strict=True)}
    if printed is not None and runs and not rounds_to(printed, median(runs)):
        beside = {figure.log_set or figure.citations[0].row: f"{median(runs):g}", **beside}
    for source, text in beside.items():
        own = figure.citations[0].source or figure.citations[0].row
        yield rules.SourcesDiffer(printed=figure.printed, source=own, other=text, other_source=source, where=where)


def _speedup(printed: str, citation: Citation) -> float | None:
    """By the printed throughputs; None where it rounds to the one printed. DLPerf rounds twice: 10.75 for 10.74499."""
    of, base = written(printed), written(citation.base or "")
    said = written(citation.speedup or "")
    if of is None or base is None or said is None or base <= 0:
        return None
    computed = float(of / base)
    twice = Decimal("0.55").scaleb(int(said.as_tuple().exponent))
    return None if abs(said - Decimal(computed)) <= twice else computed


def written(text: str) -> Decimal | None:
    """A number as written, with its digits: "1.57x", "12,411"; None where it is none."""
    said = re.sub(r"[,\s%x×]", "", text)
    return None if number(said) is None else Decimal(said)


def rounds_to(printed: Decimal, computed: float) -> bool:
    """Whether *printed* is *computed* rounded to the digits that were written (D16)."""
    half = Decimal("0.5").scaleb(int(printed.as_tuple().exponent)) * Decimal("1.000001")
    return abs(printed - Decimal(computed)) <= max(half, abs(printed) * Decimal("1e-9"))
