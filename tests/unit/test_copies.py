"""D04 beyond equal bytes, and repeats that were chosen among more."""

import pickle
from dataclasses import replace
from itertools import accumulate
from random import Random

import pytest

from evalsuite.core.documents import CitedFigure
from evalsuite.core.findings import RepeatsMissing
from evalsuite.core.model import Counted
from evalsuite.results.measure.summary import summary
from evalsuite.results.rules import copies, data_rules
from tests import sources, synthetic
from tests.toys import COMMAND

CASE = synthetic.case(protocol=synthetic.FULL)
TIMES = tuple(0.2 + (k * k % 97) / 1000 for k in range(140))


RUN = {"repeat", "origin", "printed_steps", "value"}


def steps(times=(0, 0), by=1.0, turned=0, order=None, scatter=None, noise=0.0, **_):
    """Step times as in *times* of one training, multiplied *by*, turned round, in another order; or of their own."""
    chance, own, more = Random(order), Random(scatter), Random(noise)
    seconds = [by * each for each in TIMES[slice(*times)]]
    seconds = seconds[turned:] + seconds[:turned] if scatter is None else [own.gauss(0.2, 0.008) for _ in range(100)]
    chance.shuffle(seconds) if order else None
    return [round(each + more.gauss(0, noise), 4) for each in seconds]


def run(repeat, seconds=(), origin="imported", printed_steps=None, value=None):
    row = synthetic.measured(CASE, repeat, value or 38.0 + repeat)
    counted = Counted(items=(8.0,) * len(seconds), seconds=tuple(seconds))
    return replace(row, origin=origin, printed_steps=printed_steps, throughput=replace(row.throughput, counted=counted))


@pytest.mark.parametrize(("runs", "found"), sources.cases("copies.toml")["no_repeats"])
def test_runs_that_are_no_repeats_of_their_own(runs, found):
    runs = [run(seconds=steps(**each), **{key: each[key] for key in each.keys() & RUN}) for each in runs]
    marked = data_rules.check_measurements(runs)

    assert {str(place): type(copy).__name__ for place, copy in copies.copies(runs).items()} == found
    assert [each.counts for each in marked] == [str(place) not in found for place in range(len(runs))]


@pytest.mark.parametrize(
    ("theirs", "named"),
    [
        ([1326.0, 1329.8, 1322.6, 1331.1, 1324.3], 10),  # 1.02 times, in the same order
        ([1326.0, 1329.8, 1322.6, 1331.1], 0),
        ([1326.0, 1331.1, 1322.6, 1329.8, 1324.3], 0),
        ([1326.0, 1330, 1323, 1331, 1324], 0),  # their digits do not tell
    ],
)
@pytest.mark.parametrize("scale", [1.0, 1e-200])  # whose square is 0, and which lose a last digit that is 0
@pytest.mark.parametrize("other", [synthetic.case("b"), synthetic.case("a", (1, 2))])
def test_figures_of_a_table_that_were_made_of_those_of_another_case(theirs, named, other, scale):
    own = [1300.0, 1303.7, 1296.7, 1305.0, 1298.3]
    rows = [(synthetic.case("a"), own), (other, theirs)]
    figures = [(case, k, v * scale) for case, of in rows for k, v in enumerate(of)]

    found = copies.copies([replace(synthetic.measured(*each), origin="cited") for each in figures])
    named = named if scale == 1.0 else 0
    assert (len(found), {each.name for each in found.values()}) == (named, {"scaled_figures"} if named else set())


PRINTED = {  # what steps print: level and step, scatter, how many, devices of a rate (0: a time), and what it hides
    "whole tokens/s of 8 devices": (5762, 1, 0.006, 100, 8, ()),
    "the same, of many steps": (5762, 1, 0.006, 600, 8, ()),
    "rates of 4 digits": (354.2, 0.1, 0.01, 100, 1, ()),
    "times of 2 digits": (0.24, 0.01, 0.05, 200, 0, ("edited", "cut", "multiplied", "shuffled")),
    "times of 3 digits": (0.245, 0.001, 0.01, 100, 0, ()),
    "times of 4 digits": (0.2451, 0.0001, 0.02, 120, 0, ()),
    "times of 6 digits, others in spells": (0.245, 1e-6, 0.01, 120, 0, ()),
    "means of 4 digits since the start": (0.2451, 0.0001, 0.03, 300, 0, ("multiplied",)),
    "means of 5 digits since the start": (0.24513, 0.00001, 0.02, 120, 0, ()),
}


def played(chance, printed, times):
    level, step, _, _, devices, _ = PRINTED[printed]
    each = [round(round(time * level / step) * step, 6) * (devices or 1) for time in times]
    row = run(chance.randrange(10**6), [8192 / value for value in each] if devices else each)
    return replace(row, printed_each=tuple(each))


def own(chance, printed):
    times = [chance.gauss(1, PRINTED[printed][2]) for _ in range(PRINTED[printed][3])]
    if "spells" in printed:  # of which some steps are a part
        times = [each * chance.choices((1, chance.uniform(1, 4), 4), (0.55, 0.1, 0.35))[0] for each in times]
    means = (total / count for count, total in enumerate(accumulate(times, initial=2.0), 1))  # after a slow first step
    return [*means][2:] if "means" in printed else times


@pytest.mark.parametrize("printed", PRINTED)
def test_of_200_honest_pairs_none_shares_more_than_chance_gives(printed):
    chance = Random(printed)
    runs = [played(chance, printed, own(chance, printed)) for _ in range(21)]  # each against all before it

    found = copies.copies(runs)
    print(f"{printed}: {len(found)} alarms in {len(runs) * (len(runs) - 1) // 2} pairs")
    assert found == {}


def test_a_part_of_another_run_is_found_whatever_it_was_multiplied_by():
    chance = Random(7)
    times, others = ([chance.gauss(0.45, 0.004) for _ in range(100)] for _ in "ab")
    changed = [
        1.0015 * time if 20 <= place < 80 else other
        for place, (time, other) in enumerate(zip(times, others, strict=True))
    ]
    told = [run(place, [round(each, 6) for each in of]) for place, of in enumerate((times, others, changed))]

    assert [*copies.copies(told)] == [2]


OTHERS = {
    "counted": lambda of: run(2, steps((0, 100), scatter=2)),
    "printed": lambda of: replace(of, printed_each=tuple(steps((0, 100), scatter=2))),
    "origin": lambda of: replace(of, origin="cited"),
    "number": lambda of: replace(of, run=replace(of.run, repeat=7)),
}


@pytest.mark.parametrize("other", OTHERS)
def test_what_step_times_told_is_kept_until_a_run_of_the_model_and_scale_has_others(other, tmp_path, monkeypatch):
    looked, kept, once = [], tmp_path / "kept", copies._same_times
    monkeypatch.setattr(copies, "_same_times", lambda of: looked.append(len(of)) or once(of))
    larger = [replace(run(k), run=replace(run(k).run, case=synthetic.case(scale=(1, 2)))) for k in (0, 1)]
    runs = [run(0, steps((0, 100))), run(1, steps((0, 100), scatter=1)), run(2, steps((0, 100))), *larger]
    changed = [*runs[:2], OTHERS[other](runs[2]), *larger]
    for some, again in ((runs, [3, 2]), (runs, []), (changed, [3]), (changed[:2] + larger, [2])):
        direct = copies.copies(some)
        looked.clear()
        assert (copies.copies(some, kept), looked) == (direct, again)
    kept.write_bytes(pickle.dumps(dict.fromkeys("ab")))
    assert copies.copies(runs, kept) == copies.copies(runs)
    assert (copies.copies(runs) != copies.copies(changed)) == (other != "number")


@pytest.mark.parametrize("edit", ["edited", "cut", "multiplied", "shuffled"])
@pytest.mark.parametrize("printed", PRINTED)
def test_a_copy_that_was_edited_is_found_where_its_digits_tell(printed, edit):
    chance, found = Random(edit), 0
    for _ in range(10):
        times, others = (own(chance, printed) for _ in "ab")
        changed = {
            "edited": [other if chance.random() < 0.1 else time for time, other in zip(times, others, strict=True)],
            "cut": times[len(times) // 6 :] + others[: len(times) // 6],
            "multiplied": [0.93 * time for time in times],
            "shuffled": chance.sample(times, len(times)),
        }[edit]
        found += bool(copies.copies([played(chance, printed, each) for each in (times, changed)]))

    assert (found >= (6 if edit == "edited" else 9)) == (edit not in PRINTED[printed][-1])


def test_equal_values_of_a_clock_of_whole_seconds_are_repeats_with_an_interval_as_wide_as_its_tick():
    equal = [run(repeat, value=487.62) for repeat in range(5)]
    coarse = [replace(each, throughput=replace(each.throughput, tick=0.02)) for each in equal]

    found = summary(CASE, coarse)

    assert len(copies.copies(equal)) == 4 and copies.copies(coarse) == {}
    assert (found.n, found.items_per_s.low, found.items_per_s.high) == pytest.approx((5, 487.62 * 0.98, 487.62 * 1.02))


@pytest.mark.parametrize(("value", "equal"), [(1300.0, 0), (1303.7, 4)])
def test_rates_of_a_table_that_are_rounded_are_equal_by_chance(value, equal):
    runs = [run(repeat, origin="cited", value=value) for repeat in range(5)]

    assert len(copies.copies(runs)) == equal


@pytest.mark.parametrize(("repeats", "origin", "missing"), sources.cases("copies.toml")["gaps_numbers_repeats"])
def test_gaps_in_the_numbers_of_repeats_are_named(repeats, origin, missing):
    findings = summary(CASE, [run(repeat, origin=origin) for repeat in repeats]).findings

    assert next((finding.repeats for finding in findings if isinstance(finding, RepeatsMissing)), None) == missing


@pytest.mark.parametrize(
    ("kind", "runs", "stated"), [("run", (), 20), ("median", ("38", "38"), 20), ("run", (), 3), ("median", (), 20)]
)
def test_a_table_that_states_more_runs_than_it_has_is_named(kind, runs, stated):
    cited = [run(repeat, origin="cited") for repeat in range(3 if kind == "run" else 1)]
    figure = CitedFigure(printed="38", kind=kind, n=stated, runs=runs)

    commands = {citation.run.id: replace(COMMAND, figure=figure) for citation in cited}
    findings = data_rules.findings([summary(CASE, cited)], commands)

    here = len(runs) or 3 * (kind == "run")
    rows = [finding.here for finding in findings if isinstance(finding, RepeatsMissing)]
    assert rows == ([here] if 0 < here < stated else [])
