"""ChainerMN: the ImageNet example (GPU only) and the MNIST example, under mpirun."""

import math

from adapters.common import launchers
from adapters.common.reference import IMAGENET, PLAIN
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

PINS = ("chainer==7.8.1", "numpy==1.23.5", "setuptools==59.8.0", "wheel==0.45.1", "pillow==10.4.0")
MNIST_IMAGES = 60_000
EXAMPLES = "{checkout}/examples/chainermn"


def _imagenet(case: Case) -> Command:
    """With --test it evaluates every ten iterations, too (train_imagenet.py:201). By default every rank starts twice as
    many loaders as the node has cores (line 187).
    """
    lists = "{data}/imagenet-chainer"
    return Command(
        argv=(
            *launchers.mpirun(case),
            *("{python}", f"{EXAMPLES}/imagenet/train_imagenet.py", f"{lists}/train.txt", f"{lists}/val.txt"),
            *("--arch", "resnet50", "--batchsize", str(case.batch_per_device), "--epoch", "1"),
            *("--communicator", "pure_nccl", "--root", f"{lists}", "--mean", f"{EXAMPLES}/imagenet/mean.npy"),
            *("--loaderjob", case.option("loader_workers", "4"), "--out", "{scratch}/result"),
        )
    )


def _imagenet_unsupported(case: Case) -> str | None:
    for name, default in (("double_buffering", "off"), ("allreduce_grad_dtype", "float32")):
        if case.option(name, default) != default:
            return Message("adapters.argument_of_optimizer", name=name)
    return None


def _mnist(case: Case) -> Command:
    steps_per_epoch = MNIST_IMAGES / case.global_batch
    epochs = max(2, math.ceil(case.protocol.total_steps / steps_per_epoch))
    gpu = case.device == "gpu"
    return Command(
        argv=(
            *launchers.mpirun(case, variables=("CHAINER_DATASET_ROOT",)),
            *("{python}", f"{EXAMPLES}/mnist/train_mnist.py", "--batchsize", str(case.batch_per_device)),
            *("--communicator", "pure_nccl" if gpu else "naive", *(("--gpu",) if gpu else ())),
            *("--epoch", str(epochs), "--out", "{scratch}/result"),
        ),
        environment={"CHAINER_DATASET_ROOT": "{data}/chainer"},
    )


ADAPTER = Adapter(
    name="chainermn",
    title="ChainerMN",
    recipes=(
        Recipe(
            name="imagenet-resnet50",
            model="resnet50_v1",
            checkout="chainer",
            dialect="chainer_progress",
            command=_imagenet,
            spawn="once",
            unsupported=_imagenet_unsupported,
            options={
                "loader_workers": (),
                "double_buffering": ("off", "on"),
                "allreduce_grad_dtype": ("float32", "float16"),
            },
            facts={**IMAGENET, "weight_decay": "none"},  # train_imagenet.py:194, models/resnet50.py:82
            needs_gpu=Message("adapters.gpu_chainermn"),
            step_bound="none",
            epoch=lambda case: "imagenet-chainer",
            python="3.8",
            requirements=(*PINS, "cupy-cuda112==10.6.0"),
            built=("mpi4py==3.1.6",),
            import_name="chainermn",
            system=("mpirun", "mpicc"),
            outside="the run is ended within its first epoch; an evaluation ends each",
        ),
        Recipe(
            name="mnist-mlp",
            model="mnist_mlp",
            checkout="chainer",
            dialect="chainer_progress",
            command=_mnist,
            spawn="once",
            options={"image_size": ("28",)},
            # train_mnist.py:90, 96 and 102; images lie in memory as rows of 784 numbers
            facts={**PLAIN, "optimiser": "adam", "input_size": "28", "data": "mnist"},
            step_bound="examples",
            python="3.8",
            requirements=PINS,
            requirements_gpu=(*PINS, "cupy-cuda112==10.6.0"),
            built=("mpi4py==3.1.6",),
            import_name="chainermn",
            system=("mpirun", "mpicc"),
            outside="one report an epoch; the evaluation of 10,000 images is part of it",
        ),
    ),
)
