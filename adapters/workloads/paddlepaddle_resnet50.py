"""ResNet-50 v1.5 in PaddlePaddle: paddle.vision's model, DataParallel under paddle.distributed.launch.

Prints the line of PaddleClas ppcls/utils (log_info, release 2.6), on rank 0, every step; its `ips` counts one
card, and its times are means that start anew at iteration 5.
"""

import time

import common
import paddlepaddle_loop

METERS_RESET_AT = 5  # PaddleClas forgets the first iterations: ppcls/engine/train/train.py, `if iter_id == 5`


def main() -> None:
    arguments = common.arguments()
    job = paddlepaddle_loop.started(arguments)
    model = resnet50(job.paddle)
    if job.rank == 0:
        common.announce_case("paddlepaddle", job.paddle.__version__, arguments, job.world_size)
        common.announce_model("paddle.vision.models.resnet50", *_what_was_built(job.paddle, model), "NCHW")
    _train(job, model, arguments)


def resnet50(paddle):
    return paddle.vision.models.resnet50(num_classes=common.CLASSES)


def optimiser(paddle, model, learning_rate: float = common.LEARNING_RATE, weight_decay: float = common.WEIGHT_DECAY):
    return paddle.optimizer.Momentum(
        learning_rate,
        momentum=common.MOMENTUM,
        parameters=model.parameters(),
        weight_decay=weight_decay,
    )


def loss_of(paddle, labels):
    return lambda output: paddle.nn.functional.cross_entropy(output, labels)


def _train(job, model, arguments) -> None:
    images, labels = _batch(job.paddle, arguments, job.rank)
    goal, updates = loss_of(job.paddle, labels), optimiser(job.paddle, model)
    step = paddlepaddle_loop.stepper(job, model, [images], goal, updates, arguments)
    batch_s, reader_s, losses = (common.Meter() for _ in range(3))
    begun = time.perf_counter()
    for iteration in range(arguments.steps):
        if iteration == METERS_RESET_AT:
            batch_s.reset()
            reader_s.reset()
        reader_s.update(time.perf_counter() - begun)
        losses.update(common.finite(float(step()), iteration + 1))
        paddlepaddle_loop.wait(job, arguments)
        batch_s.update(time.perf_counter() - begun)
        begun = time.perf_counter()
        if job.rank == 0:
            print(_line(iteration, arguments, batch_s, reader_s, losses), flush=True)


def _line(iteration: int, arguments, batch_s, reader_s, losses) -> str:
    """`[2026/11/20 23:40:35] ppcls INFO: [Train][Epoch 1/1][Iter: 0/16]lr(…): …, batch_cost: 1.30290s, …`"""
    left_s = round(batch_s.mean * (arguments.steps - iteration))
    return (
        f"[{time.strftime('%Y/%m/%d %H:%M:%S')}] ppcls INFO: [Train][Epoch 1/1][Iter: {iteration}/{arguments.steps}]"
        f"lr(ConstLR): {common.LEARNING_RATE:.8f}, "
        f"CELoss: {losses.mean:.5f}, loss: {losses.mean:.5f}, "
        f"batch_cost: {batch_s.mean:.5f}s, reader_cost: {reader_s.mean:.5f}, "
        f"ips: {arguments.batch_size / batch_s.mean:.5f} samples/s, "
        f"eta: {left_s // 3600}:{left_s // 60 % 60:02d}:{left_s % 60:02d}"
    )


def _batch(paddle, arguments, rank: int):
    paddle.seed(common.SEED + rank)
    side = arguments.image_size
    labels = paddle.randint(0, common.CLASSES, [arguments.batch_size], dtype="int64")
    return paddle.randn([arguments.batch_size, 3, side, side]), labels


def _what_was_built(paddle, model) -> tuple[int, set[int]]:
    """Trainable parameters, and the kernel sides of the strided convolutions on the bottlenecks' main path."""
    strided = {
        layer.weight.shape[-1]
        for name, layer in model.named_sublayers()
        if isinstance(layer, paddle.nn.Conv2D) and name.startswith("layer") and "downsample" not in name
        if layer._stride == [2, 2]
    }
    return paddlepaddle_loop.trainable(model), strided


if __name__ == "__main__":
    main()
