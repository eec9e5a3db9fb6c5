"""One model in one unit: samples as another log of it names them, sequences in tokens where their length is known."""

from collections.abc import Iterable
from dataclasses import replace

from evalsuite.core.decode import whole
from evalsuite.core.findings import CountedInTokens
from evalsuite.core.model import Measurement, Throughput
from evalsuite.results.measure import facts

SAMPLES, TOKENS = "samples/s", "tokens/s"
SEQUENCES = ("sentences/s", "sequences/s", SAMPLES)
BATCH_ITEMS = ("images/s", SAMPLES, "sequences/s")  # three words for one count: that of the batch size
NOT_SAID = ("sequences/s", "images/s")  # a log never turns the one into the other
RATES = ("items_per_s", "printed_items_per_s", "clock_items_per_s", "implied_batch")


def in_one_unit(measured: Iterable[Measurement]) -> list[Measurement]:
    """Those of a model of which another run counts tokens are counted in tokens, too."""
    runs = list(measured)
    found = {(run.run.case.model, run.throughput.unit) for run in runs if run.throughput}
    return [_in_tokens(run) if (run.run.case.model, TOKENS) in found else _named(run, found) for run in runs]


def items_of_one(run: Measurement) -> int | None:
    """Those that one of the batch size is; None where its unit or the length is not known to count so."""
    unit = run.throughput.unit if run.throughput else ""
    return whole(run.run.case.option("sequence_length", "")) if unit == TOKENS else 1 if unit in BATCH_ITEMS else None


def _named(run: Measurement, found: set[tuple[str, str]]) -> Measurement:
    """Samples of a run made elsewhere are what the other logs of its model name."""
    rate, names = run.throughput, [each for each in BATCH_ITEMS if (run.run.case.model, each) in found]
    if rate is None or rate.unit != SAMPLES or run.origin == "measured" or len(names) != 2:
        return run
    return replace(run, throughput=replace(rate, unit=next(each for each in names if each != SAMPLES)))


def _in_tokens(run: Measurement) -> Measurement:
    length, rate = facts.of_measurement(run).get("input_size"), run.throughput
    tokens = whole(length.value) if length else None
    if rate is None or rate.unit not in SEQUENCES or not tokens:
        return run
    said = CountedInTokens(where=run.run.id, unit=rate.unit, tokens=tokens)
    return replace(run, throughput=in_tokens(rate, tokens), findings=(*run.findings, said))


def in_tokens(throughput: Throughput, length: int) -> Throughput:
    rates = {name: value and value * length for name in RATES for value in [getattr(throughput, name)]}
    counted = throughput.counted
    counted = counted and replace(counted, items=tuple(items * length for items in counted.items))
    return replace(throughput, unit=TOKENS, counted=counted, **rates)
