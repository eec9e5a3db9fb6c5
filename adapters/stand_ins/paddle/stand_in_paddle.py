"""Lets Paddle's programs for GPUs train on a CPU: "gpu" is the CPU, and there is no cuDNN to ask."""

import contextlib
import ctypes
import functools

from after_import import after_import


def _stand_in(paddle):
    choose, set_flags = paddle.device.set_device, paddle.set_flags

    def set_device(device):
        return choose("cpu" if device.startswith("gpu") else device)

    def set_known_flags(flags):
        """A build for CPUs lacks those of cuDNN."""
        for name, value in flags.items():
            with contextlib.suppress(ValueError):
                set_flags({name: value})

    paddle.set_device = paddle.device.set_device = set_device
    paddle.get_device = paddle.device.get_device = lambda: "gpu:0"
    paddle.set_flags = set_known_flags
    paddle.get_cudnn_version = paddle.device.get_cudnn_version = lambda: 0
    paddle.device.cuda.get_device_capability = lambda device=None: (7, 0)
    _without_fused_attention(paddle.nn.TransformerEncoderLayer)


def _without_fused_attention(kind):
    """NVIDIA's build alone has the argument, which is false without cuDNN."""
    original = kind.__init__

    @functools.wraps(original)
    def __init__(self, *args, fuse_qkv=False, **kwargs):
        if fuse_qkv:
            raise ValueError("there is no fused attention on a CPU")
        original(self, *args, **kwargs)

    kind.__init__ = __init__


def _launch_without_devices(module):
    """So many processes as devices are named, over Gloo."""
    module.Device.get_selected_devices = lambda self, devices="": []


def _meet_over_gloo(module):
    """Ranks of a static program, which wait for no stream."""
    import paddle

    def meet(self, program, current_endpoint, endpoints, rank, *args, **kwargs):
        host, port = endpoints[0].split(":")
        paddle.distributed.gloo_init_parallel_env(rank, len(endpoints), f"{host}:{int(port) + 1000}")

    def append(block, *args, append=paddle.base.framework.Block.append_op, **kwargs):
        return None if kwargs.get("type", "").startswith("c_sync_") else append(block, *args, **kwargs)

    module.CollectiveHelper._init_communicator, paddle.base.framework.Block.append_op = meet, append


class _Library(ctypes.CDLL):
    def __init__(self, name, *args, **kwargs):
        self._absent = str(name).endswith(("/libcudart.so", "/libnvToolsExt.so"))
        super().__init__(None if self._absent else name, *args, **kwargs)

    def __getattr__(self, name):
        return (lambda *args: 0) if self._absent else super().__getattr__(name)


ctypes.CDLL = _Library
after_import("paddle", _stand_in)
after_import("paddle.distributed.launch.context.device", _launch_without_devices)
after_import("paddle.distributed.fleet.meta_optimizers.common", _meet_over_gloo)
