"""Rehearsals: what of a command is changed from outside, and that none is ever taken for a measurement."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from evalsuite.cli import main
from evalsuite.contracts.adapter import Command
from evalsuite.contracts.registry import discover
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import Protocol
from evalsuite.rehearsal import evidence
from evalsuite.rehearsal import tables as rehearsal
from evalsuite.rehearsal.tables import Rehearsal, rehearsed, with_arguments
from evalsuite.runs.rehearsed import MARK, stand_in
from evalsuite.runs.store import Store
from tests import runfolders, sources
from tests.toys import CASE

ADAPTERS = discover()
PLAYED = replace(CASE, device="stand_in")
ON_THE_PATH = rehearsal.STAND_INS
TORCH = Rehearsal(stand_ins=("torch",))


def evalsuite(*words):
    return main([*map(str, words), "--lang", "en"])


def table(text: str, folder: Path, monkeypatch) -> None:
    """*text* is how PyTorch's recipes are rehearsed."""
    monkeypatch.setattr(rehearsal, "FOLDER", folder)
    (folder / "pytorch.toml").write_text(text)


# The command line


@pytest.mark.parametrize(("argv", "changes", "wanted"), sources.table("rehearsal.toml")["arguments"])
def test_an_argument_is_replaced_where_it_stands_and_added_where_there_is_none(argv, changes, wanted):
    assert " ".join(with_arguments(tuple(argv.split()), changes)) == wanted


def test_an_argument_is_taken_out_with_its_value_or_refused_by_name():
    argv = ("train.py", "--config_file=a.yaml", "--size", "12", "--fast")
    assert with_arguments(argv, {}, ["--config_file", "--size"], ("-o", "a=1")) == ("train.py", "--fast", "-o", "a=1")

    with pytest.raises(EvalsuiteError, match="no argument --size"):
        with_arguments(("train.py",), {}, ["--size"])


def test_the_script_gets_the_command_line_of_the_device_that_is_rehearsed():
    recipe = ADAPTERS["ngc_pytorch"].recipe("resnet50")

    played = rehearsed(recipe, TORCH)
    case = rehearsal.case("ngc_pytorch", played, TORCH, (1, 2))
    argv, own = played.command(case).argv, recipe.command(replace(case, device="gpu")).argv

    assert case.device == "stand_in" and played.refusal(case) is None
    assert argv[0] == "env" and "EVALSUITE_STAND_INS=torch" in argv
    assert argv[-len(own) :] == own


def test_the_hook_stands_before_the_stand_ins_and_both_before_the_scripts_own_path():
    recipe = replace(
        ADAPTERS["ngc_pytorch"].recipe("resnet50"),
        command=lambda case: Command(argv=("{python}", "train.py"), environment={"PYTHONPATH": "{checkout}"}),
    )
    how = replace(TORCH, stand_ins=("torch", "apex"))

    played = rehearsed(recipe, how)
    words = played.command(rehearsal.case("ngc_pytorch", played, how, (1, 1))).argv
    [path] = [word.partition("=")[2] for word in words if word.startswith("PYTHONPATH=")]

    assert [Path(place).name for place in path.split(":")] == ["hook", "torch", "apex", "{checkout}"]


def test_mpirun_hands_the_stand_ins_to_every_node():
    recipe = ADAPTERS["ngc_mxnet"].recipe("resnet50")

    played = rehearsed(recipe, TORCH)
    argv = played.command(rehearsal.case("ngc_mxnet", played, TORCH, (2, 1))).argv
    after = argv[argv.index("mpirun") :]

    assert {("-x", "EVALSUITE_STAND_INS"), ("-x", "PYTHONPATH")} <= {*itertools.pairwise(after)}


def test_a_release_takes_the_place_of_a_repository():
    recipe = ADAPTERS["tensorflow"].recipe("models-bert-base-2020")
    how = Rehearsal(release="tf-models-official==2.3.0", python="3.8")

    played = rehearsed(recipe, how)
    argv = played.command(rehearsal.case("tensorflow", played, how, (1, 1))).argv

    assert "{bin}/../lib/python3.8/site-packages/official/nlp/bert/run_pretraining.py" in argv
    assert played.checkout == "" and evidence.origin(played) == "tf-models-official==2.3.0"
    assert played.without_dependencies == ("tf-models-official==2.3.0",)


@pytest.mark.parametrize("file", sorted(rehearsal.FOLDER.glob("*.toml")), ids=lambda file: file.stem)
def test_every_table_of_the_house_is_about_a_recipe_and_gives_a_command(file):
    recipes = {recipe.name: recipe for recipe in ADAPTERS[file.stem].recipes}

    for name, how in rehearsal.read(file).items():
        assert recipes[name].kind == "official"
        assert rehearsal.stand_in_hashes(how.stand_ins).keys() >= set(how.stand_ins)
        played = rehearsed(recipes[name], how)
        for at in how.scales if not how.impossible else ():
            case = rehearsal.case(file.stem, played, how, at)
            assert played.refusal(case) is None, f"{name} {case.scale}"
            assert played.command(case).argv


# Bad input


def test_a_recipe_that_cannot_be_rehearsed_is_refused_with_its_reason(tmp_path, monkeypatch, capsys):
    table('[hal-resnet50]\nimpossible = { zh = "需要真实 GPU。", en = "It wants a GPU." }', tmp_path, monkeypatch)

    english = main(["rehearse", "--recipe", "pytorch/hal-resnet50", "--lang", "en"])
    said = capsys.readouterr().err
    main(["rehearse", "--recipe", "pytorch/hal-resnet50", "--lang", "zh"])

    assert english == Exit.USAGE and "pytorch/hal-resnet50 cannot be rehearsed: It wants a GPU." in said
    assert "pytorch/hal-resnet50 无法预演：需要真实 GPU。" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "said"), sources.table("rehearsal.toml")["unknown"])
def test_an_unknown_recipe_or_stand_in_is_refused_by_name(words, said, tmp_path, monkeypatch, capsys):
    table('[torchvision-resnet50]\nstand_ins = ["torhc"]', tmp_path, monkeypatch)

    assert evalsuite("rehearse", "--out", tmp_path / "out", *words) == Exit.USAGE
    assert said in capsys.readouterr().err


def test_a_table_with_mistakes_is_refused_with_all_of_them(tmp_path):
    file = tmp_path / "pytorch.toml"
    file.write_text('[a]\nsteps = "5"\nscale = ["1x1"]\n[b]\nimpossible = { zh = "不", en = "no" }\nbatch = 4')

    with pytest.raises(EvalsuiteError) as refused:
        rehearsal.read(file)

    for part in ('steps "5"', 'unknown key "scale"', "no other key"):
        assert part in str(refused.value)

    file.write_text('[a]\nbatch=4\nsteps="1+1"\nuntried={zh="a",en="b"}\n[b]\nlike="a"\nsteps="1+2"\n[c]\nlike="b"')
    assert rehearsal.read(file)["c"] == Rehearsal(batch=4, steps=Protocol(warmup_steps=1, measured_steps=2))
    file.write_text('[a]\nlike = "b"')
    with pytest.raises(EvalsuiteError, match='"b"'):
        rehearsal.read(file)


# Never a measurement


@pytest.mark.parametrize("variable", [("EVALSUITE_STAND_INS", "torch"), ("PYTHONPATH", f"/x:{ON_THE_PATH}/torch")])
@pytest.mark.parametrize(
    "words", [("run", "--frameworks", "pytorch"), ("compare",), ("sample", "-o", "o", "--", "true")]
)
def test_a_stand_in_takes_part_in_no_measurement(words, variable, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(*variable)

    assert main([*words]) == Exit.USAGE
    assert variable[0] in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_other_folders_on_the_path_are_no_stand_ins():
    assert stand_in({"PYTHONPATH": "/srv/lib:/home/me/stand_in", "EVALSUITE_STAND_INS": ""}) is None


@pytest.mark.parametrize("command", ["report", "compare", "run"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_rehearsed_folder_is_refused_by_name(command, language, tmp_path, capsys):
    folder = runfolders.finished(tmp_path / "runs", case=PLAYED)
    runfolders.finished(tmp_path / "runs")
    out = () if command == "run" else ("--out", str(tmp_path / "report"))

    assert main([command, "--runs", str(tmp_path / "runs"), *out, "--lang", language]) == Exit.USAGE
    said = capsys.readouterr().err
    assert str(folder.path) in said and ("is a rehearsal" in said or "是一次预演" in said)


def test_a_rehearsal_under_a_measured_name_is_refused_by_what_it_started(tmp_path, capsys):
    folder = runfolders.finished(tmp_path / "runs")
    file = folder.path / "command.json"
    facts = json.loads(file.read_text())
    file.write_text(json.dumps(facts | {"command": ["env", "EVALSUITE_STAND_INS=torch", *facts["command"]]}))

    assert evalsuite("report", "--runs", tmp_path / "runs", "--out", tmp_path / "report") == Exit.USAGE
    assert f"{folder.path} is a rehearsal" in capsys.readouterr().err


def test_the_log_of_a_rehearsal_is_not_imported_and_rehearsals_are_not_published(tmp_path, capsys):
    folder = runfolders.finished(tmp_path / "runs", case=PLAYED)
    copy = tmp_path / "copy.log"
    copy.write_bytes(MARK + folder.logs()[0].path.read_bytes())

    for path in (folder.path, folder.logs()[0].path, tmp_path / "runs", copy):
        assert evalsuite("import", path, "--runs", tmp_path / "imported") == Exit.USAGE
        assert "is a rehearsal" in capsys.readouterr().err
    assert not Store(tmp_path / "imported").finished()

    runfolders.finished(tmp_path / "out" / "runs", case=PLAYED)

    for place in (tmp_path / "out", tmp_path / "out" / "runs"):
        assert evalsuite("publish", place, "--site", tmp_path / "site") == Exit.USAGE
        assert "is a rehearsal" in capsys.readouterr().err
