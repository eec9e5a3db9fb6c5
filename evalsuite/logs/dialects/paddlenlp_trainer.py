"""PaddleNLP's Trainer (also PaddleFormers, PaddleMIX): a line of names and values, of samples or of tokens."""

import re

from evalsuite.contracts.dialect import Dialect, Fields, line

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

DIALECTS = (
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
