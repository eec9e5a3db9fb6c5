"""Where a tensor is made or moved to: "cuda", "cuda:1" and bare numbers are the CPU."""

import functools

FACTORIES = (
    *("arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_like"),
    *("empty_quantized", "empty_strided", "eye", "frombuffer", "full", "full_like", "hamming_window"),
    *("hann_window", "kaiser_window", "linspace", "logspace", "normal", "ones", "ones_like", "rand", "rand_like"),
    *("randint", "randint_like", "randn", "randn_like", "randperm", "range", "scalar_tensor"),
    *("sparse_coo_tensor", "tensor", "tril_indices", "triu_indices", "zeros", "zeros_like"),
)
MAKERS = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros")


def on_cpu(torch, device):
    """What stands for *device*: an accelerator is the CPU, anything else itself."""
    if isinstance(device, torch.device):
        return torch.device("cpu") if device.type == "cuda" else device
    if isinstance(device, str):
        return "cpu" if device.startswith("cuda") else device
    return "cpu" if isinstance(device, int) and not isinstance(device, bool) else device


def _placed(torch, function):
    """Each name has a function of its own: torch._dynamo keeps a table by object."""

    @functools.wraps(function)
    def stand_in(*args, **kwargs):
        if "device" in kwargs:
            kwargs["device"] = on_cpu(torch, kwargs["device"])
        return function(*args, **kwargs)

    return stand_in


def replace_factories(torch):
    for name in FACTORIES:
        if hasattr(torch, name):
            setattr(torch, name, _placed(torch, getattr(torch, name)))
    for name in MAKERS:
        if hasattr(torch.Tensor, name):
            setattr(torch.Tensor, name, _placed(torch, getattr(torch.Tensor, name)))


def replace_tensor_methods(torch):
    tensor = torch.Tensor
    move, change_type = tensor.to, tensor.type

    @functools.wraps(move)
    def to(self, *args, **kwargs):
        if "device" in kwargs:
            kwargs["device"] = on_cpu(torch, kwargs["device"])
        return move(self, *(on_cpu(torch, arg) for arg in args[:1]), *args[1:], **kwargs)

    def cuda(self, device=None, non_blocking=False, memory_format=None, **kwargs):
        return self if memory_format is None else self.contiguous(memory_format=memory_format)

    @functools.wraps(change_type)
    def type_(self, dtype=None, *args, **kwargs):
        if dtype is None:
            return change_type(self).replace("torch.", "torch.cuda.")
        return change_type(self, dtype.replace("cuda.", "") if isinstance(dtype, str) else dtype, *args, **kwargs)

    def pin_memory(self, *args, **kwargs):
        return self

    def record_stream(self, stream):
        """There is no stream whose end memory would have to wait for."""

    tensor.to, tensor.cuda, tensor.type = to, cuda, type_
    tensor.pin_memory, tensor.record_stream = pin_memory, record_stream
