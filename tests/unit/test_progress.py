"""What is said while runs are made: which one of how many, and how it ended."""

from dataclasses import replace

import pytest

from evalsuite.commands.terminal import Progress
from evalsuite.model import Run
from evalsuite.plan.estimate import Estimate
from tests.toys import CASE

OTHER = replace(CASE, model="mobilenetv2")


@pytest.mark.parametrize(("cases", "said"), [([CASE], False), ([CASE, OTHER], True)])
def test_a_run_is_told_with_its_model_where_several_are_trained(capsys, cases, said):
    runs = [Run(case=case, repeat=0) for case in cases]

    Progress(runs, Estimate()).tick(runs[-1], 0.0)

    line = capsys.readouterr().err
    assert line.startswith(f"[1/{len(runs)}] {CASE.framework} ")
    assert (runs[-1].case.model in line) is said
