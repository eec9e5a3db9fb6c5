"""apex.parallel: PyTorch's own DistributedDataParallel under Apex's arguments."""

import torch

from .distributed import flat_dist_call

__all__ = ["DistributedDataParallel", "flat_dist_call"]


class DistributedDataParallel(torch.nn.parallel.DistributedDataParallel):
    def __init__(self, module, message_size=10000000, delay_allreduce=False, **kwargs):
        torch.nn.parallel.DistributedDataParallel.__init__(self, module)
