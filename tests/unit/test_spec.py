import argparse

import pytest

from evalsuite.commands.launching import axis_values
from evalsuite.commands.options import axes
from evalsuite.errors import EvalsuiteError
from evalsuite.model import Protocol
from evalsuite.plan import spec


def arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    axes.add_arguments(parser)
    return parser.parse_args(words)


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
        (["--scaling", "both"], "expected weak .* or strong"),
        (["--xla", "yes"], "on or off"),
        (["--option", "image_size"], "NAME=VALUE"),
        (["--profile", "quik"], "Did you mean quick"),
    ],
)
def test_a_wrong_axis_says_what_was_expected(words, message):
    with pytest.raises(EvalsuiteError, match=message):
        axis_values.spec_from(arguments(*words))


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('framworks = ["pytorch"]\n', r"mine\.toml: unknown key \"framworks\".*Did you mean frameworks"),
        *((text, r"mine\.toml") for text in ('frameworks = "pytorch"', "repeats = true", "scales = [", "\udcff")),
        ('scales = ["2x"]', r"mine\.toml"),
        ('parts = ["pytorch"]\n', 'parts 1: got "pytorch"; expected a table'),
        *(  # a part may not say what is said once for all
            (f"{PARTS}{line}\n", r"parts 2: unknown key \"\w+\"; the keys are frameworks, recipes")
            for line in ("repeats = 3", "parts = []", "framework = []")
        ),
        *((f'batch = "{word}"\n', f'batch: got "{word}"; expected one of max') for word in ("", "Max", "64")),
        *((f'scaling = "{word}"\n', "expected one of weak, strong") for word in ("", "Strong", "both")),
        *((f'repeats = "{text}"\n', "5-7") for text in ("7-5", "5-", "3-5", "5-9", "0-7", "5–7")),
        (None, "--profile quick"),  # there is no such file
    ],
)
def test_a_spec_with_a_wrong_key_or_value_is_an_error_that_names_the_file(tmp_path, text, said):
    file = tmp_path / "mine.toml"
    if text is not None:
        file.write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(EvalsuiteError, match=said):
        spec.read(file)


def test_each_part_of_a_spec_takes_what_it_does_not_say_from_the_whole(tmp_path):
    (tmp_path / "parts.toml").write_text(PARTS)

    first, second = spec.read(tmp_path / "parts.toml").matrices()

    assert (first.protocol.measured_steps, second.protocol.measured_steps) == (20, 30)
    assert (first.options, second.options) == ((), (("optimiser", "allreduce"),))
    assert first.repeats == second.repeats == 2


def test_axes_on_the_command_line_choose_among_the_parts_and_replace_in_each(tmp_path):
    (tmp_path / "parts.toml").write_text(PARTS)
    words = ("--spec", str(tmp_path / "parts.toml"), "--scales", "1x4", "--option", "a=b", "--frameworks")

    (only,) = axis_values.spec_from(arguments(*words, "bluefog")).matrices()

    assert (only.frameworks, only.scales) == (("bluefog",), ((1, 4),))
    assert dict(only.options) == {"optimiser": "allreduce", "a": "b"}
    assert only.protocol.measured_steps == 30
    with pytest.raises(EvalsuiteError, match="mxnet: no part of the profile parts has them; expected some of bluefog"):
        axis_values.spec_from(arguments(*words, "mxnet"))
