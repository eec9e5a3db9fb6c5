"""What the TensorFlow workloads share: start of the job, one optimiser step over all processes, the line it prints.

The line is that of the TimeHistory callback (tensorflow/models official/utils/misc/keras_utils.py), through absl,
in every process, every step; its rate counts the whole job.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import common

TIMED = ("forward", "loss", "backward", "optimiser", "loss_to_host")  # what is done between two readings of the clock


@dataclass(frozen=True)
class Job:
    """TensorFlow, and how this process takes part in the training."""

    tf: object
    strategy: object
    place: common.Place

    def global_batch(self, arguments) -> int:
        return arguments.batch_size * self.place.world_size


def started(arguments, place: common.Place) -> Job:
    """Imports TensorFlow, which reads TF_CONFIG and the visible GPUs when it is imported, and sets it up."""
    if arguments.device == "gpu":
        common.see_one_gpu(place.local_rank)
    if place.world_size > 1:
        os.environ["TF_CONFIG"] = _cluster(place, arguments.hosts)
    import tensorflow as tf
    from absl import logging

    logging.use_absl_handler()
    logging.set_verbosity(logging.INFO)
    tf.get_logger().setLevel("WARNING")  # the strategy reports every variable it broadcasts
    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    tf.keras.utils.set_random_seed(common.SEED)
    if arguments.precision == "amp":
        tf.keras.mixed_precision.set_global_policy(f"mixed_{common.amp_kind(arguments)}")
    strategy = tf.distribute.MultiWorkerMirroredStrategy() if place.world_size > 1 else tf.distribute.get_strategy()
    return Job(tf, strategy, place)


def train(job: Job, step: Callable[[], object], arguments) -> None:
    """Calls *step*, which gives the loss of the whole job, and reports it."""
    begun = time.perf_counter()
    for number in range(1, arguments.steps + 1):
        common.finite(float(step()), number)  # reading the loss waits for the step
        ended = time.perf_counter()
        report(number, ended - begun, job.global_batch(arguments))
        begun = ended


def report(number: int, seconds: float, global_batch: int) -> None:
    """`I1120 23:37:55.734810 140651157302144 keras_utils.py:145] TimeHistory: 1.08 seconds, …`"""
    from absl import logging

    logging.info(
        "TimeHistory: %.2f seconds, %.2f examples/second between steps %d and %d",
        seconds,
        global_batch / seconds,
        number - 1,
        number,
    )


def stepper(job: Job, model, inputs, loss_of: Callable[[object], object], optimiser, arguments):
    """One optimiser step over all processes; gives the mean loss of the global batch.

    *loss_of* gives the model's output this process's share of that mean: the strategy sums over processes.
    """
    tf = job.tf
    gradients = gradients_of(job, model, lambda *inputs: loss_of(model(*inputs, training=True)), optimiser, arguments)

    def replica_step(*inputs):
        loss, found = gradients(*inputs)
        optimiser.apply_gradients(zip(found, model.trainable_variables, strict=True))  # sums over the processes
        return loss

    @tf.function
    def step():
        losses = job.strategy.run(replica_step, args=inputs)
        return job.strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    return step


def gradients_of(job: Job, model, loss_of: Callable, optimiser, arguments):
    """Forward and backward pass of this process as one graph: inputs → (loss, dense gradients)."""
    tf, scaled = job.tf, _scaled(arguments)

    @tf.function(jit_compile=arguments.compile)
    def gradients(*inputs):
        with tf.GradientTape() as tape:
            loss = loss_of(*inputs)
            goal = optimiser.get_scaled_loss(loss) if scaled else loss
        found = tape.gradient(goal, model.trainable_variables)
        found = optimiser.get_unscaled_gradients(found) if scaled else found
        return loss, [tf.convert_to_tensor(each) for each in found]  # an embedding's gradient is sparse

    return gradients


def with_scaling(job: Job, optimiser, arguments):
    """*optimiser*, with loss scaling where the gradients are float16."""
    return job.tf.keras.mixed_precision.LossScaleOptimizer(optimiser) if _scaled(arguments) else optimiser


def at_least_float32(tf, scores):
    """*scores* as the loss wants them: those of mixed precision in float32."""
    return scores if scores.dtype in (tf.float32, tf.float64) else tf.cast(scores, tf.float32)


def trainable(job: Job, model) -> int:
    return sum(int(job.tf.size(variable)) for variable in model.trainable_variables)


def _scaled(arguments) -> bool:
    return arguments.precision == "amp" and arguments.device == "gpu"


def _cluster(place: common.Place, hosts: str) -> str:
    """TF_CONFIG: every worker's address in order of rank; worker r listens on MASTER_PORT + r."""
    names = hosts.split(",") if place.nodes > 1 else [place.master_addr]
    workers = [
        f"{names[rank // place.local_world_size]}:{place.master_port + rank}" for rank in range(place.world_size)
    ]
    return json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": place.rank}})
