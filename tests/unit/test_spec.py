import argparse

import pytest

from evalsuite.commands.options import axes
from evalsuite.errors import EvalsuiteError
from evalsuite.model import Protocol
from evalsuite.plan import spec


def arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    axes.add_arguments(parser)
    return parser.parse_args(words)


def test_the_quick_profile_is_what_is_asked_for_when_nothing_is_given():
    asked = axes.spec_from(arguments())

    assert asked.name == "quick"
    assert asked.frameworks == ("tensorflow", "mxnet", "paddlepaddle", "pytorch")
    assert asked.scales == ((1, 1), (1, 2))
    assert asked.repeats >= 3
    assert asked.protocol.measured_steps >= 20


def test_the_full_profile_is_the_protocol_of_the_specification():
    asked = axes.spec_from(arguments("--profile", "full"))

    assert asked.protocol == Protocol(warmup_steps=20, measured_steps=100)
    assert asked.repeats == 5


def test_axes_on_the_command_line_replace_those_of_the_spec():
    asked = axes.spec_from(
        arguments("--frameworks", "pytorch, mxnet", "--scales", "1x8,2x8", "--steps", "20+100", "--xla", "off,on")
    )

    assert asked.frameworks == ("pytorch", "mxnet")
    assert asked.scales == ((1, 8), (2, 8))
    assert asked.protocol == Protocol(warmup_steps=20, measured_steps=100)
    assert asked.xla == (False, True)


def test_one_option_given_keeps_the_others_of_the_spec():
    asked = axes.spec_from(arguments("--option", "layout=NHWC"))

    assert dict(asked.options) == {"image_size": "64", "layout": "NHWC"}
    assert asked.preset == ("image_size",)


@pytest.mark.parametrize("text", ["2x", "0x1", "1x0", "x", "2*8", "-1x1", "1x1x1", "", "１x１"])
def test_a_scale_that_is_none_gets_the_form_expected(text):
    with pytest.raises(EvalsuiteError, match="NODESxDEVICES"):
        spec.scale(text)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--steps", "100"], "WARMUP"),
        (["--repeats", "0"], "at least 1"),
        (["--batch-sizes", "many"], "whole number"),
        (["--precision", "fp8"], "fp32 or amp"),
        (["--xla", "yes"], "on or off"),
        (["--option", "image_size"], "NAME=VALUE"),
        (["--profile", "quik"], "Did you mean quick"),
    ],
)
def test_a_wrong_axis_says_what_was_expected(words, message):
    with pytest.raises(EvalsuiteError, match=message):
        axes.spec_from(arguments(*words))


def test_a_misspelt_key_gets_the_list_and_the_nearest(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('framworks = ["pytorch"]\n')

    with pytest.raises(EvalsuiteError, match=r"mine\.toml: unknown key \"framworks\".*Did you mean frameworks"):
        spec.read(file)


@pytest.mark.parametrize(
    "text", ['frameworks = "pytorch"', "repeats = true", "scales = [", 'scales = ["2x"]', "\udcff"]
)
def test_a_spec_with_a_wrong_value_is_an_error_that_names_the_file(tmp_path, text):
    file = tmp_path / "mine.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(EvalsuiteError, match=r"mine\.toml"):
        spec.read(file)


def test_a_missing_spec_is_an_error_that_says_what_to_try(tmp_path):
    with pytest.raises(EvalsuiteError, match="--profile quick"):
        spec.read(tmp_path / "none.toml")


PARTS = """
repeats = 2
steps = "5+20"
[[parts]]
frameworks = ["pytorch"]
[[parts]]
frameworks = ["bluefog"]
steps = "2+30"
options = { optimiser = "allreduce" }
"""


def test_each_part_of_a_spec_takes_what_it_does_not_say_from_the_whole(tmp_path):
    (tmp_path / "parts.toml").write_text(PARTS)

    first, second = spec.read(tmp_path / "parts.toml").matrices()

    assert (first.protocol.measured_steps, second.protocol.measured_steps) == (20, 30)
    assert (first.options, second.options) == ((), (("optimiser", "allreduce"),))
    assert first.repeats == second.repeats == 2


@pytest.mark.parametrize("line", ["repeats = 3", "parts = []", "framework = []"])
def test_a_part_may_not_say_what_is_said_once_for_all(tmp_path, line):
    (tmp_path / "parts.toml").write_text(f"{PARTS}{line}\n")

    with pytest.raises(EvalsuiteError, match=r"parts 2: unknown key \"\w+\"; the keys are frameworks, recipes"):
        spec.read(tmp_path / "parts.toml")


def test_parts_that_are_no_tables_are_an_error_that_shows_the_form(tmp_path):
    (tmp_path / "parts.toml").write_text('parts = ["pytorch"]\n')

    with pytest.raises(EvalsuiteError, match='parts 1: got "pytorch"; expected a table'):
        spec.read(tmp_path / "parts.toml")


def test_axes_on_the_command_line_choose_among_the_parts_and_replace_in_each(tmp_path):
    (tmp_path / "parts.toml").write_text(PARTS)
    words = ("--spec", str(tmp_path / "parts.toml"), "--frameworks", "bluefog", "--scales", "1x4", "--option", "a=b")

    (only,) = axes.spec_from(arguments(*words)).matrices()

    assert only.frameworks == ("bluefog",)
    assert only.scales == ((1, 4),)
    assert dict(only.options) == {"optimiser": "allreduce", "a": "b"}
    assert only.protocol.measured_steps == 30


def test_a_framework_that_no_part_has_is_an_error_that_names_theirs(tmp_path):
    (tmp_path / "parts.toml").write_text(PARTS)

    with pytest.raises(EvalsuiteError, match="mxnet: no part of the profile parts has them; expected some of bluefog"):
        axes.spec_from(arguments("--spec", str(tmp_path / "parts.toml"), "--frameworks", "mxnet"))
