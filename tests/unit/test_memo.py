"""What is kept with a summary is computed once, and is no part of the summary."""

import pickle
from dataclasses import replace

import synthetic

from evalsuite.results.compare import fairness
from evalsuite.results.compare.fairness import cached


def test_it_is_computed_once_for_each_summary():
    asked = []
    one, other = synthetic.quick().summaries[:2]
    name = cached(lambda summary: asked.append(summary.case.id) or summary.case.id)

    told = [name(each) for each in (one, one, other, replace(one, n=one.n + 1))]

    assert told == [one.case.id, one.case.id, other.case.id, one.case.id]
    assert asked == [one.case.id, other.case.id, one.case.id]


def test_a_summary_is_the_same_with_and_without_it():
    one, again = (synthetic.quick().summaries[0] for _ in range(2))

    fairness.facts_of(one)
    fairness.conditions(one)

    assert one == again and repr(one) == repr(again)
    assert pickle.loads(pickle.dumps(one)) == again
