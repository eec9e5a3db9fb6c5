"""NGC PaddlePaddle: NVIDIA's DeepLearningExamples, ResNet-50 v1.5 and BERT-base, under Paddle's own launcher."""

from adapters.common import launchers
from adapters.common.reference import BERT_LENGTH, IMAGENET, LAMB
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

NEEDS_GPU = Message("adapters.gpu_dali")
AMP = ("--amp", "--scale-loss", "128.0", "--use-dynamic-loss-scaling")
# By default: optimizer.py:34 and 83 of each script, utils/config.py:327 and 369; BERT reads HDF5 files.


def _resnet50(case: Case) -> Command:
    return Command(
        argv=(
            *launchers.paddle_launch(case),
            *("{checkout}/PaddlePaddle/Classification/RN50v1.5/train.py", "--image-root", "{data}/imagenet"),
            *("--batch-size", str(case.batch_per_device), "--epochs", "1", "--print-interval", "1"),
            *("--benchmark", "--benchmark-warmup-steps", str(case.protocol.warmup_steps)),
            *("--benchmark-steps", str(case.protocol.measured_steps), "--report-file", "{scratch}/report.json"),
            *("--run-scope", "train_only", "--checkpoint-dir", "{scratch}/checkpoints"),
            *((*AMP, "--data-layout", "NHWC", "--fuse-resunit") if case.precision == "amp" else ()),
        )
    )


def _bert(case: Case) -> Command:
    """It reads LDDL's Parquet (run_pretraining.py:28 and 71)."""
    return Command(
        argv=(
            *launchers.paddle_launch(case),
            *("{checkout}/PaddlePaddle/LanguageModeling/BERT/run_pretraining.py", "--input-dir", "{data}/bert-lddl"),
            *("--vocab-file", "{data}/bert-base-uncased/vocab.txt", "--output-dir", "{scratch}/out"),
            *("--bert-model", "bert-base-uncased", "--batch-size", str(case.batch_per_device)),
            *("--max-seq-length", "128", "--max-predictions-per-seq", "20"),
            *("--max-steps", str(case.protocol.total_steps), "--log-freq", "1", "--phase1"),
            *("--num-steps-per-checkpoint", "1000000", "--report-file", "{scratch}/report.json"),
            *(("--optimizer", "AdamW") if case.option("optimiser") == "adam" else ()),  # utils/config.py:369
            *(AMP if case.precision == "amp" else ()),
        )
    )


ADAPTER = Adapter(
    name="ngc_paddlepaddle",
    title="NGC PaddlePaddle",
    recipes=(
        Recipe(
            name="resnet50",
            model="resnet50_v1.5",
            checkout="ngc",
            libraries=("dllogger",),  # the Dockerfile installs it over the image
            dialect="dllogger_paddle",
            command=_resnet50,
            options={},
            facts=IMAGENET,
            amp="static graph AMP O1, dynamic loss scale",
            needs_gpu=NEEDS_GPU,
            outside="--run-scope train_only",
            image="nvcr.io/nvidia/paddlepaddle:23.12-py3",
        ),
        Recipe(
            name="bert-base",
            model="bert_base",
            unit="sequences/s",
            checkout="ngc",
            libraries=("dllogger",),  # the Dockerfile installs it over the image
            dialect="dllogger_paddle_bert",
            command=_bert,
            options={**BERT_LENGTH, "optimiser": ("lamb", "adam")},
            facts={**LAMB, "parallel_layout": "DP"},
            amp="static graph AMP O1, dynamic loss scale",
            needs_gpu=NEEDS_GPU,
            outside="no checkpoint before step 1000000; it evaluates nothing",
            image="nvcr.io/nvidia/paddlepaddle:23.06-py3",
        ),
    ),
)
