"""What the OneFlow workloads share: start of the process, one optimiser step, the line it prints.

The line is that of Oneflow-Inc/models, Vision/classification/image/resnet50 (utils/logger.py), every step, with three
decimals of the throughput. One process on one CPU: OneFlow's eager DistributedDataParallel dies there (0.8.0: SIGSEGV).
"""

import os
import time
from collections.abc import Callable
from datetime import datetime

import common

TIMED = ("forward", "loss", "backward", "optimiser", "loss_to_host")  # what is done between two readings of the clock


def started(arguments):
    """OneFlow, imported when the cores of this process are known."""
    common.bind_to_own_cores()
    common.limit_threads(arguments.threads)
    for name in ("MASTER_ADDR", "MASTER_PORT"):  # env_util.py: with these, OneFlow wants a launcher's RANK and all
        os.environ.pop(name, None)
    import oneflow

    oneflow.set_num_threads(arguments.threads)
    oneflow.manual_seed(common.SEED)
    return oneflow


def stepper(oneflow, network, images, loss_of: Callable, optimiser, arguments) -> Callable:
    """One optimiser step on *images*: () → the loss before it. Eager, or one nn.Graph where compiling is asked for."""
    if arguments.compile:
        graph = _graph(oneflow, network, loss_of, optimiser)
        return lambda: graph(images)

    def step():
        loss = loss_of(network(images))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return loss

    return step


def _graph(oneflow, network, loss_of: Callable, optimiser):
    class Training(oneflow.nn.Graph):
        """The whole step as one static graph."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network
            self.add_optimizer(optimiser)

        def build(self, images):
            loss = loss_of(self.network(images))
            loss.backward()
            return loss

    return Training()


def train(oneflow, step_done: Callable, arguments) -> None:
    """Trains on the same inputs in every step and prints a line for each."""
    begun = time.perf_counter()
    for step in range(1, arguments.steps + 1):
        loss = common.finite(float(step_done().numpy()), step)
        oneflow._oneflow_internal.eager.Sync()  # a graph gives its loss out before it has gone backward
        ended = time.perf_counter()
        print(line(step, arguments, loss, ended - begun), flush=True)
        begun = ended


def line(step: int, arguments, loss: float, seconds: float) -> str:
    """`[rank:0] [train], epoch: 0/1, iter: 100/834, loss: 6.90123, throughput: 1360.110 | 2022-01-02 03:04:05.678`"""
    stamp = datetime.now().isoformat(" ", "milliseconds")
    return (
        f"[rank:0] [train], epoch: 0/1, iter: {step}/{arguments.steps}, loss: {loss:.5f}, "
        f"throughput: {arguments.batch_size / seconds:.3f} | {stamp}"
    )
