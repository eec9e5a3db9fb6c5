"""What a source prints beside a rate: figures that imply it, of which each must agree, and others of the same name."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from statistics import median

from evalsuite.core import findings as rules
from evalsuite.core.decode import number
from evalsuite.core.documents import Citation, CitedFigure
from evalsuite.core.messages import Message
from evalsuite.core.model import Finding, Measurement, Summary, by_key
from evalsuite.logs.clocks import LATE
from evalsuite.results.measure import facts, units
from evalsuite.results.rules import flops_and_energy

Told = Mapping[str, Sequence[str]]  # lines of a log's head that speak of work, by `facts.statements_of`
WORK = ("input_size", "layers", "hidden_size", "experts", "trained_part", "recomputation", "vocab_size")
SCATTER = 0.01  # which a speed-up may be beyond the interval of the runs
COUNTED = (1 / 3, 0.5, 1.0, 4 / 3, 2.0)  # forward alone, a multiplication with its addition as one, what is done again


def denied(runs: Sequence[Measurement]) -> Iterator[tuple[int, Finding]]:
    """Of runs whose time of a step, TFLOP/s or accuracy agree neither with their rate nor with that of another
    framework: of two rows the one of fewer operations an item, unless the other may count a forward pass more."""
    limit, rivals = rules.FigureDenies.limit, by_key({(run.run.case.model, run.run.case.framework) for run in runs})
    known = ((runs[place].run.case.model, place, each) for place, run in enumerate(runs) for each in _implied(run))
    alike = by_key(((what, model, by), (place, share)) for model, place, (what, share, by) in known)
    for (what, model, by), shares in alike.items():
        whose = "framework" if len(rivals[model]) > 1 else "id"  # one alone is held against its other scales
        of_cases = by_key((runs[place].run.case, share) for place, share in shares)
        for place, share in shares:
            name = getattr(runs[place].run.case, whose)
            others = [median(each) for case, each in of_cases.items() if getattr(case, whose) != name]
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
            elif what == "tflops" and not by and not others and all(abs(share / way - 1) > limit for way in COUNTED):
                printed, cause = runs[place].figure("tflops_stated_per_device") or 0.0, Message("results.apart_alone")
                own = printed / share
                yield place, rules.PrintedImpossible(printed=printed, recomputed=own, ratio=share, cause=cause)


def constant(run: Measurement) -> Iterator[Finding]:
    """What its steps print is one number, in digits in which no clock says the same twice."""
    value, same = (Counter(run.printed_each).most_common(1) or [(0.0, 0)])[0]
    of, rule = (value, value / run.run.case.total_devices, 1000 * value), rules.FiguresConstant
    alike = run.lines and same >= max(rule.fewest, rule.share * len(run.printed_each))
    for text in re.findall(r"\d[\d,]*\.\d+", run.lines[0].text) if alike else ():
        number, digit = float(text.replace(",", "")), 10.0 ** -len(text.partition(".")[2])
        if digit <= rule.limit * number and any(math.isclose(number, each) for each in of):
            yield rule(reports=same, text=text)
            return


def totals(run: Measurement, told: Told) -> Iterator[Finding]:
    """What its log says once of the whole, held against its steps: items, seconds beyond those of the run, a mean rate
    of all devices or of one; since the start, which may take a third of it, or as long as the run did by our clock."""
    text, value, steps = "\n".join(of[0] for of in told.values() if len(of) == 1), run.value, run.printed_steps
    case, length = run.run.case, units.items_of_one(run)
    if not (value and steps and length):
        return
    each, took_s, ours = case.global_batch * length, run.duration_s or math.inf, run.origin == "measured"
    most, share, own = each * (steps[1] - steps[0]), 1 - rules.ItemsApart.items_limit, case.total_devices
    least = max(value / (rules.ClocksFarApart.limit * LATE), share * most / took_s if ours else 0.0)
    for items in facts.numbers("total_items", text):
        if items < share * most and not share <= items * own / most <= 1 / share:
            yield rules.ItemsApart(items=items / most * each, batch=each)
    longest = took_s * (1 + rules.ClocksFarApart.clocks) + rules.StepsUnfinished.lag_s
    rates = [most / s for s in facts.numbers("total_s", text) if s > longest and ours]
    for rate in (*rates, *facts.numbers("total_rate", text)):
        ways = (rate * of for of in (1, own, each, 1 / length))
        nearest = min(ways, key=lambda way: abs(math.log(way / value)))
        if rate in rates or not least < nearest < rules.ClocksFarApart.limit * value:
            yield rules.ClocksFarApart(difference=nearest / value - 1)
        elif abs(nearest / value - 1) > rules.FinalDisagrees.limit:
            yield rules.FinalDisagrees(final_items_per_s=nearest, items_per_s=value, difference=nearest / value - 1)


def _implied(run: Measurement) -> Iterator[tuple[str, float, object]]:
    """What is printed beside a rate, the rate that it implies ÷ that rate, or an accuracy in per cent, and who counts:
    one dialect counts the operations of one work in one way, a table in any."""
    case, length, unit = run.run.case, units.items_of_one(run), run.throughput.unit if run.throughput else ""
    if (step_s := run.figure("step_time_stated_s")) and length and run.value:
        yield "latency", case.global_batch * length / step_s / run.value, ""
    if (tflops := run.figure("tflops_stated_per_device")) and run.value:
        counted = flops_and_energy.run_tflops(run).values()
        ways = (tflops * case.total_devices / each for each in counted or [run.value])
        yield "tflops", min(ways, key=lambda way: abs(way - 1)), "" if counted else "its own rule"
    if (tflops := run.figure("tflops_printed")) and run.value and run.dialect:
        known = facts.of_measurement(run).get
        work = (getattr(known(key), "value", None) for key in WORK)
        yield "tflops", tflops * case.total_devices / run.value, (run.dialect, unit, *work)
    if (accuracy := run.figure("accuracy_stated_percent")) is not None:
        yield "accuracy", accuracy, ""
    least, hours = rules.TooShortWindow.least_steps * case.global_batch, run.figure("training_stated_h")
    if hours and run.value and (done := hours * 3600 * run.value) < least:
        yield "latency", least / done, "hours"


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


def cited_speedups(rows: Sequence[Summary], figures: Mapping[str, Sequence[CitedFigure]]) -> Iterator[Finding]:
    """Of single runs, by the medians of their case and its base; none where the base prints another than 1."""
    said = {case: [each for figure in of for each in figure.citations if each.speedup] for case, of in figures.items()}
    for row in rows:
        base = {written(each.speedup or "") for each in said.get(row.base.id if row.base else "", ())}
        if row.speedup is None or row.base == row.case or not base <= {1}:
            continue
        known, computed = {each.speedup: each.base for each in said.get(row.case.id, ())}, row.speedup.value
        low, high = (1 - SCATTER) * (row.speedup.low or computed), (1 + SCATTER) * (row.speedup.high or computed)
        for text in (text for text, printed in known.items() if text and printed is None):
            if (value := written(text)) is not None and not low <= float(value) <= high:
                yield rules.AuthorDiffers(written=text, computed=computed, measure="speedup", where=row.case.id)


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
