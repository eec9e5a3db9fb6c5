"""OneFlow: flowvision's ResNet-50 (v1.5), OneFlow-Benchmark of 2020 (0.2), models and LiBai of 2022 (0.8).

Also GPT, face recognition, Wide & Deep.
"""

from collections.abc import Mapping
from dataclasses import replace

from adapters.common import launchers
from adapters.common.reference import (
    ADAM,
    BERT_LENGTH,
    CLICKS,
    FACES,
    IMAGES,
    SPLIT_CLASSIFIER,
    SPLIT_TABLES,
    reference_on_one_device,
    reference_resnet50,
)
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

NEEDS_GPU = Message("adapters.gpu_places")
PINS_LIBAI = (  # of its requirements.txt, what its GPT-2 and BERT import
    *("oneflow==0.9.0", "numpy==1.23.5", "setuptools==59.8.0", "wheel==0.37.1"),
    *("omegaconf==2.1.2", "hydra-core==1.1.2"),
    *("cloudpickle==3.1.1", "dill==0.3.8", "nltk==3.9.1", "jieba==0.42.1", "regex==2024.5.15", "sentencepiece==0.2.0"),
    *("tabulate==0.9.0", "termcolor==2.4.0", "portalocker==3.0.0", "pybind11==2.13.6", "safetensors==0.5.3"),
    *("tensorboardX==2.5.1", "scipy==1.10.1", "boto3==1.34.0", "PyYAML==6.0.2", "wget==3.2"),
)
PINS_2022 = ("oneflow==0.8.0", "numpy==1.23.5", "setuptools==59.8.0", "wheel==0.37.1")
BUILT_2022 = ("flowvision==0.1.0",)  # imports pkg_resources, which new setuptools lack
MODELS_RESNET = "{checkout}/Vision/classification/image/resnet50/train.py"


PARTS = {"data_parts": ()}


def _parts(case: Case, made: int = 256) -> str:
    """Of files, of which each rank reads its own."""
    return case.option("data_parts", str(made))


def _nodes_2020(case: Case) -> tuple[str, ...]:
    among = ("--node_ips={hosts}", "--ctrl_port={master_port}") if case.nodes > 1 else ()
    return (f"--num_nodes={case.nodes}", f"--gpu_num_per_node={case.devices_per_node}", *among)


def _benchmark_resnet50(case: Case) -> Command:
    """No step limit: an epoch has as many examples as the steps need."""
    fast = ("--use_fp16=True", "--channel_last=True", "--pad_output", "--fuse_bn_relu=True", "--fuse_bn_add_relu=True")
    real = ("--train_data_dir={data}/imagenet-ofrecord/train", f"--train_data_part_num={_parts(case)}")
    return Command(
        argv=(
            *("{python}", "{checkout}/Classification/cnns/of_cnn_train_val.py", "--model=resnet50", *_nodes_2020(case)),
            *(f"--batch_size_per_device={case.batch_per_device}", "--num_epochs=1"),
            *(f"--num_examples={case.global_batch * case.protocol.total_steps}", "--loss_print_every_n_iter=1"),
            *("--nccl_fusion_threshold_mb=16", "--nccl_fusion_max_ops=24", "--model_save_dir={scratch}/snapshots"),
            *("--log_dir={scratch}/log", *(real if case.option("data") == "ofrecord" else ())),
            *(fast if case.precision == "amp" else ()),
            *(("--use_xla=True",) if case.xla else ()),
        ),
        environment={"PYTHONUNBUFFERED": "1", "NCCL_LAUNCH_MODE": "PARALLEL"},
    )


def _benchmark_bert(case: Case) -> Command:
    return Command(
        argv=(
            *("{python}", "{checkout}/LanguageModeling/BERT/run_pretraining.py", *_nodes_2020(case)),
            *(f"--batch_size_per_device={case.batch_per_device}", f"--iter_num={case.protocol.total_steps}"),
            *("--loss_print_every_n_iter=1", "--data_dir={data}/bert-ofrecord", f"--data_part_num={_parts(case, 32)}"),
            *("--seq_length=128", "--max_predictions_per_seq=20", "--num_hidden_layers=12"),
            *("--num_attention_heads=12", "--max_position_embeddings=512", "--type_vocab_size=2"),
            *("--vocab_size=30522", "--hidden_size_per_head=64", "--learning_rate=1e-4"),
            *("--model_save_every_n_iter=1000000", "--model_save_dir={scratch}/snapshots", "--log_dir={scratch}/log"),
            *(("--use_fp16",) if case.precision == "amp" else ()),
            *(("--use_xla",) if case.xla else ()),
        ),
        environment={"PYTHONUNBUFFERED": "1", "NCCL_LAUNCH_MODE": "PARALLEL"},
    )


def _models_resnet50(case: Case) -> Command:
    """The script's own `--num-nodes` raises an error. An epoch has as many batches as it is told (train.py:244); the
    reader goes on through its files.
    """
    fast = ("--use-fp16", "--channel-last", "--fuse-bn-relu", "--fuse-bn-add-relu")
    real = ("--ofrecord-path", "{data}/imagenet-ofrecord", "--ofrecord-part-num", _parts(case))
    return Command(
        argv=(
            *(*launchers.oneflow_launch(case), MODELS_RESNET),
            *("--num-devices-per-node", str(case.devices_per_node), "--train-batch-size", str(case.batch_per_device)),
            *("--num-epochs", "1", "--batches-per-epoch", str(case.protocol.total_steps), "--print-interval", "1"),
            *("--print-timestamp", "--skip-eval", "--save", "{scratch}/checkpoints"),
            "--ddp" if case.option("mode") == "ddp" else "--graph",
            *(real if case.option("data") == "ofrecord" else ("--synthetic-data",)),
            *(fast if case.precision == "amp" else ()),
        )
    )


def _gpt(case: Case) -> Command:
    """A replica has tensor x pipeline devices and one micro batch."""
    tensor, pipeline = launchers.replica(case)
    among = ("--node-ips", "{hosts}", "--ctrl-port", "{master_port}") if case.nodes > 1 else ()
    return Command(
        argv=(
            *("{python}", "-m", "oneflow_gpt.training", "--num-nodes", str(case.nodes)),
            *("--num-gpus-per-node", str(case.devices_per_node), *among),
            *("--micro-batch-size", str(case.batch_per_device * tensor * pipeline)),
            *("--global-batch-size", str(case.global_batch)),
            *("--tensor-model-parallel-size", str(tensor), "--pipeline-model-parallel-size", str(pipeline)),
            *launchers.gpt_arguments(case),
            *("--train-iters", str(case.protocol.total_steps), "--log-interval", "1"),
            *("--metric-print-format", "normal", "--dataset", launchers.GPT_DATA),
            *("--save-interval", "1000000", "--log", "{scratch}/log", "--save", "{scratch}/snapshots"),
            *(("--fp16",) if case.precision == "amp" else ()),
        ),
        environment={"PYTHONPATH": "{checkout}/LanguageModeling/GPT", "PYTHONUNBUFFERED": "1"},
        links=launchers.GPT_LINKS,
    )


LIBAI_LENGTHS = ("model.cfg.max_seq_length", "dataloader.train.dataset.0.max_seq_length")  # gpt2_pretrain.py:28, 35
LIBAI_DATA = tuple(  # gpt2_pretrain.py:16 to 19; the test set is opened even where nothing is evaluated
    f"dataloader.{dataset}.{key}data_prefix"
    for dataset in ("train.dataset.0", "test.0.dataset")
    for key in ("", "indexed_dataset.")
)


LIBAI = {  # the index of samples is written once for all nodes (dataset_utils.py:40)
    **{"PYTHONPATH": "{checkout}", "ONEFLOW_FUSE_OPTIMIZER_UPDATE_CAST": "true"},
    "IS_SHARED_FILE": "1",
}


def _libai_command(case: Case, config: str, settings: Mapping[str, object], links: Mapping[str, str]) -> Command:
    return Command(
        argv=(
            *(*launchers.oneflow_launch(case), "{checkout}/tools/train_net.py"),
            *("--config-file", f"{{checkout}}/configs/{config}.py"),
            *(f"{name}={value}" for name, value in settings.items()),
        ),
        environment=LIBAI,
        links=links,
    )


def _libai_steps(case: Case) -> Mapping[str, object]:
    """Paths are quoted: a bare value of Hydra has no "=", and names of run folders have."""
    return {
        "train.amp.enabled": case.precision == "amp",
        "train.train_iter": case.protocol.total_steps + 1,  # no line for the last one
        "train.log_period": 1,
        "train.evaluation.enabled": False,
        "train.checkpointer.period": 1_000_000,
        "train.output_dir": "'{scratch}/out'",
    }


def _libai_gpt(case: Case) -> Command:
    size, (tensor, pipeline) = launchers.gpt_size(case), launchers.replica(case)
    longer = dict.fromkeys(LIBAI_LENGTHS, size["sequence_length"]) if size["sequence_length"] != "1024" else {}
    settings = {
        "train.train_micro_batch_size": case.batch_per_device * tensor * pipeline,
        "train.dist.tensor_parallel_size": tensor,
        "train.dist.pipeline_parallel_size": pipeline,
        **_libai_steps(case),
        "model.cfg.hidden_layers": size["num_layers"],
        "train.dist.pipeline_num_layers": size["num_layers"],  # gpt2_pretrain.py:32: 6, and no place for a seventh
        "model.cfg.hidden_size": size["hidden_size"],
        "model.cfg.ffn_hidden_size": 4 * int(size["hidden_size"]),
        "model.cfg.num_attention_heads": size["attention_heads"],
        "tokenization.tokenizer.vocab_file": "'{data}/gpt2/gpt2-vocab.json'",
        "tokenization.tokenizer.merges_file": "'{data}/gpt2/gpt2-merges.txt'",
        **dict.fromkeys(LIBAI_DATA, f"'{launchers.GPT_DATA}'"),
    }
    return _libai_command(case, "gpt2_pretrain", {**settings, **longer}, launchers.GPT_LINKS)


def _libai_bert(case: Case) -> Command:
    """BERT-base of configs/bert_large_pretrain.py, whose own is of eight layers and Chinese."""
    settings = {
        "train.train_micro_batch_size": case.batch_per_device,
        **_libai_steps(case),
        "train.dist.pipeline_num_layers": 12,
        "model.cfg.hidden_layers": 12,
        "model.cfg.hidden_size": 768,
        "model.cfg.intermediate_size": 3072,
        "model.cfg.num_attention_heads": 12,
        "tokenization.tokenizer.vocab_file": "'{data}/bert-base-uncased/vocab.txt'",
        "tokenization.tokenizer.do_chinese_wwm": False,
        "dataloader.train.dataset.0.max_seq_length": 128,
        "dataloader.train.dataset.0.short_seq_prob": 0.0,
        "dataloader.train.dataset.0.masking_style": "bert",
        "dataloader.test.0.dataset.masking_style": "bert",
        **dict.fromkeys(LIBAI_DATA, "'{scratch}/bert_text_sentence'"),
    }
    parts = (f"bert_text_sentence.{end}" for end in ("bin", "idx"))
    return _libai_command(
        case, "bert_large_pretrain", settings, {part: f"{{data}}/bert-megatron/{part}" for part in parts}
    )


def _vocabulary(case: Case) -> str:
    return case.option("deep_vocabulary", "2322444")


def _wide_deep(case: Case) -> Command:
    """`--batch_size` is the whole job's."""
    return Command(
        argv=(
            *(*launchers.oneflow_launch(case), "{checkout}/RecommenderSystems/wide_and_deep/train.py"),
            *("--batch_size", str(case.global_batch), "--max_iter", str(case.protocol.total_steps)),
            *("--loss_print_every_n_iter", "1", "--eval_interval", "0", "--execution_mode", "graph"),
            *("--data_dir", "{data}/criteo-ofrecord", "--data_part_num", _parts(case)),
            *("--data_part_name_suffix_length", "5"),
            *("--wide_vocab_size", "2322444", "--deep_vocab_size", _vocabulary(case), "--hidden_units_num", "7"),
            *("--hidden_size", "1024", "--deep_embedding_vec_size", "16", "--model_save_dir", "{scratch}/model"),
        )
    )


def _wide_deep_2020(case: Case) -> Command:
    return Command(
        argv=(
            *("{python}", "{checkout}/ClickThroughRate/WideDeepLearning/wdl_train_eval.py", *_nodes_2020(case)),
            *(f"--batch_size={case.global_batch}", f"--max_iter={case.protocol.total_steps}"),
            *("--loss_print_every_n_iter=1", "--eval_interval=1000000"),
            *("--train_data_dir={data}/criteo-ofrecord/train", f"--train_data_part_num={_parts(case)}"),
            "--train_part_name_suffix_length=5",
            *("--eval_data_dir={data}/criteo-ofrecord/val", "--eval_data_part_num=256"),
            *("--eval_part_name_suffix_length=5", "--wide_vocab_size=2322444"),
            f"--deep_vocab_size={_vocabulary(case)}",
            *("--hidden_units_num=7", "--hidden_size=1024", "--deep_embedding_vec_size=16"),
        )
    )


# speed.py (synthetic data) stops at this commit: it lacks eval_ofrecord_path (train.py:58) and
# train_batch_size (load_synthetic), and names ResNet-50. ms1V3_r100.py has 128 images per device and fp16.
FACE_CONFIGURATION = """\
from configs.ms1V3_r100 import config

config.ofrecord_path = "{data}/ms1mv3-ofrecord/train"
config.eval_ofrecord_path = "{data}/ms1mv3-ofrecord/val"
config.val_targets = []
config.batch_size = BATCH
config.fp16 = FP16
"""


def _face(case: Case) -> Command:
    """One process drives the node's devices. A configuration is a module of the package `configs`
    (utils/utils_config.py:12), where users put theirs; those of the repository read /dev/shm (ms1V3_r100.py:24).
    """
    own = FACE_CONFIGURATION.replace("BATCH", str(case.batch_per_device))
    return Command(
        argv=(
            *("{python}", "-m", "train", "configs/local_r100.py"),
            *("--device_num_per_node", str(case.devices_per_node)),
        ),
        environment={"PYTHONPATH": "{checkout}"},
        files={
            "configs/__init__.py": '__path__.append("{checkout}/configs")\n',
            "configs/local_r100.py": own.replace("FP16", str(case.precision == "amp")),
        },
    )


def _parts_of_synthetic(case: Case) -> str | None:
    unread = case.option("data_parts") and case.option("data") != "ofrecord"
    return Message("adapters.parts_unread") if unread else None


def _models_unsupported(case: Case) -> str | None:
    both = case.precision == "amp" and case.option("mode") == "ddp"
    return Message("adapters.oneflow_ddp") if both else _parts_of_synthetic(case)


def _face_unsupported(case: Case) -> str | None:
    return Message("adapters.face_nodes") if case.nodes > 1 else None


def _oneflow(recipe: Recipe) -> Recipe:
    return replace(recipe, needs_gpu=NEEDS_GPU, import_name="oneflow", package="oneflow")


def _before_pip(recipe: Recipe, release: str = "0.2", readme: str = "Classification/cnns/README.md") -> Recipe:
    """*readme* of the repository names the wheel: pip has OneFlow from 0.6 on, where these scripts' API is gone."""
    return replace(_oneflow(recipe), off_index=(f"OneFlow {release} ({readme})",))


def _of_2022(recipe: Recipe, *more: str) -> Recipe:
    return replace(_oneflow(recipe), requirements=(*PINS_2022, *more), built=BUILT_2022, python="3.8")


def _libai(recipe: Recipe) -> Recipe:
    return replace(
        _oneflow(recipe),
        builds_in_checkout=True,  # make in libai/data/data_utils (dataset_utils.py:59)
        system=("make", "g++"),
        requirements=PINS_LIBAI,  # imports oneflow.utils.global_view, of 0.9 on (graph_base.py:20)
        built=BUILT_2022,
        python="3.8",
    )


# By default: cnns/optimizer_util.py:23 and 34 (2020), resnet50/config.py:134 and 145 (2022): IMAGES.
ADAPTER = Adapter(
    name="oneflow",
    title="OneFlow",
    recipes=(
        reference_resnet50(
            "oneflow",
            dialect="oneflow_models",
            xla="nn.Graph",
            devices=("cpu",),
            unsupported=lambda case: reference_on_one_device(case, "OneFlow"),
            requirements=(*PINS_2022, "six==1.17.0", "tabulate==0.9.0"),  # which flowvision imports
            built=BUILT_2022,
            python="3.10",  # newest with a wheel of 0.8.0
            import_name="oneflow",
        ),
        _before_pip(
            Recipe(
                name="benchmark-resnet50-2020",
                model="resnet50_v1.5",
                checkout="oneflow-benchmark-2020",
                dialect="oneflow_cnn",
                command=_benchmark_resnet50,
                options={"data": ("synthetic", "ofrecord"), **PARTS},
                unsupported=_parts_of_synthetic,
                facts=IMAGES,
                amp="graph rewrite, static loss scale",
                xla="XLA",
                step_bound="examples",
                outside="no validation data is given; a snapshot behind the last step",
            ),
        ),
        _before_pip(
            Recipe(
                name="benchmark-bert-base-2020",
                model="bert_base",
                checkout="oneflow-benchmark-2020",
                dialect="oneflow_bert",
                command=_benchmark_bert,
                unit="sequences/s",
                options={**BERT_LENGTH, **PARTS},
                facts={**ADAM, "parallel_layout": "DP"},  # BERT/util.py:169, run_pretraining.py:39
                amp="graph rewrite, dynamic loss scale",
                xla="XLA",
                outside="no snapshot before step 1000000",
            ),
        ),
        _of_2022(
            Recipe(
                name="models-resnet50",
                model="resnet50_v1.5",
                checkout="oneflow-models",
                dialect="oneflow_models",
                command=_models_resnet50,
                options={"data": ("synthetic", "ofrecord"), "mode": ("graph", "ddp"), **PARTS},
                unsupported=_models_unsupported,
                facts=IMAGES,
                amp="graph AMP, dynamic loss scale",
                outside="--skip-eval; one epoch of the measured steps, saved at its end",
            )
        ),
        _before_pip(
            Recipe(
                name="gpt2",
                model="gpt2",
                checkout="oneflow-benchmark-gpt",
                dialect="oneflow_gpt",
                command=_gpt,
                unit="sequences/s",
                unsupported=launchers.gpt_refused,
                options={**launchers.REPLICA, **launchers.GPT_SIZE},
                facts=ADAM,  # oneflow_gpt/optimizer.py:41 and 50, data.py:26
                amp="graph AMP, dynamic loss scale",
                outside="no snapshot before step 1000000",
            ),
            "0.3.5",
            "LanguageModeling/GPT/README.md",
        ),
        _libai(
            Recipe(
                name="libai-bert-base",
                model="bert_base",
                checkout="libai",
                dialect="libai",
                command=_libai_bert,
                unit="sequences/s",
                options=BERT_LENGTH,
                facts={**ADAM, "parallel_layout": "DP"},  # configs/common/optim.py:6 and 10
                amp="graph AMP, dynamic loss scale",
                outside="train.evaluation.enabled=False; no checkpoint before step 1000000",
            )
        ),
        _libai(
            Recipe(
                name="libai-gpt2",
                model="gpt2",
                checkout="libai",
                dialect="libai",
                command=_libai_gpt,
                unit="sequences/s",
                unsupported=launchers.gpt_refused,
                options={**launchers.REPLICA, **launchers.GPT_SIZE},
                facts=ADAM,  # configs/common/optim.py:6 and 10
                amp="graph AMP, dynamic loss scale",
                outside="train.evaluation.enabled=False; no checkpoint before step 1000000",
            )
        ),
        _of_2022(
            Recipe(
                name="wide-deep",
                model="wide_and_deep",
                checkout="oneflow-models",
                dialect="oneflow_wdl",
                command=_wide_deep,
                options={"deep_vocabulary": (), **PARTS},
                # wide_and_deep/train.py:65, config.py:44, models/wide_and_deep.py:54 and 60
                facts={**CLICKS, "parallel_layout": SPLIT_TABLES},
                unit="samples/s",
                outside="--eval_interval 0",
            ),
            "scikit-learn==1.3.2",  # train.py:9
        ),
        _before_pip(
            Recipe(
                name="wide-deep-2020",
                model="wide_and_deep",
                checkout="oneflow-benchmark-2020",
                dialect="oneflow_wdl",
                command=_wide_deep_2020,
                options={"deep_vocabulary": (), **PARTS},
                # wdl_train_eval.py:151: Adam over the rows of the batch alone; lines 84, 95 and 164
                facts={**CLICKS, "optimiser": "lazy adam", "parallel_layout": SPLIT_TABLES},
                unit="samples/s",
                outside="no evaluation before step 1000000",
            ),
        ),
        _before_pip(
            Recipe(
                name="face-r100",
                model="face_r100",
                checkout="oneflow-face",
                dialect="insightface",
                command=_face,
                options={"image_size": ("112",)},
                unsupported=_face_unsupported,
                # function.py:61, 105 and 168, ms1V3_r100.py:11 and 17
                facts={**FACES, "data": "ms1mv3", "parallel_layout": SPLIT_CLASSIFIER},
                amp="graph AMP to float16, no loss scale",
                step_bound="none",
                epoch=lambda case: "ms1mv3-ofrecord",
                outside="the run is ended within its first epoch",
            ),
            "0.4",
            "README.md",
        ),
    ),
)
