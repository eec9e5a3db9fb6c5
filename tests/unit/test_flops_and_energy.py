"""TFLOP/s and the share of the peak, from catalogues with sources and from nothing that nobody stated."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic

from evalsuite.core.model import Fact, Utilisation
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json, tables
from evalsuite.results.measure import flops
from evalsuite.results.rules import flops_and_energy
from tests import sources

DLPERF = Path(__file__).parents[1] / "published" / "dlperf_gpt.csv"
V100 = "Tesla V100-SXM2-16GB"


def summary(unit="images/s", items_per_s=1000.0, **stated):
    """One summary of ResNet-50 v1.5 on one GPU, whose runs state *stated*."""
    case = synthetic.case("pytorch", (1, 1), protocol=synthetic.FULL, options=(), device="gpu", batch_per_device=128)
    runs = [synthetic.measured(case, k, items_per_s) for k in range(5)]
    found = tuple(Fact(key=key, value=value, source="log") for key, value in stated.items())
    quiet = [replace(run, facts=found, environment=None) for run in runs]
    return replace(synthetic.summary(quiet), unit=unit)


STATED = {"input_size": "224", "device_model": V100, "precision": "fp16_amp"}


def macs(stride_in_3x3):
    """Multiplications of ResNet-50's convolutions and classifier for one image of 224 pixels."""
    side, channels, total = 56, 64, 112 * 112 * 64 * 3 * 49
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width, stride = 64 * 2**stage, 1 if stage == 0 else 2
        for block in range(blocks):
            out = side // stride if block == 0 else side
            first = side if stride_in_3x3 and block == 0 else out
            total += first**2 * channels * width + out**2 * (9 * width**2 + 4 * width**2)
            total += out**2 * channels * 4 * width if block == 0 else 0
            side, channels = out, 4 * width
    return total + channels * 1000


@pytest.mark.parametrize(("model", "stride_in_3x3"), [("resnet50_v1.5", True), ("resnet50_v1", False)])
def test_the_operations_of_resnet_50_are_those_of_its_layers(model, stride_in_3x3):
    (listed,) = (each for each in flops.listed()["convolutions"] if model in each["names"])
    assert listed["forward_macs"] == macs(stride_in_3x3)


def published():
    lines = [line for line in DLPERF.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    return list(csv.DictReader(lines))


@pytest.mark.parametrize("row", published(), ids=lambda row: f"line {row['line']}")
def test_the_tflops_that_dlperf_prints_follow_from_its_latencies(row):
    sizes = {"n_layer": int(row["layers"]), "n_embd": int(row["hidden"]), "n_head": 1, "n_positions": 2048}
    model = flops.from_config({"model_type": "gpt2", "vocab_size": 51_200, **sizes}, "dlperf")
    layers = model.flops_per_token(2048, "full") - 6 * 51_200 * sizes["n_embd"]
    of_step = int(row["global_batch"]) * 2048 * (model.flops_per_token(2048, "full") + layers / 3)  # a fourth pass

    tflops = of_step / (float(row["latency_ms"]) / 1000) / int(row["devices"]) / 1e12

    assert tflops == pytest.approx(float(row["tflops_per_device"]), rel=0.004)
    share = tflops / flops_and_energy.peak_tflops(V100, "fp16_amp") * 100
    assert share == pytest.approx(float(row["percent_of_peak"]), abs=0.6)  # printed without decimals


def test_operations_of_language_models_are_counted_by_rules_with_names():
    llama = flops.read_model("llama3_8b")

    counted = {rule: round(llama.flops_per_token(8192, rule) / 1e9, 2) for rule in flops.listed()["rules"]}

    assert counted == sources.table("flops_and_energy.toml")["llama3_8b_at_8192"]
    case = synthetic.case("pytorch", (1, 1), model="llama3_8b")
    by_rule, _ = flops_and_energy.flops_by_rule(case, "sequences/s", Fact(key="input_size", value="8192", source="log"))
    assert by_rule == {rule: 8192 * llama.flops_per_token(8192, rule) for rule in flops.SHOWN}


def test_tflops_and_mfu_of_resnet_50_and_none_where_an_a100_may_round_to_tf32():
    found = flops_and_energy.compute(summary(items_per_s=1000.0, **STATED))

    assert found.tflops_per_device == pytest.approx(6 * 4_089_184_256 * 1000 / 1e12)
    assert found.mfu == pytest.approx(24.535 / 125, rel=1e-3)

    stated = {"input_size": "224", "device_model": "NVIDIA A100-SXM4-40GB"}

    assert flops_and_energy.compute(summary(**stated)).mfu is None
    assert flops_and_energy.compute(summary(**stated, precision="tf32")).mfu is not None
    assert flops_and_energy.compute(summary(**{**stated, "device_model": V100})).peak_tflops == 15.7


@pytest.mark.parametrize(
    ("changes", "known"),
    [({"device_model": None}, True), *(({"input_size": size}, False) for size in (None, "192", "", "large"))],
)
def test_what_nobody_states_has_no_default_and_another_size_of_the_input_no_operations(changes, known):
    stated = {key: value for key, value in {**STATED, **changes}.items() if value is not None}

    found = flops_and_energy.compute(summary(**stated))

    assert (found is not None) is known
    assert found is None or found.mfu is None


@pytest.mark.parametrize(
    ("device", "precision", "rate", "possible"),  # of images of 224 pixels: 24.5 GFLOP each
    [
        (V100, "fp16_amp", 5000, True),
        (V100, "fp16_amp", 5200, False),
        ("V100", "fp16_amp", 5000, True),  # which of the two is not said: the higher peak counts
        ("V100", "fp16_amp", 5200, False),
        ("SuperGPU", "fp16_amp", 50_000, True),  # of no name that is listed: the highest of all
        (None, "fp16_amp", 102_000, False),
        (None, "unknown", 600_000, True),
        (None, "unknown", 620_000, False),
    ],
)
def test_no_value_stands_above_the_highest_peak_of_any_device_of_the_name(device, precision, rate, possible):
    stated = {"input_size": "224", **({"device_model": device} if device else {}), "precision": precision}
    (run,) = summary(items_per_s=float(rate), **stated).measurements[:1]

    assert [each.severity for each in flops_and_energy.impossible(run)] == ([] if possible else ["exclude"])


@pytest.mark.parametrize(("device", "precision", "peak"), sources.table("flops_and_energy.toml")["peaks"])
def test_peaks_are_dense_and_told_by_the_name_of_the_product_and_none_is_assumed(device, precision, peak):
    assert flops_and_energy.peak_tflops(device, precision) == (peak or None)


def test_energy_for_an_item_is_the_power_of_a_device_over_its_throughput():
    power = Utilisation(resource="gpu_power", unit="W", mean=250.0, p5=240.0, p95=260.0, samples=100, coverage=1.0)

    assert flops_and_energy.energy(summary()) is None
    assert flops_and_energy.energy(replace(summary(), utilisation=(power,))) == flops_and_energy.Energy(
        joules_per_item=0.25, method="sampled power"
    )


def test_summary_json_and_tables_hold_compute_and_energy_where_they_are_known():
    known, unknown = summary(**STATED), replace(summary(), unit="tokens/s")
    books = [Book(evaluation=synthetic.evaluation((each,))) for each in (known, unknown)]

    found, absent = (summary_json.document(book, "0" * 64)["summaries"][0] for book in books)
    (row,) = tables.rows(books[0], ["summaries"])["summaries"]

    assert found["compute"]["peak_tflops"] == 125
    assert (absent["compute"], absent["energy"]) == (None, None)
    mfu = flops_and_energy.compute(known).mfu
    assert (row["peak_tflops"], row["mfu"], row["energy_j_per_item"]) == (125, mfu, None)
    assert {"tflops_per_device", "peak_tflops", "mfu", "energy_j_per_item"} <= set(tables.COLUMNS["summaries"])


def test_every_entry_of_the_catalogues_names_its_source():
    assert all(each["source"] for kind in ("rules", "transformers", "convolutions") for each in _entries(kind))
    peaks = flops_and_energy._peaks()
    assert all(peak.words and peak.tflops and re.search(r", 20[12]\d(-\d\d)?$", peak.source) for peak in peaks)
    assert len(peaks) >= 35


def _entries(kind):
    found = flops.listed()[kind]
    return found.values() if isinstance(found, dict) else found
