"""Trainers of large models: Megatron-LM, DeepSpeed, MaxText, HugeCTR."""
# ruff: noqa: E501 (a pattern and a line of a log are kept whole)

from evalsuite.dialect import Dialect, Line

DIALECTS = (
    Dialect(
        name="megatron",
        title="Megatron-LM",
        framework="megatron",
        unit="sequences/s",
        scope="global",
        averaging="interval",
        zero_based=False,
        step=(
            Line(
                pattern=rb"iteration +(?P<step>\d+)/ *\d+ \|(?: consumed samples: +(?P<consumed>\d+) \|)? "
                rb"elapsed time per iteration \(ms\): (?P<ms>[\d.]+) \|(?:[^\r\n]*?global batch size: +(?P<global_batch>\d+) \|)?"
                rb"(?:[^\r\n]*?lm loss: (?P<loss>[\d.E+-]+|nan))?",
                sample=b" iteration       40/    1000 | consumed samples:        40960 | elapsed time per iteration (ms): "
                b"125625.3 | learning rate: 1.494E-04 | global batch size:  1024 | lm loss: 1.24E+01 | loss scale: 12.0",
                source="NVIDIA/Megatron-LM megatron/training.py, training_log(); the last rank prints",
            ),
        ),
        evaluation=(
            Line(
                pattern=rb"(?:validation loss at iteration|saving checkpoint at iteration)",
                sample=b" validation loss at iteration 1000 | lm loss value: 2.5",
                source="NVIDIA/Megatron-LM megatron/training.py",
            ),
        ),
        facts=(
            Line(
                pattern=rb"  global_batch_size \.+ (?P<global_batch>\d+)",
                sample=b"  global_batch_size ............................... 1024",
                source="NVIDIA/Megatron-LM megatron/arguments.py, _print_args()",
            ),
            Line(
                pattern=rb"  world_size \.+ (?P<devices>\d+)",
                sample=b"  world_size ...................................... 64",
                source="NVIDIA/Megatron-LM megatron/arguments.py, _print_args()",
            ),
        ),
        notes="Milliseconds per iteration, mean over the log interval. An overflow is a row like any other.",
    ),
    Dialect(
        name="deepspeed",
        title="DeepSpeed throughput timer",
        framework="deepspeed",
        unit="samples/s",
        scope="global",
        averaging="step",
        zero_based=False,
        step=(
            Line(
                pattern=rb"epoch=\d+/micro_step=\d+/global_step=(?P<step>\d+), RunningAvgSamplesPerSec=[\d.]+, "
                rb"CurrSamplesPerSec=(?P<rate>[\d.]+)",
                sample=b"[2023-04-18 01:46:59,171] [INFO] [timer.py:199:stop] epoch=0/micro_step=10/global_step=10, "
                b"RunningAvgSamplesPerSec=173.4455644119137, CurrSamplesPerSec=171.97903593624417, MemAllocated=3.96GB",
                source="deepspeedai/DeepSpeed deepspeed/utils/timer.py, ThroughputTimer.stop()",
            ),
        ),
        evaluation=(
            Line(
                pattern=rb"\*\*\*\*\* (?:Evaluating|Running training|Beginning of Epoch)",
                sample=b"***** Evaluating perplexity, Epoch 1/16 *****",
                source="deepspeedai/DeepSpeedExamples applications/DeepSpeed-Chat/training",
            ),
        ),
        facts=(
            Line(
                pattern=rb"\] +train_batch_size \.+ (?P<global_batch>\d+)",
                sample=b"[INFO] [config.py:957:print]   train_batch_size ............. 128",
                source="deepspeedai/DeepSpeed deepspeed/runtime/config.py, print()",
            ),
        ),
        yields_to=("megatron",),
        notes="CurrSamplesPerSec is the last step's; RunningAvgSamplesPerSec, a mean since step 2, is not used.",
    ),
    Dialect(
        name="deepspeed_old",
        title="DeepSpeed throughput timer, before 0.7",
        framework="deepspeed",
        unit="samples/s",
        scope="global",
        averaging="cumulative",
        zero_based=False,
        mean_since=2,
        step=(
            Line(
                pattern=rb"\[timer\.py:\d+:stop\] \d+/(?P<step>\d+), (?:Running)?SamplesPerSec=(?P<rate>[\d.]+)",
                sample=b"[2021-09-30 20:32:08,128] [INFO] [timer.py:154:stop] 0/300, SamplesPerSec=11.9, MemAllocated=0.67GB",
                source="deepspeedai/DeepSpeed@v0.5 deepspeed/utils/timer.py, ThroughputTimer.stop()",
            ),
        ),
        yields_to=("megatron", "deepspeed"),
        notes="A mean since step 2.",
    ),
    Dialect(
        name="maxtext",
        title="MaxText",
        framework="jax",
        unit="tokens/s",
        scope="per_device",
        averaging="step",
        zero_based=True,
        trust_stamps=False,
        step=(
            Line(
                pattern=rb"completed step: (?P<step>\d+), seconds: (?P<seconds>[\d.]+), TFLOP/s/device: [\d.]+, "
                rb"Tokens/s/device: (?P<rate>[\d.]+)(?:[^\r\n]*? loss: (?P<loss>[\d.]+|nan))?",
                sample=b"completed step: 3, seconds: 5.402, TFLOP/s/device: 141.542, Tokens/s/device: 9098.189, "
                b"total_weights: 196608, loss: 11.379",
                source="AI-Hypercomputer/maxtext MaxText/metric_logger.py",
            ),
        ),
        notes="Steps are dispatched asynchronously: the first of them can show any time.",
    ),
    Dialect(
        name="hugectr",
        title="HugeCTR",
        framework="hugectr",
        unit="samples/s",
        scope="global",
        averaging="interval",
        step=(
            Line(
                pattern=rb"Iter: (?P<step>\d+) Time\((?P<interval>\d+) iters\): (?P<report_s>[\d.]+)s(?: Loss: ?(?P<loss>[\d.]+|nan))?",
                sample=b"[31d03h29m41s][HUGECTR][INFO]: Iter: 1000 Time(1000 iters): 3.845114s Loss: 0.129559",
                source="NVIDIA-Merlin/HugeCTR HugeCTR/src/pybind/model.cpp, Model::fit",
            ),
        ),
        evaluation=(
            Line(
                pattern=rb"Evaluation, (?:AUC|AverageLoss)",
                sample=b"[HUGECTR][INFO]: Evaluation, AUC: 0.74",
                source="NVIDIA-Merlin/HugeCTR HugeCTR/src/pybind/model.cpp",
            ),
        ),
        notes="Seconds per so many iterations; the batch size is not printed there.",
        yields_to=("mlperf_mllog",),
    ),
    Dialect(
        name="flax",
        title="Flax ImageNet example",
        framework="jax",
        unit="images/s",
        scope="global",
        averaging="interval",
        zero_based=False,
        step=(
            Line(
                pattern=rb"logging_writer\.py:\d+\] \[(?P<step>\d+)\] (?:[a-eg-z_]\w*=[^,\r\n]*, )*?"
                rb"steps_per_second=(?P<steps_per_s>[\d.]+)(?:, [^\r\n]*?train_loss=(?P<loss>[\d.]+|nan))?",
                sample=b"I0706 16:50:26.230209 140110937163584 logging_writer.py:48] [100] steps_per_second=3.251, "
                b"train_accuracy=0.001, train_learning_rate=0.01, train_loss=6.91",
                source="google/flax examples/imagenet/train.py with google/CommonLoopUtils clu/metric_writers/logging_writer.py",
            ),
        ),
        evaluation=(
            Line(
                pattern=rb"eval epoch: \d+, loss:",
                sample=b"I0706 16:50:26.230209 1401 train.py:400] eval epoch: 1, loss: 5.1, accuracy: 10.2",
                source="google/flax examples/imagenet/train.py",
            ),
        ),
        notes="Steps of the whole job; the first window holds compilation. Every host prints.",
    ),
)
