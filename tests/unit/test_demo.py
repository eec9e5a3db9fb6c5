"""`make demo`: a report of the recorded runs, from nothing."""

import shutil
import subprocess

import pytest
import synthetic

from evalsuite.core import paths
from tests import sources
from tools import demo

HOUSE = paths.DATA.parent


@pytest.mark.parametrize(("variables", "system", "shown"), sources.table("demo.toml")["displays"])
def test_a_browser_is_opened_only_where_a_window_can_be_seen(variables, system, shown):
    assert demo.has_display(variables, system) is shown


def test_the_page_says_that_its_runs_were_made_elsewhere():
    found = demo.recorded()

    assert found.recorded_elsewhere
    assert {summary.origin for summary in found.summaries} == {"measured"}


def test_without_a_display_the_path_is_said(tmp_path, monkeypatch, capsys):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(demo.sys, "platform", "linux")
    monkeypatch.setattr(demo.sys, "argv", ["demo.py", "--out", str(tmp_path)])
    monkeypatch.setattr("evalsuite.report.build", lambda evaluation, out: [out / "report.html"])
    monkeypatch.setattr(demo, "recorded", synthetic.quick)

    demo.main()
    page = tmp_path / "report.html"

    said = capsys.readouterr().out.splitlines()
    assert "nothing is trained" in said[0] and said[1:] == [f"open this in a browser: {page.as_uri()}"]


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
def test_the_demo_installs_nothing_that_only_tests_need():
    said = subprocess.run(
        ["make", "-n", "demo", "VENV=does-not-exist"], cwd=HOUSE, capture_output=True, text=True, check=True
    ).stdout

    assert "tools/demo.py" in said and "tools/install_locked.py requirements.lock" in said
    assert "requirements-test" not in said
