"""Trainers of language models in PyTorch that compute: LitGPT, Nanotron, verl."""

import functools
import re
from collections.abc import Mapping

from evalsuite.contracts.dialect import Dialect, line

_SUFFIXES = {b"": 1.0, b"K": 1e3, b"M": 1e6, b"B": 1e9}


def _three_digits(match: "re.Match[bytes]") -> Mapping[str, bytes | float | None]:
    """`182K`: Nanotron rounds to three digits."""
    fields = match.groupdict()
    return {"step": fields["step"], "loss": fields["loss"], "rate": float(match[2]) * _SUFFIXES[match[3]]}


def _rollout_step(match: "re.Match[bytes]") -> Mapping[str, bytes | float | None]:
    """Where a step of verl validated or saved, some versions count that into its time."""
    aside = b"timing_s/testing:" in match[0] or b"timing_s/save_checkpoint:" in match[0]
    return {**match.groupdict(), "evaluated": 1.0 if aside else None}


_PASS_BEFORE = re.compile(rb"\| iter (\d+) step \d+ \| loss train: ")
_FAR = 2000  # bytes: the line before is within these, where each pass is printed


def _pass(match: "re.Match[bytes]") -> Mapping[str, bytes | None]:
    """A forward pass of LitGPT. Its time holds what the device still had to do from passes not printed: it is read only
    where the pass before was printed, too."""
    fields = {"step": match["step"], "loss": match["loss"]}
    before = _PASS_BEFORE.findall(match.string, max(0, match.start() - _FAR), match.start())
    skipped = bool(before) and int(match["step"]) - int(before[-1]) > 1
    return fields if skipped or match[0].endswith(b"remaining time: ") else {**fields, "ms": match["ms"]}


_dialect = functools.partial(Dialect, framework="pytorch", scope="global", averaging="step")

DIALECTS = (
    _dialect(
        name="litgpt",
        cross_entropy=True,
        title="LitGPT",
        unit="sequences/s",
        zero_based=False,
        step=line(
            rb"Epoch \d+ \| iter (?P<step>\d+) step \d+ \| loss train: (?P<loss>[-+\d.eE]+|-?nan|-?inf), val: [^|]* \| "
            rb"iter time: (?P<ms>[\d.]+) ms(?: \(step\))?(?: remaining time: )?",
            b"Epoch 1 | iter 2 step 1 | loss train: 1.660, val: n/a | iter time: 548.72 ms (step)",
            "Lightning-AI/litgpt@26857050fe:litgpt/finetune/lora.py, fit(); so in litgpt/finetune/full.py, and with the "
            "time that remains in litgpt/pretrain.py",
            fields=_pass,
        ),
        evaluation=line(
            rb"iter \d+: val loss [\d.]+, val time: ",
            b"iter 100: val loss 1.2345, val time: 5012.34 ms",
            "Lightning-AI/litgpt@26857050fe:litgpt/finetune/lora.py, fit()",
        ),
        named_facts={"parts": "batch_per_device", "on_node": "devices_per_node", "nodes": "nodes"},
        notes="An iteration is one forward pass of a micro batch. Its time is read where every pass is printed, as finetuning does "
        "by default. Of pretraining, which prints the last pass of a step, only the number of the pass is read.",
    ),
    _dialect(
        name="nanotron",
        tokens="slots",
        cross_entropy=True,
        title="Nanotron",
        unit="tokens/s",
        zero_based=False,
        step=line(
            rb"iteration: (?P<step>\d+) / \d+ \| [^\r\n]*?\| tokens_per_sec: ([\d.]+)([KMB]?) \|(?:[^\r\n]*? lm_loss: (?P<loss>[-+\d.eE]+|-?nan|-?inf))?",
            b"12/21 01:43:04 [INFO|DP=0|TP=0]: iteration: 21 / 1500 | consumed_tokens: 33M | time_per_iteration_ms: 8.79K | "
            b"tokens_per_sec: 179K | tokens_per_sec_per_gpu: 699 | global_batch_size: 1.57M | grad_norm: 0.112 | lm_loss: 8.9",
            "huggingface/nanotron@2411b022a7:src/nanotron/trainer.py, train_step_logs(); printed by src/nanotron/logging/base.py",
            fields=_three_digits,
        ),
        notes="Tokens of the whole job over the time of the last iteration. Every number is rounded to three digits.",
    ),
    _dialect(
        name="verl",
        title="verl",
        unit="tokens/s",
        zero_based=False,
        step=line(
            rb"step:(?P<step>\d+) - [^\r\n]*perf/total_num_tokens:(?P<items>[\d.]+) [^\r\n]*"
            rb"perf/time_per_step:(?P<seconds>[\d.]+) [^\r\n]*perf/throughput:[\d.]+[^\r\n]*\r?\n",
            b"(TaskRunner pid=4321) step:2 - actor/pg_loss:0.01 - actor/grad_norm:np.float64(0.25) - training/global_step:2 - "
            b"timing_s/gen:20.0 - timing_s/step:50.0 - perf/total_num_tokens:800000 - perf/time_per_step:50.0 - perf/throughput:2000.0\n",
            "volcengine/verl@b178a3cd56:verl/utils/logger/aggregate_logger.py, LocalLogger; the numbers are those of "
            "verl/trainer/ppo/metric_utils.py, compute_throughout_metrics()",
            fields=_rollout_step,
        ),
        notes="Tokens of prompts and responses of the whole job (perf/total_num_tokens) over the whole step: generation, rewards, "
        "log probabilities and updates. perf/throughput is the same of one device, and not used. Where a step validated or saved, "
        "versions differ in what its time holds: such a step is left out.",
    ),
)
