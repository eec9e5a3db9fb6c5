"""Hands lists of tensors to a kernel."""

CHUNK = 2048 * 32


class MultiTensorApply:
    available = True
    warned = False

    def __init__(self, chunk_size=CHUNK):
        self.chunk_size = chunk_size

    def __call__(self, kernel, overflow, lists, *args):
        return kernel(self.chunk_size, overflow, lists, *args)


multi_tensor_applier = MultiTensorApply()
