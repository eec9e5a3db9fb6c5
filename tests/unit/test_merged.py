"""Several folders of runs are one evaluation, and none of them is forgotten."""

import json
import zipfile
from dataclasses import replace

import pytest

from evalsuite.cli import main
from evalsuite.core.documents import CampaignPlace
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import Run
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure.summary import valid
from evalsuite.runs import merged
from evalsuite.runs.journal import Campaign, seal
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests import runfolders
from tests.runfolders import Host, steps
from tests.toys import CASE, COMMAND

OTHER = replace(CASE, batch_per_device=CASE.batch_per_device * 2)


def campaign(root, speeds, case=CASE, first=0, started_by=None):
    """A folder with a run of *case* at each of these step times."""
    store, at = Store(root), "2026-11-20T10:00:00+08:00"
    plan = Planned(profile="quick", repeats=len(speeds), cases=(case,), skips=())
    sealed = seal(plan.cases, plan.repeats)
    if started_by:
        start = Campaign(id=started_by, started_at=at, plan=plan, plan_sha256=sealed, elsewhere=1)
        store.journal.begin(start)
    for repeat, seconds in enumerate(speeds, first):
        run = Run(case=case, repeat=repeat)
        with store.claim(run) as folder:
            attempt = store.journal.started(run, started_by, at) if started_by else 1
            place = CampaignPlace(id=started_by or "", plan_sha256=sealed, round=0, order=repeat, attempt=attempt)
            command = replace(COMMAND, campaign=place if started_by else None)
            runfolders.fill(folder, Host(printed=(steps(seconds=seconds),)), repeat, command, started_at=at)
    store.write_plan(plan)
    return root


def test_repeats_are_numbered_on_and_each_run_keeps_its_campaign_and_its_place(tmp_path):
    roots = [
        campaign(tmp_path / "a" / "runs", (0.50, 0.51), started_by="spring"),
        campaign(tmp_path / "b" / "runs", (0.52, 0.53)),
        campaign(tmp_path / "c", (0.30,), case=OTHER),
    ]

    whole = evaluate(merged.store(roots))

    runs = [run for row in whole.summaries for run in row.measurements]
    assert [(run.run.repeat, run.campaign, run.log.partition("/toynet")[0]) for run in runs] == [
        (0, "spring", "a/runs"), (1, "spring", "a/runs"), (2, "b/runs", "b/runs"), (3, "b/runs", "b/runs"),
        (0, "c", "c"),
    ]  # fmt: skip
    assert [row.n for row in valid(whole.summaries)] == [4, 1]
    assert [case.id for case in whole.planned] == [CASE.id, OTHER.id] and len({run.run.id for run in runs}) == 5
    wrong = ("taken_away", "run_taken_away")
    assert not [finding for finding in whole.findings if finding.name in wrong]


@pytest.mark.parametrize(
    ("firsts", "repeats"), [((1, 1), [1, 2, 3, 4]), ((0, 1), [0, 1, 2, 3]), ((1, 0), [1, 2, 3, 4])]
)
def test_numbers_go_on_without_a_gap_wherever_a_folder_begins(firsts, repeats, tmp_path):
    roots = [campaign(tmp_path / str(n), (0.5 + n / 10, 0.6 + n / 10), first=first) for n, first in enumerate(firsts)]

    assert sorted(folder.run().repeat for folder in merged.store(roots).finished()) == repeats


def test_one_folder_twice_or_inside_another_is_refused_and_a_copy_of_a_campaign_counts_once(tmp_path):
    first, second = (campaign(tmp_path / name, (0.5, 0.51), started_by="spring") for name in ("a", "b"))
    (tmp_path / "link").symlink_to(first)

    for roots in ([first, first], [first, tmp_path / "link"], [first, tmp_path]):
        with pytest.raises(EvalsuiteError, match="each once"):
            merged.store(roots)
    with pytest.raises(EvalsuiteError, match="neither a finished run nor a plan"):
        merged.store([first, tmp_path / "smumer"])
    with zipfile.ZipFile(tmp_path / "others.zip", "w") as packed:
        packed.writestr("notes.txt", "no run")
    with pytest.raises(EvalsuiteError, match="neither a finished run nor a plan"):
        merged.store([tmp_path / "others.zip"])
    whole = evaluate(merged.store([first, second]))
    (row,) = whole.summaries
    assert "evaluated_before" not in {finding.name for finding in whole.findings}  # the other start is here
    assert (row.n, len(row.measurements)) == (2, 4)


def test_the_commands_take_all_and_those_that_take_one_refuse_a_second(tmp_path, capsys):
    a, b = (campaign(tmp_path / name, speeds) for name, speeds in (("a", (0.5, 0.51)), ("b", (0.6,))))
    both = ["--runs", str(a), "--runs", str(b)]

    assert main(["report", *both, "--out", str(tmp_path / "out"), "--lang", "en", "--forms", "html,logs"]) == Exit.DONE
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [run["campaign"] for row in summary["summaries"] for run in row["runs"]] == ["a", "a", "b"]
    capsys.readouterr()
    assert main(["status", *both, "--json"]) == Exit.DONE
    assert [(one["folder"], one["done"]) for one in json.loads(capsys.readouterr().out)] == [(str(a), 2), (str(b), 1)]
    for command in ("plan --frameworks x", "import x", "doctor --hosts a:"):
        assert main([*command.split(), *both]) == Exit.USAGE
        assert f"--runs is given twice: the last, {b}, counts" in capsys.readouterr().err
    for words, said in (("plan --models x --option a=1 --option a=2", "--option a"), ("parse x.log ./x.log", "LOG")):
        assert main(words.split()) == Exit.USAGE and f"{said} is given twice: the last" in capsys.readouterr().err
