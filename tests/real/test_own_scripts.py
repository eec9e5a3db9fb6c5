"""A stranger's script: `evalsuite init` writes its declaration, and it stands on a page, without a line of Python."""

import json
import sys
from pathlib import Path

import pytest

from evalsuite import cli
from evalsuite.contracts import registry
from evalsuite.core.errors import Exit
from evalsuite.launch.provision import virtualenvs
from tests import sources

PLAIN = """import argparse, time
parser = argparse.ArgumentParser()
for name in ("--batch", "--steps"):
    parser.add_argument(name, type=int)
given = parser.parse_args()
for step in range(1, given.steps + 1):
    time.sleep(0.02)
    print(f"it {step:05d}/{given.steps} | loss {3 / step:.3f}", flush=True)
"""


def compared(words: list[str], file: str, *more: str) -> dict[str, dict]:
    """The summary of each case: what is compared with the file that init has written."""
    assert cli.main(["init", "--", *words]) == Exit.DONE
    matrix = ["--spec", file, "--steps", "5+25", "--repeats", "2", "--quiet-rounds", "0", "--share"]
    assert cli.main(["compare", *matrix, *more]) == Exit.DONE
    return {each["case"]["id"]: each for each in json.loads(Path("report/summary.json").read_text())["summaries"]}


def test_a_script_is_taken_in_by_one_command_and_compared_by_a_second(tmp_path, monkeypatch, capsys):
    (tmp_path / "moon.py").write_text(PLAIN)
    monkeypatch.chdir(tmp_path)

    found = compared([sys.executable, "moon.py", "--batch", "8", "--steps", "900"], "moon.toml")

    assert 'line = "it 0' in capsys.readouterr().out and len(Path("moon.toml").read_text().splitlines()) <= 8
    ((name, summary),) = found.items()
    assert (
        name.startswith("moon-train-cpu-") and 100 < summary["throughput"]["value"] < 400
    )  # 8 items in at least 20 ms


@pytest.mark.parametrize(
    ("every", "code", "told"),
    [(50, Exit.DONE, "samples/s, over 1 device of batch 8"), (500, Exit.NOTHING_MEASURED, "150 steps printed no")],
)
def test_a_first_report_after_the_first_steps_is_waited_for_or_told(every, code, told, tmp_path, monkeypatch, capsys):
    sparse = PLAIN.replace("    print(", f"    step % {every} or print(").replace("0.02", "0.002")
    (tmp_path / "moon.py").write_text(sparse)
    monkeypatch.chdir(tmp_path)

    words = ["init", "--lang", "en", "--", sys.executable, "moon.py", "--batch", "8", "--steps", "900"]

    assert cli.main(words) == code
    assert told in "".join(capsys.readouterr())


@pytest.mark.nightly
def test_a_script_of_thirty_lines_with_ddp_is_compared_over_two_processes(tmp_path, monkeypatch):
    (tmp_path / "moon.py").write_text(sources.text("ddp_train.py.in"))
    monkeypatch.chdir(tmp_path)
    python = virtualenvs.ensure(registry.discover()["pytorch"].recipe("reference-resnet50"), progress=print)
    torchrun = ["--nproc-per-node", "2", "moon.py", "--batch-size", "32", "--iters", "900"]

    found = compared([str(python.with_name("torchrun")), *torchrun], "moon.toml", "--scales", "1x1,1x2")

    assert [summary["n"] for summary in found.values()] == [2, 2]
    assert all(
        "--nproc-per-node" in Path("moon.toml").read_text() and each["throughput"]["value"] > 0
        for each in found.values()
    )
