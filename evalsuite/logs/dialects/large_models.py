"""Trainers of large models that compute: NeMo 2, MindFormers, Levanter, PaddleNLP."""

import functools
import re
from collections.abc import Mapping

from evalsuite.contracts.dialect import Dialect, Fields, line
from evalsuite.logs.text.records import clock_s

_TRAINER = "PaddlePaddle/PaddleNLP@01f7436099:paddlenlp/trainer/trainer.py, Trainer._maybe_log_save_evaluate(); trainer_utils.py, speed_metrics()"
_SPEED = rb"global_step: (?P<step>\d+), [^\r\n]*?\binterval_runtime: (?P<report_s>[\d.]+), interval_samples_per_second: (?P<rate>[\d.]+)"


def _samples(match: "re.Match[bytes]") -> Fields:
    """Until 2022 the samples of one step of one device were divided by the time of all: that rate is not read.

    PaddlePaddle/PaddleNLP at 2.4: num_samples=train_batch_size * gradient_accumulation_steps, whatever num_steps is.
    Such a line ends with `epoch`, later ones with `progress_or_epoch`.
    """
    later = b"progress_or_epoch: " in match[0]
    return {"step": match["step"], "report_s": match["report_s"], "rate": match["rate"] if later else None}


_EVALUATION = line(
    rb"\*\*\*\*\* Running Evaluation \*\*\*\*\*",
    b"[2022-08-31 15:21:49,787] [    INFO] - ***** Running Evaluation *****",
    "PaddlePaddle/PaddleNLP@01f7436099:paddlenlp/trainer/trainer.py, Trainer.evaluation_loop()",
) + line(
    rb"Saving model checkpoint to ",
    b"[2022-08-31 15:21:50,491] [    INFO] - Saving model checkpoint to ./checkpoints/checkpoint-100",
    "PaddlePaddle/PaddleNLP@01f7436099:paddlenlp/trainer/trainer.py, Trainer._save()",
)


_EPOCH_BEFORE = re.compile(rb"Epoch:\[ *(\d+)/ *\d+\], $")


def _epoch_before(match: "re.Match[bytes]") -> Mapping[str, bytes | None]:
    """Most versions of MindFormers print it before the step."""
    before = _EPOCH_BEFORE.search(match.string, max(0, match.start() - 32), match.start())
    return {**match.groupdict(), "epoch": before[1] if before else None}


_dialect = functools.partial(Dialect, scope="global")

DIALECTS = (
    _dialect(
        name="nemo_2",
        title="NeMo 2",
        framework="pytorch",
        unit="sequences/s",
        averaging="interval",
        zero_based=True,
        step=line(
            rb"Training epoch \d+, iteration (?P<step>\d+)/\d+ \|(?:[^\r\n]*? global_batch_size: (?P<global_batch>[\d.e+]+) \|)?"
            rb"(?:[^\r\n]*? global_step: (?P<since>\d+) \|)?(?:[^\r\n]*? reduced_train_loss: (?P<loss>[-+\d.eE]+|-?nan|-?inf) \|)?"
            rb"[^\r\n]*? train_step_timing in s: (?P<seconds>[\d.e+-]+)",
            b"(pretraining, pid=4112) Training epoch 1, iteration 0/999 | lr: 2.999e-06 | global_batch_size: 512 | "
            b"global_step: 19 | reduced_train_loss: 11.03 | train_step_timing in s: 46.86 | consumed_samples: 10240",
            "NVIDIA/NeMo@8cfedd7203:nemo/lightning/pytorch/callbacks/progress_printer.py, "
            "ProgressPrinter.on_train_batch_end(); the time is that of TimingCallback in nemo/utils/exp_manager.py",
            # global_step goes on where a resumed attempt numbers its iterations from 0
            fields=lambda match: {**match.groupdict(), "step": match["since"] or match["step"], "since": None},
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
        name="mindformers",
        title="MindFormers",
        framework=None,
        unit="samples/s",
        scope="per_device",
        averaging="interval",
        steps_restart="epoch",
        zero_based=False,
        step=line(
            rb"step:\[ *(?P<step>\d+)/ *(?P<of>\d+)\], loss: +(?P<loss>[-+\d.eE]+|-?nan|-?inf), per_step_time: +(?P<ms>\d+)ms"
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
        name="levanter",
        cross_entropy=True,
        title="Levanter",
        framework="jax",
        unit="sequences/s",
        averaging="interval",
        zero_based=False,
        step=line(
            rb"Progress on:train (?P<step>[\d.]+)it/\S+ rate:\S+ remaining:\S+ elapsed:(?P<elapsed_s>[\d:]+)(?: postfix:loss=(?P<loss>[-+\d.eE]+|-?nan|-?inf))?",
            b"2025-09-26 12:04:10,225 - 0 - tqdm_loggable.tqdm_logging - tqdm_logging.py:139 - INFO :: Progress on:train "
            b"5.00it/1.00kit rate:0.5it/s remaining:33:10 elapsed:00:50 postfix:loss=10.5",
            "tradingstrategy-ai/tqdm-loggable@2603ce3894:tqdm_loggable/tqdm_logging.py, display(), as "
            "stanford-crfm/levanter@9263f81e8b calls it in src/levanter/callbacks/_metrics.py, pbar_logger()",
            # `19.0it/70.0it … elapsed:31:40`, of Levanter
            fields=lambda match: {
                "step": float(match["step"]),
                "elapsed_s": clock_s(match["elapsed_s"]),
                "loss": match["loss"],
            },
        ),
        evaluation=line(
            rb"Progress on:eval",
            b"Progress on:eval 10.0it/20.0it rate:2.0it/s remaining:00:05 elapsed:00:05 postfix:loss=9.1",
            "stanford-crfm/levanter@9263f81e8b:src/levanter/callbacks/__init__.py, eval_loss_loop()",
        ),
        notes="The printed rate is smoothed: steps and seconds since the start are read. From step 1,000 on steps are rounded "
        "(1.23kit) and not read. The batch is not printed.",
    ),
    Dialect(
        name="paddlenlp_trainer",
        title="PaddleNLP Trainer",
        framework="paddlepaddle",
        unit="samples/s",
        scope="global",
        averaging="interval",
        zero_based=False,
        step=line(
            _SPEED + rb"[^\r\n]*",
            b"[2022-08-31 15:21:42,426] [    INFO] - loss: 0.67025094, learning_rate: 2.9400000000000002e-06, global_step: 20, "
            b"interval_runtime: 0.8829, interval_samples_per_second: 9.061, interval_steps_per_second: 11.327, epoch: 1.0",
            _TRAINER,
            fields=_samples,
        ),
        evaluation=_EVALUATION,
        named_facts={"all": "global_batch", "devices": "devices"},
        evaluation_inside=True,
        yields_to=("paddlenlp_trainer_tokens",),
        notes="interval_samples_per_second was the batch of one device and one step until 2022: only the time is taken there.",
    ),
)
