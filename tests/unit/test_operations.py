"""What CI services, monitors and those who watch read of an evaluation; and how old runs and reports go."""

import json
import os
from xml.etree import ElementTree

import pytest
import reports

from evalsuite import cli
from evalsuite.core.errors import Exit
from evalsuite.core.model import Run
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests import runfolders
from tests.toys import CASE


@pytest.fixture
def runs(tmp_path) -> Store:
    """Two repeats that are planned, of which one is done, and an attempt that was given up."""
    store = Store(tmp_path / "runs")
    store.write_plan(Planned(profile="quick", repeats=2, cases=(CASE,), skips=()))
    runfolders.finished(store.root, runfolders.Host(printed=(runfolders.steps(seconds=0.5),)))
    (store.folder(Run(case=CASE, repeat=1)).path).mkdir()
    with store.claim(Run(case=CASE, repeat=1)):
        pass
    return store


def counts(file) -> dict[str, int]:
    found = ElementTree.parse(file).getroot().attrib
    return {name: int(found[name]) for name in ("tests", "failures", "skipped")}


def test_a_report_is_read_by_ci_services(runs, tmp_path):
    criteria = (("a | b: fast, %", "items_per_s > 1e9"), ("c", "n < 5"))
    asked = "".join(f'[[criterion]]\nname = "{name}"\nholds = "{holds}"\n' for name, holds in criteria)
    (tmp_path / "own.toml").write_text(asked)

    where = ["--runs", str(runs.root), "--out", str(tmp_path / "o"), "--criteria", str(tmp_path / "own.toml")]
    cli.main(["report", *where, "--junit", str(tmp_path / "junit.xml")])

    assert counts(tmp_path / "junit.xml") == {"tests": 2, "failures": 0, "skipped": 1}


@pytest.mark.parametrize(
    ("limit", "code", "failures"),
    [("3%", Exit.CRITERION_FAILED, 1), ("20%", Exit.DONE, 0), ("10%", Exit.UNDETERMINED, 0), ("3", Exit.USAGE, None)],
)
def test_a_loss_is_allowed_up_to_a_share_by_its_interval(limit, code, failures, tmp_path, capsys):
    found = (reports.summary(), reports.summary(reports.SLOWER, day=2))
    two = [str(reports.written(tmp_path / f"{n}", reports.evaluation(one))) for n, one in enumerate(found)]

    try:
        given = cli.main(["diff", *two, "--at-most", limit, "--junit", str(tmp_path / "junit.xml")])
    except SystemExit as error:
        given = error.code

    assert given == code
    assert failures is None or counts(tmp_path / "junit.xml")["failures"] == failures


def test_attempts_that_count_for_nothing_go_with_a_note_in_the_journal(runs, monkeypatch):
    (aside,) = runs.root.glob("*/r1.interrupted-1")
    asked = ["status", "--runs", str(runs.root), "--prune"]
    (elsewhere := runs.root.parent / "elsewhere").mkdir()
    (link := aside.with_name("r1.interrupted-0")).symlink_to(elsewhere)

    assert cli.main([*asked, "1", "--go"]) == Exit.DONE and aside.is_dir()
    assert cli.main([*asked, "0"]) == Exit.DONE and aside.is_dir()
    assert cli.main([*asked, "0", "--go"]) == Exit.DONE and not aside.exists()
    assert elsewhere.is_dir() and not link.is_symlink()
    _, line = (runs.root / "attempts.jsonl").read_text().splitlines()
    assert json.loads(line)["event"] == "removed" and json.loads(line)["run"].endswith("/r1.interrupted-1")
    for words in ("status --prune -1 --finished --go", "doctor --devices-per-node -1"):
        with pytest.raises(SystemExit):
            cli.main([*words.split(), "--runs", str(runs.root)])
    assert runs.journal.attempts() == () and runs.journal.chained
    assert cli.main(["status", "--runs", str(runs.root.parent / "none"), "--prune", "30"]) == Exit.USAGE
    monkeypatch.setattr(Store, "aside", lambda store: [aside])  # another takes it away meanwhile
    assert cli.main([*asked, "0", "--go"]) == Exit.DONE


def test_a_site_keeps_the_newest_reports(tmp_path):
    site = str(tmp_path / "site")
    for day, more in ((1, []), (2, []), (3, ["--keep", "1"])):
        night = reports.evaluation(reports.summary(reports.STEADY, day=day), title=f"night {day}")
        cli.main(["publish", str(reports.written(tmp_path / f"n{day}", night)), "--site", site, *more])

    kept = json.loads((tmp_path / "site" / "site.json").read_text())["reports"]
    assert [attempt["title"] for attempt in kept] == ["night 3"]
    assert len(os.listdir(tmp_path / "site" / "reports")) == 1
