"""The spine from the command line to the report, with a toy framework that really runs."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from evalsuite import cli
from evalsuite.core.errors import Exit
from tests.processes import running, soon
from tests.runfolders import contents
from tests.toys import TOYNET, TOYS


def words(tmp_path, command="compare", **options):
    """The command line for the toy framework; `script="fails.py"` names another script."""
    given = {"scales": "1x1", "repeats": "2", "steps": "5+60", "script": "train.py", **options}
    script = given.pop("script")
    line = [command, *TOYNET, "--option", f"script={script}", "--runs", str(tmp_path / "runs")]
    line += ["--out", str(tmp_path / "report")] if command == "compare" else []
    return line + [word for name, value in given.items() for word in (f"--{name}", value)]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spine")
    assert cli.main(words(folder)) == Exit.DONE
    return folder


def test_a_finished_run_folder_holds_what_was_asked_run_and_seen_at_the_speed_of_the_sleeping_script(measured):
    folder = next((measured / "runs").glob("*/r0"))
    names = {file.name.split(".")[0] for file in folder.iterdir()}
    assert {"case", "command", "environment", "log", "arrivals", "samples", "agent", "outcome"} <= names
    assert json.loads((folder / "outcome.json").read_text())["status"] == "completed"

    facts = json.loads((measured / "report" / "summary.json").read_text())
    value = facts["summaries"][0]["throughput"]["value"]
    logs = [file.read_text() for file in (measured / "runs").glob("*/r*/log.*")]
    printed = [4 * 60 / sum(float(step.split("(")[0]) for step in log.split("Time")[-60:]) for log in logs]
    # 4 images in 20 ms are 200 a second; sleep and printing only make it slower, and a late line a little faster
    assert min(printed) / 1.3 < value < 1.3 * max(printed) < 1.3 * 200.1


def test_a_second_compare_starts_nothing_and_it_and_report_alone_write_the_same_bytes(measured, tmp_path, capsys):
    before = contents(measured / "report")

    assert cli.main(words(measured)) == Exit.DONE
    assert "2 of 2 runs already measured; nothing is started." in capsys.readouterr().err
    assert cli.main(["report", "--runs", str(measured / "runs"), "--out", str(tmp_path)]) == Exit.DONE
    assert contents(measured / "report") == contents(tmp_path) == before


def test_what_other_programs_disturb_is_made_again_within_the_limit(tmp_path, capsys):
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        cli.main(" ".join(words(tmp_path, hz="10")).replace("--quiet-rounds 0", "--quiet-rounds 1").split())
    finally:
        for process in busy:
            process.kill()
            process.wait()

    said, facts = capsys.readouterr().err, json.loads((tmp_path / "report" / "summary.json").read_text())
    assert said.count("Others used the machine during some runs: 1 run of round 3") == 1
    assert [len(row["runs"]) for row in facts["summaries"]] == [3]


def test_after_a_round_a_provisional_page_is_there_and_a_killed_compare_leaves_it_and_goes_on(tmp_path, capsys):
    start = "import sys; from evalsuite import cli; from evalsuite.commands import compare; compare.TIMES = 0; "
    line = [sys.executable, "-c", f"{start}cli.main(sys.argv[1:])", *words(tmp_path, repeats="3")]
    process = subprocess.Popen(line, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert soon(lambda: list((tmp_path / "runs").glob("*/r1/log.*")), 400)
    process.kill()
    said = process.communicate(timeout=400)[1].decode()

    page = tmp_path / "report" / "report.html"
    assert f"provisional page: {page}" in said
    provisional = page.read_text()
    assert re.search("provisional: .*1.* of .*3.* runs", provisional)
    assert re.search("Provisional: .*1.* of .*3.* planned runs are here", provisional)
    assert re.search("阶段性结果：计划的.*3.*次运行现有.*1.*次", provisional)

    assert cli.main(words(tmp_path, repeats="3")) == Exit.DONE
    assert "2 of 3 runs to do" in capsys.readouterr().err
    assert "Provisional" not in page.read_text()


def test_a_run_that_fails_is_kept_and_reported_with_its_reason(tmp_path, capsys):
    ran = cli.main(words(tmp_path, command="run", script="fails.py", repeats="1"))
    said = capsys.readouterr().err
    compared = cli.main(words(tmp_path, script="fails.py", repeats="1"))

    assert ran == compared == Exit.NOTHING_MEASURED
    assert "no run gave a valid throughput" in said
    assert "no room for the weights" in (tmp_path / "report" / "report.html").read_text()


def test_a_timeout_ends_the_whole_tree_also_a_child_with_a_session_of_its_own(tmp_path):
    spec = tmp_path / "hang.toml"
    spec.write_text(
        'frameworks = ["toynet"]\nmodels = ["toy"]\nscales = ["1x1"]\nrepeats = 1\nsteps = "5+60"\n'
        'timeout_s = 3\n[options]\nscript = "hangs.py"\n'
    )

    line = ["run", "--spec", str(spec), "--adapters", str(TOYS), "--environment", "current", "--device", "cpu"]
    code = cli.main([*line, "--runs", str(tmp_path / "runs")])

    outcome = json.loads(next((tmp_path / "runs").glob("*/r0/outcome.json")).read_text())
    assert code == Exit.NOTHING_MEASURED
    assert outcome["status"] == "timed_out"
    assert not running(str(tmp_path))


def test_ctrl_c_leaves_finished_runs_finished_and_no_process_behind(tmp_path):
    line = [sys.executable, "-m", "evalsuite", *words(tmp_path, steps="5+150", repeats="3")]
    process = subprocess.Popen(line, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    assert soon(lambda: len(list((tmp_path / "runs").glob("*/r0/outcome.json"))) == 1, 400)
    assert soon(lambda: list((tmp_path / "runs").glob("*/r1/log.*")), 400)

    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=400)[1].decode()

    finished = list((tmp_path / "runs").glob("*/r*/outcome.json"))
    assert process.returncode == Exit.INTERRUPTED
    assert "what is finished is kept" in said
    assert len(finished) == 1
    assert not running(str(tmp_path))
