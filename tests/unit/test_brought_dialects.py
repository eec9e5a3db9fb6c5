"""Dialects that a user brings: known at plan time, one to a name, their source on record."""

import json

import pytest

from evalsuite import cli
from evalsuite.cli import main
from evalsuite.core.documents import RunCommand, UsedRecipe
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import Run
from evalsuite.logs import catalogue
from evalsuite.logs.explaining import explained
from evalsuite.results.measure import measurement
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import RunFolder
from tests import sources
from tests.toys import CASE

HEAD = "from evalsuite.contracts.adapter import Adapter, Command, Recipe\n"
HEAD += "from evalsuite.contracts.dialect import Dialect, Line\n"
PRINTED = """Dialect(
    name="{name}", title="TinyNet", framework="tinynet", unit="images/s", scope="global", averaging="step",
    step=(Line(pattern=rb"{word} (?P<step>\\d+) (?P<ms>[\\d.]+) ms", sample=b"{word} 1 20.5 ms", source="here"),),
)"""
ADAPTER = sources.text("brought_dialects_adapter.py.in")


def printed(name: str = "tinynet", word: str = "tiny") -> str:
    return PRINTED.format(name=name, word=word)


def adapter(folder, dialect: str):
    """A file in *folder* with an adapter whose recipe names *dialect*."""
    folder.mkdir(exist_ok=True)
    (file := folder / "tinynet.py").write_text(HEAD + ADAPTER.format(framework="tinynet", dialect=repr(dialect)))
    return file


def dialects(folder, *declared: str):
    folder.mkdir(exist_ok=True)
    (folder / "declared.py").write_text(f"{HEAD}DIALECTS = ({', '.join(declared)},)\n")
    return folder


def planned(folder, *more: str) -> int:
    words = ["plan", "--frameworks", "tinynet", "--models", "tiny", "--scales", "1x1", "--environment", "current"]
    return cli.main([*words, "--runs", str(folder / "runs"), *more])


def test_a_folder_of_dialects_and_a_single_file_of_it_give_the_same(tmp_path):
    folder = dialects(tmp_path / "told", printed())

    assert catalogue.known((folder, folder / "declared.py"))["tinynet"].origin == folder / "declared.py"


def test_an_adapter_is_planned_with_a_dialect_that_is_given_and_refused_with_an_unknown_one(tmp_path, capsys):
    file, folder = adapter(tmp_path / "mine", "tinynet"), dialects(tmp_path / "told", printed())

    assert planned(tmp_path, "--adapters", str(file.parent), "--dialects", str(folder)) == Exit.DONE
    file.write_text(file.read_text().replace("dialect='tinynet'", "dialect='pytorch_exampels'"))
    assert planned(tmp_path, "--adapters", str(file.parent)) == Exit.USAGE

    said = capsys.readouterr().err
    assert 'adapter tinynet, recipe train: unknown dialect "pytorch_exampels"' in said
    assert "Try --dialects DIR" in said and "Did you mean pytorch_examples?" in said


def test_two_dialects_under_one_name_are_refused_by_both_and_so_is_the_name_of_one_of_the_house(tmp_path):
    one, other = dialects(tmp_path / "one", printed()), dialects(tmp_path / "other", printed(word="other"))

    with pytest.raises(EvalsuiteError) as error:
        catalogue.known((one, other))

    assert str(one) in str(error.value) and str(other) in str(error.value)

    with pytest.raises(EvalsuiteError, match="evalsuite has one of that name"):
        catalogue.known((dialects(tmp_path / "told", printed("pytorch_examples")),))


def test_a_brought_dialect_is_checked_like_any_other(tmp_path):
    folder = dialects(tmp_path / "mine", printed().replace('b"tiny 1 20.5 ms"', 'b"tiny one"'))

    with pytest.raises(EvalsuiteError, match=r"declared\.py: dialect tinynet: .* does not match its own sample"):
        catalogue.known((folder,))


def run_folder(path, source) -> RunFolder:
    folder = RunFolder(path)
    path.mkdir(parents=True)
    folder.write_case(Run(case=CASE, repeat=0))
    recipe = UsedRecipe(dialect="tinynet", dialect_source=source)
    folder.write_command(RunCommand(argv=(), command=(), environment={}, recipe=recipe))
    folder.log_path("host").write_text("".join(f"tiny {step} 20.5 ms\n" for step in range(1, 200)))
    folder.write_outcome(Outcome(status="completed", reason="", exit_code=0))
    return folder


def test_a_run_whose_dialect_is_not_known_any_more_says_which_file_brings_it(tmp_path):
    file = dialects(tmp_path / "mine", printed()) / "declared.py"
    folder = run_folder(tmp_path / CASE.id / "r0", catalogue.source(catalogue.known((file,))["tinynet"]))

    without = measurement.measurement(folder)
    measured = measurement.measurement(folder, (file,))

    assert without.status == "failed"
    assert f"came from {file}" in without.reason and f"Try --dialects {file.parent}" in without.reason
    assert measured.status == "partial"  # the timer of each step, whose arrival nobody noted


# `evalsuite adapters dialects`: the table, and how a log is read line by line


DIALECTS = catalogue.known()
STEP = "Epoch: [0][  7/100]\tTime  0.500 ( 0.600)\tData  0.002 ( 0.001)\tLoss 6.7e+00 (7e+00)\n"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.log"
    path.write_text("=> creating model\n" + STEP + "Epoch: [0][ 8/100] slow\nTest: [ 1/19]\n" + STEP)
    return path


def test_each_line_is_explained(log):
    explanation = explained(log, DIALECTS, every=True)

    assert explanation.dialect == "pytorch_examples"
    assert [(line.number, line.kind) for line in explanation.lines] == [
        (1, "skipped"), (2, "step"), (3, "skipped"), (4, "evaluation"), (5, "step"),
    ]  # fmt: skip
    assert "step=7" in explanation.lines[1].why


def test_the_command_lists_every_dialect(capsys):
    assert main(["adapters", "dialects", "--json"]) == Exit.DONE
    assert {row["name"] for row in json.loads(capsys.readouterr().out)} == DIALECTS.keys()


def test_the_command_explains_a_log(log, capsys):
    assert main(["parse", "--explain", str(log)]) == Exit.DONE
    assert "in all: 1 evaluation, 2 skipped, 2 step" in capsys.readouterr().out
