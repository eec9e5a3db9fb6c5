"""The doors of Python: frames of several campaigns and reports, and what no command needs."""

import json
import re
import subprocess
import sys

import pytest

import evalsuite
from evalsuite import cli
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.report.data import tables
from tests import runfolders
from tests.runfolders import Host, steps
from tests.toys import CASE

READING = '{{"at_s": {0}.0, "cpu_percent": 10.0}}'
SAMPLES = "\n".join(['{"header": true, "hz": 1.0}', *(READING.format(second) for second in range(1, 60))]) + "\n"


@pytest.fixture
def roots(tmp_path):
    """Two folders of runs, of which the second has samples."""
    runfolders.finished(tmp_path / "spring", Host(printed=(steps(seconds=0.5),)))
    runfolders.finished(tmp_path / "spring", Host(printed=(steps(seconds=0.51),)), repeat=1)
    runfolders.finished(tmp_path / "autumn", Host(printed=(steps(seconds=0.4),), samples=SAMPLES))
    return [tmp_path / "spring", tmp_path / "autumn"]


def test_rows_have_types_and_say_of_which_campaign_they_are(roots):
    found = evalsuite.load(*map(str, roots))

    (case,) = found.cases.itertuples()
    assert {"load", "diff", "read"} <= {*dir(evalsuite)} and evalsuite.Results.runs.__doc__.startswith("A row for each")
    assert "<table" in found._repr_html_() and f">{case.items_per_s:,.2f}<" in found._repr_html_()
    assert f"{case.items_per_s:,.2f}" in repr(found) and "object at" not in repr(found)
    assert found.runs["started_at"].dt.year.tolist() == [2026] * 3
    assert [*found.runs[["campaign", "repeat", "case_id", "counts"]].itertuples(index=False, name=None)] == [
        ("spring", 0, CASE.id, True), ("spring", 1, CASE.id, True), ("autumn", 2, CASE.id, True),
    ]  # fmt: skip
    assert (case.n, case.xla, case.total_devices) == (3, False, 1)
    assert case.items_per_s == pytest.approx(32 / 0.5, rel=1e-3)
    assert len(found.steps) == 3 * 120 and {*found.steps["run_id"]} == {*found.runs["run_id"]}
    assert found.steps["arrival_s"][1] == pytest.approx(3.0) and found.steps["loss"][0] == pytest.approx(6.7)
    assert {*found.samples[["source", "quantity", "value"]].itertuples(index=False, name=None)} == {
        ("autumn", "cpu_percent", 10.0)
    }
    assert "D05" in {*found.findings["code"]} and {*found.findings["source"]} == {", ".join(map(str, roots))}
    assert {*evalsuite.load(roots[0]).steps["source"]} == {str(roots[0])}
    assert found.runs.groupby("campaign")["items_per_s"].median()["autumn"] == pytest.approx(80, rel=1e-3)


def test_a_report_gives_the_rows_that_its_run_folders_gave(roots, tmp_path):
    import pandas

    out = tmp_path / "report"
    cli.main(["report", *(word for root in roots for word in ("--runs", str(root))), "--out", str(out), "--lang", "en",
              "--forms", "parquet"])  # fmt: skip

    made, written = evalsuite.load(*roots), evalsuite.load(out)

    for name in ("runs", "cases", "utilisation", "findings"):
        ours, theirs = (getattr(each, name).drop(columns="source") for each in (made, written))
        pandas.testing.assert_frame_equal(ours, theirs)
    assert written.steps.empty and written.samples.empty
    frame = pandas.read_parquet(out / "tables" / "runs.parquet")
    assert [*frame["items_per_s"]] == [*made.runs["items_per_s"]]
    assert len((out / "tables" / "steps.csv").read_text().splitlines()) == 1 + 3 * 100
    columns, (first, second) = tables.with_options(["options"], [{"options": "a=1;b=x"}, {"options": ""}])
    assert (columns, first["option_b"], second["option_a"]) == (("options", "option_a", "option_b"), "x", None)
    assert evalsuite.load(out / "report.html").runs.equals(written.runs)
    found = evalsuite.load(str(tmp_path / "rep*")).runs.drop(columns="source")
    assert found.equals(written.runs.drop(columns="source"))
    assert evalsuite.diff(out / "report.html", out).those("slower") == ()
    for again in (out, *roots):
        with pytest.raises(EvalsuiteError, match=r"which .*report has too"):
            evalsuite.load(out, again)


def test_the_notebook_merges_three_campaigns_and_draws_a_figure_of_its_own(tmp_path, monkeypatch):
    import matplotlib

    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    for number, name in enumerate(("spring", "summer", "autumn")):
        for repeat in range(2):
            printed = steps(seconds=0.4 + number / 10 + repeat / 100)
            runfolders.finished(tmp_path / name, Host(printed=(printed,)), repeat=repeat)
    names = {"__name__": "notebook"}

    for cell in json.loads((paths.DATA.parent / "docs" / "python.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)

    assert list(names["table"]["count"]) == [2, 2, 2]
    assert names["table"]["median"].idxmax() == (CASE.id, "spring")
    assert len(names["axes"].lines) == 6


def test_a_log_is_parsed_as_by_the_command_and_what_is_no_result_is_refused(roots, tmp_path):
    (log,) = (tmp_path / "autumn").rglob("log.*.txt")

    assert evalsuite.read(log, devices=1, batch_per_device=32).throughput.items_per_s == pytest.approx(80, rel=1e-3)
    for lacking in ("nothing", "*"):
        with pytest.raises(EvalsuiteError, match="no finished run and no report"):
            evalsuite.load(tmp_path / lacking, log)
    with pytest.raises(evalsuite.EvalsuiteError, match=r"week-\*: nothing has such a name"):
        evalsuite.load(tmp_path / "week-*")
    with pytest.raises(AttributeError, match=r"'compare'; it is evalsuite\.diff now"):
        evalsuite.compare  # noqa: B018


@pytest.mark.parametrize("line", ["480,5", "1,234.5", "1 234.5", "480; 481", "480,", "x", "nan"])
def test_a_line_of_a_list_is_one_number_and_no_cell_of_an_option_is_empty(line, tmp_path, capsys):
    (tmp_path / "A.txt").write_text(f"480\n{line}\n479\n")

    assert cli.main(["diff", str(tmp_path / "A.txt"), "--values", "1,2"]) == 2
    assert f'A.txt:2: got "{line}"; expected the rate' in capsys.readouterr().err
    assert cli.main(["diff", "--values", "1,,2", "--against", "1,2"]) == 2


def test_lists_of_rates_are_told_apart_as_two_reports_are(tmp_path, capsys):
    before, faster = [480, 482, 479, 481, 480], [550.1, 553.2, 549.8, 551.0, 552.4]
    (tmp_path / "A.txt").write_text("480 # the first\n482\n\n479\n481\n480\n")

    found = evalsuite.diff(before, faster)
    code = cli.main(["diff", str(tmp_path / "A.txt"), "--values", ",".join(map(str, faster)), "--fail-on-regression"])

    assert (found.outcome, round(found.ratio.value, 3)) == ("faster", 1.148)
    said = capsys.readouterr().out.replace("\xa0", " ")
    assert (said, code) == ("551.00 against 480.00: ratio 1.148 [1.143, 1.153], n = 5/5: faster\n", 0)
    assert evalsuite.diff(faster, before).outcome == "slower"
    assert evalsuite.diff(before[:2], faster[:2]).why.key == "too_few" == evalsuite.diff(before, [9.0] * 9).why.key
    for odd in ([], [0.0, 2.0], [float("nan")]):
        with pytest.raises(EvalsuiteError, match=r"got \[.*number above 0"):
            evalsuite.diff(before, odd)
    for words, said in (("x", "got .x."), ("", "two sides"), ("1\n-2", "got .-2.")):
        (tmp_path / "B.txt").write_text(words)
        line = ["diff", str(tmp_path / "A.txt"), *([str(tmp_path / "B.txt")] if words else [])]
        assert cli.main(line) == 2
        assert re.search(said, capsys.readouterr().err)


def test_no_command_but_for_a_spreadsheet_imports_pandas(roots, tmp_path):
    out, (log,) = tmp_path / "o", (tmp_path / "autumn").rglob("log.*.txt")
    lines = [f"report --runs {roots[0]} --out {out} --forms html,md", f"parse {roots[0]}", "plan", "doctor"]
    lines += [f"import {log} --runs {tmp_path}/i --set model=toy", f"audit {out} --runs {roots[0]}", "explain D10"]
    lines += [f"diff {out} {out}", f"publish {out} --site {tmp_path}/s"]
    lines += [f"sample -o {tmp_path}/x --share -- true", f"status --runs {roots[0]}", "adapters"]
    words = [line.split() for line in lines]
    code = f"import sys\nfrom evalsuite.cli import main\nfor words in {words!r}:\n    main(words)\n"
    done = subprocess.run(
        [sys.executable, "-c", code + "assert 'pandas' not in sys.modules"], capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr[-800:]
