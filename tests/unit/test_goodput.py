from itertools import chain
from pathlib import Path

import pytest

from evalsuite.results.measure import goodput
from evalsuite.results.measure.goodput import Event, TrainingAttempt
from tests import sources

LOG = Path("attempt/log.h.txt")


def attempt(begin_s, end_s, *events):
    found = [Event(at_s=at_s, line=line, kind=kind, place=place) for line, (at_s, kind, place) in enumerate(events, 1)]
    marked = tuple(goodput.replace(each, begins=each.kind == "evaluation") for each in found)
    return TrainingAttempt(log=LOG, begin_s=begin_s, end_s=end_s, events=marked)


def steps(begin_s, first, last):
    return [(begin_s + number, "step", (0, step)) for number, step in enumerate(range(first, last + 1), 1)]


BUCKETS = sources.cases("goodput.toml")["buckets"]


@pytest.mark.parametrize(("attempts", "buckets"), BUCKETS.values(), ids=BUCKETS)
def test_all_time_is_in_one_bucket(attempts, buckets):
    spans = goodput.divide(
        [
            attempt(begin_s, end_s, *chain(*(steps(*each[1:]) if each[0] == "steps" else [each] for each in events)))
            for begin_s, end_s, *events in attempts
        ]
    )

    assert {name: took for name, took in goodput.totals(spans).items() if took} == pytest.approx(buckets)
    assert all(span.first <= span.last and span.log == LOG for span in spans)


def test_a_script_that_begins_again_within_a_log_is_another_attempt(monkeypatch):
    whole = attempt(0, 300, *steps(10, 1, 120), (131, "", None), *steps(150, 100, 199))
    twice = attempt(0, 100, *chain(*zip(steps(10, 1, 50), steps(10.1, 1, 50), strict=True)))  # each line twice
    for found, parts in ((whole, 2), (twice, 1)):
        monkeypatch.setattr(goodput, "_attempt", lambda *_, found=found: found)

        assert len([*goodput._attempts(None, None, None)]) == parts
    monkeypatch.setattr(goodput, "_attempt", lambda *_: whole)
    seconds = goodput.totals(goodput.divide([*goodput._attempts(None, None, None)]))
    assert (seconds["steps"], sum(seconds.values())) == (pytest.approx(99 + 99, abs=5), 300)


@pytest.mark.parametrize(("line", "kind", "begins"), sources.table("goodput.toml")["lines"])
def test_a_line_names_what_the_time_was_spent_on(line, kind, begins):
    found = goodput._event(1, line, None)

    assert (found.kind, found.begins) == (kind, begins)
