"""The logs in `tests/logs`, each read to the number that arithmetic on its own lines gives, and the citations of
the dialects: every sample stands in a log, and every source is a file of a repository at a commit.

The cited files are looked up in the checkouts of the cache and in the git directories `OWNER+NAME` under the
folder that the variable EVALSUITE_CLONES names; what is not there is not looked up.
"""

import os
import re
import subprocess
from dataclasses import dataclass, field
from math import fsum
from pathlib import Path

import pytest

from evalsuite import dialect, paths
from evalsuite.logs import catalogue
from evalsuite.logs.reading import read_file
from evalsuite.model import Protocol
from evalsuite.runs import archive
from tests.corpus import LOGS as SHARED
from tests.corpus import with_logs

LOGS = Path(__file__).resolve().parents[1] / "logs"
CHECKOUTS = paths.cache() / "repositories"
CLONES = Path(os.environ.get("EVALSUITE_CLONES") or os.devnull)
DIALECTS = catalogue.discover()
FAR = 1 << 14  # bytes that the lines of one report may take
SOURCE = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)@(?P<commit>[\w.-]+):(?P<path>[^\s,;:]+)(?:[,;:] .+)?")

every_dialect = pytest.mark.parametrize("declared", DIALECTS.values(), ids=lambda declared: declared.name)


FULL = Protocol()


@dataclass(frozen=True)
class Log:
    name: str
    dialect: str
    value: float
    devices: int | None = None
    batch_per_device: float | None = None
    protocol: Protocol = FULL
    within: float = 1e-4
    also: dict[str, object] = field(default_factory=dict)


QUICK = Protocol(warmup_steps=5, measured_steps=20)
FROM_20_TO_40 = Protocol(warmup_steps=20, measured_steps=20)
YOLO_RATES = (  # in batches per second
    *(10.9, 10.89, 11.03, 11.06, 10.83, 11.19, 10.56, 10.68, 10.24, 10.52, 11.22, 10.86, 11.47, 10.69, 11.23),
    *(10.7, 11.28),
)
MADE = [  # the values of these were chosen
    Log("apex_imagenet", "apex_imagenet", 256 / 0.4, 1, 256),
    Log("deepspeed_0.7", "deepspeed", 128 / 0.75, 16, 8),
    Log("dllogger_json_bert", "dllogger_json_bert", 4096.0),
    Log("dllogger_paddle", "dllogger_paddle", 8 * 256 / 0.1, 8, 256),
    Log("dllogger_paddle_bert", "dllogger_paddle_bert", 8 * 8192 / 20, 8),
    Log("fairseq_simple", "fairseq", 18_000.0),
    Log("colossalai", "colossalai", 24.26),
    Log("composer", "composer", 512.0),
    Log("deepspeed_pipeline", "deepspeed_pipeline", 128 / 0.936, within=0.001),
    Log("gpt_neox", "gpt_neox", 32 / 0.625),  # one report holds an evaluation, and is left out
    Log("insightface_partial_fc", "insightface_partial_fc", 8 * 64 * 20 / 5, 8, 64),
    Log("levanter", "levanter", 256 / 2.0, 8, 32),
    Log("llm_c_cuda", "llm_c", 524_288 / 2.5, 1),
    Log("megatron_stamped", "megatron_stamped", 32 / 2.0, 8),
    Log("metric_logger_deit", "metric_logger", 8 * 64 / 0.25),
    Log("metric_logger_dino", "metric_logger", 16 * 64 / 0.5),
    Log("mindformers", "mindformers", 8 / 0.5, 8, 1),
    Log("metric_logger_dinov2", "metric_logger", 32 * 64 / 1.0, 32),
    Log("nanochat", "nanochat", 524_288 / 0.5, 8),
    Log("nanogpt", "nanogpt", 491_520 / 0.25, within=1e-9),  # two of its steps hold an evaluation
    Log("nanotron", "nanotron", 179_000),
    Log("olmo_core", "olmo_core", 8 * 52_012, 8),
    Log("oneflow_gpt", "oneflow_gpt", 8 / 0.65),
    Log("oneflow_models", "oneflow_models", 2 * 256 * 100 / 18.822, 2, 256),
    Log("oneflow_wdl", "oneflow_wdl", 16384 * 1000 / 4.055, 1, 16384),
    Log("oneflow_wdl_2020", "oneflow_wdl", 16384 * 1000 / 4.0, 1, 16384),
    Log("openrlhf", "openrlhf", 1024 / 25),
    Log("sam_2", "sam_2", 8 * 2 / 1.5, 8, 2),
    Log("torchtune", "torchtune", 8 * 4096, 8),
    Log("verl", "verl", 800_000 / 50, 8),
    Log("swin", "swin", 8 * 128 / 0.64, within=0.001),
    Log("paddleclas_2021", "paddleclas_2021", 256 / 0.2, 1, 256),
    Log("llamafactory_tokens", "llamafactory_tokens", 13_000.0),  # of the whole job
    Log("hf_trainer_tokens", "hf_trainer_tokens", 32_768 / 2.5),  # of all processes, without a batch
    Log("axolotl", "axolotl", 65_536 / 2),  # of all processes, and not its rate of one GPU
    Log("trl", "trl", 5200 / 1.6, within=0.01),  # of all processes, without padding
    Log("mmengine_json", "mmengine_json", 8 * 32 / 0.25, 8, 32),
    Log("detectron2", "detectron2", 16 / 0.25, within=0.001, also={"total_devices": 8, "batch_per_device": 2}),
    # an epoch is its batches over the time of its bar, which is drawn again
    Log("ultralytics", "ultralytics", 16 * 400 / (20 + 3 * 25), also={"total_devices": 2, "steps_reported": 5}),
    Log("clu", "clu", 512 * 12.7, within=0.01, also={"findings": ()}),  # 13.5, 13.1 and 11.5 steps/s
]
RAN = [
    # its own figure of the whole run
    Log("hf_trainer_json", "hf_trainer", 14.427),
    # a mean since the start, taken apart
    Log("ms_swift", "ms_swift", 16 * 70 / (90 / 0.520707 - 20 / 0.500516), 1, 16, also={"reported_final": 8.177}),
    Log("llamafactory", "llamafactory", 4 * 384 * 100 / (47_230 - 7872), 4, 384),
    # 17 epochs of 85 images in 6 batches of 16
    Log("ultralytics_8", "ultralytics", 85 * 17 / 6 / fsum(1 / rate for rate in YOLO_RATES)),
    # ten reports of 100 iterations
    Log("mmengine", "mmengine", 2 * 128 / 0.20024, 2, 128, within=0.001),
    Log("mmengine_iter", "mmengine_iter", 1 / 2.721, 1, 1, within=0.001),
    # medians of five reports
    Log("detectron2_json", "detectron2_json", 2 * 5 / 1.6545596, 1, 2),
    # 8 samples every 0.0923 s, without the interval that holds an evaluation
    Log("paddlenlp_trainer", "paddlenlp_trainer", 86.7, within=0.001, also={"certainty": "two clocks agree"}),
    # 16 GPUs x 8, CurrSamplesPerSec near 172
    Log("deepspeed", "deepspeed", 128 / 0.746, 16, 8, within=0.01),
    # a mean since step 2, which hardly moves
    Log("deepspeed_old", "deepspeed_old", 1304.0, within=0.02),
    # published by those who ran them: README.md of PaddlePaddle/Perf
    Log("dllogger_mxnet", "dllogger_mxnet", 11_670.0, 8, 256, QUICK, within=0.01),  # the table leaves start-up in
    Log("dllogger_pytorch", "dllogger_pytorch", 5889.05, protocol=QUICK, within=0.02),
    Log("dllogger_pytorch_bert", "dllogger_pytorch_bert", 5055.56, protocol=QUICK, within=0.01, devices=8),
    Log("dllogger_tf1", "dllogger_tf1", 9405.36, 8, within=0.01),
    Log("paddleclas_static", "paddleclas_static", 10_936.815, 8, within=0.01),
    Log("paddlenlp_bert", "paddlenlp_bert", 8 * 661.43, 8, within=0.03),
    Log("tf_cnn_benchmarks", "tf_cnn_benchmarks", 3784.03, 8, within=0.02),  # its own total
    # the mean of the printed rates
    Log("dllogger_json", "dllogger_json", 7700.0, within=0.02),
    Log("dllogger_tf1_bert", "dllogger_tf1_bert", 4100.0, 8, within=0.03),
    Log("dllogger_transformer", "dllogger_transformer", 211_000.0, within=0.01),
    Log("fairseq_json", "fairseq", 16384 / 53.3, within=0.02),  # the fifth to the tenth update
    Log("maxtext", "maxtext", 8 * 8671.5, 8, protocol=Protocol(warmup_steps=5, measured_steps=5)),
    Log("mlperf_bert", "mlperf_bert", 380.0, within=0.04),
    Log("mlperf_mllog", "mlperf_mllog", 57_256.6, within=0.01),
    Log("mmcv", "mmcv", 64 / 1.05, within=0.1),
    Log("paddlenlp_transformer", "paddlenlp_transformer", 8 * 7922.0, 8, within=0.01),
    Log("paddleseg", "paddleseg", 8 * 20 / (19 / 5.705 + 1 / 3.2374), 8, within=0.001),  # one of the reports is slow
    Log("tf_estimator", "tf_estimator", 5912.7, within=0.01),
    # four epochs of 1,281,167 images between two evaluations, but for the first block
    Log("mlperf_blocks", "mlperf_blocks", 4 * 1_281_167 / 531.1, within=0.01),
    # the second to the seventh report without the fourth, which holds an evaluation
    Log("hugectr", "hugectr", 55_296 * 5000 / 7.85513, 8, 6912, Protocol(warmup_steps=1000, measured_steps=5000)),
    # nine iterations of BigScience's 104B, whose own samples/s are a thousandth of it
    Log("megatron_deepspeed", "megatron", 9 * 2048 / 3955.8, within=0.002),
    Log("megatron_bigscience", "megatron", 2048 / 106.15, within=0.002),
    # the second half of ten passes
    Log("litgpt", "litgpt", 5 * 4 / (0.56822 + 0.51170 + 0.51414 + 0.42359 + 0.60303)),
    Log("llm_c", "llm_c", 256 * 2 / (1.369394 + 1.290761), 1, 256),  # the last two of four steps
    # tokens of 20 steps ÷ (train_time of step 40 - that of step 20)
    Log("modded_nanogpt", "modded_nanogpt", 20 * 524_288 / (4.286 - 1.398), protocol=FROM_20_TO_40),
    Log("modded_nanogpt_2025_01", "modded_nanogpt", 20 * 524_288 / (3.693 - 1.229), protocol=FROM_20_TO_40),
    Log("modded_nanogpt_2025", "modded_nanogpt", 20 * 393_216 / (3.997 - 2.147), protocol=FROM_20_TO_40),
    # batches 22 to 60 of 2 images
    Log("metric_logger", "metric_logger", 39 * 2 / (3.403 + 3.407 + 3.379 + 9 * 0.3489), 1, 2),
    Log("nemo_2", "nemo_2", 512 / 46.9, within=0.01),
    Log("mindspore", "mindspore", 256 / 0.0281, 1, 256, within=0.01),
    # made here: 2 images a step, between the stamps of steps 20 and 80, written by a thread of its own
    Log("flax", "flax", 2 * 60 / 0.095071, 1, 2, Protocol(warmup_steps=20, measured_steps=60)),
    # made here: the sum of the step times of batches 21 to 120
    Log("mindcv", "mindcv", 16 * 100 / 2.863963, 1, 16),
    # made here: between the stamps of steps 20 and 120
    Log("tf2_bert", "tf2_bert", 256 * 100 / 0.730037, 1, 256),
    Log("paddledetection", "paddledetection", 2 * 32 / (6.8879 + 7.1558), 1, 32, within=0.001),  # the second half
    Log("paddleocr", "paddleocr", 8 * 352.5, 8, within=0.01),
    Log("paddleocr_2020", "paddleocr", 197.5, 1, within=0.01),
    Log("gluoncv_detection", "gluoncv_detection", 58.7, within=0.01),
    Log("darknet", "darknet", 2 * 64 / (1.429193 + 2.552415)),
    Log("caffe", "caffe", 10 * 32 / 58.982, 1, 32, within=0.001),
    Log("caffe_2016", "caffe", 80 * 32 / 20.815827, 1, 32),  # between the stamps of iterations 240 and 320
    # batch times of one clip on one device
    Log("sam_2_vggt", "sam_2", 1 / 4.3687, 1, 1, within=0.001),
    Log("sam_2_vggt_323", "sam_2", 1 / 1.7599, 1, 1, within=0.001),
    Log("sam_2_vggt_409", "sam_2", 1 / 4.1674, 1, 1, within=0.001),
    # the harmonic mean of the rates
    Log("nanotron_2024", "nanotron", 3 / (1 / 14_200 + 1 / 15_500 + 1 / 16_200)),
    Log("nanotron_2025", "nanotron", 22_800),
    Log("nanotron_zagreus", "nanotron", 2 / (1 / 182_000 + 1 / 183_000)),
    # tokens between two lines (wpb × num_updates) ÷ the wall time between them
    Log("fairseq_2018", "fairseq_2018", (545 * 104_800 - 445 * 104_928) / (1065 - 882), within=0.003),
    Log("fairseq_2019", "fairseq_2018", (2000 * 2571 - 1000 * 2568) / (5048 - 4847), within=0.002),
    Log("fairseq_2018_10", "fairseq_2018", 961, within=0.002),
    # tokens of the steps ÷ their seconds: of 16 GPUs, of 8, and of a relative of verl's
    Log("verl_2025", "verl", (59_428 + 58_758) / (11.376 + 10.189)),
    Log("verl_2026", "verl", 2_838_007 / 1041.8559710769914),
    Log("verl_siirl", "verl", 430_078 / 123.805),
    Log("mindformers_2025", "mindformers", 8 / 1.757, 8, 1, within=0.01),
    Log("llama2_accessory", "llama2_accessory", 4 * 2 / 4.1781, 4, 2, within=0.003),
    # the rate printed: 16 GPUs, and 8
    Log("composer_2024", "composer", 2.7330),
    Log("composer_2024_one_node", "composer", 1.4307),
    Log("mindformers_1.7", "mindformers", 8 * 0.36029, 8),
    Log("mindformers_1.7_resumed", "mindformers", 8 * 0.28531, 8),
    Log("liger", "liger", 2 / (1 / 18_835.9 + 1 / 18_920.33)),
    # four hosts print each step; of step 500 not all did
    Log("flax_2023", "flax", 4 * 32 * 1.583737, 4, 32, within=0.001),
    Log("darknet_2020", "darknet", 64 / 3.315456),
    # the stamps, 80 iterations apart, and 20 of which the loss of the last is no number
    Log("caffe_2015", "caffe", 80 * 32 / (52 * 60 + 45.639834 - 41 * 60 - 26.810891), 1, 32),
    Log("caffe_2014", "caffe", 20 * 32 / (64.672637 - 49.611122), 1, 32),
    # three epochs of 100 steps, the last of them with its validation
    Log("keras_3", "keras", 2 * 100 * 32 / (100 * (132e-6 + 128e-6)), 1, 32, within=0.01),
    Log("keras_3_verbose_2", "keras", 2 * 100 * 32 / (100 * (308e-6 + 310e-6)), 1, 32, within=0.01),
]


@pytest.mark.parametrize("log", [*MADE, *RAN], ids=lambda log: log.name)
def test_a_log_is_read_to_the_number_that_its_lines_make(log):
    reading = read_file(
        LOGS / f"{log.name}.log",
        devices=log.devices,
        batch_per_device=log.batch_per_device,
        protocol=log.protocol,
        dialects=DIALECTS,
    )

    assert reading.dialect == log.dialect
    assert reading.throughput.items_per_s == pytest.approx(log.value, rel=log.within)
    assert {name: getattr(reading, name) for name in log.also} == log.also


def test_every_log_has_its_origin_written_beside_it():
    origins = (LOGS / "SOURCES.md").read_text()

    unnamed = [file.name for file in LOGS.glob("*.log") if f"{file.name}" not in origins]

    assert not unnamed


@pytest.mark.parametrize("name", ["gluonnlp_bert", "mxnet_speedometer", "paddleclas_static", "tf2_bert"])
def test_a_failure_is_found_although_much_was_printed_after_it(name, tmp_path):
    log = tmp_path / "log"
    noise = b"the launcher waits for the other processes to end\n" * 80_000
    log.write_bytes((LOGS / f"{name}.log").read_bytes() + b"\nRuntimeError: CUDA out of memory.\n" + noise)

    found = read_file(log, dialect=name, devices=8, batch_per_device=32, dialects=DIALECTS)

    assert (found.status, "out of memory" in found.reason) == ("failed", True)


# what the declarations cite


def all_logs() -> bytes:
    """The logs of the project and the reference logs, one behind the other, without what only moves a cursor."""
    files = [*LOGS.glob("*.log"), *archive.unpack(paths.DATA / "recorded.zip").rglob("log.*.txt")]
    files += [file for file in SHARED.rglob("*") if file.is_file() and file.suffix not in (".md", ".gz", ".zst")]
    return re.sub(rb"\x1b\[[\d;]*[A-Za-z]|\x08", b"", b"\n".join(file.read_bytes() for file in files))


def lines_of(declared: dialect.Dialect) -> list[dialect.Line]:
    timers = (declared.timers.line,) if declared.timers else ()
    others = (*declared.final, *declared.evaluation, *declared.end, *declared.facts, *declared.scores, *timers)
    return [*declared.step, *others]


def stands_in(sample: bytes, text: bytes) -> bool:
    """Does *sample* stand in *text*, with something else of the same lines where it says ` ... `?"""
    first, *others = re.split(rb" ?\.\.\. ?", sample)
    begin = text.find(first)
    while begin >= 0:
        at = begin + len(first)
        end = min(at + FAR, len(text)) if b"\n" in sample else text.find(b"\n", at)
        for piece in others:
            at = text.find(piece, at, end)
            if at < 0:
                break
            at += len(piece)
        else:
            return True
        begin = text.find(first, begin + 1)
    return False


@with_logs
def test_every_sample_stands_in_a_log():
    logs = all_logs()
    samples = [(name, line.sample) for name, declared in DIALECTS.items() for line in lines_of(declared)]

    composed = [pair for pair in samples if not pair[0].startswith("cited_") and not stands_in(pair[1], logs)]

    assert not composed


@every_dialect
def test_a_source_names_a_file_of_a_repository_at_a_commit(declared):
    sources = [line.source for line in lines_of(declared)]

    wrong = [source for source in sources if not source.startswith("evalsuite/") and not SOURCE.fullmatch(source)]

    assert not wrong


def git_directories(repository: str) -> list[Path]:
    """Clones of *repository*: below EVALSUITE_CLONES, and checkouts in the cache whose name holds its name's."""
    kept = CLONES / repository.replace("/", "+")
    here = [
        folder for folder in (kept, kept / "repo", kept / ".git", kept / "repo" / ".git") if (folder / "HEAD").exists()
    ]
    return here + [folder / ".git" for folder in CHECKOUTS.glob("*") if (folder / ".git" / "HEAD").exists()]


def held(directory: Path, names: list[str]) -> set[str]:
    """Which of *names* the objects in a git directory have."""
    asked = ["git", "--git-dir", directory, "cat-file", "--batch-check"]
    said = subprocess.run(asked, input="\n".join(names), capture_output=True, text=True).stdout.splitlines()
    return {name for name, line in zip(names, said, strict=False) if not line.endswith(" missing")}


def test_a_cited_file_is_there_at_its_commit():
    sources = {line.source for declared in DIALECTS.values() for line in lines_of(declared)}
    cited = sorted({found.groups() for source in sources if (found := SOURCE.fullmatch(source))})

    asked = [name for _, commit, path in cited for name in (commit, f"{commit}:{path}")]
    known = {folder: held(folder, asked) for folder in {f for one in cited for f in git_directories(one[0])}}
    looked_up, absent = 0, []
    for repository, commit, path in cited:
        clone = next((one for one in git_directories(repository) if commit in known[one]), None)
        looked_up += clone is not None
        if clone is not None and f"{commit}:{path}" not in known[clone]:
            absent.append(f"{repository}@{commit}:{path}")

    if not looked_up:
        pytest.skip("no clone of a cited repository is here: EVALSUITE_CLONES names a folder of them")
    assert not absent
