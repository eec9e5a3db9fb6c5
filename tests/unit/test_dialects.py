"""Every dialect's declaration holds together."""

import re

import pytest

from evalsuite import registry
from evalsuite.dialect import Line
from evalsuite.errors import EvalsuiteError
from evalsuite.logs import catalogue
from evalsuite.logs.reading import Sniffer

DIALECTS = catalogue.discover()
SNIFFER = Sniffer(DIALECTS.values())
every_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.name)


@every_dialect
def test_a_declaration_holds_together(dialect):
    dialect.check("evalsuite")

    signs = (*dialect.final, *dialect.evaluation, *dialect.end)
    assert all(line.source for line in (*dialect.step, *signs))
    assert all(line.literal in line.sample for line in (*dialect.step, *signs, *dialect.facts))
    assert all(line.literal for line in dialect.step)  # else the search is slow
    assert all(all(line.beginnings) for line in signs)  # else the lines after the last of them are not kept
    assert set(dialect.yields_to) <= DIALECTS.keys()
    assert re.fullmatch(r"[a-z]+/s", dialect.unit)


@every_dialect
def test_a_sample_is_found_by_its_own_dialect_alone(dialect):
    for line in [line for line in dialect.step if line.telling]:
        found = SNIFFER.fits(b"noise\n" + line.sample + b"\nnoise\n")

        assert [fit.name for fit in found] == [dialect.name]


def test_no_two_modules_of_the_house_declare_one_name():
    declared = [dialect.name for file in sorted(catalogue.HOUSE.glob("[!_]*.py")) for dialect in catalogue.load(file)]

    assert len(declared) == len(set(declared))


def test_every_recipe_prints_a_dialect_that_is_known():
    printed = {recipe.dialect for one in registry.discover().values() for recipe in one.recipes}

    assert printed <= DIALECTS.keys()


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
