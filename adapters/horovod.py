"""Horovod: its own synthetic benchmarks (TensorFlow 2, PyTorch) and its MXNet ImageNet example."""

import functools
from collections.abc import Callable

from adapters.common import launchers
from adapters.common.reference import IMAGES, PLAIN, TRAINING_IMAGES, over_horovod
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

CONTROLLER = {"controller": ("gloo", "mpi")}
WITH_MXNET = ("numpy==1.23.5", "gluoncv==0.10.5.post0", *launchers.FOR_HOROVOD)
LOOSE = {"fp16_allreduce": ("off", "on")}  # what is sent; the training stays in fp32
# By default: mxnet_imagenet_resnet50.py:55, 270 and 326; and
# pytorch_synthetic_benchmark.py:59 and 75, tensorflow2_synthetic_benchmark.py:64 and 66:
SYNTHETIC = {**PLAIN, "optimiser": "sgd without momentum", "input_size": "224", "data": "synthetic"}


BATCHES = 10  # in one printed "Iter", by default; the dialect counts on it


def _tens(case: Case) -> str | None:
    return Message("adapters.mean_of_batches", batches=BATCHES) if case.protocol.measured_steps % BATCHES else None


def synthetic(script: str, model: str) -> Callable[[Case], Command]:
    """The synthetic benchmarks share their arguments."""

    def command(case: Case) -> Command:
        launcher = launchers.horovodrun(case, case.option("controller", "gloo"))
        return Command(
            argv=(
                *(launcher if case.total_devices > 1 else ()),
                *("{python}", f"{{checkout}}/examples/{script}", "--model", model),
                *("--batch-size", str(case.batch_per_device)),
                *("--num-warmup-batches", str(max(1, case.protocol.warmup_steps))),
                *("--num-batches-per-iter", str(BATCHES), "--num-iters", str(case.protocol.measured_steps // BATCHES)),
                *(("--fp16-allreduce",) if case.option("fp16_allreduce") == "on" else ()),
                *(("--no-cuda",) if case.device == "cpu" else ()),
            )
        )

    return command


def mxnet_imagenet(case: Case) -> Command:
    data = "{data}/imagenet-recordio"
    files = (
        *("--use-rec", "--rec-train", f"{data}/train.rec", "--rec-train-idx", f"{data}/train.idx"),
        *("--rec-val", f"{data}/val.rec", "--rec-val-idx", f"{data}/val.idx"),
    )
    return Command(
        argv=(
            *launchers.horovodrun(case, case.option("controller", "gloo")),
            *("{python}", "{checkout}/examples/mxnet/mxnet_imagenet_resnet50.py", "--model", "resnet50_v1"),
            *("--mode", "gluon", "--batch-size", str(case.batch_per_device), "--num-epochs", "1"),
            *("--log-interval", "1", "--dtype", "float16" if case.precision == "amp" else "float32"),
            *(files if case.option("data") == "imagenet" else ()),
            *(("--no-cuda",) if case.device == "cpu" else ()),
        )
    )


_over_horovod = functools.partial(over_horovod, spawn="once", package="horovod", image="horovod/horovod:0.28.1")
ADAPTER = Adapter(
    name="horovod",
    title="Horovod",
    recipes=(
        _over_horovod(
            "TENSORFLOW",
            Recipe(
                name="tensorflow2-synthetic",
                model="resnet50_v1",
                checkout="horovod",
                dialect="horovod_synthetic",
                command=synthetic("tensorflow2/tensorflow2_synthetic_benchmark.py", "ResNet50"),
                unsupported=_tens,
                options={**CONTROLLER, **LOOSE},
                facts=SYNTHETIC,
                requirements=("tensorflow-cpu==2.10.1", "protobuf==3.19.6", "numpy==1.23.5", *launchers.FOR_HOROVOD),
                requirements_gpu=("tensorflow==2.10.1", "protobuf==3.19.6", "numpy==1.23.5", *launchers.FOR_HOROVOD),
                import_name="horovod.tensorflow",
                outside="it neither evaluates nor saves",
            ),
        ),
        _over_horovod(
            "PYTORCH",
            Recipe(
                name="pytorch-synthetic",
                model="resnet50_v1.5",
                checkout="horovod",
                dialect="horovod_synthetic",
                command=synthetic("pytorch/pytorch_synthetic_benchmark.py", "resnet50"),
                unsupported=_tens,
                options={**CONTROLLER, **LOOSE},
                facts=SYNTHETIC,
                # PyTorch's headers want C++17 since 2.1; 0.28.1 is compiled as C++14. 1.12 is the last whose wheel
                # trains on a CPU without a dozen CUDA packages. It names a CUDA version: with an nvcc on the PATH,
                # Horovod's build wants the rest of the toolkit too.
                requirements=("torch==1.12.1", "torchvision==0.13.1", "numpy==1.23.5", *launchers.FOR_HOROVOD),
                import_name="horovod.torch",
                outside="it neither evaluates nor saves",
            ),
        ),
        _over_horovod(
            "MXNET",
            Recipe(
                name="mxnet-imagenet",
                model="resnet50_v1",
                checkout="horovod",
                dialect="mxnet_speedometer",
                command=mxnet_imagenet,
                options={**CONTROLLER, "data": ("synthetic", "imagenet")},
                facts=IMAGES,
                amp="all of it cast to float16",
                step_bound="none",
                epoch=lambda case: TRAINING_IMAGES,  # mxnet_imagenet_resnet50.py: num_training_samples
                scope="global",
                requirements=("mxnet==1.9.1", *WITH_MXNET),
                requirements_gpu=("mxnet-cu112==1.9.1", *WITH_MXNET),
                import_name="horovod.mxnet",
                outside="the run is ended within its first epoch",
            ),
        ),
    ),
)
