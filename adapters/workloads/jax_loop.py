"""What the JAX workloads share: start of the process, one compiled optimiser step, the line it prints.

The line is that of clu's LoggingWriter, through which the examples of Flax print, every step. One process on one
device: to JAX all cores of a machine are one.
"""

import os
import time
from collections.abc import Callable

import common

TIMED = ("forward", "loss", "backward", "optimiser", "loss_to_host")  # what is done between two readings of the clock
CLOCK = "%m%d %H:%M:%S"


def started(arguments):
    """JAX, imported when its threads have been counted: XLA reads NPROC for its pools."""
    common.bind_to_own_cores()
    common.limit_threads(arguments.threads)
    os.environ["NPROC"] = os.environ["PJRT_NPROC"] = str(arguments.threads)
    os.environ.setdefault("JAX_PLATFORMS", "cpu" if arguments.device == "cpu" else "cuda")
    import jax

    return jax


def stepper(jax, loss_of: Callable, updated: Callable, inputs) -> Callable:
    """One optimiser step as one program: state → (state after it, loss before it).

    State is (weights, what the layers remember, what the optimiser remembers). *loss_of* gives weights, memory and
    *inputs* (loss, memory); *updated* gives weights, gradients and what the optimiser remembers the next two.
    """

    def step(state, inputs):
        weights, memory, moments = state
        (loss, memory), gradients = jax.value_and_grad(loss_of, has_aux=True)(weights, memory, inputs)
        weights, moments = updated(weights, gradients, moments)
        return (weights, memory, moments), loss

    compiled = jax.jit(step, donate_argnums=0)  # the old state's memory is the new one's
    return lambda state: compiled(state, inputs)


def train(jax, step: Callable, state, arguments) -> None:
    """Trains on the same inputs in every step and prints a line for each."""
    begun = time.perf_counter()
    for number in range(1, arguments.steps + 1):
        state, loss = step(state)
        loss = common.finite(float(loss), number)
        jax.block_until_ready(state)
        ended = time.perf_counter()
        print(line(number, ended - begun, loss), flush=True)
        begun = ended


def line(number: int, seconds: float, loss: float) -> str:
    """`I1121 03:55:05.860462 139891627251392 logging_writer.py:48] [100] steps_per_second=834.488, train_loss=7.36`"""
    now = time.time()
    stamp = f"{time.strftime(CLOCK, time.localtime(now))}.{int(now % 1 * 1e6):06d}"
    return (
        f"I{stamp} {os.getpid()} logging_writer.py:48] [{number}] steps_per_second={1 / seconds:.6g}, train_loss={loss}"
    )


def sgd(learning_rate: float, weight_decay: float) -> Callable:
    """SGD with momentum, whose decay is part of the gradient (L2): `updated` of `stepper`."""

    def updated(weights, gradients, moments):
        moments = {
            name: common.MOMENTUM * moments[name] + gradients[name] + weight_decay * weights[name] for name in weights
        }
        return {name: weights[name] - learning_rate * moments[name] for name in weights}, moments

    return updated
