"""PyTorch without a GPU takes the script's "cuda" for the CPU: 1.6, 1.12 and 2.x.

What asks for a device is changed from outside, right after the import; nothing of PyTorch's arithmetic is. Half
precision is what the CPU has: bfloat16 under autocast, no loss scale. TorchScript and torch.compile are off: they would
look into the changed functions, and compile for a GPU that is not there.
"""

import os

os.environ["PYTORCH_JIT"] = "0"
os.environ["TORCHDYNAMO_DISABLE"] = "1"

from after_import import after_import
from torch_cuda import replace_cuda
from torch_devices import replace_factories, replace_tensor_methods
from torch_training import (
    replace_autocast,
    replace_distributed,
    replace_extensions,
    replace_flex_attention,
    replace_gelu,
    replace_grad_scaler,
    replace_gradient_division,
    replace_loader,
    replace_meshes,
    silence_fusers,
)


def _stand_in(torch):
    replace_factories(torch)
    replace_tensor_methods(torch)
    replace_cuda(torch)
    replace_autocast(torch)
    replace_grad_scaler(torch)
    replace_gelu(torch)
    replace_distributed(torch)
    replace_meshes(torch)
    replace_loader(torch)
    silence_fusers(torch)


after_import("torch", _stand_in)
after_import("torch.utils.cpp_extension", replace_extensions)
after_import("torch.distributed.fsdp._fully_shard._fsdp_collectives", replace_gradient_division)
after_import("torch.nn.attention.flex_attention", replace_flex_attention)
