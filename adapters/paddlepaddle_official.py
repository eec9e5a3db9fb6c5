"""PaddlePaddle's official scripts: PaddleCV and BERT of 2020 (Paddle 1.8), PaddleClas and PaddleNLP (Paddle 2, 3)."""

import re
from dataclasses import replace

from adapters.common import launchers
from adapters.common.reference import ADAM, BERT_LENGTH, IMAGENET, TRAINING_IMAGES
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

SEQUENCE = 128  # tokens; the BERT script of 2020 counts its batch in them
# By default: utils/optimizer.py:174 and utility.py:110 (2020), ResNet50.yaml:47 and 72 for images;
# BERT/optimization.py:105 and train.py:303 (2020).
PRETRAINING = {**ADAM, "parallel_layout": "DP"}
# run_pretrain.py's do_train makes AdamW without a `grad_clip`: `--max_grad_norm` is unused. Sequences are as
# long as those of the files, which is not stated.
UNCLIPPED = {**PRETRAINING, "clipping": "none"}


def _paddlecv(case: Case) -> Command:
    """`--batch_size` is the node's; one process without GPUs. DALI wants some of their memory (dali.py:145)."""
    gpu = case.device == "gpu"
    dali = case.option("data", "imagenet") == "dali"
    amp = (
        *("--use_fp16=True", "--use_dynamic_loss_scaling=true", "--scale_loss=128.0", "--data_format=NHWC"),
        *("--fuse_elewise_add_act_ops=true", "--fuse_bn_act_ops=true"),
    )
    return Command(
        argv=(
            *(launchers.paddle_launch_2020(case) if gpu else ("{python}",)),
            *("{checkout}/PaddleCV/image_classification/train.py", "--model=ResNet50", f"--use_gpu={gpu}"),
            *(f"--batch_size={case.batch_per_device * case.devices_per_node}", "--data_dir={data}/imagenet-lists"),
            *(f"--max_iter={case.protocol.total_steps + 1}", "--print_step=1", "--save_step=100000"),
            *("--validate=False", f"--total_images={TRAINING_IMAGES}", "--model_save_dir={scratch}/output"),
            *("--lr_strategy=piecewise_decay", "--lr=0.1", "--num_epochs=90"),
            *(("--use_dali=True",) if dali else ()),
            *(amp if case.precision == "amp" else ()),
        ),
        environment={"FLAGS_fraction_of_gpu_memory_to_use": "0.8" if dali else "0.98"} if gpu else {"CPU_NUM": "1"},
    )


def _paddlecv_unsupported(case: Case) -> str | None:
    if case.device == "cpu" and case.total_devices > 1:
        return Message("adapters.paddle_launcher")
    if case.device == "cpu" and case.option("data", "imagenet") == "dali":
        return Message("adapters.paddle_dali")
    return None


def _paddleclas(case: Case) -> Command:
    lists = "{data}/imagenet-lists"
    amp = ("-o", "AMP.use_amp=True", "-o", "AMP.level=O1") if case.precision == "amp" else ()
    overrides = (
        *(f"Global.device={case.device}", "Global.print_batch_step=1", "Global.eval_during_train=False"),
        *("Global.save_interval=1000", "Global.epochs=90", "Global.output_dir=output", "Arch.pretrained=False"),
        f"DataLoader.Train.sampler.batch_size={case.batch_per_device}",
        f"DataLoader.Train.dataset.image_root={lists}",
        f"DataLoader.Train.dataset.cls_label_path={lists}/train_list.txt",
        f"DataLoader.Train.loader.num_workers={case.option('loader_workers', '4' if case.device == 'gpu' else '1')}",
    )
    return Command(
        argv=(
            *(launchers.paddle_launch(case) if case.total_devices > 1 else ("{python}",)),
            *("{checkout}/tools/train.py", "-c", "{checkout}/ppcls/configs/ImageNet/ResNet/ResNet50.yaml"),
            *(word for override in overrides for word in ("-o", override)),
            *(("-o", "Global.to_static=True") if case.xla else ()),
            *amp,
        )
    )


def _bert_2020(case: Case) -> Command:
    """One process a node; `--batch_size` counts the tokens of one GPU.

    On CPUs it gets steps to spare: at its own end its reader still runs, and Paddle 1.8 aborts.
    """
    steps = case.protocol.total_steps + (1000 if case.device == "cpu" else 0)
    bert = "{checkout}/PaddleNLP/pretrain_language_models/BERT"
    return Command(
        argv=(
            *("{python}", f"{bert}/train.py", f"--is_distributed={str(case.nodes > 1).lower()}"),
            *(f"--use_cuda={str(case.device == 'gpu').lower()}", f"--batch_size={case.batch_per_device * SEQUENCE}"),
            *("--in_tokens=true", f"--max_seq_len={SEQUENCE}", f"--num_train_steps={steps}"),
            *("--skip_steps=1", "--save_steps=1000000", "--validation_steps=1000000", "--generate_neg_sample=true"),
            *(f"--bert_config_path={bert}/data/demo_config/bert_config.json", "--learning_rate=1e-4"),
            *(f"--vocab_path={bert}/data/demo_config/vocab.txt", "--data_dir={data}/bert-paddle/train"),
            *("--validation_set_dir={data}/bert-paddle/validation", "--checkpoints={scratch}/checkpoints"),
            *(("--use_fp16=true",) if case.precision == "amp" else ()),
        ),
        environment={
            "worker_endpoints": "{hosts_ports}",
            "current_endpoint": "{host}:{master_port}",
            **({"CPU_NUM": "1"} if case.device == "cpu" else {}),  # else each core is a device with its own batch
        },
    )


def _bert_2020_unsupported(case: Case) -> str | None:
    return Message("adapters.one_a_node") if case.device == "cpu" and case.devices_per_node > 1 else None


def _paddlenlp(case: Case) -> Command:
    return Command(
        argv=(
            *launchers.paddle_launch(case),
            *("{checkout}/examples/language_model/bert/run_pretrain.py", "--model_type", "bert"),
            *("--model_name_or_path", "bert-base-uncased", "--max_predictions_per_seq", "20"),
            *("--batch_size", str(case.batch_per_device), "--learning_rate", "1e-4", "--weight_decay", "1e-2"),
            *("--input_dir", "{data}/bert-hdf5", "--output_dir", "{scratch}/out", "--logging_steps", "1"),
            *("--save_steps", "1000000", "--max_steps", str(case.protocol.total_steps), "--device", case.device),
            *(("--use_amp", "true") if case.precision == "amp" else ()),
        )
    )


def _without_fluid(case: Case, image: str) -> str | None:
    """NVIDIA's images have Paddle 2.5 since 23.07."""
    month = re.search(r"nvidia/paddlepaddle[:+](\d\d\.\d\d)", image)
    return Message("adapters.paddle_fluid", image=image) if month and month[1] >= "23.07" else None


PADDLECV = Recipe(
    name="paddlecv-resnet50-2020",
    model="resnet50_v1.5",
    checkout="paddle-models-2020",
    dialect="paddlecv_1.8",
    command=_paddlecv,
    unsupported=_paddlecv_unsupported,
    options={"data": ("imagenet", "dali")},
    epoch=lambda case: "imagenet-lists",
    facts=IMAGENET,
    amp="static graph decorate, dynamic loss scale",
    outside="--validate=False, and --max_iter returns before anything is saved",
    python="3.8",
    requirements=("paddlepaddle==1.8.5", "numpy==1.23.5", "protobuf==3.20.3"),
    requirements_gpu=None,  # the oldest paddlepaddle-gpu on PyPI is 2.5.1
    import_name="paddle",
)
ADAPTER = Adapter(
    name="paddlepaddle",
    title="PaddlePaddle",
    recipes=(
        PADDLECV,
        Recipe(
            name="paddleclas-resnet50",
            model="resnet50_v1.5",
            checkout="paddleclas",
            dialect="paddleclas",
            command=_paddleclas,
            options={"loader_workers": ()},
            epoch=lambda case: "imagenet-lists",
            facts=IMAGENET,
            amp="AMP O1, dynamic loss scale",
            xla="to_static (CINN where it is built in)",
            step_bound="none",
            outside="eval_during_train=False; the run is ended within its first epoch",
            requirements=(
                *("paddlepaddle==3.3.1", "opencv-python-headless==4.10.0.84", "pillow==11.1.0", "visualdl==2.5.3"),
                *("PyYAML==6.0.2", "scikit-learn==1.6.1", "tqdm==4.67.1", "faiss-cpu==1.9.0.post1"),
                *("setuptools==75.8.0", "gast==0.3.3", "prettytable==3.12.0", "easydict==1.13", "ujson==5.10.0"),
            ),
            import_name="paddle",
            requirements_gpu=None,  # the newest paddlepaddle-gpu on PyPI is 2.6.2
            image="nvcr.io/nvidia/paddlepaddle:24.12-py3",
        ),
        replace(
            PADDLECV,
            name="models-bert-base-2020",
            model="bert_base",
            unit="sequences/s",
            dialect="paddle_bert_1.8",
            command=_bert_2020,
            unsupported=_bert_2020_unsupported,
            options=BERT_LENGTH,
            epoch=lambda case: None,
            facts=PRETRAINING,
            step_bound="none",
            outside="neither validation nor checkpoint before step 1000000",
        ),
        Recipe(
            name="paddlenlp-bert-base",
            model="bert_base",
            unit="sequences/s",
            checkout="paddlenlp",
            dialect="paddlenlp_bert",
            command=_paddlenlp,
            options={},
            facts=UNCLIPPED,
            amp="AMP O1, dynamic loss scale",
            outside="no checkpoint before step 1000000; it evaluates nothing",
            # The script passes keyword arguments; since paddlenlp 2.5 they are one object. 2.4.2 imports paddle.fluid,
            # which Paddle 2.5 no longer has; pip has 2.6.2 and later, NVIDIA's image 3.0.
            off_index=("PaddlePaddle 2.4",),
            image_refusal=_without_fluid,
            requirements=("paddlepaddle==2.4.2", "paddlenlp==2.4.2", "h5py==3.10.0", "numpy==1.23.5"),
            requirements_gpu=None,
            python="3.10",
            import_name="paddlenlp",
            package="paddlepaddle",
        ),
    ),
)
