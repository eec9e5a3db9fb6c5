"""Chainer without a GPU takes the number of a GPU for the CPU: 7.8.

What a script asks of `chainer.cuda` is answered; Chainer's own arithmetic and what it knows of devices stay.
"""

from after_import import after_import


class _Device:
    def use(self):
        pass


def _replace_cuda(cuda):
    cuda.available = True
    cuda.get_device_from_id = lambda number: _Device()


def _stay_on_cpu(chainer):
    chainer.device_resident.DeviceResident.to_gpu = lambda self, device=None: self
    _without_device(chainer.training.updaters.StandardUpdater)
    _without_device(chainer.training.extensions.Evaluator)


def _without_device(kind):
    original = kind.__init__

    def __init__(self, *args, **kwargs):
        kwargs.pop("device", None)
        original(self, *args, **kwargs)

    kind.__init__ = __init__


after_import("chainer", _stay_on_cpu)
after_import("chainer.cuda", _replace_cuda)
