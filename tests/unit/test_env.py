import json
from pathlib import Path

import pytest

from evalsuite import cli
from evalsuite.contracts.registry import discover
from evalsuite.launch.provision import virtualenvs


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("EVALSUITE_CACHE", str(tmp_path))
    return tmp_path


def empty_environment(recipe) -> Path:
    """An environment as virtualenvs leaves it, without anything installed."""
    folder = virtualenvs.folder_of(recipe, "cpu")
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").touch()
    record = {"pins": list(recipe.requirements), "device": "cpu", "packages": {}, "size_bytes": 12_000_000}
    (folder / virtualenvs.RECORD).write_text(json.dumps(record))
    return folder


def listed(capsys) -> dict:
    cli.main(["adapters", "--json"])
    rows = json.loads(capsys.readouterr().out)
    return {f"{row['framework']}/{row['recipe']}": row["environment"] for row in rows}


def test_the_list_says_which_recipes_have_or_share_an_environment_how_large_it_is_and_removing_leaves_nothing(
    cache, capsys
):
    folder = empty_environment(discover()["tensorflow"].recipe("reference-resnet50"))

    rows = listed(capsys)

    assert rows["tensorflow/reference-resnet50"] == {"folder": str(folder), "size_bytes": 12_000_000}
    assert rows["bluefog/benchmark-resnet50"] is None
    assert rows["tensorflow/tf-cnn-resnet50"]["folder"] == str(folder)

    code = cli.main(["env", "remove", "tensorflow/reference-resnet50"])

    assert code == 0
    assert not folder.exists()
    assert "12 MB" in capsys.readouterr().out


def test_an_unknown_recipe_is_an_error_that_shows_a_known_one(cache, capsys):
    code = cli.main(["env", "create", "tensorflo"])

    assert code == 2
    assert 'no framework or recipe "tensorflo"' in capsys.readouterr().err
