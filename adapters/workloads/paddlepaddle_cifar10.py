"""ResNet-50 v1.5 and MobileNetV2 on 32×32 images in PaddlePaddle: one all-reduce after the backward pass.

The models are paddle.vision's. Prints the line of PaddleClas on rank 0. DataParallel reduces gradients while the
backward pass still runs; here PaddlePaddle's fused_allreduce_gradients does when it has ended, in pieces of 128 MiB: a
model has one. Each process keeps its own statistics of batch normalisation.
"""

import time
from collections.abc import Callable

import cifar10
import cifar10_pool
import common
import paddlepaddle_loop
import paddlepaddle_resnet50
import paddlepaddle_steps

DEFINITIONS = {"resnet50": "resnet50", "mobilenetv2": "mobilenet_v2"}  # names in paddle.vision.models


def main() -> None:
    arguments = cifar10.arguments()
    job = paddlepaddle_loop.started(arguments)
    network = model(job.paddle, arguments.model)
    if job.rank == 0:
        cifar10.announce_case("paddlepaddle", job.paddle.__version__, arguments, job.world_size)
        definition = f"paddle.vision.models.{DEFINITIONS[arguments.model]}"
        cifar10.announce_model(arguments, definition, paddlepaddle_loop.trainable(network), "NCHW")
    _train(job, network, arguments)


def model(paddle, name: str, dropout: float | None = None):
    """*dropout*: another than paddle.vision's."""
    found = getattr(paddle.vision.models, DEFINITIONS[name])(num_classes=cifar10.CLASSES)
    if dropout is not None:
        for layer in found.sublayers():
            if isinstance(layer, paddle.nn.Dropout):
                layer.p = dropout
    return found


def _train(job: paddlepaddle_loop.Job, network, arguments) -> None:
    paddle, pool = job.paddle, cifar10_pool.Pool(arguments.batch_size, job.rank)
    step = stepper(job, network, paddlepaddle_resnet50.optimiser(paddle, network), arguments)
    begun = time.perf_counter()
    for iteration in range(arguments.steps):
        parts = cifar10.Parts()
        images, labels = map(paddle.to_tensor, pool.next())
        parts.ended("data")
        loss = common.finite(float(step(images, labels, parts)), iteration + 1)
        paddlepaddle_loop.wait(job, arguments)
        batch_s = time.perf_counter() - begun
        begun = time.perf_counter()
        if job.rank == 0:
            cifar10.announce_parts(iteration + 1, parts, arguments)
            rates = common.LEARNING_RATE, loss, batch_s, parts.seconds["data"]
            print(paddlepaddle_steps.line(iteration, arguments, *rates), flush=True)


def stepper(job: paddlepaddle_loop.Job, network, optimiser, arguments) -> Callable:
    """One optimiser step: (images, labels, its parts so far) → the loss before it, which a GPU still computes."""
    paddle = job.paddle
    network = paddle.jit.to_static(network) if arguments.compile else network
    amp = arguments.precision == "amp"
    kind = common.amp_kind(arguments) if amp else "float16"
    scaler = paddle.amp.GradScaler(enable=amp and arguments.device == "gpu")
    if job.world_size > 1:
        from paddle.distributed.fleet.utils.hybrid_parallel_util import fused_allreduce_gradients

    def step(images, labels, parts: cifar10.Parts):
        with paddle.amp.auto_cast(enable=amp, level="O1", dtype=kind):
            loss = paddlepaddle_resnet50.loss_of(paddle, labels)(network(images))
        scaler.scale(loss).backward()
        parts.ended(cifar10.FORWARD_BACKWARD)
        if job.world_size > 1:
            fused_allreduce_gradients(network.parameters(), None)  # their mean over the processes
            parts.ended("allreduce")
        scaler.step(optimiser)
        scaler.update()
        optimiser.clear_grad()
        parts.ended("optimiser")
        return loss

    return step


if __name__ == "__main__":
    main()
