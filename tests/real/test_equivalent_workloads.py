"""The reference workloads train the same, shown by training them: the smallest model, each in its own environment."""

import json

from evalsuite import cli
from evalsuite.core.errors import Exit

FRAMEWORKS = ["mxnet", "paddlepaddle", "pytorch", "tensorflow"]


def test_four_frameworks_train_one_bert_from_one_start(capsys):
    code = cli.main(["equivalence", "--models", "bert_tiny", "--frameworks", ",".join(FRAMEWORKS), "--json"])

    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert code == Exit.DONE, model["not_run"]
    assert [answer["framework"] for answer in model["answers"]] == FRAMEWORKS
    assert {pair["verdict"] for pair in model["pairs"]} == {"proven"}
    assert all(0 < pair["gradient_norm"] < 1e-6 for pair in model["pairs"])  # different code, and yet the same
