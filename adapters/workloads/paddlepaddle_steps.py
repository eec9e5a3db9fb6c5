"""One timed training loop of the PaddlePaddle workloads, and the line that it prints.

The line is that of PaddleClas ppcls/utils (log_info, release 2.6), on rank 0, every step; its `ips` counts one card,
and its times are of the one step, as PaddleClas has them where it prints every step.
"""

import time
from collections.abc import Callable

import common
import paddlepaddle_loop


def train(job: paddlepaddle_loop.Job, step: Callable, arguments, learning_rate: float) -> None:
    """Calls *step*, which gives the loss of this process, and reports it."""
    begun = time.perf_counter()
    for iteration in range(arguments.steps):
        reader_s = time.perf_counter() - begun
        loss = common.finite(float(step()), iteration + 1)
        paddlepaddle_loop.wait(job, arguments)
        batch_s = time.perf_counter() - begun
        begun = time.perf_counter()
        if job.rank == 0:
            print(line(iteration, arguments, learning_rate, loss, batch_s, reader_s), flush=True)


def line(iteration: int, arguments, learning_rate: float, loss: float, batch_s: float, reader_s: float) -> str:
    """`[2026/11/20 23:40:35] ppcls INFO: [Train][Epoch 1/1][Iter: 0/16]lr(…): …, batch_cost: 1.30290s, …`"""
    left_s = round(batch_s * (arguments.steps - iteration))
    return (
        f"[{time.strftime('%Y/%m/%d %H:%M:%S')}] ppcls INFO: [Train][Epoch 1/1][Iter: {iteration}/{arguments.steps}]"
        f"lr(ConstLR): {learning_rate:.8f}, loss: {loss:.5f}, "
        f"batch_cost: {batch_s:.5f}s, reader_cost: {reader_s:.5f}, "
        f"ips: {arguments.batch_size / batch_s:.5f} samples/s, "
        f"eta: {left_s // 3600}:{left_s // 60 % 60:02d}:{left_s % 60:02d}"
    )
