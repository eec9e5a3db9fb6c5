import json
from dataclasses import replace

import pytest
import reports
import synthetic

from evalsuite import cli, findings
from evalsuite.errors import Exit
from evalsuite.model import Machine, Protocol
from evalsuite.report.data import finished
from evalsuite.results.compare import changes

MACHINE = Machine(name="another machine")


def one(before, after, **options):
    """The only case of two evaluations, compared."""
    found = changes.between([before], [after], **options)
    return (*found.changes, *found.unpaired)[0]


@pytest.mark.parametrize(
    ("speeds", "outcome"),
    [
        (reports.SLOWER, "slower"),
        (reports.FASTER, "faster"),
        ((100.1, 100.3, 99.9, 100.8, 99.6), "no_difference"),
        (reports.SLOWER[:4], "cannot_tell"),
    ],
)
def test_a_case_is_called_slower_or_faster_only_if_the_difference_is_significant(speeds, outcome):
    found = one(reports.summary(), reports.summary(speeds, day=2, version="2.1"))

    assert found.outcome == outcome


def test_the_ratio_is_that_of_the_medians_and_carries_an_interval():
    found = one(reports.summary(), reports.summary(reports.SLOWER, day=2))

    assert found.ratio.value == pytest.approx(90.0 / 100.0)
    assert found.ratio.low < found.ratio.value < found.ratio.high


def test_a_short_window_is_too_little_to_call_anything_slower():
    of = synthetic.case(protocol=synthetic.QUICK)

    found = one(reports.summary(of=of), reports.summary(reports.SLOWER, of=of, day=2))

    assert (found.outcome, found.why.key) == ("cannot_tell", "short_window")


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


def test_machines_are_compared_when_that_is_asked_for():
    found = one(
        reports.summary(), reports.summary(reports.FASTER, day=2, environment=MACHINE), across_environments=True
    )

    assert found.outcome == "faster"


def test_a_case_without_a_counterpart_names_what_its_nearest_relative_has_different():
    longer = synthetic.case(protocol=Protocol(measured_steps=200))

    found = changes.between([reports.summary()], [reports.summary(of=longer, day=2)])

    assert [(one.only_in, one.why.key) for one in found.unpaired] == [
        ("after", "only_after_like"),
        ("before", "only_before_like"),
    ]
    assert found.unpaired[0].why.differences == (("protocol", "20+200", "20+100"),)


def test_a_case_without_any_relative_stands_in_one_report_only():
    found = changes.between([reports.summary()], [])

    assert found.unpaired[0].why == changes.Why(key="only_before")


def test_a_finished_report_reads_back_as_it_was_summarised(tmp_path):
    original = reports.summary()
    folder = reports.written(tmp_path, reports.evaluation(original))

    found = finished.read(folder)

    assert found.summaries[0].case == original.case
    assert found.summaries[0].items_per_s == original.items_per_s
    assert changes.pair(original, found.summaries[0]).why == changes.Why(key="same_runs")
    assert found.period == ("2026-11-01T10:00:00+08:00", "2026-11-01T14:00:00+08:00")
    assert found.versions == {"pytorch": ("2.0",)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected a JSON object"),
        ('{"schema_version": 99}', "schema_version: got 99; expected 1"),
        ('{"schema_version": 1}', "evalsuite: missing"),
    ],
)
def test_a_report_that_cannot_be_read_says_what_stands_there(tmp_path, text, message, capsys):
    folder = reports.written(tmp_path / "a", reports.evaluation(reports.summary()))
    (folder / "summary.json").write_text(text)

    code = cli.main(["compare-reports", str(folder), str(folder)])

    assert code == Exit.USAGE
    assert message in capsys.readouterr().err


@pytest.fixture
def two(tmp_path):
    """An evaluation and a slower one."""
    before = reports.evaluation(reports.summary())
    after = reports.evaluation(reports.summary(reports.SLOWER, day=2, version="2.1"))
    return [str(reports.written(tmp_path / name, of)) for name, of in (("a", before), ("b", after))]


def test_compare_reports_says_what_became_slower_with_both_versions(two, capsys):
    assert cli.main(["compare-reports", *two]) == Exit.DONE

    said = capsys.readouterr().out
    assert "▼ slower" in said
    assert "100.00 images/s   90.00 images/s" in said
    assert said.index("2.0") < said.index("2.1")
    assert "1 slower, 0 faster" in said


def test_a_regression_is_exit_code_5_only_where_that_was_asked_for(two):
    assert cli.main(["compare-reports", *two, "--fail-on-regression"]) == Exit.CRITERION_FAILED
    assert cli.main(["compare-reports", *reversed(two), "--fail-on-regression"]) == Exit.DONE


def test_compare_reports_prints_json(two, capsys):
    cli.main(["compare-reports", *two, "--json"])

    found = json.loads(capsys.readouterr().out)
    assert found["slower"] == 1
    assert found["changes"][0]["outcome"] == "slower"
    assert found["changes"][0]["after"]["framework_versions"] == ["2.1"]
    assert found["expected_by_chance"] == pytest.approx(0.05)


def test_compare_reports_speaks_chinese_or_both_languages(two, capsys):
    cli.main(["compare-reports", *two, "--lang", "zh"])
    chinese = capsys.readouterr().out
    cli.main(["compare-reports", *two, "--lang", "zh,en"])
    both = capsys.readouterr().out

    assert "▼ 变慢" in chinese and "变慢 1 个，变快 0 个" in chinese
    assert "slower" not in chinese and "after" not in chinese
    assert both.index("变慢 1 个") < both.index("1 slower, 0 faster")


def test_the_reasons_in_json_are_in_the_languages_asked_for(tmp_path, capsys):
    few = reports.evaluation(reports.summary(reports.STEADY[:2]))
    more = reports.evaluation(reports.summary(reports.SLOWER, day=2))
    folders = [str(reports.written(tmp_path / name, of)) for name, of in (("a", few), ("b", more))]
    cli.main(["compare-reports", *folders, "--json", "--lang", "zh,en"])

    (change,) = json.loads(capsys.readouterr().out)["changes"]
    assert change["reasons"]["en"] == "2 valid repeats; 5 are needed to call a difference significant"
    assert change["reason"] == change["reasons"]["zh"] != change["reasons"]["en"]


def test_a_language_that_is_not_there_is_refused(two, capsys):
    assert cli.main(["compare-reports", *two, "--lang", "fr"]) == Exit.USAGE
    assert "expected zh, en or zh,en" in capsys.readouterr().err


@pytest.fixture
def moved(tmp_path):
    """Three cases, and the same 42 to 67 % slower on a machine that was busy."""
    cases = [synthetic.case(framework=name, protocol=synthetic.FULL) for name in ("pytorch", "mxnet", "tensorflow")]

    def made(name, day, factors, *found):
        summaries = [
            reports.summary([value * factor for value in reports.STEADY[:3]], day=day, of=case)
            for case, factor in zip(cases, factors, strict=True)
        ]
        return str(reports.written(tmp_path / name, reports.evaluation(*summaries, findings=found)))

    busy = findings.BusyMachine(where="a run", others=0.5)
    return [made("a", 1, (1, 1, 1)), made("b", 2, (0.58, 0.33, 0.5), busy)]


def test_compare_reports_leads_with_disturbances_and_the_pooled_verdict(moved, capsys):
    cli.main(["compare-reports", *moved])

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Recorded: other programs used the machine during 0 runs of the earlier report and 1")
    assert lines[1].startswith("The campaigns differ (3 of 3 cases slower, 42–67%)")
    assert lines[2] == "0 slower, 0 faster, 0 without a significant difference, 3 undecided, 0 not compared."


def test_a_report_against_itself_is_one_sentence_and_proves_no_speed(two, capsys):
    code = cli.main(["compare-reports", two[0], two[0], "--fail-on-regression"])

    assert capsys.readouterr().out == "Nothing is compared: both reports hold the same runs (1 case).\n"
    assert code == Exit.UNDETERMINED


def made(folder, *cases, day=1):
    of = [reports.summary(of=case, day=day) for case in cases]
    return str(reports.written(folder, reports.evaluation(*of)))


def test_reports_without_a_case_in_common_say_so_first_and_each_reason_once(tmp_path, capsys):
    many = [synthetic.case("pytorch", (1, n), protocol=synthetic.FULL) for n in range(1, 11)]
    folders = made(tmp_path / "a", *many), made(tmp_path / "b", synthetic.case("mxnet", protocol=synthetic.FULL), day=2)
    cli.main(["compare-reports", *folders])

    said = capsys.readouterr().out
    assert said.startswith("Nothing to compare: the reports have no case in common (10 in the earlier one, 1 in the")
    assert said.count("only in the earlier report") == said.count("only in the later report") == 1
    assert "10 cases" in said and "--json lists the cases" in said


def test_what_the_nearest_case_has_different_is_said_in_words_of_the_language(tmp_path, capsys):
    one = synthetic.case(protocol=synthetic.FULL, options=(("image_size", "64"),))
    other = replace(one, protocol=Protocol(measured_steps=200), options=(("image_size", "224"),))
    folders = made(tmp_path / "a", one), made(tmp_path / "b", other, day=2)
    cli.main(["compare-reports", *folders, "--lang", "zh"])
    chinese = "".join(capsys.readouterr().out.split())
    cli.main(["compare-reports", *folders])

    assert "测量方案20+200/20+100、图像边长224/64" in chinese
    assert "image size 224 / 64" in " ".join(capsys.readouterr().out.split())


def test_two_scripts_of_ours_for_one_model_are_told_apart(tmp_path, capsys):
    one = synthetic.case(protocol=synthetic.FULL)
    folder = made(tmp_path / "a", one, replace(one, recipe="reference-other"))
    cli.main(["compare-reports", folder, made(tmp_path / "b", replace(one, framework="mxnet"), day=2)])

    said = capsys.readouterr().out
    assert "reference-other" in said and one.recipe in said


def test_compare_reports_says_once_what_all_cases_share_and_breaks_no_word(moved, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    cli.main(["compare-reports", *moved])

    said = capsys.readouterr().out
    assert said.count("ResNet-50 v1.5") == 1
    assert all(name in said for name in ("PyTorch", "MXNet", "TensorFlow"))
    assert "tested" not in said
