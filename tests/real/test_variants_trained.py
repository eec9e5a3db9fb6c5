"""A variant of a real framework: its variable reaches the training, and the two are compared as options are."""

import json

from evalsuite import cli
from evalsuite.results.evaluation import evaluate
from evalsuite.runs.store import Store
from tests import sources

SPEC = sources.text("variants_trained_spec.toml")


def test_a_variable_of_a_variant_reaches_pytorch_and_stands_in_what_was_run(tmp_path, capfd):
    (tmp_path / "mine.toml").write_text(SPEC)

    cli.main(["run", "--spec", str(tmp_path / "mine.toml"), "--device", "cpu", "--runs", str(tmp_path / "runs")])

    folders = Store(tmp_path / "runs").finished()
    assert len(folders) == 2, capfd.readouterr().err
    spoken = {folder.run().case.option("variant"): folder for folder in folders}
    for variant, folder in spoken.items():
        said = "".join(log.path.read_text() for log in folder.logs())
        command = json.loads((folder.path / "command.json").read_text())
        assert folder.outcome().status == "completed", said
        assert ("onednn_verbose" in said) == (variant == "onednn-spoken")
        assert (command["environment"].get("ONEDNN_VERBOSE") == "1") == (variant == "onednn-spoken")
    assert all(summary.measurements[0].value for summary in evaluate(Store(tmp_path / "runs")).summaries)
