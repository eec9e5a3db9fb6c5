"""docs/adding-a-dialect.md, done exactly as the page says."""

import json
import re
from pathlib import Path

import pytest

from evalsuite.cli import main
from evalsuite.contracts.dialect import GROUPS, SCORE
from evalsuite.core.errors import Exit

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "adding-a-dialect.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    """The dialect of the page, and a log of its script beside it."""
    (code,) = re.findall(r"```python[^\n]*\n(.*?)```", PAGE, re.DOTALL)
    (folder := tmp_path / "my_dialects").mkdir()
    (folder / "toynet.py").write_text(code)
    lines = [f"3: [toynet] epoch 0 step {step}/1000 loss 2.31 speed 812.5 img/s\n" for step in range(10, 200, 10)]
    (tmp_path / "train.log").write_text("".join(lines))
    return folder


def test_the_page_works_as_it_is_written(folder, capsys):
    done = main(["parse", str(folder.parent / "train.log"), "--dialects", str(folder), "--devices", "8", "--json"])

    (entry,) = json.loads(capsys.readouterr().out)
    assert done == Exit.DONE
    assert (entry["dialect"], entry["status"], entry["unit"]) == ("toynet", "ok", "images/s")
    assert entry["throughput"] == pytest.approx(8 * 812.5)


def test_the_line_that_the_page_shows_is_the_sample_of_its_dialect():
    (line,) = re.findall(r"^\[toynet\] epoch .*$", PAGE, re.MULTILINE)

    assert f'sample=b"{line}"' in PAGE


def test_the_page_says_what_each_group_means():
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == [name for name in GROUPS if not SCORE.fullmatch(name)]
