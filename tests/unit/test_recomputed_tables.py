"""Published tables follow from their own figures, or not; a case of a report is run again."""

import json
import shutil

import corruptions
import pytest

from evalsuite import cli
from evalsuite.commands import audit, run
from evalsuite.core.errors import Exit
from tests import sources
from tools import recompute_tables


@pytest.mark.parametrize(("source", "count", "wrong"), sources.table("recomputed_tables.toml")["wrong"])
def test_what_does_not_follow_is_found_by_rules_and_nothing_else(source, count, wrong):
    cells = list(recompute_tables.recompute(*recompute_tables.read(recompute_tables.SOURCES / source)))

    assert len(cells) == count
    assert [[cell.figure, cell.printed] for cell in cells if not cell.holds] == wrong


def test_a_printed_speed_up_that_is_a_tenth_off_is_found_in_every_cell():
    rules, rows = recompute_tables.read(recompute_tables.SOURCES / "dlperf")
    moved = [{**row, "speedup": f"{float(row['speedup']) + 0.1:.2f}"} for row in rows]

    assert sum(each.holds for each in recompute_tables.recompute(rules, moved)) == 0


def test_a_case_of_a_report_run_again_is_inside_or_outside_its_interval(tmp_path, monkeypatch, capsys):
    place = corruptions.honest(tmp_path)
    case = corruptions.CASE.id
    monkeypatch.setattr(run, "_evaluate", lambda asked: asked.hosts and shutil.copytree(place.runs, asked.runs))
    words = ["run", "--again", str(place.report), case, "--hosts", "b", "--runs"]

    assert cli.main([*words, str(tmp_path / "a")]) == Exit.DONE
    assert f"{case}: 63.3" in capsys.readouterr().out
    facts = json.loads((file := place.report / "summary.json").read_text())
    for summary in facts["summaries"]:
        summary["throughput"] |= {end: 2 * summary["throughput"][end] for end in ("low", "value", "high")}
        summary["runs"] = [run | {"value": 2 * run["value"], "inputs": {"data": "imagenet"}} for run in summary["runs"]]
    file.write_text(json.dumps(facts))
    for trusted in (False, True):
        monkeypatch.setattr(audit, "checked", lambda asked: (facts, [])) if trusted else None
        assert cli.main([*words, str(tmp_path / "c")]) == Exit.CRITERION_FAILED
        said = capsys.readouterr().out
        assert ("outside the published 125.4" in said and "imagenet" in said) == trusted
        assert ("summary.json: it is not as manifest.json" in said) != trusted
    monkeypatch.undo()
    place.write_report()
    monkeypatch.setattr(run, "_evaluate", lambda asked: 0)
    assert cli.main([*words, str(tmp_path / "b")]) == Exit.NOTHING_MEASURED
    assert cli.main(["run", "--again", str(place.report), "no-such-case"]) == Exit.USAGE
