"""What the MindSpore workloads share: start of the process, one optimiser step as one graph, the line it prints.

The line is that of MindCV's StateMonitor (mindcv/utils/callbacks.py), every step. One process on one CPU: MindSpore's
collective communication wants NCCL or HCCL.
"""

import time
from collections.abc import Callable

import common

TIMED = ("forward", "loss", "backward", "optimiser", "loss_to_host")  # what is done between two readings of the clock


def started(arguments):
    """MindSpore in its graph mode, imported when the cores of this process are known."""
    common.bind_to_own_cores()
    common.limit_threads(arguments.threads)
    import mindspore

    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    mindspore.set_device("CPU")
    mindspore.runtime.dispatch_threads_num(arguments.threads)
    mindspore.set_seed(common.SEED)
    return mindspore


def stepper(mindspore, network, inputs, loss, optimiser) -> Callable:
    """One optimiser step on *inputs* (images, labels) as one graph: () → the loss before it."""
    nn = mindspore.nn
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimiser).set_train()
    return lambda: step(*inputs)


def train(step_done: Callable, arguments) -> None:
    """Trains on the same inputs in every step and prints a line for each."""
    begun = time.perf_counter()
    for step in range(1, arguments.steps + 1):
        loss = common.finite(float(step_done().asnumpy()), step)  # the graph gives it out behind the update
        ended = time.perf_counter()
        print(line(step, arguments, loss, ended - begun), flush=True)
        begun = ended


def line(step: int, arguments, loss: float, seconds: float) -> str:
    """`[2026-11-21 04:29:23] mindcv.utils.callbacks INFO - Epoch: [1/1], batch: [20/160], loss: 2.080617, …`"""
    return (
        f"[{time.strftime('%Y-%m-%d %H:%M:%S')}] mindcv.utils.callbacks INFO - Epoch: [1/1], "
        f"batch: [{step}/{arguments.steps}], loss: {loss:.6f}, lr: {common.LEARNING_RATE:.6f}, time: {seconds:.6f}s"
    )
