"""The table that `report` and `compare` print: no two rows of it are called alike."""

from dataclasses import replace

import synthetic

from evalsuite.commands.printing import summary_table
from evalsuite.commands.printing.terminal import label
from evalsuite.model import Run


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
