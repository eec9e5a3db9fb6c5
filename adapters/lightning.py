"""PyTorch Lightning: its ImageNet example, ResNet-50 v1.5 of torchvision."""

from adapters.common import launchers
from adapters.common.reference import IMAGENET
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.model import Case

PRECISIONS = {
    **{"fp32": "32-true", "bf16": "bf16-true", "fp16": "16-true"},
    **{"amp": "16-mixed", "amp-fp16": "16-mixed", "amp-bf16": "bf16-mixed"},
}


def _imagenet(case: Case) -> Command:
    """The model divides batch and workers by the processes of a node (imagenet.py:127)."""
    gpu, share = case.device == "gpu", case.devices_per_node
    fit = {
        "model.data_path": "{data}/imagenet",
        "model.arch": "resnet50",
        "model.batch_size": str(case.batch_per_device * share),
        "model.workers": str(int(case.option("loader_workers", "4")) * share),
        "trainer.accelerator": "gpu" if gpu else "cpu",
        "trainer.devices": str(share),
        "trainer.num_nodes": str(case.nodes),
        "trainer.strategy": "ddp" if case.total_devices > 1 else "auto",
        "trainer.precision": PRECISIONS[case.precision],
        "trainer.default_root_dir": "{scratch}",
    }
    return Command(
        argv=(
            *(launchers.torchrun(case) if case.total_devices > 1 else ("{python}",)),
            *("{checkout}/examples/pytorch/domain_templates/imagenet.py", "fit"),
            *(f"--{name}={value}" for name, value in fit.items()),
        ),
        environment={} if gpu else {"PYTHONPATH": "{workloads}/shims"},
    )


ADAPTER = Adapter(
    name="lightning",
    title="PyTorch Lightning",
    recipes=(
        Recipe(
            name="imagenet-resnet50",
            model="resnet50_v1.5",
            checkout="lightning",
            dialect="lightning",
            command=_imagenet,
            unsupported=launchers.amp_refused_on_cpu,
            options={"loader_workers": ()},
            facts=IMAGENET,  # imagenet.py:72 to 74, 118 and 139
            amp="native autocast to float16, dynamic loss scale",
            precisions=("bf16", "fp16", "amp-bf16", "amp-fp16"),
            step_bound="none",
            epoch=lambda case: "imagenet",
            outside="the run is ended within its first epoch",
            requirements=(
                *("torch==2.13.0", "torchvision==0.28.0"),
                *("lightning==2.6.6", "torchmetrics==1.9.0", "jsonargparse[signatures]==4.53.0"),
            ),
            import_name="torch",  # lightning imports torchvision, which wants the shim
            package="lightning",
            image="nvcr.io/nvidia/pytorch:26.06-py3",
        ),
    ),
)
