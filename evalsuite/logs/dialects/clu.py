"""JAX scripts that report their progress with clu: Scenic, Flax's Gemma and language-model examples, init2winit."""

from evalsuite.dialect import Dialect, line

DIALECTS = (
    Dialect(
        name="clu",
        title="JAX scripts with clu's ReportProgress",
        framework="jax",
        unit="samples/s",
        scope="global",
        averaging="interval",
        zero_based=False,
        step=line(
            rb"logging_writer\.py:\d+\] \[(?P<step>\d+)\] steps_per_sec=(?P<steps_per_s>[\d.]+(?:e[+-]\d+)?)",
            b"I0325 14:03:32.536956 130245504009792 logging_writer.py:48] [1145] steps_per_sec=13.5451",
            "google/CommonLoopUtils@04ad2f9edb:clu/periodic_actions.py, ReportProgress._apply(); "
            "clu/metric_writers/logging_writer.py",
        ),
        evaluation=line(
            rb"Gathering evaluation metrics\.",
            b"I0325 14:04:50.096882 130295542103168 train.py:420] Gathering evaluation metrics.",
            "google/flax@03e0b97b39:examples/gemma/train.py, evaluate(); examples/lm1b/train.py alike",
        ),
        facts=line(
            rb"Finished training step \d+\. Batch size: (?P<global_batch>\d+)",
            b"I0325 14:00:22.976243 130295542103168 train.py:652] Finished training step 0. Batch size: 512, Loss: 10.96665, LR: 0.00000",
            "google/flax@03e0b97b39:examples/gemma/train.py, train_and_evaluate(): the first size of the sharded batch",
        ),
        evaluation_inside=True,
        yields_to=("flax",),
        notes="Steps of the whole job since the report before, evaluations and checkpoints between them included.",
    ),
)
