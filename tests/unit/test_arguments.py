"""A batch that a script has dumped among its arguments is taken before anything is asked for, and said to be one."""

import re

import pytest

from evalsuite.contracts import registry
from evalsuite.core import paths
from evalsuite.logs.scan.collectors import spelt
from evalsuite.report.text import options, words
from tests import sources

SPELLINGS = paths.read_data("log_words.toml")["spelling"]
IN_TOKENS = b"--problems=wmt_ende_tokens_32k --hparams='batch_size=2048'"


@pytest.mark.parametrize("text", [b"", IN_TOKENS, b"DataLoader(x, bs=1)", b"batch_size=" + b"9" * 40, b"--batch-size"])
def test_text_that_is_no_argument_says_nothing(text):
    assert not list(spelt(text))


@pytest.mark.parametrize(
    ("kind", "line", "value"), [(one["kind"], line, value) for one in SPELLINGS for line, value in one["lines"].items()]
)
def test_a_fact_is_read_in_every_spelling_of_the_list(kind, line, value):
    assert (kind, f"{value}") in [(one, number.replace(b",", b"").decode()) for one, number, _ in spelt(line.encode())]


# options of scripts are told in words wherever a reader meets them; what has no words is shown as it is given


SPOKEN = words.read()


@pytest.mark.parametrize(("name", "value", "zh", "en"), sources.table("arguments.toml")["options"])
def test_an_option_is_said_in_words_and_an_unknown_one_as_it_is_given(name, value, zh, en):
    said = options.option(name, value, SPOKEN)

    assert (said.plain("zh"), said.plain("en")) == (zh, en)
    assert "<b>" not in said.in_language("en")


def test_every_option_of_an_adapter_has_a_name_in_both_languages():
    declared = {name for each in registry.discover().values() for of in each.recipes for name in (of.options or {})}

    assert [n for n in sorted(declared) if f"options.{n}" not in SPOKEN and f"values.fact.{n}" not in SPOKEN] == []
    assert all(re.search("[一-鿿]|FP16", options.title(name, SPOKEN).plain("zh")) for name in declared - {"zero_stage"})
