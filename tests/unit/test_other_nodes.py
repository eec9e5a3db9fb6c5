"""Runs of one scale on different machines."""

import pytest

from evalsuite.core.model import Run
from evalsuite.results.rules import machine
from tests import sources
from tests.toys import CASE, measured

TWO = CASE.at_scale(2, 8)


def run(repeat: int, *hosts: str, case=TWO, items_per_s: float | None = 100.0):
    return measured(case, repeat, items_per_s, run=Run(case=case, repeat=repeat), hosts=hosts)


def test_a_spare_node_that_took_anothers_place_is_told_with_its_runs():
    (finding,) = machine.other_nodes([run(0, "n1", "n2"), run(1, "n1", "n2"), run(2, "n1", "n3")])

    assert (finding.scale, finding.nodes, finding.others) == ("2x8", ("n1", "n2"), ("n1", "n3"))
    assert (finding.runs, finding.of_runs) == (1, 3)


@pytest.mark.parametrize("runs", sources.cases("other_nodes.toml")["alike"])
def test_the_same_machines_or_unknown_ones_say_nothing(runs):
    made = [
        run(r, *hosts, case=TWO if devices == 16 else CASE, items_per_s=speed)
        for r, (hosts, devices, speed) in enumerate(runs)
    ]
    assert list(machine.other_nodes(made)) == []
