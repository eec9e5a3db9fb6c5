"""nanoGPT: train.py, GPT-2 of 124 M parameters on token ids of OpenWebText."""

from adapters.common import launchers
from adapters.common.reference import ADAM
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

DTYPES = {"fp32": "float32", "amp": "bfloat16", "amp-bf16": "bfloat16", "amp-fp16": "float16"}


def _train(case: Case) -> Command:
    """It divides the accumulation by the processes (train.py:95): one batch of each a step. It counts from 0 to
    `max_iters` (:334), evaluates at 0, and reads configurator.py and data where it is started (:77 and 115).
    """
    gpu = case.device == "gpu"
    settings = {
        "device": "cuda" if gpu else "cpu",
        "dtype": DTYPES[case.precision],
        "compile": case.xla,
        "block_size": case.option("sequence_length", "1024"),
        "batch_size": case.batch_per_device,
        "gradient_accumulation_steps": case.total_devices,
        "max_iters": case.protocol.total_steps - 1,
        "eval_interval": 1000000,
        "eval_iters": 1,
    }
    return Command(
        argv=(
            *(launchers.torchrun(case) if case.total_devices > 1 else ("{python}",)),
            *("{checkout}/train.py", *(f"--{name}={value}" for name, value in settings.items())),
        ),
        links={"configurator.py": "{checkout}/configurator.py", "data/openwebtext": "{data}/openwebtext"},
    )


def _unsupported(case: Case) -> str | None:
    """train.py:89 gives each process of several a GPU; :112 makes autocast nothing on CPUs."""
    if case.device == "cpu" and case.total_devices > 1:
        return Message("adapters.one_process_on_cpu")
    return launchers.amp_refused_on_cpu(case)


ADAPTER = Adapter(
    name="nanogpt",
    title="nanoGPT",
    recipes=(
        Recipe(
            name="train-gpt2",
            model="gpt2_124m",
            unit="tokens/s",
            checkout="nanogpt",
            dialect="nanogpt",
            command=_train,
            unsupported=_unsupported,
            options={"sequence_length": ("1024", "512", "256", "128")},
            facts={**ADAM, "parallel_layout": "DP"},  # train.py:60 and 63, model.py:284
            amp="bf16 by native autocast, without loss scaling",
            precisions=("amp-bf16", "amp-fp16"),
            xla="torch.compile",
            outside="it evaluates once, before the first step, and saves nothing",
            requirements=("torch==2.13.0", "numpy==2.4.6"),
            import_name="torch",
            image="nvcr.io/nvidia/pytorch:26.06-py3",
        ),
    ),
)
