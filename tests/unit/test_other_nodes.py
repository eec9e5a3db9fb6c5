"""Runs of one scale on different machines."""

import pytest

from evalsuite.model import Run
from evalsuite.results import other_nodes
from tests.toys import CASE, measured

TWO = CASE.at_scale(2, 8)


def run(repeat: int, *hosts: str, case=TWO, items_per_s: float | None = 100.0):
    return measured(case, repeat, items_per_s, run=Run(case=case, repeat=repeat), hosts=hosts)


def test_a_spare_node_that_took_anothers_place_is_told_with_its_runs():
    (found,) = other_nodes.findings([run(0, "n1", "n2"), run(1, "n1", "n2"), run(2, "n1", "n3")])

    assert (found.scale, found.nodes, found.others) == ("2x8", ("n1", "n2"), ("n1", "n3"))
    assert (found.runs, found.of_runs) == (1, 3)


@pytest.mark.parametrize(
    "runs",
    [
        [run(0, "n1", "n2"), run(1, "n1", "n2")],
        [run(0, "n1", "n2"), run(1, "n1", "n3", items_per_s=None)],  # it failed: it is compared with nothing
        [run(0, "n1", "n2"), run(1)],  # imported: nobody knows where
        [run(0, "c0ffee", case=CASE), run(1, "decaf", case=CASE)],  # one machine, a container each
    ],
)
def test_the_same_machines_or_unknown_ones_say_nothing(runs):
    assert list(other_nodes.findings(runs)) == []
