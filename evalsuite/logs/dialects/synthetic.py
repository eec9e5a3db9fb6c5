"""Synthetic benchmarks of communication libraries: Horovod and Bluefog; ElasticDL's phase timers."""

import functools

from evalsuite.dialect import Dialect, Line, Timers, line

_TIMER = Line(
    pattern=rb"report_timing\] (?P<timer>\w+) time is (?P<timer_s>[\d.e-]+) seconds",
    sample=b"[2020-07-26 04:01:26,378] [DEBUG] [timing_utils.py:55:report_timing] report_gradient time is 9.77168 seconds",
    source="sql-machine-learning/elasticdl@0cbc361a72:elasticdl/python/common/timing_utils.py",
)
# report_gradient is the all-reduce; the tensors are copied to the host inside it (issues 2214, 2217 of elasticdl)
_PHASES = {
    "get_model": ("get_model", None),
    "report_gradient": ("allreduce", None),
    "copy_tensor": ("tensor_copy", "allreduce"),
    "apply_gradient": ("optimiser", None),
}

_dialect = functools.partial(Dialect, averaging="interval")

DIALECTS = (
    _dialect(
        name="horovod_synthetic",
        title="Horovod and Bluefog synthetic benchmarks",
        framework=None,
        unit="images/s",
        scope="per_device",
        zero_based=True,
        each=10,  # --num-batches-per-iter, whose default this is; it is not printed
        warmed_up=True,
        step=line(
            rb"Iter #(?P<step>\d+): (?P<rate>[\d.]+) img/sec(?: per)? ?(?:GPU|CPU|TPU)",
            b"Iter #9: 108.3 img/sec per GPU",
            "horovod/horovod@2626dc87a3:examples/pytorch/pytorch_synthetic_benchmark.py; Bluefog prints the same",
        ),
        final=line(
            rb"Total img/sec on \d+ \w+\(s\): (?P<rate>[\d.]+)(?: \+- ?(?P<spread>[\d.]+))?",
            b"Total img/sec on 4 GPU(s): 432.8 +-4.9",
            "horovod/horovod@2626dc87a3:examples/pytorch/pytorch_synthetic_benchmark.py: size x rank 0's mean; Bluefog: the sum over ranks",
        ),
        final_ends=True,
        named_facts={"gpus": "devices", "bare": "batch_per_device"},
        facts=line(
            rb"Total img/sec on (?P<devices>\d+) ",
            b"Total img/sec on 4 GPU(s): 432.8 +-4.9",
            "horovod/horovod@2626dc87a3:examples/pytorch/pytorch_synthetic_benchmark.py",
        )
        + line(
            rb"Model: (?P<model>\w+)",
            b"Model: resnet50",
            "horovod/horovod@2626dc87a3:examples/pytorch/pytorch_synthetic_benchmark.py",
        ),
        notes="Warm-up batches are run before the first line. Each Iter is a mean over ten batches.",
    ),
    _dialect(
        name="elasticdl_steps",
        title="ElasticDL worker, loss of each step",
        framework="tensorflow",
        unit="samples/s",
        scope="own",
        zero_based=False,
        step=line(
            rb"\] Loss = (?P<loss>[\d.e+-]+|nan), steps = (?P<step>\d+)",
            b"[2026-11-23 11:50:58,284] [INFO] [worker.py:213:_process_minibatch] Loss = 2.3025856018066406, steps = 10",
            "sql-machine-learning/elasticdl@0cbc361a72:elasticdl/python/worker/worker.py",
        ),
        named_facts={"bare": "batch_per_device"},
        facts=line(
            rb"\] Initialize Horovod with rank = \d+ and size = (?P<devices>\d+)",
            b"[2026-11-20 23:41:14,291] [INFO] [base_controller.py:73:init_horovod_if_needed] Initialize Horovod with "
            b"rank = 1 and size = 2",
            "sql-machine-learning/elasticdl@0cbc361a72:elasticai_api/common/base_controller.py",
        ),
        yields_to=("elasticdl", "elasticdl_batches"),
        notes="--log_loss_steps=1 prints each. A worker that joins or leaves changes the size: the last one counts.",
    ),
    _dialect(
        name="elasticdl",
        title="ElasticDL timing_utils",
        framework="tensorflow",
        unit="samples/s",
        scope="own",
        per_epoch=True,
        trust_stamps=False,
        step=line(
            rb"report_timing\] task_process time is (?P<report_s>[\d.e-]+) seconds",
            b"[2020-07-26 04:01:26,378] [DEBUG] [timing_utils.py:55:report_timing] task_process time is 12.5577 seconds",
            "sql-machine-learning/elasticdl@0cbc361a72:elasticdl/python/common/timing_utils.py",
        ),
        timers=Timers(line=_TIMER, whole="task_process", of="task", phases=_PHASES),
        notes="Seconds of one task of one worker, as printed in 2020 (0cbc361a72 prints none). How many minibatches a task "
        "has is not printed: --steps-per-report says it.",
    ),
    _dialect(
        name="elasticdl_batches",
        title="ElasticDL timing_utils, batches",
        framework="tensorflow",
        unit="samples/s",
        scope="own",
        per_epoch=True,
        trust_stamps=False,
        step=line(
            rb"report_timing\] batch_process time is (?P<report_s>[\d.e-]+) seconds",
            b"[2020-07-26 04:01:26,378] [DEBUG] [timing_utils.py:55:report_timing] batch_process time is 12.4717 seconds",
            "sql-machine-learning/elasticdl@0cbc361a72:elasticdl/python/common/timing_utils.py",
        ),
        yields_to=("elasticdl",),
        timers=Timers(line=_TIMER, whole="batch_process", of="task", phases=_PHASES),
        notes="Inside task_process, which is what counts where it is printed.",
    ),
)
