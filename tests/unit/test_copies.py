"""D04 beyond equal bytes, and repeats that were chosen among more."""

from dataclasses import replace

import pytest

from evalsuite.documents import CitedFigure
from evalsuite.findings import EqualRepeats, OneTraining, RepeatsMissing, RowsMissing, SameFigures
from evalsuite.model import Counted
from evalsuite.results.measure.summary import summary
from evalsuite.results.rules import copies, data_rules
from tests import sources, synthetic
from tests.toys import COMMAND

CASE = synthetic.case(protocol=synthetic.FULL)
TIMES = tuple(0.2 + (k * k % 97) / 1000 for k in range(140))


def run(repeat, seconds=(), origin="imported", printed_steps=None, value=None):
    one = synthetic.measured(CASE, repeat, value or 38.0 + repeat)
    counted = Counted(items=(8.0,) * len(seconds), seconds=tuple(seconds))
    return replace(one, origin=origin, printed_steps=printed_steps, throughput=replace(one.throughput, counted=counted))


@pytest.mark.parametrize(
    ("runs", "found"),
    [
        ((run(0, TIMES), run(1, TIMES[7:])), {1: SameFigures}),  # each a line shorter at its head
        ((run(0, TIMES, "measured"), run(1, TIMES[100:120], "measured")), {1: SameFigures}),
        ((run(0, TIMES), run(1, TIMES[100:119])), {}),
        ((run(0, (0.25, 0.26) * 70), run(1, (0.25, 0.26) * 70)), {}),  # coarse figures
        ((run(0, TIMES, "cited"), run(1, TIMES, "cited")), {}),
        ([run(k, printed_steps=(140 * k, 140 * k + 140)) for k in (1, 0, 2)], {0: OneTraining, 2: OneTraining}),
        ([run(k, printed_steps=(0, 140)) for k in range(3)], {}),
        ([run(k, printed_steps=(140 * k, 140 * k + 140), origin="measured") for k in range(3)], {}),
        ([run(k, value=38.0 + k * 1e-6) for k in range(3)], {1: EqualRepeats, 2: EqualRepeats}),
        ([run(k, value=38.0) for k in range(2)], {}),
    ],
)
def test_runs_that_are_no_repeats_of_their_own(runs, found):
    marked = data_rules.check_measurements(runs)

    assert {place: type(one) for place, one in copies.copies(runs).items()} == found
    assert [one.counts for one in marked] == [place not in found for place in range(len(runs))]


@pytest.mark.parametrize(("repeats", "origin", "missing"), sources.cases("copies.toml")["gaps_numbers_repeats"])
def test_gaps_in_the_numbers_of_repeats_are_named(repeats, origin, missing):
    found = summary(CASE, [run(repeat, origin=origin) for repeat in repeats]).findings

    assert next((one.repeats for one in found if isinstance(one, RepeatsMissing)), None) == missing


@pytest.mark.parametrize(
    ("kind", "runs", "stated"), [("run", (), 20), ("median", ("38", "38"), 20), ("run", (), 3), ("median", (), 20)]
)
def test_a_table_that_states_more_runs_than_it_has_is_named(kind, runs, stated):
    cited = [run(repeat, origin="cited") for repeat in range(3 if kind == "run" else 1)]
    figure = CitedFigure(printed="38", kind=kind, n=stated, runs=runs)

    found = data_rules.findings(
        [summary(CASE, cited)], {}, {one.run.id: replace(COMMAND, figure=figure) for one in cited}
    )

    here = len(runs) or 3 * (kind == "run")
    rows = [one.here for one in found if isinstance(one, RowsMissing)]
    assert rows == ([here] if 0 < here < stated else [])
