"""Network and storage of two processes of this machine, measured for real before the first run of their scale."""

import json

import pytest

from evalsuite import cli
from evalsuite.contracts.registry import discover
from evalsuite.launch.checks import network
from tests.toynet import TOYNET
from tests.toys import CASE


def test_an_all_reduce_and_a_read_are_timed_and_shown(tmp_path):
    if network.python({}, discover(), CASE) is None:
        pytest.skip("there is no environment with PyTorch")
    where = ("--scales", "1x1,1x2", "--repeats", "1", "--steps", "5+20", "--runs", str(tmp_path / "runs"))
    report = ("--out", str(tmp_path / "report"), "--forms", "html,md")

    code = cli.main(["compare", *TOYNET, *where, "--measure-network", *report])

    (file,) = (tmp_path / "runs").glob("network/*/network.json")  # one device alone has no network
    document = json.loads(file.read_text())
    assert (code, document["backend"], document.get("error")) == (0, "gloo", None)
    times = {each["bytes"]: min(each["seconds"]) for each in document["all_reduce"]}
    assert 0 < times[1 << 10] < times[1 << 27] < 60
    assert document["storage"][0]["seconds"] > 0
    assert not list(file.parent.glob("read.*.bin"))
    assert "总线带宽" in (tmp_path / "report" / "report.html").read_text()
    assert "Bus bandwidth" in (tmp_path / "report" / "report.en.md").read_text()
