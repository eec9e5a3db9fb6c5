"""Runs of one scale on different machines."""

from dataclasses import replace

import pytest
import synthetic

from evalsuite.core.findings import DifferentNodes
from evalsuite.core.model import Run
from evalsuite.results.rules import other_nodes
from tests import sources
from tests.toys import CASE, measured

TWO = CASE.at_scale(2, 8)


def run(repeat: int, *hosts: str, case=TWO, items_per_s: float | None = 100.0):
    return measured(case, repeat, items_per_s, run=Run(case=case, repeat=repeat), hosts=hosts)


def test_a_spare_node_that_took_anothers_place_is_told_with_its_runs():
    (finding,) = other_nodes.findings([run(0, "n1", "n2"), run(1, "n1", "n2"), run(2, "n1", "n3")])

    assert (finding.scale, finding.nodes, finding.others) == ("2x8", ("n1", "n2"), ("n1", "n3"))
    assert (finding.runs, finding.of_runs) == (1, 3)


@pytest.mark.parametrize("runs", sources.cases("other_nodes.toml")["alike"])
def test_the_same_machines_or_unknown_ones_say_nothing(runs):
    made = [
        run(r, *hosts, case=TWO if devices == 16 else CASE, items_per_s=speed)
        for r, (hosts, devices, speed) in enumerate(runs)
    ]
    assert list(other_nodes.findings(made)) == []


def case(framework: str, hosts: tuple[str, ...], nodes: int = 2):
    """Three runs of *framework*, on *hosts*: `a+b` for each repeat, or once for all."""
    of = synthetic.case(framework, nodes=nodes)
    stood = hosts * 3 if len(hosts) == 1 else hosts
    runs = [replace(synthetic.measured(of, r, 100.0), hosts=tuple(names.split("+"))) for r, names in enumerate(stood)]
    return synthetic.summary(runs)


@pytest.mark.parametrize(("rows", "marked"), sources.cases("other_nodes.toml")["marked"])
def test_the_case_that_was_made_on_other_nodes_than_those_beside_it_is_marked(rows, marked):
    found = {each.case.framework: each.findings for each in other_nodes.mark_summaries([case(**row) for row in rows])}
    apart = {name: [each for each in of if isinstance(each, DifferentNodes)] for name, of in found.items()}
    assert {name: (each.nodes, each.others) for name, of in apart.items() for each in of} == marked
