"""JAX: ResNet-50 v1.5 of jax.lax, and the ImageNet example of Flax. XLA is always on."""

from dataclasses import replace

from adapters.common.reference import (
    IMAGENET,
    plainly,
    reference_on_one_device,
    reference_patterns,
    reference_recipes,
    reference_resnet50,
)
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case


def _command(case: Case) -> Command:
    settings = {
        "batch_size": case.global_batch,
        "num_train_steps": case.protocol.total_steps,
        "log_every_steps": 1,
        "half_precision": case.precision == "amp",
        "profile": False,
        "steps_per_eval": 1,
    }
    return Command(
        argv=(
            *("{python}", "{checkout}/examples/imagenet/main.py", "--workdir={scratch}/work"),
            "--config={checkout}/examples/imagenet/configs/default.py",
            *(f"--config.{name}={value}" for name, value in settings.items()),
        ),
        environment={"TFDS_DATA_DIR": "{data}/tensorflow-datasets"},
    )


def _unsupported(case: Case) -> str | None:
    if case.nodes > 1:
        return Message("adapters.jax_nodes")
    if case.device == "cpu" and case.devices_per_node > 1:
        return Message("adapters.jax_cores")
    return None


def _no_amp_on_gpu(case: Case) -> str | None:
    return Message("core.no_amp", name="JAX") if case.precision == "amp" and case.device == "gpu" else None


def _reference_unsupported(case: Case) -> str | None:
    if case.xla and case.total_devices == 1:
        return Message("adapters.jax_xla")
    return reference_on_one_device(case, "JAX")


FLAX = (
    *("flax==0.12.8", "optax==0.2.8", "ml-collections==1.1.0", "clu==0.0.12"),
    *("tensorflow-cpu==2.21.0", "tensorflow-datasets==4.9.9"),
    "tensorboard==2.20.0",  # of clu.metric_writers; TensorFlow no longer brings it
    "protobuf==6.33.6",  # tensorflow-datasets reads what 7 no longer has
)
_RESNET50 = reference_resnet50(
    "jax",
    dialect="flax",
    xla=None,
    unsupported=_reference_unsupported,
    requirements=("jax==0.10.2",),
    requirements_gpu=("jax[cuda13]==0.10.2",),
    other_wheels=(("jax[cuda12]==0.10.2",),),
    import_name="jax",
)
ADAPTER = Adapter(
    name="jax",
    title="JAX",
    recipes=(
        _RESNET50,
        *reference_recipes(
            *(
                "jax",
                replace(_RESNET50, amp="bf16 casts of float32 weights, without loss scaling", spawn="per_device"),
                plainly,
                ["llama"],
            ),
            sources={},
            laid=["accumulation"],
            refusal=_no_amp_on_gpu,
        ),
        reference_patterns(_RESNET50, "jax_patterns.py"),
        Recipe(
            name="flax-resnet50",
            model="resnet50_v1.5",
            checkout="flax",
            dialect="flax",
            command=_command,
            unsupported=_unsupported,
            options={},
            facts={**IMAGENET, "memory_layout": "NHWC"},  # imagenet/train.py:128, 253 and 287, configs/default.py:26
            amp="float16 where half_precision, bfloat16 on TPUs",
            xla=None,
            outside="one evaluation step and one checkpoint, both behind the last step",
            requirements=("jax==0.10.2", *FLAX),
            requirements_gpu=("jax[cuda13]==0.10.2", *FLAX),
            other_wheels=(("jax[cuda12]==0.10.2", *FLAX),),
            import_name="flax",
            package="jax",
            image="nvcr.io/nvidia/jax:26.05-py3",
        ),
    ),
)
