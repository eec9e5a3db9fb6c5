"""What is said of a mistake in a file that people write, or on a command line: `tests/attacks/mistakes.toml`."""

import tomllib
from dataclasses import replace

import pytest
import synthetic

from evalsuite import cli
from evalsuite.commands.launching import kubernetes_submission
from evalsuite.contracts import registry
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.importing import user_facts
from evalsuite.logs import catalogue
from evalsuite.plan import plan, spec
from evalsuite.plan.plan import Machine
from evalsuite.plan.variants import varied
from evalsuite.report.sections.author import author, author_file
from evalsuite.results.judge import criteria
from tests.toys import CASE, toynet

TABLE = paths.DATA.parent / "tests" / "attacks" / "mistakes.toml"
TABLES = tomllib.loads(TABLE.read_text(encoding="utf-8"))
LINES = TABLES["rows"].pop("command_line")


def changed(kind, old, new):
    sound = TABLES["sound"][kind]
    return sound.replace(old, new) if old else sound + new


ROWS = [(kind, text, said, ()) for kind, rows in TABLES["rows"].items() for text, said in rows]
ROWS += [
    (kind, changed(kind, old, new), said, *(words or [()]))
    for kind, rows in TABLES["changed"].items()
    for old, new, said, *words in rows
]


def plan_variants(file, words):
    request = spec.read(file)
    adapters = {"toynet": toynet(requirements=("Toy==1.5.0",), package="toy"), "othernet": toynet("othernet")}
    given = varied(adapters, request.variants)
    plan.plan(request, given, Machine(cores=8, accelerators=0, device="cpu"))


READ = {
    "spec": lambda file, words: spec.read(file),
    "variants": plan_variants,
    "criteria": lambda file, words: criteria.read(file),
    "scope": lambda file, words: criteria.read(file).check(
        [CASE, replace(CASE, precision="amp"), replace(CASE, framework="othernet")], file
    ),
    "kubernetes": lambda file, words: kubernetes_submission.read_values(file),
    "facts": lambda file, words: user_facts.campaign_facts(file),
    "adapter": lambda file, words: registry.discover([file.parent]),
    "dialect": lambda file, words: catalogue.known((file.parent,)),
    "author": lambda file, words: author_file.read(file),
    "author_of_quick": lambda file, words: author.attached(synthetic.quick(), author_file.read(file)),
    "participants": lambda file, words: cli.main(["plan", "--spec", str(file), "--hosts", "a:8,b:8", "--json", *words]),
}


@pytest.mark.parametrize(("kind", "text", "told", "words"), ROWS, ids=[f"{kind} {told}" for kind, _, told, _ in ROWS])
def test_a_mistake_is_said_with_its_file_and_what_was_expected(kind, text, told, words, tmp_path, capsys):
    name = "tinynet.py" if kind in ("adapter", "dialect") else f"{kind}.toml"
    (file := tmp_path / name).write_text(text, encoding="utf-8")

    try:
        said = capsys.readouterr().err if READ[kind](file, words) == Exit.USAGE else ""
    except SystemExit:  # of argparse
        said = capsys.readouterr().err
    except EvalsuiteError as error:
        said = str(error)

    parts = told if isinstance(told, list) else [told]
    named = [] if kind in ("variants", "participants") else [file.name]  # of a plan the file may be one of several
    assert [part for part in (*parts, *named) if part not in said] == []


@pytest.mark.parametrize(
    ("words", "told"), LINES, ids=[" ".join(words).encode("unicode_escape").decode() for words, _ in LINES]
)
def test_a_mistake_on_a_command_line_is_said_before_anything_is_written(words, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALSUITE_SENSORS", "")  # --sensors sets it

    try:
        code = cli.main(words)
    except SystemExit as error:  # of argparse
        code = error.code

    parts = told if isinstance(told, list) else [told]
    said = capsys.readouterr().err
    assert (code, [part for part in parts if part not in said]) == (Exit.USAGE, [])
    assert said.count("\n") == 1 or said.startswith("usage: ")
    assert list(tmp_path.iterdir()) == []


def test_a_spec_that_is_no_text_or_is_not_there_is_said_by_its_name(tmp_path):
    (tmp_path / "mine.toml").write_bytes(b"\xff")

    with pytest.raises(EvalsuiteError, match=r"mine\.toml"):
        spec.read(tmp_path / "mine.toml")
    with pytest.raises(EvalsuiteError, match="--profile quick"):
        spec.read(tmp_path / "absent.toml")
