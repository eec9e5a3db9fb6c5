"""Every dialect's declaration holds together."""

import re

import pytest

from evalsuite import registry
from evalsuite.dialect import Line
from evalsuite.errors import EvalsuiteError
from evalsuite.logs import catalogue
from evalsuite.logs.recognition import Sniffer

DIALECTS = catalogue.discover()
SNIFFER = Sniffer(DIALECTS.values())
every_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.name)

TOYNET = """
from evalsuite.dialect import Dialect, Line

DIALECTS = (
    Dialect(
        name="toynet",
        title="ToyNet",
        framework=None,
        unit="images/s",
        scope="per_device",
        averaging="interval",
        step=(Line(pattern=rb"toy step (?P<step>\\d+) speed (?P<rate>[\\d.]+)", sample=b"SAMPLE", source="here"),),
    ),
)
"""


def user_folder(tmp_path, text):
    (tmp_path / "toynet.py").write_text(text)
    return tmp_path


@every_dialect
def test_each_line_matches_its_own_sample_and_names_its_source(dialect):
    dialect.check("evalsuite")

    assert all(line.source for line in (*dialect.step, *dialect.final, *dialect.evaluation, *dialect.end))


@every_dialect
def test_step_lines_begin_with_literal_text_so_that_the_search_is_fast(dialect):
    assert all(line.literal for line in dialect.step)


@every_dialect
def test_signs_of_training_begin_with_literal_text_so_that_the_lines_after_the_last_are_kept(dialect):
    assert all(all(line.beginnings) for line in (*dialect.final, *dialect.evaluation, *dialect.end))


@every_dialect
def test_the_literal_of_a_line_stands_in_its_sample(dialect):
    lines = (*dialect.step, *dialect.final, *dialect.evaluation, *dialect.end, *dialect.facts)

    assert all(line.literal in line.sample for line in lines)


@every_dialect
def test_a_sample_is_found_by_its_own_dialect_alone(dialect):
    for line in [line for line in dialect.step if line.telling]:
        found = SNIFFER.fits(b"noise\n" + line.sample + b"\nnoise\n")

        assert [fit.name for fit in found] == [dialect.name]


def test_no_two_modules_of_the_house_declare_one_name():
    declared = [dialect.name for file in sorted(catalogue.HOUSE.glob("[!_]*.py")) for dialect in catalogue.load(file)]

    assert len(declared) == len(set(declared))


@every_dialect
def test_dialects_yield_only_to_dialects_that_exist(dialect):
    assert set(dialect.yields_to) <= DIALECTS.keys()


@every_dialect
def test_a_unit_is_items_per_second(dialect):
    assert re.fullmatch(r"[a-z]+/s", dialect.unit)


def test_every_recipe_prints_a_dialect_that_is_known():
    printed = {recipe.dialect for one in registry.discover().values() for recipe in one.recipes}

    assert printed <= DIALECTS.keys()


def test_a_dialect_of_the_user_is_found_in_the_folder_given(tmp_path):
    folder = user_folder(tmp_path, TOYNET.replace("SAMPLE", "toy step 1 speed 2.5"))

    found = catalogue.discover([folder])

    assert found["toynet"].title == "ToyNet"
    assert found.keys() > DIALECTS.keys()


def test_a_user_dialect_that_misses_its_own_sample_is_refused(tmp_path):
    folder = user_folder(tmp_path, TOYNET)

    with pytest.raises(EvalsuiteError, match="does not match its own sample"):
        catalogue.discover([folder])


def test_a_group_that_means_nothing_is_refused_with_the_list_of_groups(tmp_path):
    folder = user_folder(tmp_path, TOYNET.replace("P<rate>", "P<speed>").replace("SAMPLE", "toy step 1 speed 2.5"))

    with pytest.raises(EvalsuiteError, match=r"unknown group speed.*the groups are"):
        catalogue.discover([folder])


@pytest.mark.parametrize("text", ["DIALECTS = 3", "x = 1", "raise RuntimeError('no')", "def ("])
def test_a_module_that_declares_nothing_is_an_error_that_names_the_file(tmp_path, text):
    folder = user_folder(tmp_path, text)

    with pytest.raises(EvalsuiteError, match=r"toynet\.py"):
        catalogue.discover([folder])


def test_an_unknown_dialect_gets_the_nearest_name():
    with pytest.raises(EvalsuiteError, match="Did you mean pytorch_examples"):
        catalogue.chosen("pytorch_example", DIALECTS)


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [
        (rb"Epoch: \[(?P<epoch>\d+)\]", b"Epoch: ["),
        (rb"ips: ?(?P<rate>\d+)", b"ips:"),
        (rb"a|b", b""),
        (rb"\d+ images", b""),
        (rb"speed: (?:a|b)", b"speed: "),
        (rb"x(?:a(?:b|c)d)", b"x"),
    ],
)
def test_the_literal_beginning_of_a_pattern_is_its_plain_text(pattern, literal):
    assert Line(pattern=pattern, sample=b"", source="").literal == literal


@pytest.mark.parametrize(
    ("pattern", "beginnings"),
    [
        (rb"(?:Saving model|eval step:\d+)", (b"Saving model", b"eval step:")),
        (rb"(?:a \| b|c(?:d|e))", (b"a | b", b"c")),
        (rb"(?:one|[12])", (b"one", b"")),  # the second may begin with anything
        (rb"(?:one|other) and (?:more|less)", (b"",)),
        (rb"plain (?:one|other)", (b"plain ",)),
    ],
)
def test_of_several_alternatives_each_has_its_own_literal_beginning(pattern, beginnings):
    line = Line(pattern=pattern, sample=b"", source="")

    assert line.beginnings == beginnings
    assert line.may_stand_in(b"... plain one ...") == any(each in b"... plain one ..." for each in beginnings)
