"""TensorFlow's official scripts: tensorflow/models (2020, 2022 by pip, 2023), its BERT, and tf_cnn_benchmarks."""

import json
from dataclasses import replace

from adapters.common import launchers
from adapters.common.reference import ADAM, BERT_LENGTH, IMAGENET, IMAGES, TRAINING_IMAGES
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

# By default. tensorflow/models: SGD with momentum 0.9 and an L2 term in the loss (configs/examples/resnet/
# imagenet/gpu.yaml; vision/configs/image_classification.py); BERT: nlp/optimization.py, AdamWeightDecay.
# tf_cnn_benchmarks/benchmark_cnn.py:306, 344 and 346: its "sgd" is GradientDescentOptimizer (line 1232)
TF_CNN = {**IMAGES, "optimiser": "sgd without momentum"}


def _only_one_cpu(case: Case) -> str | None:
    return Message("adapters.one_a_node") if case.device == "cpu" and case.devices_per_node > 1 else None


def _interval(case: Case) -> int:
    whole = (case.protocol.warmup_steps, case.protocol.measured_steps)
    return next(size for size in (10, 5, 4, 3, 2, 1) if all(steps % size == 0 for steps in whole))


def _gpus(case: Case) -> int:
    return case.devices_per_node if case.device == "gpu" else 0


def _strategy(case: Case) -> str:
    if case.nodes > 1:
        return "multi_worker_mirrored"
    return "mirrored" if case.devices_per_node > 1 else "off" if case.device == "cpu" else "one_device"


def _runtime(case: Case) -> dict[str, str | int | bool]:
    """The workers are in TF_CONFIG: classifier_trainer.py makes its strategy before `initialize` reads worker_hosts,
    vision/train.py and the package's resnet_ctl_imagenet_main never read them."""
    return {
        "num_gpus": _gpus(case),
        "distribution_strategy": _strategy(case),
        "enable_xla": bool(case.xla),
        **({"all_reduce_alg": "nccl"} if case.nodes > 1 and case.device == "gpu" else {}),
    }


def _classifier_trainer(case: Case) -> Command:
    kind = "float16" if case.precision == "amp" else "float32"
    builder = case.option("data", "synthetic")
    data = {
        "builder": builder,
        "batch_size": case.batch_per_device,
        "use_per_replica_batch_size": True,
        "dtype": kind,
        "num_channels": 3,  # "infer" would ask TFDS's server for its description (dataset_factory.py, num_channels)
    }
    overrides = {
        "runtime": _runtime(case),
        "train": {"epochs": 1, "steps": case.protocol.total_steps, "resume_checkpoint": False},
        "train_dataset": data,
        "validation_dataset": data,
        "evaluation": {"skip_eval": True},
    }
    return Command(
        argv=(
            *("{python}", "{checkout}/official/vision/image_classification/classifier_trainer.py"),
            *("--mode=train_and_eval", "--model_type=resnet", "--dataset=imagenet", "--model_dir={scratch}/model"),
            "--config_file={checkout}/official/vision/image_classification/configs/examples/resnet/imagenet/gpu.yaml",
            *(f"--params_override={json.dumps(overrides)}", f"--log_steps={_interval(case)}"),
            # required even if unread
            f"--data_dir={'{data}/imagenet-tfrecord' if builder == 'records' else '{scratch}'}",
        ),
        environment={"PYTHONPATH": "{checkout}", **launchers.tf_config(case)},
    )


def _legacy(case: Case) -> Command:
    """In the package tf-models-official: no checkout. The batch is the whole job's."""
    synthetic = case.option("data", "synthetic") == "synthetic"
    among = ("--all_reduce_alg=nccl",) if case.device == "gpu" else ()
    return Command(
        argv=(
            *("{python}", "-m", "official.legacy.image_classification.resnet.resnet_ctl_imagenet_main"),
            *(f"--batch_size={case.global_batch}", f"--train_steps={case.protocol.total_steps}"),
            *(f"--steps_per_loop={_interval(case)}", f"--log_steps={_interval(case)}", "--skip_eval"),
            *(f"--num_gpus={_gpus(case)}", f"--distribution_strategy={_strategy(case)}"),
            *("--model_dir={scratch}/model", "--enable_eager=true", "--noenable_checkpoint_and_export"),
            *(("--use_synthetic_data=true",) if synthetic else ("--data_dir={data}/imagenet-tfrecord",)),
            *(("--dtype=fp16",) if case.precision == "amp" else ()),
            *(("--enable_xla=true",) if case.xla else ()),
            *(among if case.nodes > 1 else ()),
        ),
        environment=launchers.tf_config(case),
    )


def _vision_train(case: Case) -> Command:
    interval = _interval(case)
    overrides = {
        "runtime": {**_runtime(case), "mixed_precision_dtype": "float16" if case.precision == "amp" else "float32"},
        "task": {
            "train_data": {"global_batch_size": case.global_batch, "input_path": "{data}/imagenet-tfrecord/train*"}
        },
        "trainer": {
            "train_steps": case.protocol.total_steps,
            "steps_per_loop": interval,
            "summary_interval": interval,
            "checkpoint_interval": 1_000_000,
        },
    }
    return Command(
        argv=(
            *("{python}", "-m", "official.vision.train", "--experiment=resnet_imagenet", "--mode=train"),
            "--config_file={checkout}/official/vision/configs/experiments/image_classification/"
            "imagenet_resnet50_gpu.yaml",
            *("--model_dir={scratch}/model", f"--params_override={json.dumps(overrides)}"),
        ),
        environment={"PYTHONPATH": "{checkout}", **launchers.tf_config(case)},
    )


def _bert_2020(case: Case) -> Command:
    """It has --worker_hosts and never reads it; TF_CONFIG is what DLPerf's patch of it sets."""
    return Command(
        argv=(
            *("{python}", "{checkout}/official/nlp/bert/run_pretraining.py"),
            *("--input_files={data}/bert-tfrecord/training/*", "--model_dir={scratch}/model"),
            "--bert_config_file={data}/bert-base-uncased/bert_config.json",
            *("--max_seq_length=128", "--max_predictions_per_seq=20", f"--train_batch_size={case.global_batch}"),
            *(f"--num_steps_per_epoch={case.protocol.total_steps}", "--num_train_epochs=1", "--steps_per_loop=1"),
            *("--warmup_steps=10", "--learning_rate=1e-4", f"--num_gpus={_gpus(case)}"),
            f"--distribution_strategy={_strategy(case).replace('off', 'one_device')}",  # None is refused
            *(("--all_reduce_alg=nccl",) if case.nodes > 1 and case.device == "gpu" else ()),
            *(("--optimizer_type=lamb",) if case.option("optimiser") == "lamb" else ()),  # common_flags.py:61
            *(("--dtype=fp16",) if case.precision == "amp" else ()),
        ),
        environment={"PYTHONPATH": "{checkout}", **launchers.tf_config(case)},
    )


def _tf_cnn(case: Case) -> Command:
    """Several nodes use Horovod: a device a worker, which prints its own share."""
    horovod = case.nodes > 1
    records = ("--data_name=imagenet", "--data_dir={data}/imagenet-tfrecord")
    one_node = ("--variable_update=replicated", "--all_reduce_spec=nccl") if case.device == "gpu" else ()
    return Command(
        argv=(
            *(launchers.horovodrun(case) if horovod else ()),
            *("{python}", "{checkout}/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py", "--model=resnet50_v1.5"),
            *(f"--batch_size={case.batch_per_device}", f"--num_gpus={1 if horovod else case.devices_per_node}"),
            *(f"--num_warmup_batches={case.protocol.warmup_steps}", f"--num_batches={case.protocol.measured_steps}"),
            *("--display_every=1", *(("--variable_update=horovod",) if horovod else one_node)),
            *(("--device=cpu", "--data_format=NHWC") if case.device == "cpu" else ()),
            *(records if case.option("data") == "records" else ()),
            *(("--use_fp16",) if case.precision == "amp" else ()),
            *(("--xla_compile",) if case.xla else ()),
        )
    )


MODELS_2020 = (
    *("tensorflow-datasets==3.0.0", "numpy==1.18.5", "protobuf==3.19.6", "tensorflow-model-optimization==0.5.0"),
    *("tensorflow-addons==0.11.2", "gin-config==0.4.0", "PyYAML==5.4.1"),
)
BERT_2020 = (
    *("tensorflow-datasets==3.0.0", "numpy==1.18.5", "protobuf==3.19.6", "tensorflow-hub==0.9.0"),
    *("tensorflow-addons==0.11.2", "sentencepiece==0.1.99", "gin-config==0.4.0", "PyYAML==5.4.1"),
)
GARDEN = ("tf-models-official==2.15.0", "tensorflow-datasets==4.9.3", "tensorflow-metadata==1.14.0", "protobuf==3.20.3")
MODELS = "nvcr.io/nvidia/tensorflow:25.02-tf2-py3"
TF_CNN_RESNET50 = Recipe(
    name="tf-cnn-resnet50",
    model="resnet50_v1.5",
    checkout="tensorflow-benchmarks",
    dialect="tf_cnn_benchmarks",
    command=_tf_cnn,
    spawn="once",
    unsupported=_only_one_cpu,
    options={"data": ("synthetic", "records")},
    facts=TF_CNN,
    amp="all of it cast to float16, static loss scale",
    xla="XLA",
    outside="it neither evaluates nor saves",
    # 2.10 lacks variable_v1; 2.16 has Keras 3 without its RNN cells.
    requirements=("tensorflow-cpu==2.15.1",),
    requirements_gpu=("tensorflow[and-cuda]==2.15.1",),
    import_name="tensorflow",
    image="nvcr.io/nvidia/tensorflow:23.03-tf1-py3",
)
ADAPTER = Adapter(
    name="tensorflow",
    title="TensorFlow",
    recipes=(
        Recipe(
            name="models-resnet50-2020",
            model="resnet50_v1.5",
            checkout="tensorflow-models-2020",
            dialect="tf_time_history",
            command=_classifier_trainer,
            unsupported=_only_one_cpu,
            options={"data": ("synthetic", "records")},
            facts=IMAGES,
            amp="Keras mixed_float16, dynamic loss scale",
            xla="XLA",
            outside="evaluation.skip_eval; one epoch, one checkpoint at its end",
            python="3.8",
            requirements=("tensorflow-cpu==2.3.0", *MODELS_2020),
            requirements_gpu=("tensorflow==2.3.0", *MODELS_2020),
            import_name="tensorflow",
        ),
        Recipe(
            name="models-resnet50-legacy",
            model="resnet50_v1.5",
            source="tf-models-official==2.10.1 (Python package)",
            dialect="tf_time_history",
            command=_legacy,
            unsupported=_only_one_cpu,
            options={"data": ("synthetic", "records")},
            epoch=lambda case: TRAINING_IMAGES,  # common.py:136: min(train_steps, images // batch)
            facts=IMAGES,
            amp="Keras mixed_float16, dynamic loss scale",
            xla="XLA",
            outside="--skip_eval --noenable_checkpoint_and_export",
            python="3.8",
            requirements=("tf-models-official==2.10.1", "tensorflow==2.10.1", "protobuf==3.19.6", "numpy==1.23.5"),
            import_name="official.legacy.image_classification.resnet.resnet_ctl_imagenet_main",
            package="tensorflow",
        ),
        Recipe(
            name="models-resnet50",
            model="resnet50_v1.5",
            checkout="tensorflow-models",
            dialect="tf_model_garden",
            command=_vision_train,
            unsupported=_only_one_cpu,
            options={},
            facts=IMAGENET,
            amp="Keras mixed_float16, dynamic loss scale",
            xla="XLA",
            outside="--mode=train, no checkpoint before step 1000000",
            # today's tensorflow-metadata wants a protobuf that TensorFlow 2.15 refuses
            requirements=("tensorflow==2.15.1", *GARDEN),
            requirements_gpu=("tensorflow[and-cuda]==2.15.1", *GARDEN),
            import_name="official.vision",
            package="tensorflow",
            image=MODELS,
        ),
        Recipe(
            name="models-bert-base-2020",
            model="bert_base",
            unit="sequences/s",
            checkout="tensorflow-models-2020",
            dialect="tf2_bert",
            command=_bert_2020,
            unsupported=_only_one_cpu,
            options={**BERT_LENGTH, "optimiser": ("adam", "lamb")},
            facts={**ADAM, "parallel_layout": "DP"},
            amp="Keras mixed_float16, dynamic loss scale",
            outside="one epoch; a checkpoint at its end",
            python="3.8",
            requirements=("tensorflow-cpu==2.3.0", *BERT_2020),
            requirements_gpu=("tensorflow==2.3.0", *BERT_2020),
            import_name="tensorflow",
        ),
        TF_CNN_RESNET50,
        replace(
            TF_CNN_RESNET50,
            name="tf-cnn-resnet50-tf1",
            checkout="tensorflow-benchmarks-tf1",
            python="3.7",
            requirements=("tensorflow-cpu==1.15.0", "protobuf==3.19.6", "numpy==1.18.5"),
            requirements_gpu=("tensorflow-gpu==1.15.0", "protobuf==3.19.6", "numpy==1.18.5"),
            image="nvcr.io/nvidia/tensorflow:20.03-tf1-py3",
        ),
    ),
)
