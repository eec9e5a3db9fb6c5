"""Chainer without a GPU takes the number of a GPU for the CPU: 7.8.

What a script asks of `chainer.cuda` is answered; what Chainer asks itself, by `chainer.backends.cuda`, is not.
"""

from after_import import after_import


class _Device:
    def use(self):
        pass


class _Cuda:
    available = True

    def __init__(self, real):
        self._real = real

    def __getattr__(self, name):
        return getattr(self._real, name)

    def get_device_from_id(self, number):
        return _Device()


def _stay_on_cpu(chainer):
    chainer.cuda = _Cuda(chainer.backends.cuda)
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
