import pytest

from evalsuite.core import paths
from evalsuite.report.book import identity
from evalsuite.report.book.book import Book
from evalsuite.report.book.participants import participants
from evalsuite.report.data import summary_json
from evalsuite.report.sections.reproduction import provenance
from tools import rebuild_dlperf

PUBLISHED = "reports/dlperf_benchmark_test_report_v1.md"


def reference_rows(name):
    return paths.read_rows(paths.DATA / "reference" / "dlperf_v1" / name)


@pytest.fixture(scope="module")
def rebuilt():
    return rebuild_dlperf.evaluation()


NAMES = ("framework", "recipe", "model", "precision", "scale", "batch_per_device", "xla", "options")


def summary_of(rebuilt, framework, scale, batch, model="resnet50_v1.5"):
    wanted = (framework, scale, batch, "fp32", model, False)
    names = ("framework", "scale", "batch_per_device", "precision", "model", "xla")
    [found] = [row for row in rebuilt.summaries if wanted == tuple(getattr(row.case, name) for name in names)]
    return found


def key(cell):
    options = (tuple(cell["option"].split("=")),) if cell["option"] else ()
    scale, batch = f"{cell['nodes']}x{cell['devices_per_node']}", int(cell["batch_per_device"])
    return (*(cell[name] for name in NAMES[:4]), scale, batch, cell["xla"] == "on", options)


def test_every_cell_of_the_published_tables_is_a_case_with_its_figure(rebuilt):
    printed = {key(cell): float(cell["items_per_s"]) for cell in reference_rows("cells.csv")}

    found = {tuple(getattr(row.case, name) for name in NAMES): row.items_per_s.value for row in rebuilt.summaries}

    assert len(found) == 164
    # the median of an even number of runs lies half a digit off the printed one
    assert found == pytest.approx(printed, abs=0.0051)


def test_a_cell_stands_on_its_published_runs_or_has_no_interval_and_other_loaders_say_nothing(rebuilt):
    summary = summary_of(rebuilt, "ngc_mxnet", "4x8", 128)
    assert summary.n == 7
    assert summary.items_per_s.value == 11331.93
    assert summary.measurements[0].log.endswith("/NVIDIADeepLearningExamples/MxNet/Classification/RN50v1.5/README.md")

    summary = summary_of(rebuilt, "oneflow", "4x8", 128)
    assert (summary.n, summary.items_per_s.low, summary.partial) == (1, None, True)
    assert summary.measurements[0].log.endswith(PUBLISHED)
    assert summary.measurements[0].throughput.line_first == 92

    # the README prints runs with DALI and 8 workers; the table's figures are of PyTorch's own loader with 48
    summary = summary_of(rebuilt, "pytorch", "4x8", 128)
    assert (summary.n, summary.items_per_s.value, summary.measurements[0].findings) == (1, 10021.29, ())


def test_published_runs_that_contradict_the_published_median_are_flagged_and_not_used(rebuilt):
    summary = summary_of(rebuilt, "ngc_tensorflow", "4x8", 48, model="bert_base")

    [finding] = [f for f in summary.measurements[0].findings if f.code == "D16"]
    assert summary.items_per_s.value == 3089.74
    assert float(finding.other) == pytest.approx(2478.59, rel=1e-4)


def test_the_speed_up_of_the_report_is_found_again(rebuilt):
    """DLPerf's README prints 31.21 for OneFlow and 28.75 for PyTorch on 4 nodes of 8 devices."""
    speedups = {name: summary_of(rebuilt, name, "4x8", 128).speedup.value for name in ("oneflow", "pytorch")}

    assert {name: round(value, 2) for name, value in speedups.items()} == {"oneflow": 31.21, "pytorch": 28.75}


def test_the_participants_have_the_features_that_the_report_prints_their_commit_and_launcher(rebuilt):
    models = [participants(Book(evaluation=rebuilt), model) for model in ("resnet50_v1.5", "bert_base")]
    found = {model.title: "+".join(model.features) for model in models[0]}

    assert (found["NGC MXNet"], found["NGC TensorFlow"]) == ("DALI+Horovod", "DALI+Horovod+XLA")
    assert (found["NGC PyTorch"], found["OneFlow"]) == ("DALI+APEX", "")
    assert all(repository.commit and repository.launcher for each in models for repository in each)


def test_cited_values_decide_nothing_and_every_run_leads_to_a_file_a_line_and_its_hash(rebuilt):
    runs = [run for summary in rebuilt.summaries for run in summary.measurements]
    facts = summary_json.document(Book(evaluation=identity.ordered(rebuilt)), identity.build_hash(rebuilt))

    assert {summary.origin for summary in rebuilt.summaries} == {"cited"}
    assert {verdict.outcome for verdict in rebuilt.verdicts} <= {"undetermined"}
    assert all(run.throughput.line_first > 0 and len(run.log_sha256) == 64 for run in runs)
    assert facts["data_quality"]["runs_valid"] == sum(summary.n for summary in rebuilt.summaries)


def test_the_receipt_of_a_cited_value_has_its_place_at_the_host_its_line_and_its_flags(rebuilt):
    found = {case["case"].id: case for each in provenance.series(Book(evaluation=rebuilt)) for case in each["cases"]}
    high = summary_of(rebuilt, "ngc_tensorflow", "4x8", 48, "bert_base")
    (run,) = found[high.case.id]["runs"]
    line = run.run.throughput.line_first

    assert run.log == f"{PUBLISHED}@c89430bac64f" and run.lines == str(line)
    assert run.address.startswith("https://github.com/Oneflow-Inc/DLPerf/blob/c89430bac64f")
    assert run.address.endswith(f"/{PUBLISHED}?plain=1#L{line}")
    assert found[high.case.id]["flags"] == ("D16",)


def test_the_kept_figures_and_runs_are_those_of_the_reference(shared):
    found = [row for row in paths.read_rows(shared / "reference" / "dlperf.csv") if row["source_file"] == PUBLISHED]
    printed = {(row["throughput"], row["note"].rpartition("line ")[2]) for row in found}
    runs = {
        (row["source_file"], f"{row['log_dir']}/{row['log_stem']}", row["run"], row["throughput"])
        for row in paths.read_rows(shared / "reference" / "dlperf_runs.csv")
    }

    cells = reference_rows("cells.csv")
    assert {(cell["items_per_s"], cell["line"]) for cell in cells} <= printed
    assert {figure for figure, _ in printed} == {cell["items_per_s"] for cell in cells}
    assert {(run["file"], run["log"], run["run"], run["items_per_s"]) for run in reference_rows("runs.csv")} <= runs
