"""MindSpore: ResNet-50 of mindspore-ai/models and of MindCV, under mpirun."""

from evalsuite import launchers
from evalsuite.adapter import Adapter, Command, Recipe
from evalsuite.model import Case

TARGETS = {"gpu": "GPU", "cpu": "CPU"}
PINS = ("mindspore==2.7.1", "PyYAML==6.0.2", "tqdm==4.67.1")


def _models(case: Case) -> Command:
    """The arguments are the keys of the YAML file, each with an underscore's double dash."""
    distributed = case.total_devices > 1
    return Command(
        argv=(
            *(launchers.mpirun(case) if distributed else ()),
            *("{python}", "{checkout}/official/cv/ResNet/train.py"),
            "--config_path={checkout}/official/cv/ResNet/config/resnet50_imagenet2012_config.yaml",
            *(f"--device_target={TARGETS[case.device]}", f"--batch_size={case.batch_per_device}", "--epoch_size=1"),
            *(
                f"--run_distribute={distributed}",
                f"--device_num={case.total_devices}",
                "--data_path={data}/imagenet/train",
            ),
            *("--output_path={scratch}/out", "--run_eval=False"),
        )
    )


def _mindcv(case: Case) -> Command:
    workers = case.option("loader_workers", "8" if case.device == "gpu" else "1")  # no more than there are cores
    return Command(
        argv=(
            *(launchers.mpirun(case) if case.total_devices > 1 else ()),
            *("{python}", "{checkout}/train.py", "--model", "resnet50", "--dataset", "imagenet"),
            *("--data_dir", "{data}/imagenet", "--batch_size", str(case.batch_per_device), "--epoch_size", "90"),
            *("--log_interval", "1", "--val_while_train", "False", "--ckpt_save_dir", "{scratch}/ckpt"),
            *("--device_target", TARGETS[case.device], "--dataset_sink_mode", "False"),
            *("--num_parallel_workers", workers),
            *("--distribute", str(case.total_devices > 1), *(("--amp_level", "O2") if case.precision == "amp" else ())),
        )
    )


def _one_cpu(case: Case) -> str | None:
    if case.device == "cpu" and case.total_devices > 1:
        return "MindSpore's collective communication over mpirun is NCCL or HCCL: it has none for CPUs."
    return None


ADAPTER = Adapter(
    name="mindspore",
    title="MindSpore",
    recipes=(
        Recipe(
            name="models-resnet50",
            model="resnet50_v1.5",
            checkout="mindspore-models",
            dialect="mindspore",
            command=_models,
            spawn="once",
            unsupported=_one_cpu,
            options={},
            amp="",
            xla="",
            printed_by="every_rank",
            step_bound="examples",
            outside="--run_eval=False; under data sink one report an epoch",
            requirements=PINS,
            import_name="mindspore",
            package="mindspore",
        ),
        Recipe(
            name="mindcv-resnet50",
            model="resnet50_v1.5",
            checkout="mindcv",
            dialect="mindcv",
            command=_mindcv,
            spawn="once",
            unsupported=_one_cpu,
            options={"loader_workers": ()},
            amp="MindSpore O2",
            xla="",
            step_bound="none",
            outside="--val_while_train False; the run is ended within its first epoch",
            requirements=PINS,
            import_name="mindspore",
            package="mindspore",
        ),
    ),
)
