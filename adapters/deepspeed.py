"""DeepSpeed: the GPT-2 of DeepSpeedExamples/Megatron-LM (2020), with the ZeRO stage as an axis."""

import json

from adapters.common import launchers
from adapters.common.reference import ADAM
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case


def _configuration(case: Case) -> str:
    """The batch is stated here and as `--batch-size` (a device's). With --deepspeed the script hands over parameters
    and no optimiser (pretrain_gpt2.py:167): it is that of the repository's scripts/ds_zero2_config.json.
    """
    return json.dumps(
        {
            "train_batch_size": case.global_batch,
            "train_micro_batch_size_per_gpu": case.batch_per_device,
            "steps_per_print": 1,
            "optimizer": {"type": "Adam", "params": {"lr": 1.5e-4, "weight_decay": 1e-2}},
            "gradient_clipping": 1.0,
            "fp16": {"enabled": case.precision == "amp", "loss_scale": 0},
            "zero_optimization": {"stage": int(case.option("zero_stage", "0"))},
        }
    )


# "h1:8,h2:8" as DeepSpeed reads it (launcher/runner.py: fetch_hostfile): "h1 slots=8", a line each
WITH_HOSTFILE = """echo "$1" | tr , '\\n' | sed 's/:/ slots=/' > hostfile && shift && exec "$@\""""


def _command(case: Case) -> Command:
    """The vocabulary comes from the network (tokenization_gpt2.py:37), whichever loader is chosen. Over nodes the
    launcher calls pdsh on the first, and hands on variables of NCCL and Python alone (launcher/runner.py:27)."""
    tensor = case.option("tensor_parallel", "1")
    among = ("--hostfile", "hostfile", "--num_nodes", str(case.nodes)) if case.nodes > 1 else ()
    return Command(
        argv=(
            *(("sh", "-c", WITH_HOSTFILE, "sh", "{hosts_slots}") if case.nodes > 1 else ()),
            *("{bin}/deepspeed", *among, "--num_gpus", str(case.devices_per_node)),
            *("--master_addr", "{master_addr}", "--master_port", "{master_port}"),
            *("{checkout}/Megatron-LM/pretrain_gpt2.py", "--model-parallel-size", tensor),
            *launchers.gpt_arguments(case),
            *("--max-position-embeddings", launchers.gpt_size(case)["sequence_length"]),
            *("--batch-size", str(case.batch_per_device), "--train-iters", str(case.protocol.total_steps)),
            *("--log-interval", "1", "--resume-dataloader", "--train-data", "webtext", "--lazy-loader"),
            *("--tokenizer-type", "GPT2BPETokenizer", "--split", "949,50,1"),
            *("--distributed-backend", "nccl", "--lr", "1.5e-4", "--lr-decay-style", "cosine"),
            *("--weight-decay", "1e-2"),
            *("--clip-grad", "1.0", "--warmup", ".01", "--save-interval", "1000000"),
            *("--eval-interval", "1000000", "--eval-iters", "1"),
            *("--checkpoint-activations", "--deepspeed", "--deepspeed_config", "{scratch}/deepspeed.json"),
            *(("--fp16",) if case.precision == "amp" else ()),
        ),
        files={"deepspeed.json": _configuration(case)},
        # corpora.py:44 wants it there, and lazy_loader.py writes data.lazy beside it
        links={"data/webtext/data.json": "{data}/webtext/data.json"},
    )


def _unsupported(case: Case) -> str | None:
    tensor = int(case.option("tensor_parallel", "1"))
    if tensor != 1:
        return Message("adapters.deepspeed_parallel")
    if case.option("zero_stage", "0") != "0" and case.precision == "fp32":
        return Message("adapters.deepspeed_fp16")
    return launchers.gpt_refused(case)


ADAPTER = Adapter(
    name="deepspeed",
    title="DeepSpeed",
    recipes=(
        Recipe(
            name="gpt2-2020",
            model="gpt2",
            unit="sequences/s",
            checkout="deepspeed-examples-2020",
            dialect="megatron",
            command=_command,
            spawn="once",
            unsupported=_unsupported,
            options={"zero_stage": ("0", "1", "2"), "tensor_parallel": ("1", "2", "4", "8"), **launchers.GPT_SIZE},
            # pretrain_gpt2.py:43 and 114 (Apex's FusedAdam is AdamW); the layout is the axis zero_stage
            facts=ADAM,
            amp="fp16, dynamic loss scale",
            needs_gpu=Message("adapters.gpu_set_device"),
            outside="neither evaluation nor checkpoint before step 1000000",
            # requirements.txt; the release of that month, which NVIDIA's images do not hold
            requirements=(
                *("torch==1.6.0", "deepspeed==0.3.1", "numpy==1.23.5", "nltk==3.9.1", "pandas==1.5.3"),
                *("sentencepiece==0.2.0", "boto3==1.34.0", "regex==2024.5.15", "requests==2.32.4"),
            ),
            off_index=("APEX",),
            python="3.8",
            import_name="deepspeed",
        ),
    ),
)
