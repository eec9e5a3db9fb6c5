"""A batch that a script has dumped among its arguments is taken before anything is asked for, and said to be one."""

import re

import pytest

from evalsuite import registry
from evalsuite.logs.reading import read_file
from evalsuite.logs.scan.collectors import arguments
from evalsuite.report.text import options, words

LINE = "Epoch: [0][{step:3d}/200]\tTime  0.500 ( 0.600)\tData  0.002 ( 0.001)\tLoss 6.7e+00 (7e+00)\n"
STEPS = "".join(LINE.format(step=step) for step in range(1, 131))


@pytest.fixture
def read(tmp_path):
    def reading(head, text=STEPS, **known):
        log = tmp_path / "train.log"
        log.write_text(head + "\n" + text)
        return read_file(log, **known)

    return reading


@pytest.mark.parametrize(
    ("head", "devices"),
    [
        ("Namespace(arch='resnet50', global_batch_size=512, lr=0.1)", None),
        ("--data /imagenet --global-batch-size 512 --lr 0.1", None),
        ('{"train_batch_size_per_gpu": 64, "lr": 0.1, "world_size": 8}', 8),
        ("batch size per GPU: 64\nGlobal batch size: 512", 8),
        ("gradient_accumulation_steps=1, per_device_train_batch_size=64, world_size=8,", 8),
    ],
)
def test_a_batch_among_the_arguments_needs_no_option(read, head, devices):
    reading = read(head)

    assert reading.throughput.items_per_s == pytest.approx(1024)
    assert reading.total_devices == devices
    assert "batch_from_argument" in {one.name for one in reading.findings}


@pytest.mark.parametrize(
    "head",
    [
        "batch_size=512",  # of one device, or of all?
        "global_batch_size=512, micro_batch_size=4",  # a printed step may be a part of one
        "global_batch_size=512, gradient_accumulation_steps=4",
        "eval_global_batch_size=512",
        "global_batch_size=512.5",
        "global_batch_size=1,024",
        "global_batch_size=None",
    ],
)
def test_an_argument_that_leaves_a_doubt_is_not_taken(read, head):
    reading = read(head)

    assert reading.throughput is None
    assert "--batch-per-device" in reading.reason


def test_a_bare_batch_size_is_quoted_where_the_batch_is_asked_for(read):
    assert "(it has batch_size=512, and does not say of how many devices)" in read("Namespace(batch_size=512)").reason


def test_an_option_is_stronger_than_an_argument_and_their_contradiction_is_said(read):
    reading = read("batch_size_per_gpu=64", devices=8, batch_per_device=32)

    assert reading.throughput.items_per_s == pytest.approx(512)
    assert "batch_from_argument" not in {one.name for one in reading.findings}


def test_what_is_printed_after_training_began_is_no_argument(read):
    assert read("", STEPS * 4 + "the next stage trains with global_batch_size=512\n").throughput is None


def test_sequences_are_not_taken_for_tokens(tmp_path):
    line = "step: {step}  loss:  6.0348  memory: 49.66GiB(52.28%)  tps: 5,868  tflops: 339.82  mfu: 34.36%\n"
    log = tmp_path / "train.log"
    stamp = "[titan] 2025-06-16 22:{minute:02d}:{second:02d},000 - root - INFO - "
    lines = (stamp.format(minute=step // 60, second=step % 60) + line.format(step=step) for step in range(1, 131))
    log.write_text("global_batch_size=512\n" + "".join(lines))

    assert read_file(log, devices=1).throughput.items_per_s == pytest.approx(5868)


@pytest.mark.parametrize("text", [b"", b"batch", b"a line of batch_size", b"batch_size=" + b"9" * 40, b"--batch-size"])
def test_text_that_is_no_argument_says_nothing(text):
    assert not arguments(text)


# options of scripts are told in words wherever a reader meets them; what has no words is shown as it is given


SPOKEN = words.read()


@pytest.mark.parametrize(
    ("name", "value", "zh", "en"),
    [
        ("gradient_clipping", "off", "梯度裁剪：关", "gradient clipping: off"),
        ("optimiser", "adamw", "优化器：AdamW", "optimiser: AdamW"),
        ("classifier", "data", "分类层并行方式：数据并行", "classifier: data parallel"),
        ("deep_vocabulary", "3200000", "深层词表大小：3,200,000", "vocabulary of the deep part: 3,200,000"),
        ("some_switch", "<b>x</b>", "some_switch：<b>x</b>", "some_switch: <b>x</b>"),
        ("serial", "0012", "serial：0012", "serial: 0012"),
    ],
)
def test_an_option_is_said_in_words_and_an_unknown_one_as_it_is_given(name, value, zh, en):
    said = options.option(name, value, SPOKEN)

    assert (said.plain("zh"), said.plain("en")) == (zh, en)
    assert "<b>" not in said.in_language("en")


def test_every_option_of_an_adapter_has_a_name_in_both_languages():
    declared = {
        name for one in registry.discover().values() for recipe in one.recipes for name in (recipe.options or {})
    }

    assert sorted(name for name in declared if f"options.{name}" not in SPOKEN) == []
    assert all(re.search("[一-鿿]|FP16", options.title(name, SPOKEN).plain("zh")) for name in declared - {"zero_stage"})
