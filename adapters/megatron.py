"""Megatron-LM: GPT-2, of any size, in data, tensor and pipeline parallel layouts, as of 2021 and today."""

from collections.abc import Callable

from adapters.common import launchers
from adapters.common.reference import ADAM
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

SCHEDULE = (
    *("--lr", "1.5e-4", "--lr-decay-style", "cosine", "--min-lr", "1.0e-5", "--weight-decay", "1e-2"),
    *("--clip-grad", "1.0", "--lr-warmup-fraction", ".01", "--split", "949,50,1", "--log-interval", "1"),
    *("--eval-interval", "1000000", "--eval-iters", "1", "--save-interval", "1000000"),
)


def _shared(case: Case) -> tuple[str, ...]:
    """A replica has tensor x pipeline devices and one micro batch: no gradient is accumulated."""
    tensor, pipeline = launchers.replica(case)
    return (
        *("--tensor-model-parallel-size", str(tensor), "--pipeline-model-parallel-size", str(pipeline)),
        *("--micro-batch-size", str(case.batch_per_device * tensor * pipeline)),
        *("--global-batch-size", str(case.global_batch), "--train-iters", str(case.protocol.total_steps)),
        *("--lr-decay-iters", str(case.protocol.total_steps), *launchers.gpt_arguments(case)),
        *("--max-position-embeddings", launchers.gpt_size(case)["sequence_length"], *SCHEDULE),
    )


def _gpt_2021(case: Case) -> Command:
    data = (
        *("--data-path", launchers.GPT_DATA, "--vocab-file", "{data}/gpt2/gpt2-vocab.json"),
        *("--merge-file", "{data}/gpt2/gpt2-merges.txt", "--data-impl", "mmap"),
    )
    return Command(
        argv=(
            *(*launchers.torch_launch(case), "{checkout}/pretrain_gpt.py", *_shared(case), *data),
            *("--distributed-backend", "nccl", "--checkpoint-activations"),
            *(("--fp16",) if case.precision == "amp" else ()),
        ),
        environment={"PYTHONUNBUFFERED": "1"},
        links=launchers.GPT_LINKS,
    )


def _gpt(case: Case) -> Command:
    return Command(
        argv=(
            *(*launchers.torchrun(case), "{checkout}/pretrain_gpt.py", *_shared(case), "--mock-data"),
            *("--tokenizer-type", "NullTokenizer", "--vocab-size", "50257", "--recompute-activations"),
            *(("--bf16",) if case.precision == "amp" else ()),
        ),
        environment={"CUDA_DEVICE_MAX_CONNECTIONS": "1"},
    )


def _recipe(
    name: str, checkout: str, command: Callable[[Case], Command], data: str, amp: str, image: str, python: str
) -> Recipe:
    return Recipe(
        name=name,
        model="gpt2",
        unit="sequences/s",
        checkout=checkout,
        dialect="megatron",
        command=command,
        unsupported=launchers.gpt_refused,
        options={**launchers.REPLICA, **launchers.GPT_SIZE},
        # arguments.py:261 and 263, optimizer/__init__.py:16 (2021); core/optimizer/optimizer_config.py:209 and 250
        facts={**ADAM, "data": data},
        amp=amp,
        # make: dataset_utils.py:74 (2021), megatron/core/datasets/utils.py:25; fused_kernels/build (2021)
        builds_in_checkout=True,
        needs_gpu=Message("adapters.gpu_megatron"),
        outside="neither evaluation nor checkpoint before step 1000000",
        image=image,
        python=python,
        off_index=("APEX",) if checkout == "megatron-2021" else ("Transformer Engine",),
    )


ADAPTER = Adapter(
    name="megatron",
    title="Megatron-LM",
    recipes=(
        _recipe(
            *("gpt2-2021", "megatron-2021", _gpt_2021, "text"),
            *("fp16, dynamic loss scale", "nvcr.io/nvidia/pytorch:20.12-py3", "3.8"),
        ),
        _recipe(
            *("gpt2", "megatron", _gpt, "synthetic"),
            *("bf16, no loss scale", "nvcr.io/nvidia/pytorch:26.06-py3", "3.12"),  # pyproject.toml: >= 3.12
        ),
    ),
)
