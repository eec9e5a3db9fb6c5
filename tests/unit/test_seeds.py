"""Inconsistencies in what others published (docs/report.md#checks): each raises the rule that it is an example of.

What is imported goes the way of a user's table, from CSV through run folders to the evaluation.
"""

import pytest
import reports
import synthetic

from evalsuite.cli import main
from evalsuite.documents import Gpu, HostEnvironment
from evalsuite.report.book.book import Book
from evalsuite.report.sections.author import author, author_file
from evalsuite.report.text import findings, words
from evalsuite.results.evaluation import evaluate
from evalsuite.results.rules import data_rules
from evalsuite.runs.store import Store
from tests import seeds

SPOKEN = words.read()
GB = 10**9
ASI = "ASI cluster"
HEAD = ("framework", "model", "nodes", "gpus_per_node", "batch_size_per_gpu", "precision", "throughput", "unit")


def worker_table(model, folder):
    """The ElasticDL table of *model* on the CPU cluster as a CSV that `import` reads."""
    ours = [row for row in seeds.rows() if row["model"] == model and row["hardware"].startswith(ASI)]
    said = {(int(row["total_devices"]), row["metric"]): row["value"] for row in ours}
    lines = [",".join((*HEAD, "speedup"))]
    lines += [f"ElasticDL,{model},{n},1,64,fp32,{said[n, 'speed']},images/s,{said[n, 'speedup']}" for n in (1, 2, 4, 8)]
    file = folder / "published.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def evaluated(table, tmp_path):
    assert main(["import", str(table), "--runs", str(tmp_path / "runs")]) == 0
    return evaluate(Store(tmp_path / "runs"))


def found(evaluation, code):
    return [finding for finding in evaluation.findings if finding.code == code]


def test_a_published_speedup_that_its_throughputs_do_not_give_is_d16(tmp_path):
    evaluation = evaluated(worker_table("ResNet-50", tmp_path), tmp_path)
    two = next(one for one in evaluation.summaries if one.case.total_devices == 2)

    (finding,) = found(evaluation, "D16_speedup")
    assert (finding.printed, finding.computed) == ("1.57", pytest.approx(41 / 26.7))
    assert finding.where == two.case.id
    assert two.speedup.value == pytest.approx(41 / 26.7)
    assert {one.origin for one in evaluation.summaries} == {"cited"}
    assert findings.sentence(finding, SPOKEN).plain("zh").startswith("公布的加速比为 1.57，而由公布的吞吐率算得 1.54")


def test_a_job_that_slows_from_four_to_eight_workers_is_d13(tmp_path):
    evaluation = evaluated(worker_table("MobileNetV2", tmp_path), tmp_path)

    (finding,) = found(evaluation, "D13")
    assert finding.where.endswith("8x1")
    assert finding.larger_items_per_s == 648.0
    assert found(evaluation, "D16_speedup") == []


def test_a_series_whose_smallest_scale_is_eight_devices_is_d14_and_says_its_base(tmp_path):
    (row,) = [row for row in seeds.rows() if row["metric"] == "scaling_efficiency_base8"]
    values = {8: 1000.0, 32: 1000.0 * 4 * float(row["value"]) / 100}
    lines = [",".join(HEAD)]
    lines += [f"ChainerMN,ResNet-50,{n // 8},8,64,fp32,{value},images/s" for n, value in values.items()]
    table = tmp_path / "published.csv"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    evaluation = evaluated(table, tmp_path)
    (linear,) = [verdict for verdict in evaluation.verdicts if verdict.criterion == "C1"]
    largest = max(evaluation.summaries, key=lambda one: one.case.total_devices)

    (finding,) = found(evaluation, "D14")
    assert finding.base_devices == 8
    assert findings.sentence(finding, SPOKEN).plain("en").count("8") == 1
    assert (largest.base.total_devices, largest.efficiency.value) == (8, pytest.approx(0.96))
    assert linear.outcome == "undetermined"


def test_a_v100_with_64_gb_is_d22():
    (claim,) = [row for row in seeds.rows() if row["metric"] == "gpu_memory" and row["system"] == "BlueFog"]
    gpu = Gpu(name="Tesla V100-SXM2", memory_total_bytes=round(float(claim["value"]) * GB))

    (finding,) = data_rules.findings((), {claim["hardware"]: HostEnvironment(host="n", gpus=(gpu,) * 8)})

    assert finding.code == "D22"
    assert finding.sold_bytes == (16 << 30, 32 << 30)


def test_four_frameworks_in_a_text_over_a_table_of_eight_is_d23(tmp_path):
    entries = (*synthetic.FRAMEWORKS, "oneflow", "ngc_mxnet", "ngc_tensorflow", "ngc_pytorch")
    evaluation = synthetic.evaluation(
        [reports.summary(of=synthetic.case(name, protocol=synthetic.FULL)) for name in entries]
    )
    file = tmp_path / "findings.toml"
    text = "{frameworks|4}"
    file.write_text(f'[[finding]]\nzh = "共 {text} 个框架。"\nen = "There are {text} frameworks."\n', encoding="utf-8")
    told = author.attached(evaluation, author_file.read(file))
    ((_, said),) = author.notes(Book(evaluation=told), SPOKEN)

    (finding,) = found(told, "D23")
    assert (finding.written, finding.computed) == ("4", 8)
    assert said.plain("en") == "There are 8 frameworks."
