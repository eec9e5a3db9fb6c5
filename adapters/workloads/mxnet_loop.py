"""What the MXNet workloads share: the job with its parameter servers, one timed training loop, the line it prints.

Prints through mx.callback.Speedometer itself, in every process, every step; its rate counts this process only.
"""

import contextlib
import gc
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import common

TIMED = ("forward", "loss", "backward", "optimiser", "loss_to_host")  # what is done between two readings of the clock
SERVER_TIMEOUT_S = 20  # servers and scheduler leave by themselves when the workers have closed the store


@dataclass(frozen=True)
class Job:
    """MXNet, and how this process takes part in the training."""

    mx: object
    context: object
    amp: object | None  # the module, where precision is mixed
    place: common.Place


@contextlib.contextmanager
def job(arguments, place: common.Place) -> Iterator[Job]:
    """MXNet, imported after the servers were started: it reads its role when it is imported."""
    common.limit_threads(arguments.threads)
    logging.basicConfig(level=logging.INFO)  # Speedometer logs to the root logger
    with parameter_servers(place):
        import mxnet as mx

        amp = amp_of(arguments)
        mx.random.seed(common.SEED)
        context = mx.gpu(place.local_rank) if arguments.device == "gpu" else mx.cpu()
        yield Job(mx, context, amp, place)


def trainer(job: Job, network, optimiser, **settings: float):
    """Several processes share a store, which updates the parameters on its servers, if the optimiser is MXNet's.

    *optimiser*: the name of one, with its settings, or one of ours, which each worker applies itself.
    """
    store = "dist_sync" if job.place.world_size > 1 else None
    ours = not isinstance(optimiser, str)
    where = {"kvstore": store, **({"update_on_kvstore": False} if ours and store else {})}
    return job.mx.gluon.Trainer(network.collect_params(), optimiser, None if ours else settings, **where)


def prepare(job: Job, network, inputs: Sequence) -> None:
    """The first pass, which finds the parameters' shapes.

    In predict mode oneDNN would change their layout, and then the store dies of "Check failed: init 4 first".
    """
    with job.mx.autograd.train_mode():
        network(*inputs)
    job.mx.nd.waitall()


def train(job: Job, network, inputs: Sequence, losses_of: Callable, trainer, arguments) -> None:
    """Trains *network* on the same inputs in every step; *losses_of* gives the output a loss for each of its items."""
    mx = job.mx
    step_done = stepper(job, network, inputs, losses_of, trainer, arguments)
    seen = _loss_seen(mx)
    speedometer = mx.callback.Speedometer(arguments.batch_size, frequent=1)
    speedometer(_batch_end(mx, 0, None))  # the first call starts its clock and prints nothing
    for step in range(1, arguments.steps + 1):
        losses = step_done()
        mx.nd.waitall()  # the engine is asynchronous: a step ends when its update is done
        seen.update(None, common.finite(float(losses.mean().asscalar()), step))
        speedometer(_batch_end(mx, step, seen))


def stepper(job: Job, network, inputs: Sequence, losses_of: Callable, trainer, arguments) -> Callable:
    """One optimiser step on *inputs*: () → the losses before it, which are still being computed."""
    mx, amp = job.mx, job.amp
    scaled = amp is not None and arguments.device == "gpu"
    if scaled:
        amp.init_trainer(trainer)

    def step():
        with mx.autograd.record():
            losses = losses_of(network(*inputs))
            if scaled:
                with amp.scale_loss(losses, trainer) as goal:
                    mx.autograd.backward(goal)
        if not scaled:
            losses.backward()
        trainer.step(arguments.batch_size * job.place.world_size)
        return losses

    return step


def at_least_float32(scores):
    """*scores* as the loss wants them: those of mixed precision in float32."""
    import numpy

    return scores if scores.dtype in (numpy.float32, numpy.float64) else scores.astype("float32")


def _loss_seen(mx):
    """What Speedometer prints: the loss that the loop has read already, so that no other metric waits for a device."""

    class LossSeen(mx.metric.EvalMetric):
        def update(self, labels, preds):
            self.sum_metric += preds
            self.num_inst += 1

    return LossSeen("cross-entropy")


def trainable(network) -> int:
    parameters = network.collect_params().values()
    return sum(parameter.data().size for parameter in parameters if parameter.grad_req != "null")


def _batch_end(mx, step: int, metric):
    return mx.model.BatchEndParam(epoch=0, nbatch=step, eval_metric=metric, locals=None)


def amp_of(arguments):
    """MXNet's AMP rewrites the operators when it is started, so before the network is made."""
    if arguments.precision == "fp32":
        return None
    from mxnet.contrib import amp

    amp.init(target_dtype=common.amp_kind(arguments))
    return amp


@contextlib.contextmanager
def parameter_servers(place: common.Place):
    """Makes this process a worker of ps-lite's, and starts the scheduler and one server per node beside it.

    dmlc-core/tracker/dmlc_tracker/local.py does the same: one environment, the role is the difference.
    """
    if place.world_size == 1:
        yield
        return
    os.environ.update(
        DMLC_PS_ROOT_URI=place.master_addr,
        DMLC_PS_ROOT_PORT=str(place.master_port),
        DMLC_NUM_WORKER=str(place.world_size),
        DMLC_NUM_SERVER=str(place.nodes),
    )
    if place.nodes == 1:
        os.environ["DMLC_NODE_HOST"] = place.master_addr  # else ps-lite looks for a network card
    roles = ["scheduler"] * (place.rank == 0) + ["server"] * (place.local_rank == 0)
    helpers = [
        subprocess.Popen([sys.executable, "-c", "import mxnet"], env={**os.environ, "DMLC_ROLE": role})
        for role in roles
    ]
    os.environ["DMLC_ROLE"] = "worker"
    try:
        yield
        gc.collect()  # closes the store, where every worker waits for the others and the servers are told to end
        for helper in helpers:
            helper.wait(SERVER_TIMEOUT_S)
    finally:
        for helper in helpers:
            helper.kill()
