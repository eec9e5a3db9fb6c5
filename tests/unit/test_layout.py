"""Layouts of language models: which contradict their devices, and what a spec says of each scale."""

from dataclasses import replace

import pytest

from evalsuite.core import layout
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Fact
from evalsuite.plan import plan, spec
from evalsuite.results.compare import fairness
from evalsuite.results.measure import facts
from evalsuite.results.measure.summary import summary
from tests.toys import CASE, FACTS, measured, toynet


@pytest.mark.parametrize(
    ("options", "stack", "wrong"),
    [
        ({"tp": 8, "pp": 2}, "", None),
        ({"tensor_parallel": 8, "pipeline_parallel": 3}, "", "layout_devices"),
        ({"dp": 2, "fsdp": 2, "tp": 4}, "", None),
        ({"dp": 2, "fsdp": 2, "tp": 2}, "", "layout_devices"),  # half of the devices
        ({"vp": 2}, "", "layout_virtual"),
        ({"tp": 8, "ep": 4}, "megatron", "layout_experts"),  # two copies
        ({"tp": 8, "ep": 4}, "torchtitan_llama4", None),
        ({"tp": 2, "pp": 2, "ep": 4}, "megatron", None),
        ({"cp": 4, "sequence_length": 8192}, "", None),
        ({"cp": 4, "sequence_length": 100}, "", "layout_context"),
    ],
)
def test_a_layout_that_cannot_be_is_refused_with_its_numbers(options, stack, wrong):
    texts = tuple(sorted((name, str(value)) for name, value in options.items()))
    case = replace(CASE, nodes=2, devices_per_node=8, options=texts)

    found = layout.contradiction(layout.of_case(case), case, stack)

    assert (found and found.id) == (wrong and f"core.{wrong}")


def test_a_log_that_prints_such_a_layout_is_called():
    printed = (Fact(key="parallel_layout", value="PP 3 · TP 4", source="log"),)

    assert [each.name for each in facts.disagreements(printed, replace(CASE, devices_per_node=8))] == [
        "layout_impossible"
    ]


def read(tmp_path, text):
    (path := tmp_path / "spec.toml").write_text(f'frameworks = ["toynet"]\nrecipes = ["reference"]\n{text}')
    return spec.read(path)


def test_each_scale_of_a_spec_has_the_layouts_of_its_own_table(tmp_path):

    read_spec = read(tmp_path, 'scales = ["1x4", "1x8"]\n[layouts]\n"1x8" = [{ tp = 8 }, { tp = 4, pp = [1, 2] }]\n')

    cases = plan.of_matrix(
        read_spec, {"toynet": toynet()}, plan.Machine(cores=None, accelerators=None, device="gpu"), None
    )

    assert [(case.scale, dict(case.options)) for case, _ in cases] == [
        ("1x4", {}),
        ("1x8", {"tp": "8"}),
        ("1x8", {"tp": "4", "pp": "1"}),
        ("1x8", {"tp": "4", "pp": "2"}),
    ]


@pytest.mark.parametrize("text", ['"1x8" = "tp 8"', '"4x8" = { tp = 8 }'])
def test_a_layout_that_is_no_table_or_of_no_scale_is_refused(text, tmp_path):
    with pytest.raises(EvalsuiteError):
        read(tmp_path, f'scales = ["1x8"]\n[layouts]\n{text}\n')


@pytest.mark.parametrize(
    ("kinds", "apart"),
    [(("slots", "slots"), False), (("slots", "in_loss"), True), (("slots", "packed"), False), (("slots", None), False)],
)
def test_rates_in_unlike_tokens_are_not_ranked_with_each_other(kinds, apart):
    def row(name, kind):
        told = (Fact(key="token_kind", value=kind, source="log"),) if kind else ()
        case = replace(CASE, framework=name)
        return summary(case, [measured(case, repeat, 10.0 + repeat / 10, facts=(*FACTS, *told)) for repeat in range(5)])

    pair = [row(name, kind) for name, kind in zip(("a", "b"), kinds, strict=True)]

    assert (len(fairness.groups(pair, fairness.FRAMEWORKS)) == 2) is apart
