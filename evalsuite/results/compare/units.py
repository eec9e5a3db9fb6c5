"""Sequences/s and tokens/s of one model in one unit, where the length of the sequences is on record."""

from collections.abc import Iterable
from dataclasses import replace

from evalsuite.core.decode import whole
from evalsuite.core.findings import CountedInTokens
from evalsuite.core.model import Measurement
from evalsuite.results.measure import facts
from evalsuite.results.measure.measurement import in_tokens

SEQUENCES = ("sentences/s", "sequences/s", "samples/s")
TOKENS = "tokens/s"


def in_one_unit(measured: Iterable[Measurement]) -> list[Measurement]:
    """Those of a model of which another run counts tokens are counted in tokens, too."""
    runs = list(measured)
    models = {run.run.case.model for run in runs if run.throughput and run.throughput.unit == TOKENS}
    return [_in_tokens(run) if run.run.case.model in models else run for run in runs]


def _in_tokens(run: Measurement) -> Measurement:
    length, rate = facts.of_measurement(run).get("input_size"), run.throughput
    if rate is None or rate.unit not in SEQUENCES:
        return run
    tokens = whole(length.value) if length else None
    if not tokens:
        return run
    said = CountedInTokens(where=run.run.id, unit=rate.unit, tokens=tokens)
    return replace(run, throughput=in_tokens(rate, tokens), findings=(*run.findings, said))


def logged_value(run: Measurement) -> float | None:
    tokens = next((said.tokens for said in run.findings if isinstance(said, CountedInTokens)), 1)
    return run.value and run.value / tokens
