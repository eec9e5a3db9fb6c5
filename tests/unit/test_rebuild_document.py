"""The example that has every chapter of the 天枢 outline: what stands in it, and where its figures come from."""

import pages
import pytest

from evalsuite import report
from evalsuite.core import paths
from evalsuite.report.book import model_figures
from evalsuite.report.book.blocks import models
from evalsuite.report.book.book import Book
from evalsuite.results.compare import answers
from evalsuite.results.measure import facts
from tools import rebuild_document

CHAPTERS = [
    *("1 简介", "2 背景介绍", "3 ResNet-50 v1.5", "4 BERT-Base", "5 人脸识别：InsightFace R100", "6 GPT-2"),
    *("7 Wide & Deep", "8 问题"),
]
PARTS = ["评测平台", "评测模型", "评测环境", "评测配置", "评测规则", "评测指标"]


def cells():
    return paths.read_rows(paths.DATA / "reference" / "tianshu" / "cells.csv")


@pytest.fixture(scope="module")
def rebuilt():
    return rebuild_document.evaluation()


@pytest.fixture(scope="module")
def page(rebuilt, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tianshu")
    report.build(rebuilt, folder)
    return pages.read((folder / "report.html").read_text(encoding="utf-8"))


def heads(element, tag):
    return [head.text("zh-CN").split("#")[0].strip() for head in element.all(tag)]


def test_the_eight_chapters_have_the_outlines_numbers_and_the_second_its_six_parts(page):
    parts = heads(page.one("section", id="background"), "h3")
    assert [head for head in heads(page, "h2") if head[0].isdigit()][:8] == CHAPTERS
    assert parts[:6] == [f"2.{number} {title}" for number, title in enumerate(PARTS, 1)]


def test_every_model_of_the_outline_has_figures_and_chapter_eight_is_the_list_that_people_keep(page):
    assert not [section for section in page.all("section") if str(section["id"]).startswith("untested-")]
    for model in ("resnet50_v1.5", "bert_base", "face_r100", "gpt2", "wide_and_deep"):
        assert page.one("section", id=f"model-{model}").all("table", class_="values")

    rows = page.one("section", id="problems").all("table")[0].one("tbody").all("tr")
    assert len(rows) == 4
    assert "clip_by_global_norm" in rows[0].text("zh-CN") and "已解决" in rows[0].text("zh-CN")


def test_a_printed_step_time_gives_the_throughput_of_the_global_batch_and_an_oom_none(rebuilt):
    of_hugectr = [row for row in rebuilt.summaries if row.case.framework == "hugectr" and row.case.scale == "1x1"]
    [summary] = [row for row in of_hugectr if row.case.option("deep_vocabulary") == "3200000"]
    lost = [run for summary in rebuilt.summaries for run in summary.measurements if run.value is None]

    assert summary.items_per_s.value == pytest.approx(16384 / 0.065664)
    assert summary.measurements[0].throughput.method == "cited step time"
    assert {(run.run.case.framework, run.reason) for run in lost} == {("hugectr", "OOM")} and len(lost) == 8


def test_the_speed_up_of_faces_follows_from_the_table_and_every_value_is_cited(rebuilt):
    """6,931.6 images/s on 32 devices against 246.45 on one."""
    of_face = [row for row in rebuilt.summaries if row.case.model == "face_r100" and row.case.nodes == 4]
    [found] = [row for row in of_face if (row.case.framework, row.case.batch_per_device) == ("oneflow", 64)]
    assert round(found.speedup.value, 2) == 28.13

    runs = [run for summary in rebuilt.summaries for run in summary.measurements]
    assert {run.origin for run in runs} == {"cited"}
    assert all(len(run.log_sha256) == 64 and "/blob/c89430bac64f" in run.log for run in runs)


def test_rows_of_a_published_table_are_ranked_by_what_it_says_and_adam_over_all_rows_not_with_that_of_a_batch(rebuilt):
    """Its heading names the data of both columns; the recipes name those of today's defaults."""
    found = [answer for answer in answers.answers(rebuilt.summaries) if answer.setting.model == "face_r100"]

    pairs = [
        {each.summary.case.framework for each in item.ranked} for item in found if item.setting.batch_per_device == 64
    ]
    assert pairs.count({"oneflow", "insightface"}) == 14 and pairs.count({"oneflow"}) == len(pairs) - 14

    of_model = [answer for answer in answers.answers(rebuilt.summaries) if answer.setting.model == "wide_and_deep"]
    found = answers.headline(of_model)
    [[obstacle]] = [case.obstacles for case in found.apart]

    assert (found.devices, found.known) == (32, None)
    assert (obstacle.key, {obstacle.ours, obstacle.theirs}) == ("facts.optimiser", {"adam", "lazy adam"})


def table_of(rebuilt, name):
    book = Book(evaluation=rebuilt)
    [model] = [model for model in models(book) if model.name == name]
    return model_figures.of_model(book, model)


def test_gpt_2_is_shown_by_size_with_step_time_memory_and_two_counts_of_tflops(rebuilt):
    """406.16 ms, 11066 MiB and 49.43 TFLOP/s are printed; those count the layers' forward pass twice, and ours once."""
    table = table_of(rebuilt, "gpt2")
    first = next(row for row in table.rows if row.case.framework == "oneflow")
    found = {column.name: value.raw for column, value in zip(table.columns, first.values, strict=True)}
    whole = facts.model_of(first.case).flops_per_token(2048, "full")
    counted = 2048 * (whole + (whole - 6 * 51200 * 1536) / 3)

    assert table.sizes == ("num_layers", "hidden_size")
    assert [size.raw for size in first.sizes] == [16, 1536] and first.throughput.number.raw == 4.92
    assert (found["step_time_stated_s"], found["peak_memory_stated_bytes"]) == (0.40616, 11066 * 1024**2)
    assert found["tflops_stated_per_device"] == 49.43 == pytest.approx(counted * 4.92 / 1e12, rel=2e-3)
    assert 35 < found["tflops_per_device"] < 40


def test_wide_and_deep_is_shown_by_vocabulary_and_face_recognition_by_classes(rebuilt):
    wide = table_of(rebuilt, "wide_and_deep")
    faces = table_of(rebuilt, "face_r100")

    scales = [(row.case.scale, row.sizes[0].raw) for row in wide.rows if row.case.framework == "oneflow"]
    assert scales == sorted(scales) and [scale for scale, _ in scales] == ["1x1"] * 5 + ["1x8"] * 8 + ["4x8"] * 9
    assert {row.sizes[0].raw for row in faces.rows} == {85_742, 360_232} and faces.sizes == ("classes",)
    assert {row.throughput.state for row in wide.rows if row.values[0] is None} == {"oom"}


def test_the_kept_figures_are_those_of_the_reference(shared):
    printed = {
        (row["source_file"], row["note"].rpartition("line ")[2], row["throughput"] or row["latency_ms"])
        for row in paths.read_rows(shared / "reference" / "dlperf.csv")
    }

    beside = {(cell["beside_file"], cell["beside_line"], cell["tflops"]) for cell in cells()}
    assert {(cell["file"], cell["line"], cell["items_per_s"] or cell["step_ms"]) for cell in cells()} <= printed
    assert {cell for cell in beside if cell[0].startswith("Megatron")} <= printed
