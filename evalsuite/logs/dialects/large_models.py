"""Trainers of large models: Megatron-LM and what is built on it, DeepSpeed, MindFormers, MaxText, Levanter, HugeCTR."""

import functools
import re
from collections.abc import Mapping

from evalsuite.dialect import Dialect, line, step_before
from evalsuite.logs.text.records import clock_s

_MEGATRON = (
    rb"iteration +(?P<step>\d+)/ *\d+ \|(?: consumed samples: +(?P<consumed>\d+) \|)?"
    rb"(?: (?:consumed tokens|skipped samples): +[\d.]+[KMBT]? \|)* "
    rb"elapsed time per iteration ?\((?:ms\): +(?P<ms>[\d.]+)(?:/[\d.]+)?|s\): +(?P<seconds>[\d.]+)) \|"
    rb"(?:[^\r\n]*?global batch size: +(?P<global_batch>\d+) \|)?"
    rb"(?:[^\r\n]*?lm[ _-]loss: +(?P<loss>[\d.E+-]+|nan))?"
)
_MEGATRON_EVALUATION = line(
    rb"validation loss at iteration",
    b" validation loss at iteration 100 | lm loss value: 8.095942E+00",
    "NVIDIA/Megatron-LM@8aa4619f2b:megatron/training.py, evaluate_and_print_results()",
) + line(
    rb"saving checkpoint at iteration",
    b"saving checkpoint at iteration     500 to ",
    "NVIDIA/Megatron-LM@8aa4619f2b:megatron/checkpointing.py, save_checkpoint()",
)
_EPOCH_BEFORE = re.compile(rb"Epoch:\[ *(\d+)/ *\d+\], $")


def _epoch_before(match: "re.Match[bytes]") -> Mapping[str, bytes | None]:
    """Most versions of MindFormers print it before the step."""
    before = _EPOCH_BEFORE.search(match.string, max(0, match.start() - 32), match.start())
    return {**match.groupdict(), "epoch": before[1] if before else None}


def _bar(match: "re.Match[bytes]") -> Mapping[str, bytes | float | None]:
    """`19.0it/70.0it … elapsed:31:40`, of Levanter."""
    return {"step": float(match["step"]), "elapsed_s": clock_s(match["elapsed_s"]), "loss": match["loss"]}


def _global_step(match: "re.Match[bytes]") -> Mapping[str, bytes | None]:
    """Of NeMo 2: it goes on where a resumed attempt numbers its iterations from 0."""
    fields = match.groupdict()
    return {**fields, "step": fields["since"] or fields["step"], "since": None}


_HF_TRAINER = ("hf_trainer", "hf_trainer_tokens", "trl", "ms_swift")  # whose clock holds all that the job does

_dialect = functools.partial(Dialect, scope="global")

DIALECTS = (
    _dialect(
        name="megatron",
        title="Megatron-LM before 2024, Megatron-DeepSpeed",
        framework="megatron",
        unit="sequences/s",
        averaging="interval",
        zero_based=False,
        evaluation_inside=True,
        step=line(
            _MEGATRON,
            b" iteration       20/    1000 | consumed samples:           80 | elapsed time per iteration (ms): "
            b"1572.7 | learning rate: 3.750E-05 | global batch size:     4 | lm loss: 1.210588E+01 | loss scale: 32768.0",
            "NVIDIA/Megatron-LM@8aa4619f2b:megatron/training.py, training_log(); the last rank prints",
        ),
        evaluation=_MEGATRON_EVALUATION,
        named_facts={"all": "global_batch", "devices": "devices"},
        yields_to=("gpt_neox", "megatron_stamped"),
        notes="Time per iteration, mean over the log interval; an overflow is a row like any other. The clock runs on through "
        "evaluations: the report behind one is left out. BigScience's fork prints seconds. Megatron-DeepSpeed's `samples "
        "per second` is not used: that of early 2022 is a thousandth of what it says.",
    ),
    _dialect(
        name="megatron_stamped",
        title="Megatron-LM, Megatron-Bridge, Primus",
        framework="megatron",
        unit="sequences/s",
        averaging="interval",
        zero_based=False,
        step=line(
            rb"\] " + _MEGATRON,
            b" [2025-08-22 07:30:40] iteration       10/     200 | consumed samples:          320 | elapsed time per iteration "
            b"(ms): 9000.0 | throughput per GPU (TFLOP/s/GPU): 88.9 | learning rate: 6.000000E-05 | global batch size:    32 | "
            b"lm loss: 1.100000E+01",
            "NVIDIA-NeMo/Megatron-Bridge@067f987df:src/megatron/bridge/training/utils/train_utils.py, training_log(); "
            "NVIDIA/Megatron-LM@d98e8a64dd:megatron/training/training.py since f427c6f0a1 of March 2024",
        ),
        evaluation=_MEGATRON_EVALUATION,
        named_facts={"all": "global_batch", "devices": "devices"},
        notes="As before the stamp, but the clock stands still during evaluations. Primus prints time/running mean: the first.",
    ),
    _dialect(
        name="gpt_neox",
        title="GPT-NeoX",
        framework="megatron",
        unit="sequences/s",
        averaging="interval",
        zero_based=False,
        evaluation_inside=True,
        step=line(
            rb"samples/sec: +(?P<rate>[\d.]+) \| iteration +(?P<step>\d+)/ *\d+ \| "
            rb"elapsed time per iteration \(ms\): (?P<ms>[\d.]+) \|(?:[^\r\n]*?lm_loss: +(?P<loss>[\d.E+-]+|nan))?",
            b" samples/sec: 51.200 | iteration       20/  320000 | elapsed time per iteration (ms): 625.0 | "
            b"learning rate: 3.750E-06 | approx flops per GPU: 45.0TFLOPS | lm_loss: 1.012345E+01 | loss scale: 4096.0 | ",
            "EleutherAI/gpt-neox@ea7aefd8:megatron/logging.py, training_log(): train_batch_size, which is the "
            "whole job's, over the mean time of an iteration",
        ),
        evaluation=line(
            rb" results at iteration ",
            b" validation results at iteration 100 | lm_loss value: 9.812345E+00 | lm_loss_ppl value: 1.825772E+04 | ",
            "EleutherAI/gpt-neox@ea7aefd8:megatron/training.py, evaluate_and_print_results()",
        ),
        named_facts={"train": "global_batch", "devices": "devices"},
        notes="The clock runs on through evaluations and checkpoints: the report behind an evaluation is left out.",
    ),
    _dialect(
        name="nemo_2",
        title="NeMo 2",
        framework="pytorch",
        unit="sequences/s",
        averaging="interval",
        zero_based=True,
        step=line(
            rb"Training epoch \d+, iteration (?P<step>\d+)/\d+ \|(?:[^\r\n]*? global_batch_size: (?P<global_batch>[\d.e+]+) \|)?"
            rb"(?:[^\r\n]*? global_step: (?P<since>\d+) \|)?(?:[^\r\n]*? reduced_train_loss: (?P<loss>[\d.e+-]+|nan) \|)?"
            rb"[^\r\n]*? train_step_timing in s: (?P<seconds>[\d.e+-]+)",
            b"(pretraining, pid=4112) Training epoch 1, iteration 0/999 | lr: 2.999e-06 | global_batch_size: 512 | "
            b"global_step: 19 | reduced_train_loss: 11.03 | train_step_timing in s: 46.86 | consumed_samples: 10240",
            "NVIDIA/NeMo@8cfedd7203:nemo/lightning/pytorch/callbacks/progress_printer.py, "
            "ProgressPrinter.on_train_batch_end(); the time is that of TimingCallback in nemo/utils/exp_manager.py",
            fields=_global_step,
        ),
        evaluation=line(
            rb"Validation: iteration ",
            b"Validation: iteration 1/32",
            "NVIDIA/NeMo@8cfedd7203:nemo/lightning/pytorch/callbacks/progress_printer.py, on_validation_batch_end()",
        ),
        yields_to=("nemo_dllogger",),
        notes="Seconds per step, mean over the log interval, without the wait for the batch. All columns but global_step are "
        "means, consumed_samples too. An iteration counts within its attempt, global_step over the whole training.",
    ),
    _dialect(
        name="nemo_automodel",
        title="NeMo Automodel",
        framework="pytorch",
        unit="tokens/s",
        averaging="step",
        step=line(
            rb"step (?P<step>\d+) \| epoch \d+ \| loss (?P<loss>[\d.]+|nan) \| grad_norm [\d.naif]+ \| lr [\d.e+-]+ \| "
            rb"mem [\d.]+ GiB \| tps (?P<rate>[\d.]+)\([\d.]+/gpu\)",
            b"2026-08-10 15:55:23 | INFO | root | step 10 | epoch 0 | loss 0.8534 | grad_norm 1.5040 | lr 1.00e-05 | "
            b"mem 29.67 GiB | tps 13746.23(1718.28/gpu) | num_label_tokens 29550",
            "NVIDIA-NeMo/Automodel@00a012b48f:nemo_automodel/recipes/llm/train_ft.py, log_train_metrics()",
        ),
        evaluation=line(
            rb"\[val\] (?:name|step)",
            b'[val] name "default" | step 10 | epoch 0 | loss 0.8534 | lr 1.00e-05 | num_label_tokens 29550',
            "NVIDIA-NeMo/Automodel@00a012b48f:nemo_automodel/recipes/llm/train_ft.py, log_val_metrics()",
        ),
        evaluation_inside=True,
        notes="Tokens of all devices without the padding at the ends, in the time since the step before. What stands in brackets "
        "is that rate by data- and context-parallel groups: with tensor or pipeline parallelism it is not that of one device. "
        "Steps of unequal length count alike in the mean.",
    ),
    _dialect(
        name="deepspeed",
        title="DeepSpeed throughput timer",
        framework="deepspeed",
        unit="samples/s",
        averaging="step",
        zero_based=False,
        step=line(
            rb"epoch=\d+/micro_step=\d+/global_step=(?P<step>\d+), RunningAvgSamplesPerSec=[\d.]+, "
            rb"CurrSamplesPerSec=(?P<rate>[\d.]+)",
            b"[2023-04-18 01:46:59,171] [INFO] [timer.py:199:stop] epoch=0/micro_step=10/global_step=10, "
            b"RunningAvgSamplesPerSec=173.4455644119137, CurrSamplesPerSec=171.97903593624417, MemAllocated=3.96GB",
            "deepspeedai/DeepSpeed@edaa722126:deepspeed/utils/timer.py, ThroughputTimer.stop()",
        )
        + line(
            rb"\[timer\.py:\d+:stop\] \d+/(?P<step>\d+), RunningAvgSamplesPerSec=[\d.]+, CurrSamplesPerSec=(?P<rate>[\d.]+)",
            b"[timer.py:197:stop] 0/10, RunningAvgSamplesPerSec=173.4455644119137, CurrSamplesPerSec=171.97903593624417, ",
            "deepspeedai/DeepSpeed@5fe9d61065:deepspeed/utils/timer.py, ThroughputTimer.stop(), 0.7",
        ),
        evaluation=line(
            rb"\*\*\*\*\* (?:Evaluating|Running training)",
            b"***** Evaluating perplexity, Epoch 1/16 *****",
            "deepspeedai/DeepSpeedExamples@45b4b7156c:applications/DeepSpeed-Chat/training/step1_supervised_finetuning/main.py",
        ),
        named_facts={"train": "global_batch"},
        yields_to=("megatron", "megatron_stamped", "gpt_neox", "deepspeed_pipeline", "deepspeed_chat", *_HF_TRAINER),
        notes="CurrSamplesPerSec is the last step's; RunningAvgSamplesPerSec, a mean since step 2, is not used.",
    ),
    _dialect(
        name="deepspeed_pipeline",
        title="DeepSpeed pipeline engine",
        framework="deepspeed",
        unit="samples/s",
        averaging="interval",
        zero_based=False,
        step=line(
            rb"steps: (?P<step>\d+) loss: (?P<loss>[\d.]+|nan) [^\r\n]*?iter time \(s\): (?P<seconds>[\d.]+) samples/sec: (?P<rate>[\d.]+)",
            b"steps: 30 loss: 5.5200 lm loss: 5.5103 iter time (s): 0.936 samples/sec: 136.752",
            "deepspeedai/DeepSpeed@edaa722126:deepspeed/runtime/pipe/engine.py, PipelineEngine.train_batch(): "
            "train_batch_size, which is the whole job's, over the mean time of a batch",
        ),
        named_facts={"train": "global_batch"},
        yields_to=("megatron", "megatron_stamped", "gpt_neox"),
        notes="The clock runs inside train_batch() alone, and not through evaluations and checkpoints.",
    ),
    _dialect(
        name="mindformers",
        title="MindFormers",
        framework=None,
        unit="samples/s",
        scope="per_device",
        averaging="interval",
        steps_restart="epoch",
        zero_based=False,
        step=line(
            rb"step:\[ *(?P<step>\d+)/ *(?P<of>\d+)\], loss: +(?P<loss>[\d.]+|nan), per_step_time: +(?P<ms>\d+)ms"
            rb"(?:[^\r\n]*\r?\n[^\r\n]*\| (?P<rate>[\d.]+) samples/s/p)?",
            b"2025-04-07 15:34:29,173 - [mindformers/core/callback/callback.py:529] - INFO - { Epoch:[  1/  2], step:[    2/  200], "
            b"loss: 10.633, per_step_time: 500ms, lr: 1e-05, overflow cond: False, loss_scale: 1.0, global_norm: [1.31049], "
            b"train_throughput_per_npu: 60.000T\n2025-04-07 15:34:29,174 - [mindformers/core/callback/callback.py:552] - INFO -    "
            b"1.0% |                                                  | 2.00000 samples/s/p  0:01:39 }",
            "mindspore-lab/mindformers@fd4deebc16:mindformers/core/callback/callback.py, MFLossMonitor.print_output_info()",
            fields=_epoch_before,
        ),
        notes="A rate of 0.00000 says that the global batch was not configured, and is none. Every process prints to a log of its own.",
    ),
    _dialect(
        name="deepspeed_chat",
        title="DeepSpeed-Chat RLHF (step 3)",
        framework="pytorch",
        unit="samples/s",
        averaging="step",
        every=1,
        step=line(
            rb"End-to-End => Latency: (?P<seconds>[\d.]+)s, (?:TFLOPs: [\d.]+, )?Samples/sec: (?P<rate>[\d.]+), "
            rb"Time/seq [\d.]+s, Batch Size: (?P<global_batch>\d+)",
            b"End-to-End => Latency: 2.55s, TFLOPs: 3.29, Samples/sec: 1.57, Time/seq 0.64s, Batch Size: 4, "
            b"Total Seq. Length: 512",
            "deepspeedai/DeepSpeedExamples@45b4b7156c:applications/DeepSpeed-Chat/dschat/utils/perf.py, "
            "print_throughput_step3()",
        ),
        notes="Generation and both trainings, which is the rate of the job. The engines' own timers (CurrSamplesPerSec) see "
        "one training alone and are not read.",
    ),
    _dialect(
        name="deepspeed_old",
        title="DeepSpeed throughput timer, before 0.7",
        framework="deepspeed",
        unit="samples/s",
        averaging="cumulative",
        zero_based=False,
        mean_since=2,
        step=line(
            rb", SamplesPerSec=(?P<rate>[\d.]+)",
            b"worker-0: [INFO 2020-02-06 20:35:23] 0/24600, SamplesPerSec=1284.384033658866",
            "deepspeedai/DeepSpeed@f28432441b:deepspeed/utils/timer.py, ThroughputTimer.stop(); with MemAllocated since 0.6",
            fields=step_before(rb"\d+/(\d+)$", within=24),
        ),
        yields_to=(
            *("megatron", "megatron_stamped", "gpt_neox", "deepspeed", "deepspeed_pipeline", "deepspeed_chat"),
            *_HF_TRAINER,
        ),
        notes="A mean since step 2. Where gradients are accumulated, steps and samples are those of forward passes.",
    ),
    _dialect(
        name="maxtext",
        title="MaxText",
        framework="jax",
        unit="tokens/s",
        scope="per_device",
        averaging="step",
        zero_based=True,
        trust_stamps=False,
        step=line(
            rb"completed step: (?P<step>\d+), seconds: (?P<seconds>[\d.]+), (?:live slice count: \d+, )?TFLOP/s/device: [\d.]+, "
            rb"Tokens/s/device: (?P<rate>[\d.]+)(?:[^\r\n]*? loss: (?P<loss>[\d.]+|nan))?",
            b"completed step: 3, seconds: 5.402, TFLOP/s/device: 141.542, Tokens/s/device: 9098.189, "
            b"total_weights: 196608, loss: 11.379",
            "AI-Hypercomputer/maxtext@e591f30cbb:src/maxtext/common/metric_logger.py",
        ),
        notes="Steps are dispatched asynchronously: the first of them can show any time.",
    ),
    _dialect(
        name="levanter",
        title="Levanter",
        framework="jax",
        unit="sequences/s",
        averaging="interval",
        zero_based=False,
        step=line(
            rb"Progress on:train (?P<step>[\d.]+)it/\S+ rate:\S+ remaining:\S+ elapsed:(?P<elapsed_s>[\d:]+)(?: postfix:loss=(?P<loss>[\d.]+|nan))?",
            b"2025-09-26 12:04:10,225 - 0 - tqdm_loggable.tqdm_logging - tqdm_logging.py:139 - INFO :: Progress on:train "
            b"5.00it/1.00kit rate:0.5it/s remaining:33:10 elapsed:00:50 postfix:loss=10.5",
            "tradingstrategy-ai/tqdm-loggable@2603ce3894:tqdm_loggable/tqdm_logging.py, display(), as "
            "stanford-crfm/levanter@9263f81e8b calls it in src/levanter/callbacks/_metrics.py, pbar_logger()",
            fields=_bar,
        ),
        evaluation=line(
            rb"Progress on:eval",
            b"Progress on:eval 10.0it/20.0it rate:2.0it/s remaining:00:05 elapsed:00:05 postfix:loss=9.1",
            "stanford-crfm/levanter@9263f81e8b:src/levanter/callbacks/__init__.py, eval_loss_loop()",
        ),
        notes="The printed rate is smoothed: steps and seconds since the start are read. From step 1,000 on steps are rounded "
        "(1.23kit) and not read. The batch is not printed.",
    ),
    _dialect(
        name="hugectr",
        title="HugeCTR",
        framework="hugectr",
        unit="samples/s",
        averaging="interval",
        step=line(
            rb"Iter: (?P<step>\d+) Time\((?P<interval>\d+) iters\): (?P<report_s>[\d.]+)s(?: Loss: ?(?P<loss>[\d.]+|nan))?",
            b"[31d03h29m41s][HUGECTR][INFO]: Iter: 1000 Time(1000 iters): 3.845114s Loss: 0.129559",
            "NVIDIA-Merlin/HugeCTR@2f2016fa89:HugeCTR/src/pybind/model.cpp, Model::fit()",
        ),
        evaluation=line(
            rb"Evaluation, (?:AUC|AverageLoss)",
            b"[31d03h29m46s][HUGECTR][INFO]: Evaluation, AUC: 0.776937",
            "NVIDIA-Merlin/HugeCTR@2f2016fa89:HugeCTR/src/pybind/model.cpp",
        ),
        final=line(
            rb'"key": "tracked_stats", "value": \{"throughput": (?P<rate>[\d.e+]+)\}',
            b'"key": "tracked_stats", "value": {"throughput": 31199166.25}, "metadata": {',
            "mlcommons/training_results_v1.0@50619b5df6:GIGABYTE/benchmarks/dlrm/implementations/merlin_hugectr/mlperf_logger/format_ctr_output.py: the mean of the run",
            telling=False,
        ),
        named_facts={"all": "global_batch"},
        evaluation_inside=True,
        notes="Seconds per so many iterations, evaluation inside; only MLPerf's logs say the batch size.",
    ),
    _dialect(
        name="flax",
        title="Flax ImageNet example",
        framework="jax",
        unit="images/s",
        averaging="interval",
        zero_based=False,
        step=line(
            rb"logging_writer\.py:\d+\] \[(?P<step>\d+)\] (?:[^\r\n]*?, )?steps_per_second=(?P<steps_per_s>[\d.e+-]+)"
            rb"(?:, [^\r\n]*?train_loss=(?P<loss>[\d.e+-]+|nan))?",
            b"I1121 03:55:05.860462 139891627251392 logging_writer.py:48] [100] steps_per_second=834.488, "
            b"train_accuracy=0.0, train_learning_rate=0.000615234428551048, train_loss=7.368046760559082",
            "google/CommonLoopUtils@04ad2f9edb:clu/metric_writers/logging_writer.py, as google/flax@18f8f311c2 "
            "calls it in examples/imagenet/train.py",
        ),
        evaluation=line(
            rb"eval epoch: \d+, loss:",
            b"I1121 03:55:06.484011 139894074964864 train.py:412] eval epoch: 0, loss: 6.5669, accuracy: 0.00",
            "google/flax@18f8f311c2:examples/imagenet/train.py",
        ),
        notes="Steps of the whole job; the first window holds compilation. Every host prints.",
    ),
)
