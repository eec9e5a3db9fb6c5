"""timm: train.py of pytorch-image-models, ResNet-50 v1.5."""

from adapters.common import launchers
from adapters.common.reference import IMAGENET
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.model import Case


def _train(case: Case) -> Command:
    """`-b` and `-j` are a process's (train.py:143 and 378). Its timm is the repository's own."""
    gpu = case.device == "gpu"
    return Command(
        argv=(
            *(launchers.torchrun(case) if case.total_devices > 1 else ("{python}",)),
            *("{checkout}/train.py", "--data-dir", "{data}/imagenet", "--model", "resnet50"),
            *("--img-size", case.option("image_size", "224"), "-b", str(case.batch_per_device)),
            *("-j", case.option("loader_workers", "4"), "--log-interval", "1", "--output", "{scratch}/output"),
            *("--device", "cuda" if gpu else "cpu", *(("--amp",) if case.precision == "amp" else ())),
            *(("--torchcompile",) if case.xla else ()),
        ),
        environment={"PYTHONPATH": "{checkout}" if gpu else "{checkout}:{workloads}/shims"},
    )


ADAPTER = Adapter(
    name="timm",
    title="timm",
    recipes=(
        Recipe(
            name="train-resnet50",
            model="resnet50_v1.5",
            checkout="timm",
            dialect="timm",
            command=_train,
            unsupported=launchers.amp_refused_on_cpu,  # train.py:633: the scaler of the float16 is CUDA's
            options={"image_size": (), "loader_workers": ()},
            facts=IMAGENET,  # train.py:191 to 203; optim/_optim_factory.py: torch.optim.SGD, Nesterov's momentum
            amp="native autocast to float16, dynamic loss scale",
            xla="torch.compile",
            step_bound="none",
            epoch=lambda case: "imagenet",
            outside="the run is ended within its first epoch",
            requirements=(
                *("torch==2.13.0", "torchvision==0.28.0"),
                *("pyyaml==6.0.3", "safetensors==0.8.0", "huggingface-hub==2.4.0"),  # of its pyproject.toml
            ),
            import_name="torch",
            image="nvcr.io/nvidia/pytorch:26.06-py3",
        ),
    ),
)
