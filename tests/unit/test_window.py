"""The window: which steps are measured and what they make as a number (docs/numbers.md)."""

import math
from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsuite.contracts.dialect import Dialect
from evalsuite.core.model import ARRIVALS, RATES, TIMES, Protocol, Step
from evalsuite.logs.steps.throughput import throughput
from evalsuite.logs.steps.window import span
from tests import sources

PROTOCOL = Protocol(warmup_steps=20, measured_steps=100)
BATCH = 64.0
DIALECT = Dialect(
    name="toy", title="Toy", framework=None, unit="images/s", step=(), scope="global", averaging="interval"
)


def steps(count, *, every=1, seconds=0.5, **fields):
    """*count* reports of *every* steps that take *seconds* each."""
    return [
        Step(
            index=every * (number + 1),
            steps=every,
            items=BATCH * every,
            seconds=seconds * every,
            line=number + 1,
            **fields,
        )
        for number in range(count)
    ]


def clocked(found, field, seconds, begin=1000.25):
    return [step._replace(**{field: begin + seconds * step.index}) for step in found]


def measured(found, **options):
    told = {name: options.pop(name) for name in ("warmed_up", "trust_stamps") if name in options}
    return throughput(found, replace(DIALECT, **told), options.pop("protocol", PROTOCOL), **options)


def rated(of):
    """Steps by their stamps and by the rate that the script prints; "pause": the number of one behind an evaluation."""
    seconds = [each for count, each in of["seconds"] for _ in range(count)]
    items = [each for count, each in of.get("items", [(len(seconds), BATCH)]) for _ in range(count)]
    stamps = list(accumulate(seconds, initial=1000.25))[1:]
    return [
        Step(index=index, items=some, items_per_s=some / took, stamp_s=at, after_pause=index == of.get("pause"))
        for index, (took, some, at) in enumerate(zip(seconds, items, stamps, strict=True), 1)
    ]


def evaluated(found, at):
    return [s._replace(stamp_s=s.stamp_s + 60, after_pause=s.index == at) if s.index >= at else s for s in found]


def steps_of(of):
    """The steps of a row of the table, with its clocks."""
    every = of.get("every", 1)
    if "seconds" in of:
        return rated(of)
    if "rates" in of:
        return [Step(index=every * i, steps=every, items_per_s=rate) for i, rate in enumerate(of["rates"], 1)]
    found = steps(of["count"], every=every)
    for field in of.keys() & {"stamp_s", "arrival_s"}:
        found = clocked(found, field, *of[field])
    return found


ALL = 130
WINDOWS = {  # the steps, how they are read, what is read of them (first and last step and whether they are all)
    **{name: (steps_of(of), how, expected) for name, (of, how, expected) in sources.cases("window.toml").items()},
    "twenty steps are thrown away and the next hundred are measured": (
        [step._replace(seconds=9.0) if step.index <= 20 else step for step in steps(200)],
        *({}, {"window": (21, 120, True), "items_per_s": BATCH / 0.5, "line_first": 21, "line_last": 120}),
    ),
    "of lines that arrive in blocks the ends of the blocks are the clock": (
        *([step._replace(arrival_s=10.5 * math.ceil((step.index + 7) / 20)) for step in steps(200)], {}),
        {"method": ARRIVALS, "items_per_s": BATCH / 0.525, "window": (21, 120, True), "codes": ("clock_disagrees",)},
    ),
    **{
        f"lines that arrive in blocks of {each} are not a clock": (
            *([step._replace(arrival_s=0.5 * each * math.ceil(step.index / each)) for step in steps(ALL)], {}),
            {"method": TIMES, "clock_items_per_s": None, "codes": ("printed_only",)},
        )
        for each in (70, 1000)
    },
    "two late lines that came together at the begin move it no further than they are": (
        *([step._replace(arrival_s=0.5 * max(step.index, 24 * (17 < step.index <= 24))) for step in steps(ALL)], {}),
        {"method": ARRIVALS, "items_per_s": BATCH / 0.5, "codes": ()},
    ),
    "pauses in all its reports confirm a figure that they do not deny": (
        [step._replace(arrival_s=0.5 * step.index, after_pause=True) for step in steps(ALL)],
        *({}, {"method": TIMES, "items_per_s": BATCH / 0.5, "clock_items_per_s": BATCH / 0.5}),
    ),
    "rates alone give their harmonic mean": (
        *([Step(index=i, items_per_s=100.0 if i % 2 else 300.0) for i in range(1, ALL + 1)], {}),
        {"method": RATES, "items_per_s": 150.0},
    ),
    "evaluation in the window counts neither as items nor as time": (
        *(evaluated(clocked(steps(ALL), "stamp_s", 0.5), 50), {}, {"items_per_s": BATCH / 0.5}),
    ),
    "a throughput that falls within the window is a finding": (
        *([step._replace(seconds=0.5 + step.index / 400) for step in steps(ALL)], {}, {"codes": ("D10",)}),
    ),
}


@pytest.mark.parametrize(("found", "how", "expected"), WINDOWS.values(), ids=WINDOWS)
def test_a_window_of_steps_makes_the_number_of_the_protocol(found, how, expected):
    result, complete = measured(found, **how)

    read = {
        **{name: getattr(result, name) for name in type(result).__dataclass_fields__},
        "window": (result.window.first_step, result.window.last_step, complete),
        **{"begin_s": result.window.begin_s, "end_s": result.window.end_s},
        "codes": tuple(finding.code for finding in result.findings),
    }
    assert {name: read[name] for name in expected} == {
        name: pytest.approx(it) if isinstance(it, float) else it for name, it in expected.items()
    }


@pytest.mark.parametrize(
    "found", [[], [step._replace(items=None) for step in steps(ALL)]], ids=["no steps", "no batch"]
)
def test_no_steps_and_times_without_a_batch_size_make_no_number(found):
    assert measured(found)[0] is None


rates = st.lists(st.floats(min_value=1.0, max_value=1e6), min_size=1, max_size=200)


@given(rates, st.floats(min_value=0.001, max_value=1000.0))
def test_scaling_every_rate_scales_the_throughput(values, factor):
    def value(scale):
        found = [Step(index=i, items_per_s=scale * rate) for i, rate in enumerate(values, 1)]
        return measured(found)[0].items_per_s

    assert value(factor) == pytest.approx(factor * value(1.0))


@given(rates)
def test_the_value_lies_between_the_slowest_and_the_fastest_report(values):
    found = [Step(index=i, items_per_s=rate) for i, rate in enumerate(values, 1)]

    result = measured(found)[0]

    assert min(values) * (1 - 1e-9) <= result.items_per_s <= max(values) * (1 + 1e-9)


@given(
    st.lists(st.integers(min_value=1, max_value=150), min_size=1, max_size=80),
    st.integers(min_value=0, max_value=50),
    st.integers(min_value=1, max_value=200),
)
def test_a_window_never_holds_steps_outside_the_log_and_a_complete_one_obeys_the_protocol(widths, warmup, wanted):
    index, found = 0, []
    for width in widths:
        index += width
        found.append(Step(index=index, steps=width, items_per_s=1.0))
    protocol = Protocol(warmup_steps=warmup, measured_steps=wanted)

    chosen = span(found, protocol)

    assert set(chosen.reports) <= set(found)
    if chosen.complete:
        assert sum(step.steps for step in chosen.reports) >= wanted
        assert chosen.reports[0].index - chosen.reports[0].steps >= warmup
