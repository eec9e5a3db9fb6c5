"""What the PaddlePaddle workloads share: start of the job, and one optimiser step."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import common

TIMED = ("forward", "loss", "backward", "optimiser", "loss_to_host")  # what is done between two readings of the clock


@dataclass(frozen=True)
class Job:
    """PaddlePaddle, and how this process takes part in the training."""

    paddle: object
    rank: int
    world_size: int


def started(arguments) -> Job:
    """Imports PaddlePaddle and joins the other processes, if there are any."""
    common.bind_to_own_cores()
    common.limit_threads(arguments.threads)
    import paddle

    paddle.set_device(arguments.device)
    world_size = int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))
    if world_size > 1:
        paddle.distributed.init_parallel_env()
    job = Job(paddle, paddle.distributed.get_rank(), world_size)
    if job.rank == 0 and world_size > 1:
        _print_where_the_launcher_prints()
    paddle.seed(common.SEED)
    return job


def stepper(job: Job, model, inputs: Sequence, loss_of: Callable, optimiser, arguments) -> Callable:
    """One optimiser step on *inputs*: () → the loss before it, which is still being computed on a GPU."""
    paddle = job.paddle
    model = paddle.jit.to_static(model) if arguments.compile else model
    model = paddle.DataParallel(model) if job.world_size > 1 else model
    amp = arguments.precision == "amp"
    kind = common.amp_kind(arguments) if amp else "float16"
    scaler = paddle.amp.GradScaler(enable=amp and arguments.device == "gpu")

    def step():
        with paddle.amp.auto_cast(enable=amp, level="O1", dtype=kind):
            loss = loss_of(model(*inputs))
        scaler.scale(loss).backward()
        scaler.step(optimiser)
        scaler.update()
        optimiser.clear_grad()
        return loss

    return step


def trainable(model) -> int:
    return sum(parameter.size for parameter in model.parameters() if not parameter.stop_gradient)


def wait(job: Job, arguments) -> None:
    """The kernels of the optimiser are still running when the loss has been read."""
    if arguments.device == "gpu":
        job.paddle.device.synchronize()


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
