"""PyTorch's official scripts: pytorch/examples (two eras), torchvision, Hugging Face, torchtitan, HAL's Apex script."""

from collections.abc import Callable
from dataclasses import replace

from adapters.common import launchers
from adapters.common.reference import ADAM, IMAGENET, IMAGES, TRAINING_IMAGES
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

TORCH = ("torch==2.13.0", "torchvision==0.28.0")
TORCH_OF_2025 = ("torch==2.7.1", "torchvision==0.22.1")  # the last on PyPI that a V100 runs; it has torch.accelerator
CPU = {"PYTHONPATH": "{workloads}/shims"}  # for PyTorch without CUDA together with a torchvision for CUDA
WORKERS = {"loader_workers": ()}  # per device; DLPerf's figures differ 2.4 times between 1 and 6
# By default, at the commits of data/repositories.toml: imagenet/main.py:202 and 247 (2020: 173 and 210),
# references/classification/train.py's options, imagenet_ddp_apex.py:163 and 212.
# Trainer, transformers 4.20.1, training_args.py:549, 553 and 816: AdamW without decay by default.
TRAINER = {**ADAM, "weight_decay": "none", "parallel_layout": "DP"}
# config/job_config.py:135, 264 and 282 (0.2.2), train_configs/llama3_8b.toml: parameters are bfloat16 in each
# step at any precision of the case.
TITAN = {
    "precision": "bf16_amp",
    "optimiser": "adam",
    "weight_decay": "decoupled",
    "clipping": "1.0",
    "parallel_layout": "FSDP",
    "data": "c4",
    "input_size": "8192",
}

TITAN_NEEDS = (  # of its pyproject.toml
    *("datasets==4.7.0", "tokenizers==0.23.3", "safetensors==0.8.0", "tyro==1.0.17"),
    *("tensorboard==2.20.0", "einops==0.8.2", "pillow==11.1.0"),
)
# llama3_8b reads ./assets/hf/Llama-3.1-8B and streams allenai/c4 (config_registry.py:202, text_datasets.py:162), and
# writes a trace of every hundredth step (config_registry.py:204), which would lie in the measured ones.
LOCAL_LLAMA3 = """\
from torchtitan.models.llama3 import config_registry


def llama3_8b():
    config = config_registry.llama3_8b()
    config.hf_assets_path = "{data}/Llama-3.1-8B"
    config.dataloader.dataset.dataset.source.path = "{data}/c4"
    config.profiler.enable_profiling = False
    return config
"""
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_HOME": "{scratch}/huggingface"}  # a hub that does not answer stops no start


def _workers(case: Case, default: int = 4) -> int:
    return int(case.option("loader_workers", str(default)))


def _examples(data: str) -> Callable[[Case], Command]:
    """On GPUs it forks a process per device and `-b` is the node's; on CPUs torchrun starts them and `-b` is a
    process's.
    """

    def command(case: Case) -> Command:
        gpu = case.device == "gpu"
        forked = (
            *("--multiprocessing-distributed", "--dist-backend", "nccl", "--world-size", str(case.nodes)),
            *("--rank", "{node_rank}", "--dist-url", "tcp://{master_addr}:{master_port}"),
        )
        started = ("--dist-url", "env://", "--dist-backend", "gloo") if case.total_devices > 1 else ()
        share = case.devices_per_node if gpu else 1
        return Command(
            argv=(
                *(launchers.torchrun(case) if not gpu and case.total_devices > 1 else ("{python}",)),
                *("{checkout}/imagenet/main.py", "--arch", "resnet50"),
                *("-b", str(case.batch_per_device * share), "-j", str(_workers(case, 4 if gpu else 1) * share)),
                *("--epochs", "90", "-p", "1", *(forked if gpu else started)),
                *(("--no-accel",) if not gpu else ()),
                *(("--dummy",) if _data(case, data) == "synthetic" else ("{data}/imagenet",)),
            ),
            environment={} if gpu else CPU,
        )

    return command


def _data(case: Case, default: str) -> str:
    return case.option("data", default)


def _examples_2020_unsupported(case: Case) -> str | None:
    return Message("adapters.torch_gpus") if case.device == "cpu" and case.total_devices > 1 else None


def _examples_2020(case: Case) -> Command:
    command = _examples("imagenet")(case)
    return replace(command, argv=tuple(token for token in command.argv if token != "--no-accel"))


def _torchvision(case: Case) -> Command:
    return Command(
        argv=(
            *(launchers.torchrun(case) if case.total_devices > 1 else ("{python}",)),
            *("{checkout}/references/classification/train.py", "--model", "resnet50"),
            *("--data-path", "{data}/imagenet", "-b", str(case.batch_per_device), "--epochs", "90"),
            *("--print-freq", "1", "-j", str(_workers(case)), "--output-dir", "{scratch}"),
            *("--device", "cuda" if case.device == "gpu" else "cpu", *(("--amp",) if case.precision == "amp" else ())),
        ),
        environment={} if case.device == "gpu" else CPU,
    )


def _torchvision_unsupported(case: Case) -> str | None:
    if case.device == "cpu" and case.total_devices > 1:
        return Message("adapters.torch_nccl")
    if case.device == "cpu" and case.precision == "amp":
        return Message("adapters.amp_on_cpu")
    return None


def _run_mlm(case: Case) -> Command:
    """No launcher on CPUs: torchrun's rank makes it ask for NCCL or oneCCL."""
    gpu = case.device == "gpu"
    amp = ("--fp16",) if gpu else ("--bf16",)
    precisions = {"amp": amp, "amp-fp16": ("--fp16",), "amp-bf16": ("--bf16",), "tf32": ("--tf32", "True")}
    return Command(
        argv=(
            *(launchers.torchrun(case) if gpu else ("{python}",)),
            *("{checkout}/examples/pytorch/language-modeling/run_mlm.py", "--model_type", "bert"),
            *("--tokenizer_name", "{data}/bert-base-uncased", "--train_file", "{data}/wikitext/train.txt"),
            *("--do_train", "--max_seq_length", case.option("sequence_length", "128"), "--pad_to_max_length"),
            *(("--optim", "adafactor") if case.option("optimiser") == "adafactor" else ()),
            *(("--max_grad_norm", "0") if case.option("gradient_clipping") == "off" else ()),
            *("--per_device_train_batch_size", str(case.batch_per_device)),
            *("--max_steps", str(case.protocol.total_steps), "--logging_steps", "1", "--save_strategy", "no"),
            *("--output_dir", "{scratch}/out", "--report_to", "none"),
            *precisions.get(case.precision, ()),
            *(() if gpu else ("--no_cuda",)),
        )
    )


def _run_mlm_unsupported(case: Case) -> str | None:
    if case.device == "cpu" and case.total_devices > 1:
        return Message("adapters.torch_xpu")
    if case.precision in ("tf32", "amp-fp16"):
        return launchers.amp_refused_on_cpu(case)
    return None


def _torchtitan(case: Case) -> Command:
    """A sequence is 8192 tokens; the flag counts a rank's tokens. The configuration is a module that the user names
    (config/manager.py:129); ours is llama3_8b with local data.
    """
    return Command(
        argv=(
            *launchers.torchrun(case),
            *("-m", "torchtitan.train", "--module", "local_llama3", "--config", "llama3_8b"),
            *("--training.steps", str(case.protocol.total_steps), "--metrics.log_freq", "1"),
            *("--training.num_tokens_per_microbatch_per_dp_rank", str(case.batch_per_device * 8192)),
            *(("--compile.enable",) if case.xla else ()),
        ),
        environment={"PYTHONPATH": "{checkout}:{scratch}", **OFFLINE},
        files={"local_llama3.py": LOCAL_LLAMA3},
    )


def _torchtitan_022(case: Case) -> Command:
    """Its configuration writes a trace of every hundredth step (llama3_8b.toml:8)."""
    config = "{checkout}/torchtitan/models/llama3/train_configs/llama3_8b.toml"
    return Command(
        argv=(
            *launchers.torchrun(case),
            *("-m", "torchtitan.train", "--job.config_file", config),
            *("--training.steps", str(case.protocol.total_steps), "--metrics.log_freq", "1"),
            *("--profiling.profile_freq", "1000000"),
            *("--training.local_batch_size", str(case.batch_per_device), "--training.seq_len", "8192"),
            *("--model.hf_assets_path", "{data}/Llama-3.1-8B", "--training.dataset_path", "{data}/c4"),
            *(("--compile.enable",) if case.xla else ()),
        ),
        environment={"PYTHONPATH": "{checkout}", **OFFLINE},
    )


def _hal_unsupported(case: Case) -> str | None:
    return Message("adapters.hal_alone") if case.total_devices == 1 else None


def _hal(case: Case) -> Command:
    """Needs `--local_rank`, which only the old launcher passes."""
    return Command(
        argv=(
            *launchers.torch_launch(case),
            *("{checkout}/imagenet_ddp_apex.py", "--arch", "resnet50", "-b", str(case.batch_per_device)),
            *("--workers", str(_workers(case, 5)), "--opt-level", "O2" if case.precision == "amp" else "O0"),
            *("-p", "10", "--epochs", "90", "{data}/imagenet"),
        )
    )


LLAMA3 = Recipe(
    name="torchtitan-llama3-8b",
    model="llama3_8b",
    unit="tokens/s",
    checkout="torchtitan",
    dialect="torchtitan",
    command=_torchtitan,
    options={},
    facts=TITAN,
    xla="torch.compile",
    needs_gpu=Message("adapters.gpu_torchtitan"),
    outside="validation and checkpoints are off unless enabled",
    requirements=(
        # distributed/utils.py:591 calls torch.distributed.set_timeout, which 2.13 does not have
        *("torch==2.14.1", *TITAN_NEEDS),
        *("grain==0.2.18", "torch-checkpointing==0.1.1", "wandb==0.31.0", "spmd-types==0.2.3"),
    ),
    import_name="torch",
    image="nvcr.io/nvidia/pytorch:26.06-py3",
)
EXAMPLES = Recipe(
    name="examples-imagenet",
    model="resnet50_v1.5",
    checkout="pytorch-examples",
    dialect="pytorch_examples",
    command=_examples("synthetic"),
    options={"data": ("synthetic", "imagenet"), **WORKERS},
    facts=IMAGES,
    step_bound="none",
    epoch=lambda case: "imagenet" if case.option("data") == "imagenet" else TRAINING_IMAGES,
    outside="the run is ended within its first epoch",
    requirements=TORCH,
    other_wheels=(TORCH_OF_2025,),
    import_name="torch",
    image="nvcr.io/nvidia/pytorch:26.06-py3",
)
ADAPTER = Adapter(
    name="pytorch",
    title="PyTorch",
    recipes=(
        EXAMPLES,
        replace(
            EXAMPLES,
            name="examples-imagenet-2020",
            checkout="pytorch-examples-2020",
            command=_examples_2020,
            unsupported=_examples_2020_unsupported,
            options={"data": ("imagenet",), **WORKERS},
            epoch=lambda case: "imagenet",
            facts=IMAGENET,
            python="3.8",
            requirements=("torch==1.6.0", "torchvision==0.7.0", "numpy==1.23.5"),
            other_wheels=(),
            image="nvcr.io/nvidia/pytorch:20.03-py3",
        ),
        replace(
            EXAMPLES,
            name="torchvision-resnet50",
            checkout="torchvision",
            dialect="torchvision",
            command=_torchvision,
            unsupported=_torchvision_unsupported,
            options=WORKERS,
            facts=IMAGENET,
            amp="native autocast, dynamic loss scale",
            epoch=lambda case: "imagenet",
        ),
        Recipe(
            name="huggingface-mlm",
            model="bert_base_mlm",  # no next-sentence task: less work than the other BERT recipes
            unit="sequences/s",
            checkout="transformers",
            dialect="hf_trainer",
            command=_run_mlm,
            unsupported=_run_mlm_unsupported,
            options={"sequence_length": (), "optimiser": ("adam", "adafactor"), "gradient_clipping": ("on", "off")},
            facts=TRAINER,
            amp="native autocast, dynamic loss scale",
            precisions=("tf32", "amp-bf16", "amp-fp16"),
            outside="it saves and evaluates nothing",
            python="3.8",  # a library of 4.20 at least, and arguments that are gone today
            requirements=("torch==1.12.1", "transformers==4.20.1", "datasets==1.18.4", "numpy==1.23.5"),
            import_name="transformers",
            image="nvcr.io/nvidia/pytorch:26.06-py3",
        ),
        LLAMA3,
        replace(
            LLAMA3,
            name="torchtitan-llama3-8b-0.2.2",
            checkout="torchtitan-0.2.2",
            command=_torchtitan_022,
            requirements=("torch==2.13.0", *TITAN_NEEDS, "torchdata==0.11.0"),
        ),
        Recipe(
            name="hal-resnet50",
            model="resnet50_v1.5",
            checkout="distributed-pytorch",
            dialect="apex_imagenet",
            command=_hal,
            unsupported=_hal_unsupported,
            options=WORKERS,
            facts=IMAGENET,
            features=("APEX",),
            amp="Apex O2, dynamic loss scale",
            needs_gpu=Message("adapters.gpu_apex"),
            step_bound="none",
            epoch=lambda case: "imagenet",
            outside="the run is ended within its first epoch",
            requirements=(
                *("torch==1.6.0", "torchvision==0.7.0", "numpy==1.23.5", "pillow==9.4.0", "setuptools==59.8.0"),
                *("tensorboard==2.4.0", "protobuf==3.20.3"),  # imagenet_ddp_apex.py:18
            ),
            off_index=("APEX",),
            python="3.8",
            import_name="apex",
            package="torch",
            image="nvcr.io/nvidia/pytorch:20.03-py3",
        ),
    ),
)
