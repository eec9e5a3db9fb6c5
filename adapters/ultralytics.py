"""Ultralytics: `yolo classify train`, YOLO11n-cls on an image folder."""

from adapters.common import launchers
from adapters.common.reference import SGD
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case


def _classify(case: Case) -> Command:
    """`batch` is the whole job's and `workers` a process's (engine/trainer.py:303, cfg/default.yaml). `nbs` is the
    batch of an optimiser step, 64 by default: smaller batches were accumulated up to it (engine/trainer.py:321). With
    optimizer=auto the number of steps would choose it (:1184). `device` takes the place of CUDA_VISIBLE_DEVICES, so one
    alone is not named (utils/torch_utils.py). It writes a cache beside the folders that it reads.
    """
    gpu = case.device == "gpu"
    settings = {
        "model": "yolo11n-cls.yaml",
        "data": "{scratch}/imagenet",
        "imgsz": case.option("image_size", "224"),
        "epochs": "100",
        "batch": str(case.global_batch),
        "nbs": str(case.global_batch),
        "workers": case.option("loader_workers", "8"),
        **({} if gpu and case.devices_per_node == 1 else {"device": launchers.devices(case) if gpu else "cpu"}),
        "optimizer": "SGD",
        "amp": str(case.precision == "amp"),
        "compile": str(case.xla),
        "project": "{scratch}/runs",
        **dict.fromkeys(("val", "save", "plots"), "False"),
    }
    return Command(
        argv=("{bin}/yolo", "classify", "train", *(f"{name}={value}" for name, value in settings.items())),
        environment={"YOLO_CONFIG_DIR": "{scratch}"} | ({} if gpu else {"PYTHONPATH": "{workloads}/shims"}),
        links={"imagenet/train": "{data}/imagenet/train", "imagenet/val": "{data}/imagenet/val"},
    )


def _unsupported(case: Case) -> str | None:
    if case.nodes > 1:
        return Message("adapters.one_node_only")
    if case.device == "cpu" and case.devices_per_node > 1:
        return Message("adapters.one_process_on_cpu")
    return launchers.amp_refused_on_cpu(case)


ADAPTER = Adapter(
    name="ultralytics",
    title="Ultralytics",
    recipes=(
        Recipe(
            name="classify-yolo11n",
            model="yolo11n_cls",
            source="ultralytics==8.4.190 (Python package)",
            dialect="ultralytics",
            command=_classify,
            unsupported=_unsupported,
            options={"image_size": (), "loader_workers": ()},
            facts={**SGD, "clipping": "10.0", "data": "imagenet"},  # engine/trainer.py:913
            amp="native autocast to float16, dynamic loss scale",
            xla="torch.compile",
            step_bound="none",
            outside="it saves nothing and evaluates after its last epoch alone",
            requirements=(
                *("torch==2.13.0", "torchvision==0.28.0", "ultralytics==8.4.190"),
                "cloudpickle==3.1.1",  # for several devices (utils/dist.py:72)
            ),
            import_name="ultralytics",
            image="nvcr.io/nvidia/pytorch:26.06-py3",
        ),
    ),
)
