"""The search for the largest batch, with real processes that end as one does whose memory runs out."""

import json

from evalsuite import cli
from evalsuite.core.errors import Exit
from tests import sources

ADAPTER = sources.text("largest_batch_adapter.py.in")


def test_the_search_grows_bisects_confirms_and_goes_on_from_what_was_tried(tmp_path, capsys):
    (tmp_path / "greedy.py").write_text(ADAPTER)
    axes = ["--frameworks", "greedy", "--models", "toy", "--scales", "1x1", "--batch-sizes", "4", "--most", "64"]
    where = ["--adapters", str(tmp_path / "greedy.py"), "--environment", "current", "--device", "cpu"]
    words = ["largest-batch", *axes, *where, "--runs", str(tmp_path / "runs"), "--json"]

    first = cli.main(words)
    [entry] = json.loads(capsys.readouterr().out)
    made = {file: file.stat().st_mtime for file in tmp_path.rglob("outcome.json")}
    cli.main(words)

    assert (first, entry["batch"]) == (Exit.DONE, 11)
    assert [(trial["batch"], trial["ends"]) for trial in entry["tried"]] == [
        (4, "fits"), (8, "fits"), (16, "out_of_memory"), (12, "out_of_memory"), (10, "fits"), (11, "fits"),
        (11, "fits"),
    ]  # fmt: skip
    assert json.loads(capsys.readouterr().out) == [entry]
    assert {file: file.stat().st_mtime for file in tmp_path.rglob("outcome.json")} == made


def test_a_spec_that_asks_for_the_most_finds_it_before_its_runs_and_once(tmp_path, capsys):
    (tmp_path / "greedy.py").write_text(ADAPTER)
    axes = ["--frameworks", "greedy", "--models", "toy", "--scales", "1x1,1x2", "--batch-sizes", "max"]
    limit = ["--memory-per-device", "1", "--repeats", "1", "--steps", "5+20", "--share"]
    where = ["--adapters", str(tmp_path / "greedy.py"), "--environment", "current", "--device", "cpu"]
    words = [*axes, *limit, *where, "--runs", str(tmp_path / "runs")]

    cli.main(["run", *words])
    said = capsys.readouterr().err
    cli.main(["plan", *words, "--json"])
    planned = json.loads(capsys.readouterr().out)

    assert "the largest batch is 11" in said
    expected = [("1x1", 11, 1), ("1x2", 11, 1)]
    assert [(case["scale"], case["batch_per_device"], case["done"]) for case in planned["cases"]] == expected
    assert planned["to_search"] == [] and planned["searches"][0]["batch"] == 11
    cli.main(["run", *words])
    assert "growing" not in capsys.readouterr().err
