"""Sequences/s and tokens/s of one model: one unit where the length of the sequences is on record, else two."""

from dataclasses import replace

import pytest
import synthetic

from evalsuite.findings import CountedInTokens
from evalsuite.model import Fact
from evalsuite.results.compare import units


def counted_in(unit, items_per_s, length=None, **changes):
    run = synthetic.measured(synthetic.case(options=(), **changes), 0, items_per_s)
    facts = [Fact(key="input_size", value=length, source="recipe")] if length else []
    return replace(run, throughput=replace(run.throughput, unit=unit), facts=tuple(facts))


@pytest.mark.parametrize(
    ("length", "model", "value", "unit"),
    [("128", "bert", 1280.0, "tokens/s"), (None, "bert", 10.0, "sequences/s"), ("128", "gpt2", 10.0, "sequences/s")],
)
def test_sequences_beside_tokens_of_a_model_are_counted_in_tokens_where_their_length_is_known(
    length, model, value, unit
):
    tokens, sequences = (
        counted_in("tokens/s", 1000.0, model="bert"),
        counted_in("sequences/s", 10.0, length, model=model),
    )

    same, found = units.in_one_unit([tokens, sequences])

    assert same == tokens
    assert (found.value, found.throughput.unit) == (pytest.approx(value), unit)
    counted = found.throughput.counted
    assert sum(counted.items) / sum(counted.seconds) == pytest.approx(value)
    assert any(isinstance(said, CountedInTokens) for said in found.findings) == (unit == "tokens/s")
    assert units.logged_value(found) == pytest.approx(10.0)
