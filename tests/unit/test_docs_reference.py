"""The reference pages of the documentation name all that there is."""

import json
import re
import subprocess
import tomllib

import jsonschema
import pytest

from evalsuite import cli
from evalsuite.core import paths
from tools import build_docs, write_schemas

HOUSE = paths.PACKAGE.parent
PLACES = ("data/specs/*.toml", "data/criteria/[!fr]*.toml", "data/reference/tianshu/author.toml", "adapters/*.toml")
WRITTEN_BY_PEOPLE = [file for place in PLACES for file in sorted(HOUSE.glob(place))]
OPTIONS = {line.split()[0]: set(re.findall(r"--[a-z-]+", line)) for line in build_docs.commands().split("\n## ")[1:]}


def test_schemas_and_the_page_of_keys_are_what_the_decoders_types_say_in_both_languages():
    for name, text in write_schemas.written().items():
        assert (HOUSE / name).read_text(encoding="utf-8") == text, "python tools/write_schemas.py"


@pytest.mark.parametrize("file", WRITTEN_BY_PEOPLE, ids=lambda file: file.name)
def test_a_file_of_ours_that_people_write_too_names_its_schema_and_keeps_to_it(file):
    kind = {"specs": "spec", "tianshu": "author", "adapters": "participants"}.get(file.parent.name, "criteria")
    text = file.read_text(encoding="utf-8")
    named = (file.parent / text.split("\n", 1)[0].removeprefix("#:schema ")).resolve()
    facts = json.loads(json.dumps(tomllib.loads(text), default=str))

    validator = jsonschema.Draft202012Validator(json.loads(named.read_text(encoding="utf-8")))

    assert named == paths.DATA / "schema" / f"{kind}.schema.json"
    jsonschema.Draft202012Validator.check_schema(validator.schema)  # raises
    assert [error.message for error in validator.iter_errors(facts)] == []
    wrong = ({**facts, "framework": ["pytorch"]}, {**facts, next(iter(facts)): 1.5})
    assert [validator.is_valid(each) for each in wrong] == [False, False]


def test_every_variable_that_the_code_reads_is_explained():
    files = [file for name in ("evalsuite", "adapters") for file in (HOUSE / name).rglob("*.py")]
    read = {name for file in files for name in re.findall(r"\bEVALSUITE_[A-Z_]+", file.read_text(encoding="utf-8"))}

    assert set(write_schemas.MEANS["variables"]) == read


@pytest.mark.parametrize(("index", "twin"), [("README.md", ""), ("README.zh.md", ".zh")])
def test_each_page_says_its_kind_and_stands_under_it_in_the_pages_by_task(index, twin):
    listed = (HOUSE / "docs" / index).read_text(encoding="utf-8").split("\n## ")[1:]
    kinds = {page: kind.split("\n")[0] for kind in listed for page in re.findall(r"\]\(([\w.-]+\.md)\)", kind)}
    pages = [
        page
        for page in (HOUSE / "docs").glob(f"*{twin}.md")
        if page.name != index and page.suffixes == [*([twin] if twin else []), ".md"]
    ]

    wrong = [
        page.name for page in pages if not page.read_text("utf-8").split("\n")[2].startswith(f"*{kinds.get(page.name)}")
    ]

    assert wrong == []


@pytest.mark.parametrize(("page", "language"), [("README.md", "en"), ("README.zh.md", "zh")])
def test_the_answer_that_the_readme_shows_is_that_of_parse(page, language, capsys, monkeypatch):
    monkeypatch.chdir(HOUSE)
    text = (HOUSE / page).read_text(encoding="utf-8")
    (line,) = re.findall(r"^evalsuite (parse tests/logs/.*?)  ", text, flags=re.MULTILINE)

    cli.main([*line.split(), "--lang", language])

    shown = text.partition("```text\n")[2].partition("```")[0]
    assert "".join(capsys.readouterr().out.split()) == "".join(shown.split())


def test_make_alone_lists_at_most_eight_targets_and_asked_for_all_every_one():
    shown, every = (
        subprocess.run(
            ["make", "--no-print-directory", *words], cwd=HOUSE, capture_output=True, text=True
        ).stdout.splitlines()
        for words in ([], ["help", "ALL=1"])
    )

    rules = re.findall(r"^([a-z-]+):(?!=)", (HOUSE / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(shown) <= 8 + 1 and [line.split()[1] for line in every] == rules


def test_a_link_out_of_the_site_is_a_name_and_one_to_the_twin_of_a_page_goes(tmp_path):
    page = tmp_path / "clusters.md"
    page.write_text("")
    (tmp_path / "specs.md").write_text("")
    text = "[中文](clusters.zh.md) [keys](specs.zh.md#a) [full](../data/specs/full.toml) [`data/x`](../data/x) [w](https://a.b)"

    found = build_docs.with_links(text, page, tmp_path)

    assert found == "中文 [keys](specs.md#a) full (`data/specs/full.toml`) `data/x` [w](https://a.b)"


@pytest.mark.parametrize("page", [*HOUSE.glob("*.md"), *HOUSE.glob("docs/*.md")], ids=lambda page: page.name)
def test_every_option_on_a_page_is_one_that_its_command_takes(page):
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")

    for command, words in re.findall(r"evalsuite ([a-z][a-z-]+)([^\n`#|]*)", text):
        assert set(re.findall(r" (--[a-z-]+)", words.partition(" -- ")[0])) <= OPTIONS.get(command, set())
