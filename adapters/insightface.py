"""InsightFace: ArcFace and Partial FC in MXNet (2020), arcface_torch (today)."""

import math

from adapters.common import launchers
from adapters.common.reference import FACES, HOROVOD_ON_GPUS, SPLIT_CLASSIFIER
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

NEEDS_GPU = Message("adapters.gpu_takes")
PINS_2020 = (
    *("mxnet-cu112==1.9.1", "numpy==1.23.5", "scikit-learn==1.3.2", "scipy==1.10.1", "easydict==1.13"),
    "opencv-python-headless==4.8.1.78",
)
ARCFACE = "{checkout}/recognition/ArcFace"
ARCFACE_TORCH = "{checkout}/recognition/arcface_torch"


def _arcface_mxnet(case: Case) -> Command:
    """`config.py` is to be a copy of the repository's sample (README.md); ours imports it and says where the data lie,
    which sample_config.py:95 looks for next to the working directory."""
    parallel = case.option("classifier", "data") == "model"
    return Command(
        argv=(
            *("{python}", f"{ARCFACE}/{'train_parall.py' if parallel else 'train.py'}", "--network", "r100"),
            *("--loss", "arcface", "--dataset", "emore", "--per-batch-size", str(case.batch_per_device)),
            *("--frequent", "1", "--verbose", "1000000", "--ckpt", "0", "--models-root", "{scratch}/models"),
        ),
        environment={"PYTHONPATH": "{scratch}"},  # train.py:238 counts the devices of CUDA_VISIBLE_DEVICES
        files={"config.py": 'from sample_config import *\n\ndataset.emore.dataset_path = "{data}/faces_emore"\n'},
    )


def _one_node(case: Case) -> str | None:
    return Message("adapters.one_node_only") if case.nodes > 1 else None


# `default.py` is where users of the repository set data, batch and printing (README.md): glint360k_8GPU there reads
# /train_tmp/celeb_deepglint (line 64) and prints every 20 steps.
DEFAULT = """\
exec(open("{checkout}/recognition/partial_fc/mxnet/default.py").read())
_repository_config = generate_config


def generate_config(loss_name, dataset, network):
    _repository_config(loss_name, dataset, network)
    config.rec = "{data}/glint360k/train.rec"
    config.batch_size = BATCH
    config.frequent = FREQUENT
    config.verbose = 1000000
"""


def _partial_fc(case: Case) -> Command:
    """Started as a module from the run's own folder, whose `default.py` is imported in place of the repository's."""
    # 20 by default; each report waits for the device (callbacks.py:176)
    frequent = math.gcd(case.protocol.warmup_steps, case.protocol.measured_steps)
    environment = {
        "HOROVOD_CACHE_CAPACITY": "0" if case.nodes == 1 else "1024",
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python",  # MXNet's own protobuf and a compiled one: a segfault
        "PYTHONPATH": "{checkout}/recognition/partial_fc/mxnet",
    }
    return Command(
        argv=(
            *launchers.mpirun(case, variables=tuple(environment)),
            *("{python}", "-m", "train_memory", "--dataset", "glint360k_8GPU"),
            *("--loss", "cosface", "--network", "r100", "--models-root", "{scratch}/models"),
        ),
        environment=environment,
        files={"default.py": DEFAULT.replace("BATCH", str(case.batch_per_device)).replace("FREQUENT", str(frequent))},
    )


# The scripts take a module of configs/ in their own folder (utils_config.py:6), which users write; 3millions.py is the
# repository's own for synthetic data, with 512 images per device, fp16 and a report every 10 steps.
SPEED = """\
from importlib import import_module

config = import_module("configs.3millions").config
config.batch_size = BATCH
config.fp16 = FP16
config.frequent = FREQUENT
"""


def _arcface_torch(case: Case) -> Command:
    values = {
        "BATCH": case.batch_per_device,
        "FP16": case.precision == "amp",
        "FREQUENT": math.gcd(case.protocol.warmup_steps, case.protocol.measured_steps),
    }
    config = SPEED
    for name, value in values.items():
        config = config.replace(f"= {name}\n", f"= {value}\n")
    if classes := case.option("classes"):  # 3millions.py has 300,000
        config += f"config.num_classes = {classes}\n"
    return Command(
        argv=(*launchers.torchrun(case), f"{ARCFACE_TORCH}/train_v2.py", "configs/speed.py"),
        files={"checkout/recognition/arcface_torch/configs/speed.py": config},
    )


FACE_IMAGES = {"image_size": ("112",)}  # the only one
ADAPTER = Adapter(
    name="insightface",
    title="InsightFace",
    recipes=(
        Recipe(
            name="arcface-mxnet-2020",
            model="face_r100",
            checkout="insightface-2020",
            dialect="mxnet_speedometer",
            command=_arcface_mxnet,
            unsupported=_one_node,
            options={**FACE_IMAGES, "classifier": ("data", "model")},
            # train.py:356 and 264, sample_config.py:118; the layout is the axis "classifier"
            facts={**FACES, "data": "emore"},
            needs_gpu=NEEDS_GPU,
            step_bound="none",
            epoch=lambda case: "faces_emore",
            outside="--verbose 1000000 keeps verification out; the run is ended within its first epoch",
            python="3.8",
            requirements_gpu=PINS_2020,
            import_name="mxnet",
        ),
        Recipe(
            name="partial-fc-mxnet-2020",
            model="face_r100",
            checkout="insightface-2020",
            dialect="insightface_partial_fc",
            command=_partial_fc,
            spawn="once",
            options=FACE_IMAGES,
            # train_memory.py:96 and 124, default.py:18 and 60
            facts={**FACES, "data": "glint360k", "parallel_layout": SPLIT_CLASSIFIER},
            needs_gpu=NEEDS_GPU,
            step_bound="none",
            epoch=lambda case: "glint360k",
            outside="the run is ended within its first epoch",
            features=("Horovod",),
            python="3.8",
            requirements_gpu=(*PINS_2020, "mxboard==0.1.0", "protobuf==3.20.3", *launchers.FOR_HOROVOD),
            built=("horovod==0.28.1",),
            build_environment={"HOROVOD_WITH_MXNET": "1", "HOROVOD_WITH_MPI": "1", "HOROVOD_WITHOUT_TENSORFLOW": "1"},
            build_environment_gpu=HOROVOD_ON_GPUS,
            system=("mpirun", "mpicc", "cmake"),
            system_gpu=("nvcc",),
            import_name="mxnet",
        ),
        Recipe(
            name="arcface-torch",
            model="face_mbf",
            checkout="insightface",
            dialect="insightface",
            command=_arcface_torch,
            builds_in_checkout=True,  # its configuration lies there
            options={**FACE_IMAGES, "classes": ()},
            # train_v2.py:98, 116, 121 and 189, dataset.py:179: float images of one random array
            facts={**FACES, "clipping": "5.0", "data": "synthetic", "parallel_layout": SPLIT_CLASSIFIER},
            amp="native autocast, dynamic loss scale",
            needs_gpu=Message("adapters.gpu_nccl"),
            step_bound="none",
            epoch=lambda case: 1_000_000,  # dataset.py:190, whatever the configuration says
            outside="the synthetic configuration has no validation targets; the run is ended within its first epoch",
            # lr_scheduler.py:8 says `verbose`, which PyTorch of today no longer takes; no image of NVIDIA's has MXNet
            requirements=(
                *("torch==2.4.1", "torchvision==0.19.1", "easydict==1.13", "tensorboard==2.20.0"),
                # dataset.py:7 imports MXNet for synthetic data, too, and MXNet 1.9.1 is written for this NumPy
                *("scikit-learn==1.6.1", "mxnet==1.9.1", "numpy==1.23.5", "opencv-python-headless==4.8.1.78"),
            ),
            import_name="torch",
        ),
    ),
)
