"""Language models: the order of each stack's best layout, and the chapter of the page."""

import json
from dataclasses import replace

import pages
import pytest
import synthetic

from evalsuite import report
from evalsuite.core.documents import UsedRecipe
from evalsuite.core.model import Fact
from evalsuite.report.book.participants import source_of
from evalsuite.report.forms import markdown
from evalsuite.report.forms.material import material_of
from evalsuite.results.compare.decisions import layout_searches


def trained(framework, speed, layout, *, scale=(1, 8), batch=4, sequence="4096", steps=10):
    """Five runs of Llama 3 in tokens/s, whose loss falls with the tokens."""
    of = synthetic.case(
        framework,
        scale,
        model="llama3_8b",
        precision="bf16",
        device="gpu",
        batch_per_device=batch,
        options=(("sequence_length", sequence), *(("tp", layout[3:]) for part in [layout[:2]] if part == "TP")),
        protocol=synthetic.FULL,
    )
    stated = {"parallel_layout": layout, "input_size": sequence, "device_model": "NVIDIA H100", "data": "text"}
    facts = [Fact(key=key, value=value, source="recipe") for key, value in stated.items()]
    runs = [synthetic.measured(of, repeat, speed + repeat / 100) for repeat in range(5)]
    return synthetic.summary(
        replace(
            run,
            throughput=replace(run.throughput, unit="tokens/s"),
            facts=(*(fact for fact in run.facts if fact.key not in stated), *facts),
            course=tuple((1.0 + step * steps, 9.0 - step) for step in range(4)),
        )
        for run in runs
    )


@pytest.mark.parametrize(
    ("rows", "tried", "first", "ratio"),
    [
        # on fewer devices it is no other layout
        ([("a", 100, "DP 8", {}), ("a", 140, "TP 2", {"batch": 8, "scale": (1, 4)})], None, None, None),
        ([("a", 100, "DP 8", {}), ("a", 140, "TP 2", {}), ("b", 120, "DP 8", {})], {"a": 2, "b": 1}, None, None),
        (
            [("a", 100, "DP 8", {}), ("a", 140, "TP 2", {}), ("b", 120, "DP 8", {}), ("b", 90, "TP 4", {})],
            {"a": 2, "b": 2},
            "a",
            120 / 140,
        ),
        # a longer sequence is other work
        ([("a", 100, "DP 8", {}), ("a", 140, "TP 2", {"sequence": "8192"})], None, None, None),
    ],
)
def test_the_best_layouts_are_ordered_where_all_tried_as_many(rows, tried, first, ratio):
    found = layout_searches([trained(name, speed, layout, **changes) for name, speed, layout, changes in rows])

    assert [{name: len(points) for name, points in each.tried.items()} for each in found] == ([tried] if tried else [])
    ranked = [each.ranking.ranked for each in found if each.ranking]
    assert [(order[0].summary.case.framework, order[1].ratio) for order in ranked] == (
        [(first, pytest.approx(ratio, rel=1e-3))] if first else []
    )


def test_the_chapter_says_layout_and_losses_at_equal_tokens(tmp_path):
    rows = [trained("trl", 8000.0, "DP 8"), trained("maxtext", 9000.0, "TP 2", steps=20)]
    report.build(synthetic.evaluation(rows), tmp_path)
    page = pages.read((tmp_path / "report.html").read_text(encoding="utf-8"))
    chapter = next(section for section in page.all("section") if section.attributes.get("id") == "language")

    settings, *_ = chapter.all("table")
    assert {row[0]: row[2] for row in pages.rows(settings)} == {"MaxText": "TP 2", "TRL": "DP 8"}
    # 31 steps of 32 items: there one is at 6.0, and the other between 8.0 and 7.0
    assert "At 992 tokens the losses are 6.000 (TRL) to 7.500 (MaxText)" in chapter.text("en")


def test_a_source_reads_in_each_language_and_what_is_not_recorded_has_its_legend(tmp_path):
    stated, silent = trained("trl", 8000.0, "DP 8"), trained("maxtext", 9000.0, "DP 8")
    runs = [replace(run, facts=tuple(each for each in run.facts if each.key != "data")) for run in silent.measurements]
    rows = [stated, synthetic.summary(runs)]
    page = pages.read(report.build(synthetic.evaluation(rows), tmp_path)[0].read_text(encoding="utf-8"))
    chapter = next(section for section in page.all("section") if section.attributes.get("id") == "language")

    named = "ms-swift==4.6.0 (Python package): `swift pt`, which its launcher starts"
    assert source_of(UsedRecipe(source=named)) == "ms-swift==4.6.0: swift pt"
    assert "not recorded: not given by log or sensors" in chapter.text("en")


def test_a_run_that_began_again_has_its_goodput_in_the_chapter(tmp_path):
    rows = [trained("trl", 8000.0, "DP 8"), trained("maxtext", 9000.0, "DP 8")]
    first, *others = rows[0].measurements
    again = synthetic.summary([replace(first, figures=(*first.figures, ("goodput", 0.514))), *others])
    page = pages.read(report.build(synthetic.evaluation([again, rows[1]]), tmp_path)[0].read_text(encoding="utf-8"))

    assert "parse --goodput divides the rest): TRL: 51.4%" in page.one("section", id="language").text("en")


def test_all_that_a_stack_tried_is_shown_with_what_is_said_of_the_best(tmp_path):
    tried = {"trl": [(100, "DP 8"), (140, "TP 2")], "maxtext": [(120, "DP 8"), (90, "TP 4")]}
    rows = [trained(name, speed, layout) for name, points in tried.items() for speed, layout in points]
    report.build(synthetic.evaluation(rows), tmp_path)
    page = pages.read((tmp_path / "report.html").read_text(encoding="utf-8"))
    (table,) = [each for each in page.all("table") if "best layout" in each.one("caption").text("en")]

    assert [(row[0], row[1].split(": ")[1], row[3]) for row in pages.rows(table)] == [
        ("TRL", "TP 2", "100.0%"),
        ("TRL", "DP 8", "71.4%"),
        ("MaxText", "DP 8", "100.0%"),
        ("MaxText", "TP 4", "75.0%"),
    ]
    points = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["layout_searches"][0]["points"]
    assert [(each["framework"], each["layout"]["parallel_layout"]) for each in points] == [
        *(("trl", layout) for layout in ("TP 2", "DP 8")),
        *(("maxtext", layout) for layout in ("DP 8", "TP 4")),
    ]
    found = synthetic.evaluation(rows), synthetic.evaluation(rows[:2])
    text, alone = (markdown.document(material_of(each, tmp_path, ("en",)), "en") for each in found)
    assert "| MaxText | 1×8 · bsz 4 · parallel layout: TP 4 | 90.02 |" in text and "\n\nNot to be mixed" in alone
    said = page.one("section", id="language").text("en")
    assert "TRL's best layout is 16.7% faster than MaxText's, of 2 stacks that tried equally many." in said
