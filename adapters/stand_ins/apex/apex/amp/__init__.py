"""apex.amp at every level is O0: float32, a loss scale of 1."""

from contextlib import contextmanager

from ._amp_state import _amp_state

__all__ = ["_amp_state", "initialize", "load_state_dict", "master_params", "scale_loss", "state_dict"]


def initialize(models, optimizers=None, *args, **kwargs):
    return models if optimizers is None else (models, optimizers)


@contextmanager
def scale_loss(loss, optimizers, *args, **kwargs):
    yield loss


def master_params(optimizer):
    for group in optimizer.param_groups:
        yield from group["params"]


def state_dict(destination=None):
    return {}


def load_state_dict(state):
    pass


def _unchanged(function):
    return function


half_function = float_function = promote_function = _unchanged


def _register(module, name):
    pass


register_half_function = register_float_function = register_promote_function = _register
