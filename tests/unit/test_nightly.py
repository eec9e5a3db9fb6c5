"""The script of docs/nightly.md."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests import sources

HOUSE = Path(__file__).resolve().parents[2]
PAGE = (HOUSE / "docs" / "nightly.md").read_text(encoding="utf-8")
SCRIPT, *_ = re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
STAND_IN = sources.text("nightly_stand_in.sh")


@pytest.fixture
def night(tmp_path):
    """Gives the exit code of a night and what it asked evalsuite for, when `compare` and the like end as is said."""
    program = sources.program(tmp_path / "bin" / "evalsuite", STAND_IN)
    (tmp_path / "nightly.sh").write_text(SCRIPT)
    (lab := tmp_path / "lab").mkdir()

    def run(**codes):
        (lab / "asked").unlink(missing_ok=True)
        here = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}", "LAB": str(lab)} | codes
        done = subprocess.run(["bash", tmp_path / "nightly.sh", lab], env=here, check=False)
        return done.returncode, (lab / "asked").read_text().splitlines()

    return run, lab


def test_the_first_night_compares_with_nothing_and_the_next_one_with_it(night):
    run, lab = night

    first, asked = run()
    assert (first, [line.split()[0] for line in asked]) == (0, ["compare", "publish"])
    (today,) = lab.glob("*-*-*")
    today.rename(lab / "2020-01-01")

    code, asked = run(COMPARE="4")
    assert (code, [line.split()[0] for line in asked]) == (4, ["compare", "publish", "diff"])
    assert asked[2].split()[1:3] == [f"{lab}/2020-01-01/report", f"{today}/report"]
    assert run(COMPARE="4", CHANGES="5")[0] == 5
    assert run(COMPARE="3") == (3, asked[:1])
