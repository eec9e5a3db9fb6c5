"""The search for the largest batch, with real processes that end as one does whose memory runs out."""

import json

from evalsuite import cli
from tests import sources

ADAPTER = sources.text("largest_batch_adapter.py.in")
SENSOR = """
from evalsuite.core.documents import Gpu
from evalsuite.machine.sensors.sensor import Sensor

class Two(Sensor):
    kind = "gpu"

    def facts(self):
        return [Gpu(index=index, kind="gpu", vendor="Nobody") for index in range(2)]

SENSOR = Two
"""


def test_a_spec_that_asks_for_the_most_finds_it_before_its_runs_and_once(tmp_path, monkeypatch, capsys):
    (tmp_path / "greedy.py").write_text(ADAPTER)
    (tmp_path / "two.py").write_text(SENSOR)
    monkeypatch.setenv("EVALSUITE_SENSORS", str(tmp_path / "two.py"))
    axes = ["--frameworks", "greedy", "--models", "toy", "--scales", "1x1,1x2", "--batch-sizes", "max"]
    about = ["--repeats", "1", "--steps", "5+20", "--share"]
    where = ["--adapters", str(tmp_path / "greedy.py"), "--environment", "current", "--device", "gpu"]
    words = [*axes, *about, *where, "--runs", str(tmp_path / "runs")]

    cli.main(["run", *words])
    said = capsys.readouterr().err
    cli.main(["plan", *words, "--json"])
    planned = json.loads(capsys.readouterr().out)

    assert "the largest batch is 11" in said
    expected = [("1x1", 11, 1), ("1x2", 11, 1)]
    assert [(case["scale"], case["batch_per_device"], case["done"]) for case in planned["cases"]] == expected
    assert planned["to_search"] == [] and planned["searches"][0]["batch"] == 11
    assert [(trial["batch"], trial["ends"]) for trial in planned["searches"][0]["tried"]][-2:] == [(11, "fits")] * 2
    cli.main(["run", *words])
    assert "growing" not in capsys.readouterr().err
