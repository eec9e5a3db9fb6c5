"""`evalsuite reproduce`: published tables follow from their own figures, or not; a case of a report is run again."""

import json
import shutil

import corruptions
import pytest

from evalsuite import cli
from evalsuite.commands.evidence import reproduce
from evalsuite.core.errors import Exit
from evalsuite.results.compare import recomputed
from tests import sources

TABLES = sources.table("reproduce.toml")


@pytest.mark.parametrize(("source", "count", "wrong"), TABLES["wrong"])
def test_what_does_not_follow_is_found_by_rules_and_nothing_else(source, count, wrong, capsys):
    assert cli.main(["reproduce", source, "--json"]) == (Exit.CRITERION_FAILED if wrong else Exit.DONE)
    cells = json.loads(capsys.readouterr().out)
    assert len(cells) == count
    assert [[cell["figure"], cell["printed"]] for cell in cells if not cell["holds"]] == wrong
    cli.main(["reproduce", source])
    assert cli.main(["reproduce", source, "no such table"]) == Exit.USAGE
    assert all(text.removesuffix("±0") in capsys.readouterr().out for _, text in wrong[-1:])


def test_a_printed_speed_up_that_is_a_tenth_off_is_found_in_every_cell():
    rules, rows = recomputed.read(recomputed.SOURCES / "dlperf")
    moved = [{**row, "speedup": f"{float(row['speedup']) + 0.1:.2f}"} for row in rows]

    assert sum(each.holds for each in recomputed.recompute(rules, moved)) == 0


@pytest.mark.parametrize(("source", "file", "old", "new", "code"), TABLES["no_rules"])
def test_a_table_set_of_ones_own_is_read_or_refused(tmp_path, source, file, old, new, code):
    folder = shutil.copytree(recomputed.SOURCES / source, tmp_path / "own")
    assert cli.main(["reproduce", str(folder)]) == cli.main(["reproduce", source])

    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1)) if old else (folder / file).unlink()
    assert (cli.main(["reproduce", str(folder)]), cli.main(["reproduce", "nowhere"])) == (code, Exit.USAGE)


def test_a_case_of_a_report_run_again_is_inside_or_outside_its_interval(tmp_path, monkeypatch, capsys):
    place = corruptions.honest(tmp_path)
    case = corruptions.CASE.id
    monkeypatch.setattr(reproduce.door, "run", lambda asked: asked.hosts and shutil.copytree(place.runs, asked.runs))
    words = ["reproduce", str(place.report), case, "--run-options=--hosts 'b'", "--runs"]

    assert cli.main([*words, str(tmp_path / "a")]) == Exit.DONE
    assert f"{case}: 63.3" in capsys.readouterr().out
    facts = json.loads((file := place.report / "summary.json").read_text())
    for summary in facts["summaries"]:
        summary["throughput"] |= {end: 2 * summary["throughput"][end] for end in ("low", "value", "high")}
        summary["runs"] = [run | {"value": 2 * run["value"], "inputs": {"data": "imagenet"}} for run in summary["runs"]]
    file.write_text(json.dumps(facts))
    for trusted in (False, True):
        monkeypatch.setattr(reproduce.audit, "checked", lambda asked: (facts, [])) if trusted else None
        assert cli.main([*words, str(tmp_path / "c")]) == Exit.CRITERION_FAILED
        said = capsys.readouterr().out
        assert ("outside the published 125.4" in said and "imagenet" in said) == trusted
        assert ("summary.json: it is not as manifest.json" in said) != trusted
    monkeypatch.undo()
    place.write_report()
    monkeypatch.setattr(reproduce.door, "run", lambda asked: 0)
    assert cli.main([*words, str(tmp_path / "b")]) == Exit.NOTHING_MEASURED
    assert cli.main(["reproduce", str(place.report), "no-such-case"]) == Exit.USAGE
    file.write_text(json.dumps(facts | {"evalsuite": "0.0.1"}))
    assert cli.main(words[:3]) == Exit.USAGE
    file.write_text("{")
    assert cli.main(words[:3]) == Exit.CRITERION_FAILED
