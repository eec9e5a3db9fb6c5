"""NGC PyTorch: NVIDIA's DeepLearningExamples, ResNet-50 v1.5 and BERT, as of 2020 (Apex) and of 2023 (native AMP)."""

from collections.abc import Callable
from dataclasses import replace

from adapters.common import launchers
from adapters.common.reference import BERT_LENGTH, IMAGES, LAMB
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

CONVNETS = "{checkout}/PyTorch/Classification/ConvNets"
BERT = "{checkout}/PyTorch/LanguageModeling/BERT"
NEEDS_GPU = Message("adapters.gpu_set_device")
SCALES = {"loss_scale": ("static", "dynamic")}  # moved DLPerf's BERT figures by up to 43 %
# By default: image_classification/training.py:118 (2020), optimizers.py:52 and main.py:209 (2023).
# run_pretraining.py:383 and 429; both LAMBs clip the norm of all gradients at 1 by default (fused_lamb.py:17).
PRETRAINING = {**LAMB, "parallel_layout": "DP"}
BASE = (
    '{"attention_probs_dropout_prob": 0.1, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 768, '
    '"initializer_range": 0.02, "intermediate_size": 3072, "max_position_embeddings": 512, '
    '"num_attention_heads": 12, "num_hidden_layers": 12, "type_vocab_size": 2, "vocab_size": 30522}\n'
)


def _resnet50(era: int) -> Callable[[Case], Command]:
    synthetic = "syntetic" if era == 2020 else "synthetic"  # misspelt in 2020

    def command(case: Case) -> Command:
        static = case.option("loss_scale", "static") == "static"
        dynamic = ("--dynamic-loss-scale",) if era == 2020 else ()
        scale = ("--static-loss-scale", "128") if static else dynamic
        loader = case.option("data", "synthetic")
        return Command(
            argv=(
                *("{python}", f"{CONVNETS}/multiproc.py", "--nnodes", str(case.nodes), "--node_rank", "{node_rank}"),
                *("--nproc_per_node", str(case.devices_per_node)),
                *("--master_addr", "{master_addr}", "--master_port", "{master_port}"),
                *(f"{CONVNETS}/main.py", "--arch", "resnet50", "-b", str(case.batch_per_device)),
                *("--epochs", "1", "--prof", str(case.protocol.total_steps + 1), "-p", "1"),  # it logs one less
                *("--training-only", "--no-checkpoints", "--optimizer-batch-size", "-1"),
                *("--workspace", "{scratch}", "--raport-file", "raport.json"),
                *("--data-backend", synthetic if loader == "synthetic" else loader),
                *(("--amp", *scale, "--memory-format", "nhwc") if case.precision == "amp" else ()),
                "{scratch}" if loader == "synthetic" else "{data}/imagenet",
            )
        )

    return command


def _bert(era: int) -> Callable[[Case], Command]:
    """The last step prints its loss alone (run_pretraining.py:626 in 2020, 716 in 2023), so one more is asked for.
    In 2023 the data are LDDL's Parquet (run_pretraining.py:557).
    """
    data = "{data}/bert-hdf5" if era == 2020 else "{data}/bert-lddl"

    def command(case: Case) -> Command:
        scale = ("--loss_scale", "0" if case.option("loss_scale", "dynamic") == "dynamic" else "128")
        vocabulary = ("--vocab_file", "{data}/bert-base-uncased/vocab.txt") if era == 2023 else ()
        model = ("--bert_model", "bert-base-uncased") if era == 2020 else ()  # the config file names the size
        return Command(
            argv=(
                *launchers.torch_launch(case),
                *(f"{BERT}/run_pretraining.py", "--input_dir", data, "--output_dir", "{scratch}/out"),
                *("--config_file", "{scratch}/bert_base.json", *model, *vocabulary),
                *("--train_batch_size", str(case.batch_per_device), "--max_seq_length", "128"),
                *("--max_predictions_per_seq", "20", "--max_steps", str(case.protocol.total_steps + 1)),
                *("--warmup_proportion", "0.2843", "--learning_rate", "6e-3", "--seed", "42", "--do_train"),
                *("--num_steps_per_checkpoint", "1000000", "--skip_checkpoint", "--log_freq", "1"),
                *("--disable_progress_bar", "--json-summary", "{scratch}/dllogger.json"),
                *(("--fp16", *scale) if case.precision == "amp" else ()),
            ),
            files={"bert_base.json": BASE},
        )

    return command


def _static_only(case: Case) -> str | None:
    dynamic = case.precision == "amp" and case.option("loss_scale") == "dynamic"
    return Message("adapters.static_scale") if dynamic else None


LOADERS = {"data": ("synthetic", "dali-gpu", "dali-cpu", "pytorch")}
DLLOGGER = ("dllogger",)  # each Dockerfile installs it over the image
RESNET_2020 = Recipe(
    name="resnet50-2020",
    model="resnet50_v1.5",
    checkout="ngc-pytorch-2020",
    libraries=DLLOGGER,
    dialect="dllogger_pytorch",
    command=_resnet50(2020),
    options={**LOADERS, **SCALES},
    epoch=lambda case: None if case.option("data", "synthetic") == "synthetic" else "imagenet",
    facts=IMAGES,
    features=("APEX",),
    amp="Apex O1",
    needs_gpu=NEEDS_GPU,
    outside="--training-only --no-checkpoints",
    image="nvcr.io/nvidia/pytorch:20.03-py3",
)
BERT_2020 = Recipe(
    name="bert-base-2020",
    model="bert_base",
    unit="sequences/s",
    checkout="ngc-pytorch-2020",
    libraries=DLLOGGER,
    dialect="dllogger_pytorch_bert",
    command=_bert(2020),
    options={**BERT_LENGTH, "loss_scale": ("dynamic", "static")},
    facts=PRETRAINING,
    features=("APEX",),
    amp="Apex O2",
    needs_gpu=NEEDS_GPU,
    outside="--skip_checkpoint; it evaluates nothing",
    image="nvcr.io/nvidia/pytorch:20.03-py3",
)
ADAPTER = Adapter(
    name="ngc_pytorch",
    title="NGC PyTorch",
    recipes=(
        RESNET_2020,
        replace(
            RESNET_2020,
            name="resnet50",
            checkout="ngc",
            command=_resnet50(2023),
            unsupported=_static_only,
            amp="native autocast to float16",
            features=("DistributedDataParallel",),
            image="nvcr.io/nvidia/pytorch:21.03-py3",
        ),
        BERT_2020,
        replace(
            BERT_2020,
            name="bert-base",
            checkout="ngc",
            command=_bert(2023),
            amp="native autocast to float16",
            features=("DistributedDataParallel",),
            image="nvcr.io/nvidia/pytorch:21.11-py3",
        ),
    ),
)
