import argparse
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsuite import cli
from evalsuite.commands.launching import axis_values
from evalsuite.commands.launching.request import say_scripts
from evalsuite.contracts import registry
from evalsuite.contracts.registry import discover
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Protocol
from evalsuite.plan import spec
from evalsuite.plan.engines import engine
from evalsuite.plan.plan import Machine, Plan, plan
from evalsuite.plan.spec import Spec
from evalsuite.report.text.findings import english
from tests import sources
from tests.toys import CASE, toynet

LAPTOP = Machine(cores=2, accelerators=0, device="cpu")
ADAPTERS = {name: toynet(name) for name in ("toynet", "othernet")}
SPEC = Spec(frameworks=("toynet", "othernet"), scales=((1, 1), (1, 2)), repeats=3)


def test_repeats_are_interleaved_across_frameworks():
    made = plan(SPEC, ADAPTERS, LAPTOP)

    blocks = [made.runs[start : start + 2] for start in range(0, 6, 2)]
    expected = [{(0, "1x1")}, {(0, "1x2")}, {(1, "1x1")}]
    assert [{(run.repeat, run.case.scale) for run in block} for block in blocks] == expected
    assert all({run.case.framework for run in block} == {"toynet", "othernet"} for block in blocks)


@given(
    st.lists(st.sampled_from([(1, 1), (1, 2), (1, 8), (2, 8)]), min_size=1, unique=True),
    st.lists(st.integers(1, 512), min_size=1, max_size=3, unique=True),
    st.integers(1, 7),
)
def test_a_matrix_has_as_many_runs_as_the_product_of_its_axes(scales, batches, repeats):
    asked = replace(SPEC, scales=tuple(scales), batch_per_device=tuple(batches), repeats=repeats)

    made = plan(asked, ADAPTERS, LAPTOP)

    assert len(made.runs) == len(scales) * len(batches) * 2 * repeats
    assert len({run.id for run in made.runs}) == len(made.runs)


BERTNET = toynet("bertnet", model="bert_base")
ALONE = replace(SPEC, frameworks=("toynet",))
SKIPS = {  # asked, adapters, machine, reason, kind, cases that are left
    "what the recipe cannot serve": (
        *(
            replace(ALONE, precision=("fp32", "amp")),
            {"toynet": toynet(unsupported=lambda case: "no AMP at this commit" if case.precision == "amp" else None)},
            LAPTOP,
        ),
        *("no AMP at this commit", "unsupported", 2),
    ),
    "an axis that the recipe does not declare": (
        *(replace(ALONE, precision=("amp",)), {"toynet": toynet(amp="")}, LAPTOP, "", "unsupported", 0),
    ),
    "a framework without the model": (
        *(replace(SPEC, frameworks=("toynet", "bertnet")), {**ADAPTERS, "bertnet": BERTNET}),
        *(LAPTOP, "bertnet has no such recipe for resnet50_v1.5; it has --models bert_base", "unsupported", 2),
    ),
    "a recipe that was not asked for": (
        *(ALONE, {"toynet": toynet(kind="official")}, LAPTOP),
        "toynet has no such recipe for resnet50_v1.5; it has --recipe reference-resnet50",
        *("unsupported", 0),
    ),
    "more GPUs than the machine has": (
        *(replace(SPEC, scales=((1, 8),)), ADAPTERS, Machine(cores=16, accelerators=1, device="gpu")),
        *("this machine shows 1", "not_run", 0),
    ),
}


@pytest.mark.parametrize(("asked", "adapters", "machine", "reason", "kind", "left"), SKIPS.values(), ids=SKIPS)
def test_what_cannot_be_run_is_a_skip_with_its_reason_and_not_silence(asked, adapters, machine, reason, kind, left):
    made = plan(asked, adapters, machine)

    assert made.skips and all(reason in skip.reason for skip in made.skips)
    assert {skip.kind for skip in made.skips} == {kind}
    assert len(made.cases) == left


@pytest.mark.parametrize(("declared", "expected"), sources.cases("plan.toml")["axes"])
def test_an_axis_of_a_profile_is_for_the_recipes_that_declare_it(declared, expected):
    quick = replace(spec.profile("quick"), frameworks=("toynet",), scales=((1, 1),))

    made = plan(quick, {"toynet": toynet(**declared)}, LAPTOP)

    assert {each.options for each in (*made.cases, *(skip.case for skip in made.skips))} == {expected}


def test_an_axis_that_was_asked_for_is_kept_and_refused():
    adapters = {"toynet": toynet(options={}, unit="tokens/s")}
    asked = replace(SPEC, frameworks=("toynet",), scales=((1, 1),), options=(("colour", "blue"),))

    kept = plan(asked, {"toynet": toynet(options=None)}, LAPTOP)
    refused = plan(asked, adapters, LAPTOP)

    assert [case.options for case in kept.cases] == [(("colour", "blue"),)]
    assert "has no option colour" in refused.skips[0].reason


def test_more_processes_than_cores_are_flagged_and_two_nodes_refused_by_the_local_engine():
    made = plan(replace(SPEC, scales=((1, 3),)), ADAPTERS, LAPTOP)
    assert len(made.cases) == 2
    assert {finding.code for finding in made.findings} == {"busy_machine"}
    assert "3 processes share 2 cores" in english(made.findings[0])

    local = engine("local")
    made = plan(replace(SPEC, scales=((2, 1),)), ADAPTERS, LAPTOP, [lambda case, recipe: local.refusal(case)])
    assert "--engine slurm" in made.skips[0].reason

    with pytest.raises(EvalsuiteError, match="Did you mean slurm"):
        engine("slrum", ["slurm"])


@pytest.mark.parametrize(("change", "message"), sources.table("plan.toml")["unknown_names"])
def test_an_unknown_name_gets_the_known_ones_and_the_nearest(change, message):
    with pytest.raises(EvalsuiteError, match=message):
        plan(replace(SPEC, **change), ADAPTERS, LAPTOP)


def test_the_repeats_of_several_matrices_are_interleaved_and_no_case_comes_twice():
    first = replace(SPEC, frameworks=("toynet",), scales=((1, 1),))
    second = replace(first, frameworks=("toynet", "othernet"), batch_per_device=(8,))

    made = plan(replace(SPEC, repeats=2, parts=(first, second, first)), ADAPTERS, LAPTOP)

    for repeat, runs in enumerate((made.runs[:3], made.runs[3:])):
        expected = [(repeat, "othernet", 8), (repeat, "toynet", 8), (repeat, "toynet", 32)]
        assert sorted((run.repeat, run.case.framework, run.case.batch_per_device) for run in runs) == expected


def test_the_official_profile_asks_for_nothing_that_its_recipes_cannot_serve():
    asked = spec.profile("official-cpu")

    made = plan(asked, discover(), replace(LAPTOP, cores=64))

    assert [(skip.case.id, skip.reason) for skip in made.skips] == []
    assert len(made.runs) == len(made.cases) * asked.repeats


def test_a_recipe_is_refused_on_a_kind_of_device_that_it_does_not_name():
    npus = Machine(cores=16, accelerators=8, device="npu")
    ours = {"toynet": toynet(devices=("npu",)), "other": toynet("other")}

    made = plan(replace(SPEC, frameworks=("toynet", "other"), scales=((1, 1),)), ours, npus)

    assert {case.framework for case in made.cases} == {"toynet"}
    assert [skip.reason for skip in made.skips] == [
        "The script of reference-resnet50 does not support NPU; it trains on cpu, gpu."
    ]


# spec


def arguments(*words: str) -> argparse.Namespace:
    return cli.parser_of("plan").parse_args(words)


def test_the_quick_profile_is_what_is_asked_for_when_nothing_is_given_and_the_full_one_is_the_protocol():
    quick, full = axis_values.spec_from(arguments()), axis_values.spec_from(arguments("--profile", "full"))

    assert (quick.name, quick.scales) == ("quick", ((1, 1), (1, 2)))
    assert quick.frameworks == ("tensorflow", "mxnet", "paddlepaddle", "pytorch")
    assert quick.repeats >= 3 and quick.protocol.measured_steps >= 20
    assert (full.protocol, full.repeats) == (Protocol(warmup_steps=20, measured_steps=100), 5)


def test_axes_on_the_command_line_replace_those_of_the_spec_and_an_option_keeps_the_others():
    given = ("--frameworks", "pytorch, mxnet", "--scales", "1x8,2x8", "--steps", "20+100", "--xla", "off,on")
    asked = axis_values.spec_from(arguments(*given, "--option", "layout=NHWC"))

    assert asked.frameworks == ("pytorch", "mxnet")
    assert asked.scales == ((1, 8), (2, 8))
    assert asked.protocol == Protocol(warmup_steps=20, measured_steps=100)
    assert asked.xla == (False, True)
    assert dict(asked.options) == {"image_size": "32", "layout": "NHWC"}
    assert asked.preset == ("image_size",)


PARTS = sources.text("plan_parts.toml")


def test_each_part_of_a_spec_takes_what_it_does_not_say_from_the_whole(tmp_path):
    (tmp_path / "parts.toml").write_text(PARTS)

    first, second = spec.read(tmp_path / "parts.toml").matrices()

    assert (first.protocol.measured_steps, second.protocol.measured_steps) == (20, 30)
    assert (first.options, second.options) == ((), (("optimiser", "allreduce"),))
    assert first.repeats == second.repeats == 2


@pytest.mark.parametrize("head", ["", "[[parts]]\n"])
def test_a_list_among_the_options_is_an_axis(tmp_path, head):
    file = tmp_path / "sizes.toml"
    file.write_text(f'{head}options = {{ layers = [16, 24, 16], width = [64, 96], data = "made" }}\n')

    found = [dict(each.options) for each in spec.read(file).matrices()]

    assert [(each["layers"], each["width"]) for each in found] == [
        *(("16", "64"), ("16", "96"), ("24", "64"), ("24", "96"))
    ]
    assert {each["data"] for each in found} == {"made"}


def test_axes_on_the_command_line_choose_among_the_parts_and_replace_in_each(tmp_path):
    (tmp_path / "parts.toml").write_text(PARTS)
    words = ("--spec", str(tmp_path / "parts.toml"), "--scales", "1x4", "--option", "a=b", "--frameworks")

    (only,) = axis_values.spec_from(arguments(*words, "bluefog")).matrices()

    assert (only.frameworks, only.scales) == (("bluefog",), ((1, 4),))
    assert dict(only.options) == {"optimiser": "allreduce", "a": "b"}
    assert only.protocol.measured_steps == 30
    with pytest.raises(EvalsuiteError, match="mxnet: no part of the profile parts has them; expected some of bluefog"):
        axis_values.spec_from(arguments(*words, "mxnet"))


@pytest.mark.parametrize(
    ("word", "framework"),
    [
        *(("TensorFlow", "tensorflow"), ("tf", "tensorflow"), ("torch", "pytorch"), ("PyTorch", "pytorch")),
        *(
            ("paddle", "paddlepaddle"),
            ("Keras", "tensorflow"),
            ("pytorch-lightning", "lightning"),
            ("pytroch", "pytroch"),
        ),
        *(("NGC PyTorch", "ngc_pytorch"), ("mxnet", "mxnet")),
    ],
)
def test_a_framework_is_known_by_the_names_that_people_give_it(word, framework):
    assert registry.framework(word) == framework


def test_the_first_line_on_accelerators_says_whose_scripts_run(capsys):
    case = replace(CASE, device="gpu")
    for kind, other in (("reference", "--recipe official"), ("official", "--recipe reference")):
        adapters = {"toynet": toynet(kind=kind)}
        made = Plan(spec=Spec(), adapters=adapters, cases=(case,), runs=(), skips=())
        say_scripts(made)
        assert other in capsys.readouterr().err
        say_scripts(replace(made, cases=(CASE,)))  # on a CPU none but these are usual
        assert capsys.readouterr().err == ""
