from pathlib import Path

import pytest

from evalsuite.logs import goodput
from evalsuite.logs.goodput import Event, TrainingAttempt
from tests import sources

LOG = Path("attempt/log.h.txt")


def attempt(begin_s, end_s, *events):
    found = [Event(at_s=at_s, line=line, kind=kind, place=place) for line, (at_s, kind, place) in enumerate(events, 1)]
    marked = tuple(goodput.replace(one, begins=one.kind == "evaluation") for one in found)
    return TrainingAttempt(log=LOG, begin_s=begin_s, end_s=end_s, events=marked)


def steps(begin_s, first, last):
    return [(begin_s + number, "step", (0, step)) for number, step in enumerate(range(first, last + 1), 1)]


WHOLE = attempt(0, 17, (2, "", None), *steps(5, 1, 10))
KILLED = attempt(0, 17.5, (2, "", None), *steps(5, 1, 6), (13, "checkpoint", None), *steps(13, 7, 10))


@pytest.mark.parametrize(
    ("attempts", "buckets"),
    [
        ([WHOLE], {"start": 2, "compile": 3, "steps": 10, "idle_end": 2}),
        ([KILLED, attempt(20, 30, *steps(23, 7, 12))],
         {"start": 2, "compile": 3, "steps": 12, "checkpoint": 2, "lost_progress": 4.5, "restart": 5.5, "idle_end": 1}),
        ([attempt(0, 4), attempt(5, 20, *steps(8, 1, 10))], {"start": 4, "restart": 4, "steps": 10, "idle_end": 2}),
        ([attempt(0, 40, *steps(0, 1, 25), (25.5, "evaluation", None), (30, "step", (0, 26)), (38, "step", (0, 27)))],
         {"steps": 27, "evaluation": 4, "unexplained": 7, "idle_end": 2}),
    ],
    ids=["whole", "resumed from the checkpoint", "killed before its first line", "evaluated, and stood still"],
)  # fmt: skip
def test_all_time_is_in_one_bucket(attempts, buckets):
    spans = goodput.divide(attempts)

    assert {name: took for name, took in goodput.totals(spans).items() if took} == pytest.approx(buckets)
    assert all(span.first <= span.last and span.log == LOG for span in spans)


@pytest.mark.parametrize(("line", "kind", "begins"), sources.table("goodput.toml")["lines"])
def test_a_line_names_what_the_time_was_spent_on(line, kind, begins):
    found = goodput._event(1, line, None)

    assert (found.kind, found.begins) == (kind, begins)
