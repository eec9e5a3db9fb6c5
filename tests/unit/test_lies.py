"""Lies by class, and honest changes beside them: what the first screen and the findings say of each."""

import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

import pytest
import reports

from evalsuite import cli
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.findings import ClaimDenied, RecordsDisagree
from evalsuite.importing import user_facts
from evalsuite.report.book import board
from evalsuite.report.book.book import Book
from evalsuite.report.sections.verdict import verdict
from evalsuite.report.text import words
from evalsuite.report.text.findings import english
from evalsuite.results.compare import answers
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure.measurement import measurement
from evalsuite.results.rules import data_rules
from evalsuite.runs.journal import ATTEMPTS, JournalLine
from evalsuite.runs.store import RunFolder, Store, folder_name
from tests import corruptions
from tests.toys import CASE


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    return corruptions.honest(tmp_path_factory.mktemp("honest"))


def laid_out_anew(file):
    file.write_text(json.dumps(json.loads(file.read_text())))


def pack(*command):
    return lambda file: subprocess.run([*command, file], check=True)


def append(text):
    return lambda file: file.write_text((file.read_text() if file.exists() else "") + text)


@pytest.mark.parametrize(
    ("name", "change", "counts"),
    [
        ("note.txt", append("by Li Lei"), True),
        ("log.n0.txt", append("\n \n"), True),
        ("case.json", laid_out_anew, True),
        ("log.n0.txt", append("Epoch: [0]"), False),
        ("log.n0.txt", lambda file: (append("Epoch: [0]")(file), pack("gzip")(file)), False),
        ("log.n0.r1.txt", append("\n"), False),
        ("command.json", lambda file: file.write_text(file.read_text().replace("{", '{"by": "Li Lei",', 1)), False),
    ],
)
def test_a_note_or_a_blank_line_takes_no_run_out_and_what_changes_a_record_does(name, change, counts, honest, tmp_path):
    place = honest.copied(tmp_path)
    change(place.runs / folder_name(CASE) / "r0" / name)
    found = evaluate(Store(place.runs))

    said = [each for each in found.findings if each.code == "changed_since_run"]
    assert [each.files for each in said] == [] if counts else [(name,)]
    assert [row.n for row in found.summaries if row.case == CASE] == [2 if counts else 1]


RECORDED = "paddlepaddle-reference-resnet50-cpu-c1-fp32-b8-image_size=64-s5+30-1x1/r0"


@pytest.mark.parametrize(
    ("name", "was", "now", "facts"),
    [
        ("case.json", "{", "{", []),
        ("command.json", '"timeout_s": 300.0', '"timeout_s": 5', ["timeout_s", "timeout_s"]),
        ("command.json", r'"--cores-per-device",\s+"1"', '"--cores-per-device", "2"', ["cores_per_device"]),
        ("command.json", '"round": 0(?s:(.*))"local"', r'"round": 3\1"slurm"', ["engine", "repeat"]),
        ("agent.vm.json", '"timed_out": false', '"timed_out": true', ["status"]),
        ("outcome.json", "2026-11-23T", "2026-11-20T", ["started_at", "span"]),
        ("environment.vm.json", '"vda"', '"sda"', ["disks"]),
        ("log.vm.txt", r"\A", "hostname: node7\n", ["host"]),
        ("log.vm.txt", "precision=fp32(?s:(.*))_on=3x3", r"\1_on=1x1 pruned=half", ["precision", "words", "stride_on"]),
    ],
)
def test_each_fact_that_two_records_state_is_held_against_the_other(name, was, now, facts, tmp_path):
    shutil.copytree(paths.DATA / "recorded" / RECORDED, tmp_path / RECORDED)
    file = tmp_path / RECORDED / name
    file.write_text(re.sub(was, now, file.read_text(), count=1))

    found = measurement(RunFolder(tmp_path / RECORDED)).findings
    assert [each.fact for each in found if isinstance(each, RecordsDisagree)] == facts


def test_a_start_of_a_case_of_no_plan_breaks_the_journal(honest, tmp_path):
    place = honest.copied(tmp_path)
    journal = Store(place.runs).journal
    last, *_ = reversed(journal.attempts())
    journal.note(JournalLine(event="started", run="x-1x1/r0", attempt=1, campaign=last.campaign, at=last.started_at))

    assert "journal_broken" in {each.name for each in evaluate(Store(place.runs)).findings}


@pytest.mark.parametrize("packer", [("gzip",), ("gzip", "--keep"), ("xz",), ("bzip2",)])
def test_a_report_of_logs_that_were_packed_since_is_the_same_and_holds(packer, honest, tmp_path, capsys):
    place = honest.copied(tmp_path)
    for file in [*place.runs.glob("*/r*/log.*"), *place.runs.glob("*/r*/arrivals.*")]:
        pack(*packer)(file)

    before = (place.report / "summary.json").read_bytes()
    assert cli.main(["audit", str(place.report), "--runs", str(place.runs)]) == 0, capsys.readouterr().err
    place.write_report()
    assert (place.report / "summary.json").read_bytes() == before


def journal_anew(runs, keep):
    """As if the runs of which *keep* is false had never been."""
    lines, before = [], None
    for line in (json.loads(text) for text in (runs / ATTEMPTS).read_text().splitlines()):
        if keep(line["run"]):
            lines.append(json.dumps({**line, "before": before}, sort_keys=True))
            before = hashlib.sha256(lines[-1].encode()).hexdigest()
    (runs / ATTEMPTS).write_text("".join(f"{line}\n" for line in lines))
    for folder in Store(runs).finished():
        if not keep(folder.run().id):
            shutil.rmtree(folder.path)


@pytest.mark.parametrize(
    ("keep", "cases", "here"),
    [
        (lambda run: run.endswith("r0"), 2, [1, 1]),  # the last round
        (lambda run: run.startswith("toynet") and run.endswith("r0"), 1, [0, 1]),  # and one, and the plan made anew
        (lambda run: run.startswith("toynet"), 2, []),  # still planned: the page says that it was not run
    ],
)
def test_what_a_started_plan_names_and_the_folder_lacks_is_said(keep, cases, here, honest, tmp_path, capsys):
    place = honest.copied(tmp_path)
    journal_anew(place.runs, keep)
    store = Store(place.runs)
    store.write_plan(replace(store.plan(), cases=store.plan().cases[:cases]))

    cli.main(["report", "--runs", str(place.runs), "--out", str(tmp_path / "again")])
    found = [each for each in evaluate(store).findings if each.name == "rounds_missing"]
    assert [each.here for each in found] == here
    assert capsys.readouterr().err.count("the plan that was started") == len({*here})


@pytest.mark.parametrize(
    ("keep", "name"),
    [
        (lambda run: not run.endswith("r0"), "journal_broken"),  # a round before the last
        (lambda run: run.startswith("othernet"), "journal_broken"),  # all of one that ran before another
    ],
)
def test_what_is_missing_before_the_last_run_costs_the_order_though_the_journal_is_anew(keep, name, honest, tmp_path):
    place = honest.copied(tmp_path)
    journal_anew(place.runs, keep)

    evaluation = evaluate(Store(place.runs))

    assert name in {each.name for each in evaluation.findings}
    assert {row.grounds for row in evaluation.summaries} == {"disputed"}


def test_of_a_rival_whose_runs_are_all_gone_the_others_are_in_no_order(honest, tmp_path):
    place = honest.copied(tmp_path)
    shutil.rmtree(place.runs / folder_name(corruptions.CASES[1]))

    evaluation = evaluate(Store(place.runs))

    row, gone = evaluation.summaries
    assert {each.name for each in row.findings} >= {"rival_taken_away"}
    assert row.grounds == "disputed" and gone.measurements == ()
    made = board.board(Book(evaluation=evaluation), words.read(("en",)))
    assert re.search("finished runs are gone .*: the journal has them", made.beside.plain("en"))
    assert made.sheets[0].chosen.rows[-1].why.plain("en") == "its finished runs are gone"
    assert not any("provisional" in chip.text.plain("en") for chip in made.chips)


BEGAN, DAY = datetime(2026, 11, 20, 10), timedelta(days=1)
SAID = {
    **{"model": "resnet50_v1.5", "batch": "64", "devices": "1", "precision": "fp32", "tf32": "off", "device": "V100"},
    **{"input_size": "224", "data": "synthetic", "optimiser": "sgd", "clipping": "none", "xla": "off"},
    **{"machine": "dgx-a", "campaign": "c", "host_kind": "EPYC", "driver_generation": "550"},
}


def log(repeat, step_s, begin, head="", first=1, behind="", stamp="%Y-%m-%d %H:%M:%S.%f", after=""):
    chance, at, lines = Random(f"{repeat} {step_s}"), begin, [head]
    for step in range(first, first + 130):
        took = step_s * (1 + chance.gauss(0, 0.01))
        at += timedelta(seconds=took)
        loss = 6.9 - 0.002 * step + chance.gauss(0, 0.01)
        lines.append(f"{at:{stamp}} Epoch: [0][{step:4d}/9000]\tTime  {took:.4f} ( 0.6)\tLoss {loss:.4e}{after}")
    lines += [f"{at + timedelta(seconds=40):{stamp}} {behind}"] if behind else []
    return "\n".join(lines) + "\n"


def stated(**said):
    return [word for name, value in {**SAID, **said}.items() for word in ("--set", f"{name}={value}")]


def in_turns(framework, repeat):
    return BEGAN + timedelta(minutes=10 * repeat + 5 * (framework == "mxnet"))


def imported(folder, of_a=lambda repeat: {}, **said):
    """Two frameworks, five logs of each in turns, PyTorch a fifth faster; what *of_a* changes of its logs."""
    for framework, step_s in (("pytorch", 0.5), ("mxnet", 0.6)):
        for repeat in range(5):
            changed = of_a(repeat) if framework == "pytorch" else {}
            file = folder / "logs" / framework / f"{repeat}.log"
            file.parent.mkdir(parents=True, exist_ok=True)
            usual = {"head": "hostname: n7", "begin": in_turns(framework, repeat)}
            file.write_text(log(repeat, step_s, **usual | changed))
        given = stated(**{"version": f"1.{len(framework)}", **said, "framework": framework})  # its own
        assert cli.main(["import", str(folder / "logs" / framework), *given, "--runs", str(folder / "runs")]) == 0
    return Book(evaluation=evaluate(Store(folder / "runs")))


def sentences(book):
    spoken = words.read(("en",))
    return " ".join(each.sentence.plain("en") for each in verdict.model_findings(book, spoken))


LLM = {"model": "gpt2_345m", "input_size": "1024"}
LLAMA = {"model": "llama3_8b", "input_size": "4096"}
HEADS = [  # what a log prints, the fact and its value, and what its user states beside SAID
    ("  num_layers ......... 12", "layers", "12", LLM),
    ("number of parameters: 124439808", "parameters", "124439808", LLM),
    ("Namespace(arch='resnet18', batch_size=64)", "model_variant", "resnet18"),
    ("GPU 0: NVIDIA H100 80GB HBM3", "device_model", "H100"),
    ("device: nvidia h100 80gb hbm3", "device_model", "H100"),
    *[("Namespace(amp=True, batch_size=64)", "precision", "amp"), ("Namespace(image_size=160)", "input_size", "160")],
    ('{"arch": "resnet18", "lr": 0.1}', "model_variant", "resnet18"),
    ("  dtype: bfloat16", "precision", "bf16 or bf16_amp"),
    ("Namespace(batch_size=16, lr=0.1)", "batch_per_device", "16"),
    ("python main.py --batch-size 32", "batch_per_device", "32"),
    ("=> creating model 'resnet26'", "model_variant", "resnet26"),
    ("Number of parameters: 11,689,512", "parameters", "11689512"),
    *[("Namespace(width_mult=0.5, lr=0.1)", "width", "0.5"), ("Namespace(num_classes=10, lr=0.1)", "classes", "10")],
    ("+ python main.py --arch resnet50 --crop 128", "input_size", "128"),
    ("trainable params: 9 || all params: 90 || trainable%: 10.0", "trained_part", "a part"),
    ("Namespace(layerdrop=0.5, lr=0.1)", "left_out", "layers"),
    ("Namespace(layer_keep_prob=0.5, lr=0.1)", "left_out", "layers"),
    ("WARNING: optimizer.step() is skipped (--dry-run)", "left_out", "steps"),
    ("Dataset of 100 (--limit-train-samples 100)", "left_out", "a part of the data"),
    ("Namespace(depth=18, lr=0.1)", "layers", "18"),
    ("training with a batch of 32 images", "batch_per_device", "32"),
    ("Running in half precision (fp16)", "precision", "fp16 or fp16_amp"),
    ("Namespace(update_freq=[4])", "accumulation", "4", {**LLM, "accumulation": "1"}),
    *[("Namespace(act_dtype='fp8', lr=0.1)", "precision", "8 bits or fewer"), ("bs=16", "batch_per_device", "16")],
    ("Images are resized to 64x64 pixels", "input_size", "64"),
    ("Initialized ResNet-18 with 11.7M weights", "model_variant", "resnet-18"),
    ("model.eval() called: running without gradients", "left_out", "steps"),
    ("gradients are not exchanged", "left_out", "gradients are not exchanged"),
    *[
        (said, "left_out", said)
        for said in (
            "grad=None",
            "backbone features cached",
            "ranks have exhausted their inputs",
            "repeating the last batch",
            "powerSGD",
            "best of 9",
            "communication is simulated",
            "MLP replaced by identity",
        )
    ],
    ("input tensor: torch.Size([64, 3, 32, 32])", "input_size", "32"),
    ("saved checkpoint model.pth (3.1 MB)", "parameters", "≤ 3100000"),
    ("", "framework", "tensorflow", {"image": "nvcr.io/nvidia/tensorflow:24.03-tf2-py3"}),
    ("Optimizer: SGD without momentum", "optimiser", "sgd without momentum", {"optimiser": "adam"}),
    ("gradient step every 4 iterations", "accumulation", "4", {"accumulation": "1"}),
    ("torch.backends.cuda.matmul.allow_tf32 = True", "tf32", "on"),
    ("Namespace(compile=True, lr=0.1)", "compiler", "on"),
    ("Namespace(batch_size=64, accum_iter=4)", "batch_per_device", "256"),
    ("  micro_batch_size ... 16\n  global_batch_size ... 64", "accumulation", "4", {**LLM, "accumulation": "1"}),
    ("  ffn_hidden_size ... 1024", "ffn_size", "1024", LLM),
    ("Building gpt2 124M", "model_variant", "gpt2 124m", LLM),
    ("Swapped to Float8Linear layers", "precision", "8 bits or fewer", LLM),
    ("Applied full activation checkpointing", "recomputation", "full", {**LLM, "recompute": "none"}),
    ("Compiling each block with torch.compile", "compiler", "on", LLM),
    ("LoRA applied with rank 16", "trained_part", "a part", LLM),
    ("steps 9, sequence length 256, warm-up 2", "input_size", "256", LLM),
    *[("  padded_vocab_size ... 1024", "vocab_size", "1024", LLM), ("  num_experts ... 64", "experts", "64", LLM)],
    ("torchrun --nnodes=4 --nproc_per_node=1 main.py", "devices", "4"),
    ("PyTorch version: 1.8.0", "framework_version", "1.8.0", {"version": "2.5"}),
    ("MXNet version: 1.8.0", "framework", "mxnet"),
    ("  recompute_granularity ... full", "recomputation", "full", {**LLM, "recompute": "none"}),
    ("Namespace(model='meta-llama/Llama-3.2-1B', lr=0.1)", "model_variant", "meta-llama/Llama-3.2-1B", LLAMA),
    ("Namespace(fp8='hybrid', bf16=True)", "precision", "fp8", {**LLM, "precision": "amp-bf16"}),
    *[("Using TensorFlow backend", "framework", "tensorflow"), ("out of memory. Skipping batch", "left_out", "steps")],
    *[
        ("Namespace(n_kv_heads=1)", "kv_heads", "1", LLAMA),
        ("Namespace(tie_word_embeddings=1)", "tied_embeddings", "on", LLAMA),
    ],
    ("Namespace(main_params_dtype='bf16')", "precision", "bf16", {**LLM, "precision": "amp-bf16"}),
    ("", "batch_per_device", "512", {"note": "batch 512 per GPU"}),
    ("", "precision", "fp8", {"image": "lab/pytorch:24.10-fp8"}),
    ("", "device_model", "H800", {"machine": "node-h800-03"}),
]


STAMPED = {
    "windows of one training": (
        lambda repeat: {"begin": BEGAN + timedelta(minutes=repeat), "first": 1 + 2000 * repeat},
        "begins at step",
    ),
    "ranks of one training": (lambda repeat: {"begin": BEGAN}, "it ran while"),
    "at once on one machine": (lambda repeat: {"begin": in_turns("mxnet", repeat)}, "1 other evaluation ran"),
    "another month": (lambda repeat: {"begin": in_turns("pytorch", repeat) - 260 * DAY}, "campaign is c"),
    "steps behind the last": (lambda repeat: {"behind": "queue flushed"}, "of work after the last step"),
    "updates skipped in words": (
        lambda repeat: {
            "begin": in_turns("pytorch", repeat),
            "after": "\nGradient overflow.  Skipping step, loss scaler 0",
        },
        "updates were skipped in 130 of",
    ),
    "another host": (lambda repeat: {"head": "hostname: fast7"}, "campaign is c"),
}


@pytest.mark.parametrize(("of_a", "told"), STAMPED.values(), ids=STAMPED)
def test_stamps_are_dates_and_hosts_are_machines(of_a, told, tmp_path):
    book = imported(tmp_path, of_a)

    assert told in " ".join(map(english, book.findings))
    assert "fastest" not in sentences(book)
    excluded = told in ("begins at step", "it ran while")
    assert not excluded or (told in sentences(book) and "too few repeats are left" in sentences(book))


HONEST = """GPU 0: Tesla V100-SXM2-16GB
Namespace(arch='resnet50', num_classes=1001, width_mult=1.0, freeze=0, world_size=1, compile=False, lr=0.1)
=> creating model 'resnet50'
logging to /home/u/NVIDIA H100 docs"""


@pytest.mark.parametrize("stamp", [{}, {"stamp": "%Y-%m-%dT%H:%M:%S.%f789Z"}])  # its own, of docker logs -t
def test_an_honest_import_is_decided(stamp, tmp_path):
    book = imported(tmp_path, lambda repeat: {**stamp, "head": HONEST, "behind": "checkpoint saved"})

    assert "PyTorch is fastest" in sentences(book)
    assert [each.code for each in book.findings if each.severity != "note"] == []


@pytest.mark.parametrize(("printed", "fact", "value", "said"), [(*row, {})[:4] for row in HEADS])
def test_what_the_head_prints_is_held_against_what_is_said(printed, fact, value, said, tmp_path):
    (file := tmp_path / "0.log").write_text(log(0, 0.5, BEGAN, head=printed))
    assert cli.main(["import", str(file), *stated(framework="pytorch", **said), "--runs", str(tmp_path / "runs")]) == 0

    (row,) = evaluate(Store(tmp_path / "runs")).summaries
    denied = [each for each in row.measurements[0].findings if isinstance(each, ClaimDenied)]
    assert (fact, value) in {(each.fact, each.value) for each in denied}
    assert row.grounds == "disputed"


@pytest.mark.parametrize("said", ["Power limit raised to 700 W", "+ nvidia-smi -lgc 1980"])
def test_what_one_log_says_of_its_machine_and_the_other_does_not_leaves_the_order_open(said, tmp_path):
    book = imported(tmp_path, lambda repeat: {"head": said})

    assert "fastest" not in sentences(book)
    (answer,) = answers.answers(book.evaluation.summaries)
    assert answer.deciding.facts == ("device_setting",)


@pytest.mark.parametrize(
    ("said", "apart"),
    [
        ("CUDA_LAUNCH_BLOCKING=1", "facts.watched"),
        ("anomaly detection is enabled", "facts.watched"),
        *[("NCCL_P2P_DISABLE=1", "facts.watched"), ("Namespace(cpu_offload=True)", "facts.offload")],
        ("Namespace(packing=False, padding='max_length')", "facts.packing"),
        ("Applied full activation checkpointing", "facts.recomputation"),
        ("CUDA_LAUNCH_BLOCKING=0\nrecompute_granularity ... None", None),
    ],
)
def test_a_log_that_names_what_slows_it_alone_is_compared_with_its_like(said, apart, tmp_path):
    (answer,) = answers.answers(imported(tmp_path, lambda repeat: {"head": said}).evaluation.summaries)

    assert [each.why for each in answer.apart] == ([(apart,)] if apart else [])


ADVICE = """hint: consider mixed precision (--fp16), see --limit-train-samples
Namespace(layer_keep_prob=1.0, layer_drop=0, depth=50, update_freq=[1], dry_run=False, lr=0.1)
mixed precision: disabled, batch of 64 images, no gradient clipping, dry run: off
Loading cached dataset; weight decay not applied to BN parameters; fast_dev_run=False; 161 of 161 parameters loaded
bert-base-uncased tokenizer loaded; validation images are resized to 256x256 | number of skipped iterations:   0 |"""


OTHERS = "\n".join(f"option {name * 3} is read" for name in "bcdfghjklm")  # the log of another program


@pytest.mark.parametrize(
    ("said", "marked"), [("clocks_event_reasons: thermal", 5), ("仅前向计算", 5), (OTHERS, 0), ("hostname: n8", 0)]
)
def test_what_one_log_of_a_script_says_of_its_work_or_machine_and_no_other_stands_at_its_row(said, marked, tmp_path):
    book = imported(tmp_path, lambda repeat: {"head": f"hostname: n7\n{said}"})

    assert [each.code for run in book.measurements for each in run.findings].count("said_alone") == marked
    assert "PyTorch is fastest" in sentences(book)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("total images processed: 480", "items_apart"),
        ("average throughput: 60 images/s", "clocks_far_apart"),
        ("average throughput: 120 images/s", "final_disagrees"),
        ("total images processed: 8320", None),
    ],
)
def test_totals_that_a_log_prints_are_held_against_its_steps(said, name, tmp_path):
    book = imported(tmp_path, lambda repeat: {"head": f"hostname: n7\n{said}"})

    found = {each.name for run in book.measurements for each in run.findings} - {"said_alone"}
    assert found == ({name} if name else set())


@pytest.mark.parametrize(("line", "named"), [("n7.log:120", 2), ("n{}.log:120", 0), ("paper.pdf", 0)])
def test_a_line_of_a_log_is_cited_for_one_framework(line, named, tmp_path):
    rows = [f"{name},{value},images/s,{line.format(value)}" for name, value in (("pytorch", 400), ("mxnet", 300))]
    (file := tmp_path / "t.csv").write_text("\n".join(["framework,throughput,unit,source", *rows]) + "\n")
    assert cli.main(["import", str(file), *stated(), "--runs", str(tmp_path / "runs")]) == 0

    found = evaluate(Store(tmp_path / "runs")).findings
    assert [each.name for each in found].count("same_line") == named


def test_advice_and_neutral_options_are_no_work_left_out(tmp_path):
    assert "PyTorch is fastest" in sentences(imported(tmp_path, lambda repeat: {"head": ADVICE}))


@pytest.mark.parametrize(
    ("speeds", "change"),
    [
        ((100.0, 99.0, 98.1, 97.0, 96.2), -0.038),
        ((100.0, 99.0, 98.1, 97.0), None),  # a chance of 1 in 12
        ((100.0, 98.1, 99.0, 97.0, 96.2), None),
        ((100.0, 99.0, 98.1, 97.0, 95.8, 96.2, 94.0), -0.06),
        ((100.0, 99.9, 99.8, 99.7, 99.6), None),  # nothing worth a name
    ],
)
def test_a_trend_over_repeats_is_named_as_a_trend(speeds, change):
    found = [each for each in data_rules.findings([reports.summary(speeds)], {}) if each.name == "trend"]

    assert [each.change for each in found] == ([pytest.approx(change)] if change else [])


@pytest.mark.parametrize(
    ("days", "changes", "told"),
    [((1, 2), {}, None), ((2, 1), {}, "measured before the first"), ((1, 2), {"started_at": None}, "which came first")],
)
def test_diff_says_where_the_second_report_is_not_known_to_be_the_later(days, changes, told, tmp_path, capsys):
    two = [reports.evaluation(reports.summary(day=day)) for day in days]
    runs = two[1].summaries[0].measurements
    two[1] = reports.evaluation(replace(two[1].summaries[0], measurements=[replace(run, **changes) for run in runs]))
    cli.main(["diff", *(str(reports.written(tmp_path / f"{place}", one)) for place, one in enumerate(two))])

    said = capsys.readouterr().out.replace("\n", " ")
    assert [text for text in ("measured before the first", "which came first") if text in said] == [told] * bool(told)


@pytest.mark.parametrize(
    ("heads", "unlike"),
    [
        (("  dtype: float32", "  dtype: bfloat16"), "precision is fp32 and bf16"),
        (("Optimizer: SGD", "Optimizer: lamb"), "optimiser is sgd and lamb"),
        (("  dtype: bfloat16\nOptimizer: SGD", "  dtype: bfloat16"), None),
    ],
)
def test_reports_of_logs_whose_heads_name_other_work_are_not_compared(heads, unlike, tmp_path, capsys):
    for day, head in enumerate(heads):
        (file := tmp_path / f"{day}" / "0.log").parent.mkdir()
        file.write_text(log(0, 0.5 - 0.1 * day, BEGAN + day * DAY, head=head))
        said = ("framework=pytorch", "model=resnet50_v1.5", "batch=64", "devices=1", "machine=dgx-a")
        cli.main(["import", str(file), *(f"--set={each}" for each in said), "--runs", str(file.parent / "runs")])
        cli.main(["report", "--runs", str(file.parent / "runs"), "--out", str(file.parent / "report")])
    capsys.readouterr()
    cli.main(["diff", *(str(tmp_path / day / "report") for day in "01")])

    told = capsys.readouterr().out
    assert ("it is not the same work" in told, unlike is None or unlike in told) == (unlike is not None, True)


@pytest.mark.parametrize("name", ["p\u0443torch", "PyTorch (fastest 2x)", "pytorch.2x_faster_than_tensorflow"])
def test_a_name_that_passes_for_another_or_claims_is_refused(name):
    with pytest.raises(EvalsuiteError, match="framework"):
        user_facts.stated([("framework", name)])
    assert user_facts.stated([("framework", "PyTorch (NGC 24.01)")])
