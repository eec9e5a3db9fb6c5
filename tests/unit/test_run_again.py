"""A case of a report is run again."""

import json
import shutil

import corruptions

from evalsuite import cli
from evalsuite.commands import audit, run
from evalsuite.core.errors import Exit


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
