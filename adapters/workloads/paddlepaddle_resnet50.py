"""ResNet-50 v1.5 in PaddlePaddle: paddle.vision's model, DataParallel under paddle.distributed.launch.

Prints the line of PaddleClas ppcls/utils (log_info, release 2.6), on rank 0, every step; its `ips` counts one
card, and its times are means that start anew at iteration 5.
"""

import os
import time

import common

METERS_RESET_AT = 5  # PaddleClas forgets the first iterations: ppcls/engine/train/train.py, `if iter_id == 5`


def main() -> None:
    arguments = common.arguments()
    common.limit_threads(arguments.threads)
    import paddle

    paddle.set_device(arguments.device)
    world_size = int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))
    if world_size > 1:
        paddle.distributed.init_parallel_env()
    rank = paddle.distributed.get_rank()
    if rank == 0 and world_size > 1:
        _print_where_the_launcher_prints()
    paddle.seed(common.SEED)
    model = paddle.vision.models.resnet50(num_classes=common.CLASSES)
    if rank == 0:
        common.announce_case("paddlepaddle", paddle.__version__, arguments, world_size)
        common.announce_model("paddle.vision.models.resnet50", *_what_was_built(paddle, model), "NCHW")
    if arguments.compile:
        model = paddle.jit.to_static(model)
    if world_size > 1:
        model = paddle.DataParallel(model)
    _train(paddle, model, arguments, rank)


def _train(paddle, model, arguments, rank: int) -> None:
    images, labels = _batch(paddle, arguments, rank)
    optimiser = paddle.optimizer.Momentum(
        common.LEARNING_RATE,
        momentum=common.MOMENTUM,
        parameters=model.parameters(),
        weight_decay=common.WEIGHT_DECAY,
    )
    amp = arguments.precision == "amp"
    kind = common.amp_kind(arguments) if amp else "float16"
    scaler = paddle.amp.GradScaler(enable=amp and arguments.device == "gpu")
    batch_s, reader_s, top1, top5, losses = (common.Meter() for _ in range(5))
    begun = time.perf_counter()
    for iteration in range(arguments.steps):
        if iteration == METERS_RESET_AT:
            batch_s.reset()
            reader_s.reset()
        reader_s.update(time.perf_counter() - begun)
        with paddle.amp.auto_cast(enable=amp, level="O1", dtype=kind):
            output = model(images)
            loss = paddle.nn.functional.cross_entropy(output, labels)
        scaler.scale(loss).backward()
        scaler.step(optimiser)
        scaler.update()
        optimiser.clear_grad()
        losses.update(common.finite(float(loss), iteration + 1))
        for meter, k in ((top1, 1), (top5, 5)):
            meter.update(float(paddle.metric.accuracy(output.astype("float32"), labels.unsqueeze(1), k=k)))
        _wait(paddle, arguments)
        batch_s.update(time.perf_counter() - begun)
        begun = time.perf_counter()
        if rank == 0:
            print(_line(iteration, arguments, batch_s, reader_s, top1, top5, losses), flush=True)


def _line(iteration: int, arguments, batch_s, reader_s, top1, top5, losses) -> str:
    """`[2026/11/20 23:40:35] ppcls INFO: [Train][Epoch 1/1][Iter: 0/16]lr(…): …, batch_cost: 1.30290s, …`"""
    left_s = round(batch_s.mean * (arguments.steps - iteration))
    return (
        f"[{time.strftime('%Y/%m/%d %H:%M:%S')}] ppcls INFO: [Train][Epoch 1/1][Iter: {iteration}/{arguments.steps}]"
        f"lr(ConstLR): {common.LEARNING_RATE:.8f}, top1: {top1.mean:.5f}, top5: {top5.mean:.5f}, "
        f"CELoss: {losses.mean:.5f}, loss: {losses.mean:.5f}, "
        f"batch_cost: {batch_s.mean:.5f}s, reader_cost: {reader_s.mean:.5f}, "
        f"ips: {arguments.batch_size / batch_s.mean:.5f} samples/s, "
        f"eta: {left_s // 3600}:{left_s // 60 % 60:02d}:{left_s % 60:02d}"
    )


def _wait(paddle, arguments) -> None:
    """The kernels of the optimiser are still running when the loss has been read."""
    if arguments.device == "gpu":
        paddle.device.synchronize()


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
    return sum(parameter.size for parameter in model.parameters() if not parameter.stop_gradient), strided


def _print_where_the_launcher_prints() -> None:
    """Gives this process the launcher's own standard output and error.

    The launcher sends each worker's output to a file and copies the first one's to its own output every two
    seconds (paddle/distributed/launch/controllers/controller.py, `watch`), so a line's arrival would say little
    about the step it reports.
    """
    for stream in (1, 2):
        try:
            launchers = os.open(f"/proc/{os.getppid()}/fd/{stream}", os.O_WRONLY | os.O_APPEND)
        except OSError:  # a socket cannot be opened by name; the copied lines must do
            continue
        os.dup2(launchers, stream)
        os.close(launchers)


if __name__ == "__main__":
    main()
