"""NGC MXNet: NVIDIA's DeepLearningExamples, ResNet-50 v1.5 as of 2019 and of 2023, over Horovod."""

import re

from adapters.common import launchers
from adapters.common.reference import IMAGES
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

# What the repository's own wrapper `runner` sets.
ENVIRONMENT = {
    "MXNET_UPDATE_ON_KVSTORE": "0",
    "MXNET_EXEC_ENABLE_ADDTO": "1",
    "MXNET_USE_TENSORRT": "0",
    "MXNET_GPU_WORKER_NTHREADS": "2",
    "MXNET_GPU_COPY_NTHREADS": "1",
    "MXNET_OPTIMIZER_AGGREGATION_SIZE": "54",
    "MXNET_HOROVOD_NUM_GROUPS": "16",
    "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD": "999",
    "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD": "25",
    "HOROVOD_CYCLE_TIME": "0.1",
    "HOROVOD_FUSION_THRESHOLD": "67108864",
    "HOROVOD_NUM_NCCL_STREAMS": "2",
}
# By default: fit.py:92 and 468 (2019), 126 and 548 (2023); data.py's image shape.
FP32 = ("--dtype", "float32", "--fuse-bn-relu", "0", "--fuse-bn-add-relu", "0")
AMP = (
    *("--dtype", "float16", "--amp", "--input-layout", "NCHW", "--conv-layout", "NHWC"),
    *("--batchnorm-layout", "NHWC", "--pooling-layout", "NHWC", "--fuse-bn-relu", "1", "--fuse-bn-add-relu", "1"),
)


def _command(case: Case) -> Command:
    """`--batch-size` is the whole job's. Steps 20 at a time would hide the first. MXNet's own loader knows no NHWC
    (data.py:146 of 2019, 190 of 2023).
    """
    loader = case.option("data", "synthetic")
    data = "{data}/imagenet-recordio"
    files = ("--data-train", f"{data}/train.rec", "--data-train-idx", f"{data}/train.idx")
    return Command(
        argv=(
            *launchers.mpirun(case, variables=tuple(ENVIRONMENT)),
            *("{python}", "{checkout}/MxNet/Classification/RN50v1.5/train.py", "--arch", "resnetv15"),
            *("--num-layers", "50", "--kv-store", "horovod", "--gpus", launchers.devices(case)),
            *("--batch-size", str(case.global_batch), "--mode", "train", "--num-epochs", "1"),
            *("--benchmark-iters", str(case.protocol.total_steps), "--disp-batches", "1"),
            *("--no-metrics", "--save-frequency", "0", "--data-backend", loader),
            *(files if loader != "synthetic" else ()),
            *(AMP if case.precision == "amp" else (*FP32, "--input-layout", "NCHW" if loader == "mxnet" else "NHWC")),
        ),
        environment=ENVIRONMENT,
    )


def _dali_renamed(case: Case, image: str) -> str | None:
    """nvJPEGDecoder* and HostDecoder* are gone since DALI 0.16 (NVIDIA/DALI#1550); 20.03 has 0.19."""
    month = re.search(r"mxnet[:+](\d\d\.\d\d)", image)
    renamed = case.option("data", "synthetic").startswith("dali") and month and month[1] >= "20.03"
    return Message("adapters.dali_renamed", image=image) if renamed else None


def _recipe(name: str, checkout: str, dialect: str, image: str) -> Recipe:
    return Recipe(
        name=name,
        model="resnet50_v1.5",
        checkout=checkout,
        libraries=("dllogger",) if checkout == "ngc" else (),  # the Dockerfile installs it over the image
        dialect=dialect,
        command=_command,
        spawn="once",
        features=("Horovod",),
        options={"data": ("synthetic", "dali-gpu", "dali-cpu", "mxnet")},
        facts=IMAGES,
        amp="MXNet AMP in NHWC, static loss scale",
        needs_gpu=Message("adapters.gpu_mx"),
        outside="--mode train evaluates nothing; --save-frequency 0",
        image=image,
        image_refusal=_dali_renamed if checkout == "ngc-mxnet-2019" else lambda case, image: None,
    )


ADAPTER = Adapter(
    name="ngc_mxnet",
    title="NGC MXNet",
    recipes=(
        # dali.py names operators that are gone since DALI 0.16: the image is that of its own Dockerfile
        _recipe("resnet50-2019", "ngc-mxnet-2019", "mxnet_speedometer", "nvcr.io/nvidia/mxnet:19.07-py3"),
        _recipe("resnet50", "ngc", "dllogger_mxnet", "nvcr.io/nvidia/mxnet:22.10-py3"),
    ),
)
