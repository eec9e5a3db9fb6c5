"""Lets OneFlow's programs for GPUs train on a CPU: "cuda" is the CPU, as a device and in a placement; layer norm, which
OneFlow 0.9 has for GPUs alone, is made of its other operators."""

import functools

from after_import import after_import

FACTORIES = (
    *("arange", "empty", "eye", "full", "linspace", "normal", "ones", "rand", "randint", "randn", "randperm"),
    *("tensor", "zeros"),
)


def _on_cpu(word):
    return "cpu" + word[len("cuda") :] if isinstance(word, str) and word.startswith("cuda") else word


def _placed(function):
    @functools.wraps(function)
    def stand_in(*args, **kwargs):
        return function(*map(_on_cpu, args), **{name: _on_cpu(value) for name, value in kwargs.items()})

    return stand_in


class _Kind(type):
    """A class that is made as another one, and is asked for as that one."""

    def __call__(cls, *args, **kwargs):
        return _placed(cls.real)(*args, **kwargs)

    def __instancecheck__(cls, value):
        return isinstance(value, cls.real)

    def __getattr__(cls, name):
        found = getattr(cls.real, name)
        return _placed(found) if callable(found) else found


def _layer_norm_affine(x, weight, bias, begin_norm_axis, begin_params_axis, epsilon):
    axes = list(range(begin_norm_axis, x.ndim))
    centred = x - x.mean(dim=axes, keepdim=True)
    return centred * ((centred * centred).mean(dim=axes, keepdim=True) + epsilon).rsqrt() * weight + bias


def _stand_in(oneflow):
    oneflow._C.layer_norm_affine = _layer_norm_affine
    for owner, names in (
        (oneflow, [name for name in FACTORIES if hasattr(oneflow, name)]),
        (oneflow.env, ["all_device_placement"]),
        (oneflow.Tensor, ["to"]),
        (oneflow.nn.Module, ["to"]),
    ):
        for name in names:
            setattr(owner, name, _placed(getattr(owner, name)))
    for name in ("device", "placement"):
        setattr(oneflow, name, _Kind(name, (), {"real": getattr(oneflow, name)}))


after_import("oneflow", _stand_in)
