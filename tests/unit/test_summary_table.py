"""The table that `report` and `compare` print: no two rows of it are called alike."""

import argparse
from dataclasses import replace

import pytest
import synthetic

from evalsuite.commands.printing import i18n, summary_table
from evalsuite.commands.printing.terminal import label
from evalsuite.model import Run
from evalsuite.report.book.book import Book


def named(*cases, language="en"):
    found = summary_table.short_names(cases, language)
    return [found[case.id] for case in cases]


def case(framework="pytorch", **changes):
    return synthetic.case(framework, (1, 2), **changes)


def test_two_scripts_of_a_framework_are_told_apart_as_on_the_page():
    whole, split = case(recipe="reference-face-tiny"), case(recipe="reference-face-tiny-split")

    assert named(whole, split, case("mxnet")) == [
        "PyTorch · reference-face-tiny",
        "PyTorch · reference-face-tiny-split",
        "MXNet",
    ]
    assert named(whole, case("mxnet")) == ["PyTorch", "MXNet"]
    assert named(case(recipe="examples-imagenet"), case("mxnet"))[0] == "PyTorch · examples-imagenet"


def test_variants_of_one_framework_have_the_names_of_the_first_sentence():
    fast, slow = (case(options=(("link_mbit", each), ("overlap", "on"))) for each in ("2000", "500"))
    bare = case(options=(("link_mbit", "500"), ("overlap", "off")))

    assert named(fast, slow, bare) == [
        "PyTorch · 2,000 Mbit/s link + overlapped communication",
        "PyTorch · 500 Mbit/s link + overlapped communication",
        "PyTorch · 500 Mbit/s link",
    ]
    assert named(fast, slow, language="zh")[0] == "PyTorch · 2,000 Mbit/s 链路"


def test_rows_that_would_be_alike_have_batch_steps_and_cores_and_a_run_its_script():
    one = case("pytorch")
    large, long = replace(one, batch_per_device=64), replace(one, protocol=synthetic.FULL)

    assert named(one, large) == [f"PyTorch · bsz {one.batch_per_device}", "PyTorch · bsz 64"]
    assert len(set(named(one, large, long, replace(one, cores_per_device=2)))) == 4
    assert named(one, replace(one, nodes=2), replace(one, precision="amp"), replace(one, xla=True)) == ["PyTorch"] * 4

    run = Run(case=case(recipe="reference-face-tiny-split"), repeat=0)
    assert label(run).startswith("pytorch ") and label(run, several=True).startswith(
        "pytorch/reference-face-tiny-split "
    )


@pytest.mark.parametrize(
    ("language", "legend", "flag"),
    [
        ("en", "◐ partial: fewer than 5", "⚠ coefficient of variation (CV) above 15% (D08_unstable): PyTorch 1x2"),
        ("zh", "◐ 样本不足：有效重复少于 5 次", "⚠ 变异系数（CV）大于 15%（D08_unstable）：PyTorch 1x2"),
    ],
)
def test_a_median_has_its_range_and_marks_beside_it_and_below_what_they_mean(language, legend, flag, capsys):
    of, single = case(), case("mxnet")
    noisy = synthetic.summary([synthetic.measured(of, repeat, rate) for repeat, rate in enumerate((13.31, 6.5, 7.74))])
    found = [noisy, synthetic.summary([synthetic.measured(single, 0, 9.0)])]
    before = i18n.language()
    i18n.choose(argparse.Namespace(lang=language))

    try:
        summary_table.show(found, Book(evaluation=synthetic.evaluation(found)))
    finally:
        i18n.choose(argparse.Namespace(lang=before))

    rows = capsys.readouterr().out.splitlines()
    row = next(line for line in rows if "PyTorch" in line and "7.74" in line)
    assert "7.74 images/s ◐⚠" in row and "6.50–13.31" in row
    assert "—" in next(line for line in rows if "9.00 images/s" in line)
    assert any(line.startswith(legend) for line in rows)
    assert [flag] == [line for line in rows if line.startswith("⚠")]
