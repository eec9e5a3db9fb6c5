"""The documentation as a site, and what the tutorial tells to type: `make test-docs`."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from evalsuite import paths

HOUSE = paths.PACKAGE.parent
pytestmark = pytest.mark.skipif("EVALSUITE_DOCS" not in os.environ, reason="make test-docs")
TUTORIAL = (HOUSE / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", TUTORIAL, re.MULTILINE | re.DOTALL)
MAY_LACK = tuple(f"evalsuite {words}" for words in ("submit", "doctor", "plan", "parse out"))
TRAINS = """
import time
for step in range(150):
    time.sleep(0.05)
    print(f"step {step} loss 1.0 images/s: 100.0", flush=True)
"""


def test_the_site_is_built_in_both_languages_and_no_link_of_it_leads_nowhere(tmp_path):
    line = [sys.executable, str(HOUSE / "tools" / "build_docs.py"), "--out", str(tmp_path / "site")]
    built = subprocess.run(line, capture_output=True, text=True)

    assert built.returncode == 0, built.stdout + built.stderr
    front = (tmp_path / "site" / "zh" / "index.html").read_text(encoding="utf-8")
    assert "阅读与核对" in front and (tmp_path / "site" / "search").is_dir()
    for page in ("tutorial", "reference/commands", "reference/keys", "zh/faq", "zh/reference/keys"):
        assert (tmp_path / "site" / page / "index.html").is_file()


def typed(page):
    """What the blocks of *page* say, without comments and quoted titles, which have a language."""
    blocks = re.findall(r"^ *```\w*\n(.*?)^ *```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [re.sub(r'\s*#.*|= "[^"]* [^"]*"|= "[^\x00-\x7f]+"', "", block) for block in blocks]


@pytest.mark.parametrize("page", sorted((HOUSE / "docs").glob("*.zh.md")), ids=lambda page: page.name)
def test_both_languages_of_a_page_tell_the_same_to_type(page):
    assert typed(page) == typed(page.with_name(page.name.replace(".zh.md", ".md")))


def test_what_the_tutorial_tells_to_type_works(tmp_path):
    for framework in ("pytorch", "mxnet"):
        (tmp_path / "logs" / framework).mkdir(parents=True)
        shutil.copy(HOUSE / "tests" / "logs" / f"dllogger_{framework}.log", tmp_path / "logs" / framework / "8gpu.log")
    (tmp_path / "train.py").write_text(TRAINS)
    folder = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(HOUSE)}

    for line in "".join(BLOCKS).splitlines():
        asked = {0, 3} if line.startswith(MAY_LACK) else {0, 4}
        ran = subprocess.run(line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert ran.returncode in asked, f"{line}: {ran.returncode} {ran.stderr}"
    assert (tmp_path / "report" / "report.html").is_file()
