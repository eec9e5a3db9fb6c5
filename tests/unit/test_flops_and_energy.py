"""TFLOP/s and the share of the peak, from catalogues with sources and from nothing that nobody stated."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic

from evalsuite.cli import main
from evalsuite.core import paths
from evalsuite.core.model import Fact, Utilisation
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json, tables
from evalsuite.results.measure import flops
from evalsuite.results.rules import flops_and_energy
from tests import sources
from tests.corpus import LOGS as SHARED

LOGS = Path(__file__).parents[1] / "logs"
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
        ("NVIDIA H200", "bf16_amp", 43_000, True),  # at the highest clock
        ("NVIDIA H200", "bf16_amp", 44_000, False),
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


# of models built without memory (torch's device "meta"): 6 × num_parameters(exclude_embeddings=True) of transformers,
# as Trainer.floating_point_ops() counts a token, and get_nparams_and_flops() of torchtitan's own configurations
FRAMEWORKS = paths.read_rows(LOGS.with_name("published") / "framework_flops.csv")
APART = {"bert_base", "gpt2_tiny"}  # biases and types of tokens, of models of few weights


@pytest.mark.parametrize("row", FRAMEWORKS, ids=lambda row: f"{row['framework']} {row['model']}")
def test_what_the_frameworks_own_functions_count_is_counted_here(row):
    model = flops.read_model(row["model"])
    within = 0.009 if row["model"] in APART else 0.003

    assert model.flops_per_token(int(row["sequence"]), row["rule"]) == pytest.approx(
        float(row["flops_per_token"]), rel=within
    )
    assert model.parameters == pytest.approx(int(row["parameters"]), rel=0.013 if model.places else 0.0005)
    assert len(FRAMEWORKS) >= 40


def parsed(capsys, log, *options):
    code = main(["parse", str(log), *options, "--json"])
    (found,) = json.loads(capsys.readouterr().out)
    return code, found


KEPT = sources.table("flops_and_energy.toml")
TOWERS = json.loads((LOGS.parent / "files" / "towers.json").read_text(encoding="utf-8"))["towers"]


def kept(log):
    file = SHARED / log.removeprefix("shared/") if log.startswith("shared/") else LOGS / log
    return file if file.exists() else pytest.skip("the kept corpora are not here")


@pytest.mark.parametrize("row", KEPT["own"], ids=lambda row: row["log"])
def test_what_a_stack_prints_of_itself_follows_from_its_own_rule(row, capsys):
    known = ["--model", row["model"], "--set", f"sequence_length={row['sequence']}", "--device", row["device"]]
    devices = ["--devices", str(row["devices"])] if "devices" in row else []
    _, found = parsed(capsys, kept(row["log"]), *known, *devices)
    printed, compute = found["also_printed"], found["compute"]

    assert compute["own_rule"] == row["rule"]
    own = {"tflop_per_s_per_device": compute["tflops_per_device"][row["rule"]], "mfu": compute["mfu"][row["rule"]]}
    off = {name: round(100 * (own[name] / value - 1), 2) for name in own if (value := printed[name])}
    assert off == row["off"] and max(map(abs, off.values())) <= 0.5


@pytest.mark.parametrize("log", KEPT["silent"])
def test_a_stack_that_prints_no_figure_of_its_own_is_counted_by_the_rules_with_names(log, capsys):
    options = ["--model", "gpt2_124m", "--set", "sequence_length=1024", "--devices", "8", "--batch-per-device", "4"]
    _, found = parsed(capsys, kept(log), *options)

    also = found["also_printed"] or {}
    assert (also.get("tflop_per_s_per_device"), also.get("mfu")) == (None, None)
    assert "note" in found["compute"] or {*flops.SHOWN} <= {*found["compute"]["tflops_per_device"]}


@pytest.mark.parametrize(
    ("tps", "tflops", "mfu", "stated", "said"),
    [
        (5800, "{tps} * 0.057914", 34.0, [], []),
        (5800, "{tps} * 0.057914", 223.0, [], ["2.23 and its other figures give 1.00"]),
        (26000, "", 50.0, ["precision=bf16"], ["TFLOP/s per device is more than the highest peak"]),
        (26000, "", 50.0, [], []),  # it may be FP8
        (11600, "{tps} * 0.057914 / 2", 34.0, ["tp=2"], ["0.5 times", "tensor-parallel parts"]),
        (5800, "{tps} * 0.057914 / 8", 4.2, ["accumulation=8"], ["0.125 times", "that a step accumulates"]),
        (5800, "{tps} * 0.057914 * 2", 67.9, ["accumulation=2"], ["2 times", "that a step accumulates"]),
        (5800, "{tps} * 0.057914 / 1.0995", 30.9, [], ["0.91 times", "divided by 2⁴⁰"]),
        (5800, "{tps} * 0.0741", 43.4, [], []),  # by no factor that is known
        (5000, "335.9", 34.0, [], ["so they are a constant"]),
    ],
)
def test_what_a_log_prints_and_cannot_be_names_its_arithmetic(tps, tflops, mfu, stated, said, tmp_path, capsys):
    rates = [tps + step * (60 if tflops == "335.9" else 1) for step in range(13)]
    line = "[titan] 2025-06-16 22:{0:02}:{1:02},322 - root - INFO - step: {2}  loss: {3}  tps: {4:,}  {5}mfu: {6}%"
    own = [f"tflops: {eval(tflops.format(tps=rate)):.2f}  " if tflops else "" for rate in rates]
    places = [(n // 6, n % 6 * 10, 10 * n + 10, 8 - n / 10, rate, own[n]) for n, rate in enumerate(rates)]
    lines = [line.format(*place, mfu) for place in places]
    (tmp_path / "log").write_text("\n".join([*lines, ""]), encoding="utf-8")
    options = [word for pair in ("sequence_length=8192", *stated) for word in ("--set", pair)]
    model = ["--model", "llama3_8b", "--device", "NVIDIA H100", "--devices", "8"]

    code, found = parsed(capsys, tmp_path / "log", *model, *options)

    (*_, text) = ["", *(each["text"] for each in found["findings"] if each["code"] == "D20")]
    assert (code, found["status"]) == ((3, "doubtful") if said else (0, "ok"))
    assert all(words in text for words in said) and bool(text) == bool(said)
    assert max((found["compute"]["mfu"] or {"causal": 0}).values()) <= 1


LLAMA = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
LLAMA |= {"intermediate_size": 128, "vocab_size": 100}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"hidden_size": None}, "hidden_size: got –"),
        ({"num_hidden_layers": -2}, "num_hidden_layers: got -2"),
        ({"vocab_size": "many"}, "vocab_size: got many"),
        ({"num_attention_heads": 5}, "num_attention_heads: got 5"),
        ({"num_key_value_heads": 3}, "num_attention_heads: got 4"),
        ({"num_local_experts": 8, "num_experts_per_tok": 9}, "num_experts_per_tok: got 9 > 8"),
        ({"layer_types": ["linear_attention"] * 2}, "layer_types: got 2: linear_attention"),
        ({"layer_types": 3}, "layer_types: got 3"),
        ({"moe_num_experts": 64}, "moe_num_experts: got 64, without num_experts"),  # by a name that is not known
        ({"text_config": {"model_type": "llama"}}, "hidden_size: got –"),
        ({"vision_config": {"depth": 2}}, 'model_type: got "llama"; expected one whose layers are known: gemma3'),
        ({"model_type": "mamba"}, 'model_type: got "mamba"'),
    ],
)
def test_a_config_with_a_missing_or_impossible_dimension_is_refused_by_its_name(changes, named, tmp_path, capsys):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({**LLAMA, **changes}), encoding="utf-8")

    assert main(["parse", str(LOGS / "torchtitan.log"), "--model", str(config)]) == 2
    assert named in capsys.readouterr().err


OF_8B = ["parse", "LOG", "--model", "llama3_8b"]
OF_A_LOG = ("framework=pytorch", "model=llama3_8b", "batch=1", "nodes=1", "gpus=8")
BROUGHT = ["import", "LOG", "--runs", "RUNS", *(word for pair in OF_A_LOG for word in ("--set", pair))]


@pytest.mark.parametrize(
    ("command", "stated", "said"),
    [
        (BROUGHT, ["tp=16"], "the layout TP 16 is of 16 devices, and the case has 8"),
        (BROUGHT, ["recipe=megatron", "tp=4", "ep=4"], "by its stack's rule they divide DP·FSDP·CP = 2"),
        (BROUGHT, ["cp=8", "sequence_length=100"], "100 tokens"),
        (OF_8B, ["sequence_length=8k"], 'got "8k"; expected such as sequence_length=8192'),
        (OF_8B, ["rule=palm2"], 'unknown name "palm2"; expected one of causal, full, 6n, palm, megatron'),
        (OF_8B, ["trained=qlora"], 'got "qlora"; expected such as trained=lora'),
        (OF_8B, ["recompute=some"], 'got "some"; expected such as recompute=full'),
        (OF_8B, ["precision=fp9"], 'got "fp9"; expected such as precision=bf16'),
        (OF_8B, ["tp=0"], 'got "0"; expected such as tp=2'),
        (OF_8B[:2], ["shape=(.*"], "shape"),
        (OF_8B, [], "no TFLOP/s: nothing says how long a sequence is; try --set sequence_length=8192"),
        ([*OF_8B, "--device", "Foo 9"], ["sequence_length=8192"], 'of "Foo 9" in bf16; the line to add: Foo 9,'),
        ([*OF_8B, "--device", "NVIDIA H100"], ["sequence_length=8192", "recompute=full"], "HFU"),
        ([*OF_8B[:3], "llama3_70b"], ["sequence_length=8192"], "by none of its stack's rules"),
        (
            [*OF_8B[:3], "TOWER"],
            ["sequence_length=8192", "images_per_sequence=99", "tokens_per_image=96"],
            "try --set images_per_sequence=1",
        ),
        ([*OF_8B[:3], "TOWER"], ["sequence_length=8192", "images_per_sequence=2", "tokens_per_image=96"], "causal "),
        ([*OF_8B[:3], "TOWER"], ["sequence_length=8192", "images_per_sequence=0"], "causal "),
        (["plan", "--memory", "TOWER", "--option", "sequence_length=64"], [], "vision towers"),
    ],
)
def test_what_a_figure_needs_is_asked_for_and_never_assumed(command, stated, said, tmp_path, capsys):
    places = {"LOG": str(LOGS / "torchtitan.log"), "RUNS": str(tmp_path), "TOWER": str(tmp_path / "tower.json")}
    (tmp_path / "tower.json").write_text(json.dumps(TOWERS[0]["config"]), encoding="utf-8")
    options = [word for pair in stated for word in ("--set", pair)]

    code = main([places.get(word, word) for word in (*command, *options)])
    printed = "".join(capsys.readouterr())

    assert said in printed and (code == 2) is ("TFLOP/s" not in printed)
    assert (", HFU " in printed) is ("recompute=full" in stated)  # and of nothing else that is stated
    assert "%)" not in printed or "H100" in command[-1]


def test_a_config_beside_the_run_folders_is_that_of_its_cases(tmp_path):
    (tmp_path / "my_llama.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    case, size = synthetic.case("pytorch", (1, 1), model="my_llama"), Fact(key="input_size", value="32", source="log")

    flops_and_energy.bring_models([tmp_path])
    found, source = flops_and_energy.flops_by_rule(case, "tokens/s", size)
    flops_and_energy.bring_models([])

    assert (found["causal"], source) == (flops.from_config(LLAMA, "a").flops_per_token(32), "my_llama.json")
    assert flops_and_energy.flops_by_rule(case, "tokens/s", size) == ({}, "")


def test_frozen_weights_windows_experts_and_further_tokens_are_counted():
    dense = flops.from_config(LLAMA, "a")
    layer = 4 * 64 * 64 + 3 * 64 * 128
    sparse = flops.from_config({**LLAMA, "num_local_experts": 8, "num_experts_per_tok": 2}, "b")
    ahead = flops.from_config({**LLAMA, "num_nextn_predict_layers": 1}, "c")
    mistral = flops.from_config({**LLAMA, "model_type": "mistral", "sliding_window": 10}, "d")

    assert dense.flops_per_token(32) == 6 * (2 * layer + 6400) + 6 * 2 * 128 * 16
    assert dense.flops_per_token(32, frozen=True) == 4 * (2 * layer + 6400) + 6 * 2 * 128 * 16
    assert sparse.flops_per_token(32) - dense.flops_per_token(32) == 6 * 2 * 3 * 64 * 128
    assert ahead.flops_per_token(32) - dense.flops_per_token(32) == 6 * (layer + 2 * 64**2 + 6400) + 6 * 128 * 16
    assert dense.flops_per_token(32) - mistral.flops_per_token(32) == 6 * 2 * 128 * (16 - (10 - 100 / 64))
    assert mistral.flops_per_token(32, "full") == dense.flops_per_token(32, "full")


@pytest.mark.parametrize("row", TOWERS, ids=lambda row: row["config"]["model_type"])
def test_a_vision_tower_is_counted_as_its_own_modules_compute(row):
    text = flops.from_config(row["config"], "a")
    one = replace(text, images=(1, row["tokens"], 6))
    still = replace(text, images=(2, row["tokens"], 2))
    more = [4096 * (each.flops_per_token(4096) - text.flops_per_token(4096)) for each in (one, still)]

    assert more == pytest.approx([3 * row["forward"], 2 * row["forward"]], rel=row["within"])
    assert one.flops_per_token(4096, "hf") == text.flops_per_token(4096, "hf")


def test_every_entry_of_the_catalogues_names_its_source():
    listed = [flops.listed()[kind] for kind in ("rules", "transformers", "convolutions")]
    assert all(each["source"] for kind in listed for each in (kind.values() if isinstance(kind, dict) else kind))
    peaks = flops_and_energy._peaks()
    assert all(peak.words and peak.tflops and re.search(r", 20[12]\d(-\d\d)?$", peak.source) for peak in peaks)
    assert len(peaks) >= 35
