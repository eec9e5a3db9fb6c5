"""HugeCTR: Wide & Deep of its samples, on the 8 GPUs of one node that the sample is written for."""

from adapters.common.reference import CLICKS, SPLIT_TABLES
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

BATCH = 16_384  # of the whole job, fixed in the samples


def _command(case: Case) -> Command:
    """It reads `./criteo_data/train/_file_list.txt` and `val` (wdl_8gpu.py:30)."""
    return Command(
        argv=("{python}", "{checkout}/samples/wdl/wdl_8gpu.py"), links={"criteo_data": "{data}/criteo-parquet"}
    )


def _unsupported(case: Case) -> str | None:
    """The output of wdl_1gpu.py:176 follows two hidden layers, that of wdl_8gpu.py:270 seven."""
    if case.nodes > 1 or case.devices_per_node != 8:
        return Message("adapters.hugectr_gpus")
    if case.global_batch != BATCH:
        return Message("adapters.hugectr_batch", batch=BATCH)
    return None


ADAPTER = Adapter(
    name="hugectr",
    title="HugeCTR",
    recipes=(
        Recipe(
            name="wide-deep",
            model="wide_and_deep",
            unit="samples/s",
            checkout="hugectr",
            dialect="hugectr",
            command=_command,
            spawn="once",
            unsupported=_unsupported,
            options={},
            # wdl_8gpu.py:64 (Adam over all rows), 86 and 97; solver_wrapper.hpp:135: FP32 by default.
            facts={**CLICKS, "parallel_layout": SPLIT_TABLES},
            needs_gpu=Message("adapters.gpu_hugectr"),
            step_bound="none",
            outside="the run is ended before the sample's first evaluation",
            image="nvcr.io/nvidia/merlin/merlin-hugectr:24.06",
        ),
    ),
)
