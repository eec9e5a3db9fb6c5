"""JAX: the ImageNet example of Flax. XLA is always on: it is what JAX compiles with."""

from evalsuite.adapter import Adapter, Command, Recipe
from evalsuite.customs import IMAGENET
from evalsuite.model import Case


def _command(case: Case) -> Command:
    """`batch_size` is the whole job's. Of fake data there is a configuration of its own."""
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
        return "main.py calls no jax.distributed.initialize, so its processes on several nodes would not find another."
    if case.device == "cpu" and case.devices_per_node > 1:
        return "To JAX all cores of a machine are one device; ask for 1 device per node."
    return None


ADAPTER = Adapter(
    name="jax",
    title="JAX",
    recipes=(
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
            outside="one evaluation step and one checkpoint, both behind the last step",
            requirements=(
                "jax==0.10.2",
                "flax==0.12.8",
                "optax==0.2.8",
                "ml-collections==1.1.0",
                "clu==0.0.12",
                "tensorflow-cpu==2.21.0",
                "tensorflow-datasets==4.9.9",
            ),
            requirements_gpu=(
                "jax[cuda13]==0.10.2",
                "flax==0.12.8",
                "optax==0.2.8",
                "ml-collections==1.1.0",
                "clu==0.0.12",
                "tensorflow-cpu==2.21.0",
                "tensorflow-datasets==4.9.9",
            ),
            import_name="flax",
            package="jax",
            image="nvcr.io/nvidia/jax:26.05-py3",
        ),
    ),
)
