import json
from dataclasses import replace
from pathlib import Path

import pytest
import reports
import synthetic

from evalsuite import cli
from evalsuite.core import findings
from evalsuite.core.errors import Exit
from evalsuite.core.model import Machine
from evalsuite.finished import finished
from evalsuite.results.compare import changes
from tests import sources

MACHINE = Machine(name="another machine")
WIDE = synthetic.case(scale=(1, 2), protocol=synthetic.FULL)


def one(before, after, **options):
    found = changes.between([before], [after], **options)
    return (*found.changes, *found.unpaired)[0]


@pytest.mark.parametrize(("speeds", "outcome"), sources.cases("changes.toml")["case_called_slower"])
def test_a_case_is_called_slower_or_faster_only_if_the_difference_is_significant(speeds, outcome):
    found = one(reports.summary(), reports.summary(speeds, day=2, version="2.1"))

    assert found.outcome == outcome


def test_the_ratio_is_of_the_medians_a_short_window_calls_nothing_slower_and_machines_are_compared_if_asked():
    assert changes.of_values([480, 482, 479, 481, 483], [528, 530.2, 526.9, 529.1, 531.3]).why.key == "scaled"
    found = one(reports.summary(), reports.summary(reports.SLOWER, day=2))

    assert found.ratio.value == pytest.approx(90.0 / 100.0)
    assert found.ratio.low < found.ratio.value < found.ratio.high

    of = synthetic.case(protocol=synthetic.QUICK)
    short = one(reports.summary(of=of), reports.summary(reports.SLOWER, of=of, day=2))
    elsewhere = reports.summary(reports.FASTER, day=2, environment=MACHINE)

    assert (short.outcome, short.why.key) == ("cannot_tell", "short_window")
    assert one(reports.summary(), elsewhere, across_environments=True).outcome == "faster"


@pytest.mark.parametrize(("levels", "code"), sources.cases("changes.toml")["gate_compares_kept"])
def test_the_gate_compares_with_the_report_of_a_release(tmp_path, levels, code):
    first, *_, last = [
        str(reports.written(tmp_path / f"{day}", reports.evaluation(reports.summary(speeds, day=day))))
        for day, speeds in enumerate(([speed * level for speed in reports.STEADY] for level in levels), 1)
    ]

    assert cli.main(["diff", first, last, "--fail-on-regression"]) == code


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (reports.summary(), "same_runs"),
        (reports.summary(day=2, environment=MACHINE), "machine"),
        (reports.summary(day=2, environment=None), "machine_unknown"),
        (replace(reports.summary(day=2), unit="sentences/s"), "unit"),
        (replace(reports.summary(day=2), origin="cited"), "origin"),
        (synthetic.summary([synthetic.failed(reports.summary().case, 0, "Killed")]), "no_valid_run_after"),
    ],
)
def test_what_cannot_be_compared_says_why(after, reason):
    found = one(reports.summary(), after)

    assert isinstance(found, changes.Unpaired)
    assert found.why.key == reason


def test_a_finished_report_reads_back_as_it_was_summarised(tmp_path):
    original = reports.summary()
    folder = reports.written(tmp_path, reports.evaluation(original))

    report = finished.read(folder)

    assert report.summaries[0].case == original.case
    assert report.summaries[0].items_per_s == original.items_per_s
    assert changes.pair(original, report.summaries[0]).why == changes.Why(key="same_runs")
    assert report.period == ("2026-11-01T10:00:00+08:00", "2026-11-01T14:00:00+08:00")
    assert report.versions == {"pytorch": ("2.0",)}
    run, ours = report.summaries[0].measurements[0], original.measurements[0]
    assert (run.value, run.framework_version) == (ours.value, "2.0")
    assert (run.started_at, run.environment) == (ours.started_at, ours.environment)


def test_a_finished_report_keeps_why_a_value_is_not_ranked(tmp_path):
    row = reports.summary()
    runs = [replace(run, findings=(findings.LossNotANumber(line=7, where=run.run.id),)) for run in row.measurements]
    folder = reports.written(tmp_path, reports.evaluation(replace(row, measurements=tuple(runs))))

    (read,) = finished.read(folder).summaries

    assert (read.grounds, read.doubts) == ("disputed", ("no_learning",))


@pytest.mark.parametrize(("text", "message"), sources.table("changes.toml")["unreadable"])
def test_a_report_that_cannot_be_read_says_what_stands_there(tmp_path, text, message, capsys):
    folder = reports.written(tmp_path / "a", reports.evaluation(reports.summary()))
    (folder / "summary.json").write_text(text)

    code = cli.main(["diff", str(folder), str(folder)])

    assert code == Exit.USAGE
    assert message in capsys.readouterr().err


@pytest.fixture
def two(tmp_path):
    before = reports.evaluation(reports.summary())
    after = reports.evaluation(reports.summary(reports.SLOWER, day=2, version="2.1"))
    return [str(reports.written(tmp_path / name, of)) for name, of in (("a", before), ("b", after))]


@pytest.mark.parametrize("hashes", [None, "[]", '{"evalsuite": "1", "input_sha256": "0", "files": {}}'])
def test_a_report_whose_manifest_does_not_vouch_for_it_is_compared_with_none(hashes, two, capsys):
    file = Path(two[0]) / "manifest.json"
    file.write_text(hashes) if hashes else file.unlink()

    assert cli.main(["diff", *two]) == Exit.USAGE
    assert "manifest.json" in capsys.readouterr().err


@pytest.fixture
def say(two, capsys):
    """What `diff` says of *two*, or of others."""

    def print_changes(*options, of=two):
        cli.main(["diff", *of, *options])
        return capsys.readouterr().out

    return print_changes


def test_diff_says_what_became_slower_with_both_versions_in_the_languages_asked_for(say):
    english, chinese = say(), say("--lang", "zh")

    assert "▼ slower" in english and "1 slower, 0 faster" in english
    assert "100.00 images/s   90.00 images/s" in english
    assert english.index("2.0") < english.index("2.1")
    assert "▼ 变慢" in chinese and "变慢 1 个，变快 0 个" in chinese
    assert "slower" not in chinese and "after" not in chinese


def test_json_has_each_change_with_its_reason(say, tmp_path):
    document = json.loads(say("--json"))

    assert document["slower"] == 1
    assert document["changes"][0]["outcome"] == "slower"
    assert document["changes"][0]["after"]["framework_versions"] == ["2.1"]

    few, more = reports.summary(reports.STEADY[:2]), reports.summary(reports.SLOWER, day=2)
    folders = [reports.written(tmp_path / f"r{n}", reports.evaluation(of)) for n, of in enumerate((few, more))]

    (change,) = json.loads(say("--json", of=map(str, folders)))["changes"]
    assert change["reason"] == "2 valid repeats; 5 are needed to call a difference significant"


def test_a_regression_is_exit_code_5_only_where_that_was_asked_for(two):
    assert cli.main(["diff", *two]) == Exit.DONE
    assert cli.main(["diff", *two, "--fail-on-regression"]) == Exit.CRITERION_FAILED
    assert cli.main(["diff", *reversed(two), "--fail-on-regression"]) == Exit.DONE


@pytest.mark.parametrize(
    ("after", "code"),
    [
        ((reports.summary(day=2), reports.summary(of=WIDE, day=2)), Exit.DONE),
        ((reports.summary(day=2),), Exit.UNDETERMINED),  # or a renamed one
        ((reports.summary(day=2), reports.summary(reports.STEADY[:4], of=WIDE, day=2)), Exit.UNDETERMINED),
        ((reports.summary(day=2), synthetic.summary([synthetic.failed(WIDE, 0, "OOM")])), Exit.CRITERION_FAILED),
    ],
    ids=["alike", "gone", "too few runs", "no valid run"],
)
def test_a_case_that_lost_its_value_or_is_open_never_passes_a_gate_unless_it_may_be_missing(tmp_path, after, code):
    both = {"a": (reports.summary(), reports.summary(of=WIDE)), "b": after}
    two = [str(reports.written(tmp_path / name, reports.evaluation(*of))) for name, of in both.items()]

    assert cli.main(["diff", *two, "--fail-on-regression"]) == code
    assert cli.main(["diff", *two, "--fail-on-regression", "--allow-missing"]) == Exit.DONE


def test_a_report_against_itself_proves_no_speed(two, capsys):
    code = cli.main(["diff", two[0], two[0], "--fail-on-regression"])

    assert capsys.readouterr().out.startswith("None of the cases (1) is compared; the reasons are below.\n")
    assert code == Exit.UNDETERMINED


def written(folder, *cases, day=1):
    of = [reports.summary(of=case, day=day) for case in cases]
    return str(reports.written(folder, reports.evaluation(*of)))


def test_reports_without_a_case_in_common_say_so_first(tmp_path, say):
    many = [synthetic.case("pytorch", (1, n), protocol=synthetic.FULL) for n in range(1, 11)]
    other = synthetic.case("mxnet", protocol=synthetic.FULL)

    said = say(of=(written(tmp_path / "many", *many), written(tmp_path / "other", other, day=2)))
    assert said.startswith("None of the cases (11) is compared")
    assert (said.count("only in the earlier report"), said.count("only in the later report")) == (10, 1)
