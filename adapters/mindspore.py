"""MindSpore: ResNet-50 v1.5 of mindspore.nn on a CPU, and of mindspore-ai/models (mpirun) and MindCV (msrun)."""

from adapters.common import launchers
from adapters.common.reference import IMAGENET, reference_on_one_device, reference_resnet50
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

TARGETS = {"gpu": "GPU", "cpu": "CPU"}
PINS = ("mindspore==2.7.1", "PyYAML==6.0.2", "tqdm==4.67.1")


def _reference_unsupported(case: Case) -> str | None:
    if case.xla and case.total_devices == 1:
        return Message("adapters.mindspore_graph")
    return reference_on_one_device(case, "MindSpore")


def _models(case: Case) -> Command:
    """Arguments are the keys of the YAML file."""
    distributed = case.total_devices > 1
    return Command(
        argv=(
            *(launchers.mpirun(case) if distributed else ()),
            *("{python}", "{checkout}/official/cv/ResNet/train.py"),
            "--config_path={checkout}/official/cv/ResNet/config/resnet50_imagenet2012_config.yaml",
            *(f"--device_target={TARGETS[case.device]}", f"--batch_size={case.batch_per_device}", "--epoch_size=1"),
            *(f"--run_distribute={distributed}", f"--device_num={case.total_devices}"),
            *("--data_path={data}/imagenet/train", "--output_dir={scratch}/out", "--run_eval=False"),
        )
    )


def _mindcv(case: Case) -> Command:
    workers = case.option("loader_workers", "8" if case.device == "gpu" else "1")  # at most the cores
    return Command(
        argv=(
            *(launchers.msrun(case) if case.total_devices > 1 else ("{python}",)),
            *("{checkout}/train.py", "--model", "resnet50", "--dataset", "imagenet"),
            *("--data_dir", "{data}/imagenet", "--batch_size", str(case.batch_per_device), "--epoch_size", "90"),
            *("--log_interval", "1", "--val_while_train", "False", "--ckpt_save_dir", "{scratch}/ckpt"),
            *("--device_target", TARGETS[case.device], "--dataset_sink_mode", "False"),
            *("--num_parallel_workers", workers),
            *("--distribute", str(case.total_devices > 1), *(("--amp_level", "O2") if case.precision == "amp" else ())),
        )
    )


def _several_cpus(case: Case) -> bool:
    return case.device == "cpu" and case.total_devices > 1


def _models_unsupported(case: Case) -> str | None:
    """train.py:172: float32 on CPUs; line 178: float16 elsewhere; line 67: one process on CPUs, whatever is asked."""
    if case.device == "gpu" and case.precision == "fp32":
        return Message("adapters.mindspore_o3")
    if case.device == "cpu" and case.precision == "amp":
        return Message("adapters.mindspore_fp32")
    return Message("adapters.mindspore_cpu") if _several_cpus(case) else None


ADAPTER = Adapter(
    name="mindspore",
    title="MindSpore",
    recipes=(
        reference_resnet50(
            "mindspore",
            dialect="mindcv",
            devices=("cpu",),
            xla=None,
            unsupported=_reference_unsupported,
            requirements=PINS,
            import_name="mindspore",
        ),
        Recipe(
            name="models-resnet50",
            model="resnet50_v1.5",
            checkout="mindspore-models",
            dialect="mindspore",
            command=_models,
            spawn="once",
            unsupported=_models_unsupported,
            options={},
            epoch=lambda case: "imagenet",
            facts=IMAGENET,  # train.py:88 and 162, resnet50_imagenet2012_config.yaml:25 and 62, dataset.py:109
            amp="all of it cast to float16 (MindSpore O3), static loss scale",
            step_bound="examples",
            outside="--run_eval=False; under data sink one report an epoch",
            requirements=PINS,
            import_name="mindspore",
        ),
        Recipe(
            name="mindcv-resnet50",
            model="resnet50_v1.5",
            checkout="mindcv",
            dialect="mindcv",
            command=_mindcv,
            unsupported=lambda case: Message("adapters.mindspore_sums") if _several_cpus(case) else None,
            options={"loader_workers": ()},
            epoch=lambda case: "imagenet",
            facts={**IMAGENET, "optimiser": "adam"},  # config.py:75, 168, 179 and 185, optim_factory.py:295
            amp="MindSpore O2: all but normalisation and loss in float16, static loss scale 1",
            step_bound="none",
            outside="--val_while_train False; the run is ended within its first epoch",
            requirements=PINS,
            import_name="mindspore",
        ),
    ),
)
