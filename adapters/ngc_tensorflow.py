"""NGC TensorFlow 1.x: NVIDIA's DeepLearningExamples, ResNet-50 v1.5 (2020, 2023) and BERT, over Horovod and mpirun."""

from collections.abc import Callable
from dataclasses import replace

from adapters.common import launchers
from adapters.common.reference import BERT_LENGTH, IMAGES, TEXT
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

CONVNETS = "{checkout}/TensorFlow/Classification/ConvNets/main.py"
BERT = "{checkout}/TensorFlow/LanguageModeling/BERT/run_pretraining.py"
NEEDS_GPU = Message("adapters.gpu_nchw")
ENVIRONMENT = {"HOROVOD_GPU_ALLREDUCE": "NCCL"}
# By default: model/resnet.py:260 and 295 (2020), 298 and 333 (2023), utils/cmdline_helper.py:113.
IN_NCHW = {**IMAGES, "memory_layout": "NCHW"}
# run_pretraining.py:67 and 514 (TFRecord), optimization.py:36, 74 and 174; DLPerf trains with adam, the default is lamb
PRETRAINING = {**TEXT, "parallel_layout": "DP"}
OPTIMISERS = ("lamb", "adam")
BASE = (
    '{"attention_probs_dropout_prob": 0.1, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 768, '
    '"initializer_range": 0.02, "intermediate_size": 3072, "max_position_embeddings": 512, '
    '"num_attention_heads": 12, "num_hidden_layers": 12, "type_vocab_size": 2, "vocab_size": 30522}\n'
)


def _launcher(case: Case) -> tuple[str, ...]:
    return launchers.mpirun(case, variables=ENVIRONMENT) if case.total_devices > 1 else ()


def _resnet50(era: int) -> Callable[[Case], Command]:
    """The first 20 steps are never logged; only training_benchmark uses `--warmup_steps`. Steps count from 0, so that
    the last of N is N - 1 (utils/hooks/training_hooks.py:88 in 2020, 108 in 2023)."""
    first = ("--precision=fp32", "--use_tf_amp", "--use_static_loss_scaling", "--loss_scale=128")
    amp = ("--amp", "--static_loss_scale", "128") if era == 2023 else first

    def command(case: Case) -> Command:
        synthetic = case.option("data", "synthetic") == "synthetic"
        dali = ("--use_dali" if era == 2020 else "--dali", "--data_idx_dir={data}/imagenet-tfrecord-index")
        read = ("--mode=train", "--data_dir={data}/imagenet-tfrecord", *dali)
        drawn = ("--mode=training_benchmark", f"--warmup_steps={case.protocol.warmup_steps}")
        return Command(
            argv=(
                *(*_launcher(case), "{python}", CONVNETS, "--arch=resnet50", "--iter_unit=batch"),
                *(f"--num_iter={case.protocol.total_steps + 1}", f"--batch_size={case.batch_per_device}"),
                *("--display_every=1", "--results_dir={scratch}/results", "--gpu_memory_fraction=0.98"),
                *(drawn if synthetic else read),
                *(amp if case.precision == "amp" else ()),
                *(("--use_xla" if era == 2020 else "--xla",) if case.xla else ()),
            ),
            environment=ENVIRONMENT,
        )

    return command


def _too_few_warmup(case: Case) -> str | None:
    return Message("adapters.first_logged") if case.protocol.warmup_steps < 20 else None


def _bert(case: Case) -> Command:
    data = "{data}/bert-tfrecord"
    return Command(
        argv=(
            *(*_launcher(case), "{python}", BERT),
            *(f"--input_files_dir={data}/training", f"--eval_files_dir={data}/test"),
            *("--output_dir={scratch}/out", "--bert_config_file={scratch}/bert_base.json"),
            *("--do_train=True", "--do_eval=False", f"--train_batch_size={case.batch_per_device}"),
            f"--optimizer_type={case.option('optimiser', OPTIMISERS[0])}",
            *("--max_seq_length=128", "--max_predictions_per_seq=20", "--num_accumulation_steps=1"),
            *(f"--num_train_steps={case.protocol.total_steps}", "--num_warmup_steps=10", "--learning_rate=1e-4"),
            *("--save_checkpoints_steps=100000", "--display_loss_steps=1", "--report_loss"),
            *("--allreduce_post_accumulation=False", "--dllog_path={scratch}/dllog.json"),
            *(("--horovod",) if case.total_devices > 1 else ()),
            *(("--use_fp16",) if case.precision == "amp" else ()),
            *(("--use_xla",) if case.xla else ()),
        ),
        environment=ENVIRONMENT,
        files={"bert_base.json": BASE},
    )


DLLOGGER = ("dllogger",)  # each Dockerfile installs it over the image
RESNET_2020 = Recipe(
    name="resnet50-2020",
    model="resnet50_v1.5",
    checkout="ngc-tensorflow-2020",
    libraries=DLLOGGER,
    dialect="dllogger_tf1",
    command=_resnet50(2020),
    spawn="once",
    features=("Horovod",),
    unsupported=_too_few_warmup,
    options={"data": ("synthetic", "dali")},
    facts=IN_NCHW,
    amp="graph rewrite, static loss scale 128",
    xla="XLA",
    needs_gpu=NEEDS_GPU,
    outside="it evaluates nothing; a checkpoint every 1000 steps",
    image="nvcr.io/nvidia/tensorflow:20.03-tf1-py3",
)
ADAPTER = Adapter(
    name="ngc_tensorflow",
    title="NGC TensorFlow 1.x",
    recipes=(
        RESNET_2020,
        replace(
            RESNET_2020,
            name="resnet50",
            checkout="ngc",
            command=_resnet50(2023),
            image="nvcr.io/nvidia/tensorflow:20.12-tf1-py3",
        ),
        Recipe(
            name="bert-base-2020",
            model="bert_base",
            unit="sequences/s",
            checkout="ngc-tensorflow-2020",
            libraries=DLLOGGER,
            dialect="dllogger_tf1_bert",
            command=_bert,
            spawn="once",
            features=("Horovod",),
            options={**BERT_LENGTH, "optimiser": OPTIMISERS},
            facts=PRETRAINING,
            amp="graph rewrite, dynamic loss scale",
            xla="XLA",
            needs_gpu=NEEDS_GPU,
            outside="--do_eval=False and no checkpoint before step 100000; it wants one input file a rank or more",
            image="nvcr.io/nvidia/tensorflow:20.03-tf1-py3",
        ),
    ),
)
