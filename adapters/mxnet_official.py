"""MXNet's official scripts: example/image-classification, gluon-cv and gluon-nlp (both over Horovod)."""

import functools

from adapters.common import launchers
from adapters.common.reference import ADAM, BERT_LENGTH, IMAGENET, IMAGES, TRAINING_IMAGES, over_horovod
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

PYTHON_38 = ("mxnet==1.9.1", "numpy==1.23.5")
PYTHON_38_GPU = ("mxnet-cu112==1.9.1", "numpy==1.23.5")
# train_horovod.py:205 imports transforms of AutoGluon, whose requirements contradict GluonCV's: what its import needs.
OF_GLUONCV = (
    *("gluoncv==0.8.0", "pandas==1.5.3", "scikit-learn==1.3.2", "scikit-optimize==0.9.0", "ConfigSpace==0.4.20"),
    *("dask==2.6.0", "distributed==2.6.0", "boto3==1.37.38", "networkx==3.1"),
)
# By default: common/fit.py's --optimizer sgd; train_horovod.py:74 and 380 (Nesterov's, which reads and writes
# the same); scripts/bert/run_pretraining.py:244, and 336: the norm of all gradients is clipped at 1.
GPUS_ALONE = Message("adapters.mxnet_gpus_alone")
_over_horovod = functools.partial(over_horovod, "MXNET")


# ps-lite binds to the address that it is told (ps-lite/src/zmq_van.h:98), and cannot to a name
WITH_ADDRESSES = (
    """{ echo "$2" && for each in $(echo "$1," | cut -d, -f2- | tr , ' '); do """
    """getent ahostsv4 "$each" | cut -d' ' -f1 | head -1; done; } > hostfile && shift 2 && exec "$@\""""
)


def _train_imagenet(case: Case) -> Command:
    """`--batch-size` is a worker's, shared among its GPUs; a worker a node (or a CPU process)."""
    gpu = case.device == "gpu"
    workers = case.nodes if gpu else case.total_devices
    per_worker = case.batch_per_device * (case.devices_per_node if gpu else 1)
    steps = case.protocol.total_steps + 1  # the first batch is not reported
    first = ("sh", "-c", WITH_ADDRESSES, "sh", "{hosts}", "{master_address}") if case.nodes > 1 else ()
    started = (*first, "{python}", "{checkout}/tools/launch.py", "-n", str(workers), "-s", str(case.nodes))
    over = ("--launcher", "local") if case.nodes == 1 else ("--launcher", "ssh", "-H", "hostfile")
    return Command(
        argv=(
            *((*started, *over) if workers > 1 else ()),
            *("{python}", "{checkout}/example/image-classification/train_imagenet.py", "--network", "resnet"),
            *("--num-layers", "50", "--benchmark", "1", "--batch-size", str(per_worker), "--num-epochs", "1"),
            *("--num-examples", str(steps * per_worker * workers), "--disp-batches", "1"),
            *("--image-shape", "3,224,224", "--dtype", "float16" if case.precision == "amp" else "float32"),
            *("--kv-store", "dist_sync" if workers > 1 else "device"),
            *(("--gpus", launchers.devices(case)) if gpu else ()),
        )
    )


def _gluoncv(case: Case) -> Command:
    data = "{data}/imagenet-recordio"
    return Command(
        argv=(
            *launchers.mpirun(case),
            *("{python}", "{checkout}/scripts/classification/imagenet/train_horovod.py", "--use-rec"),
            *("--rec-train", f"{data}/train.rec", "--rec-val", f"{data}/val.rec", "--model", "resnet50_v1b"),
            *("--batch-size", str(case.batch_per_device), "--num-epochs", "1", "--log-interval", "1"),
            *("--save-frequency", "0", "--save-dir", "{scratch}/params"),
            *("--dtype", "float16" if case.precision == "amp" else "float32"),
            *(("--no-cuda",) if case.device == "cpu" else ()),
        )
    )


def _gluonnlp(case: Case) -> Command:
    """`--total_batch_size` is the whole job's. `--data_eval` is required; a slow evaluation follows training.

    A vocabulary that does not lie in models/ of MXNet's own folder is downloaded (gluonnlp/data/utils.py:303).
    """
    environment = {"MXNET_HOME": "{scratch}/mxnet"}
    return Command(
        argv=(
            *launchers.mpirun(case, variables=tuple(environment)),
            *("{python}", "{checkout}/scripts/bert/run_pretraining.py", "--model", "bert_12_768_12"),
            *("--data", "{data}/bert-npz/train/*.npz", "--data_eval", "{data}/bert-npz/dev/*.npz"),
            *("--total_batch_size", str(case.global_batch), "--accumulate", "1"),
            # its 256 are not divided by 1000 processes (run_pretraining.py:212)
            *("--total_batch_size_eval", str(8 * case.total_devices)),
            *("--num_steps", str(case.protocol.total_steps), "--max_seq_length", "128"),
            *("--max_predictions_per_seq", "20", "--warmup_ratio", "1", "--lr", "1e-4", "--log_interval", "1"),
            *("--comm_backend", "horovod", "--dtype", "float16" if case.precision == "amp" else "float32"),
            *("--ckpt_dir", "{scratch}/ckpt", "--ckpt_interval", "1000000", "--no_compute_acc"),
        ),
        environment=environment,
        links={"mxnet/models": "{data}/gluonnlp-vocabulary"},
    )


ADAPTER = Adapter(
    name="mxnet",
    title="MXNet",
    recipes=(
        Recipe(
            name="image-classification-resnet50",
            model="resnet50_v1",
            checkout="mxnet-examples",
            dialect="mxnet_speedometer",
            command=_train_imagenet,
            spawn="once",
            options={},
            facts={**IMAGES, "data": "synthetic"},
            amp="all of it cast to float16",
            scope="own",
            step_bound="examples",
            outside="--benchmark 1 has no validation data",
            python="3.8",
            requirements=PYTHON_38,
            requirements_gpu=PYTHON_38_GPU,
            import_name="mxnet",
            image="nvcr.io/nvidia/mxnet:20.03-py3",
        ),
        _over_horovod(
            Recipe(
                name="gluoncv-resnet50",
                model="resnet50_v1.5",
                checkout="gluon-cv",
                dialect="gluoncv_epoch",
                command=_gluoncv,
                spawn="once",
                options={},
                facts=IMAGENET,
                amp="all of it cast to float16",
                step_bound="none",
                epoch=lambda case: TRAINING_IMAGES,  # train_horovod.py: num_training_samples
                outside="the run is ended within its first epoch",
                requirements=(*PYTHON_38, *OF_GLUONCV, *launchers.FOR_HOROVOD),
                requirements_gpu=(*PYTHON_38_GPU, *OF_GLUONCV, *launchers.FOR_HOROVOD),
                # without mpi4py train_horovod.py:53 logs before it sets the level, and then nothing more
                built=("horovod==0.28.1", "mpi4py==3.1.6"),
                without_dependencies=("autogluon==0.0.12",),
                import_name="gluoncv",
                package="mxnet",
            )
        ),
        _over_horovod(
            Recipe(
                name="gluonnlp-bert-base",
                model="bert_base",
                unit="sequences/s",
                checkout="gluon-nlp",
                dialect="gluonnlp_bert",
                command=_gluonnlp,
                spawn="once",
                options=BERT_LENGTH,
                facts={**ADAM, "parallel_layout": "DP"},
                amp="all of it cast to float16, dynamic loss scale",
                needs_gpu=GPUS_ALONE,
                outside="evaluation comes behind the last step; no checkpoint before step 1000000",
                requirements=(*PYTHON_38, "gluonnlp==0.9.1", *launchers.FOR_HOROVOD),
                requirements_gpu=(*PYTHON_38_GPU, "gluonnlp==0.9.1", *launchers.FOR_HOROVOD),
                import_name="gluonnlp",
                package="mxnet",
            )
        ),
    ),
)
