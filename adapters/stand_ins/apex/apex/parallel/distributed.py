"""One call of torch.distributed for many tensors."""

from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors


def flat_dist_call(tensors, call, extra_args=None):
    """By type, as apex/parallel/distributed.py does it."""
    kinds = {}
    for tensor in tensors:
        kinds.setdefault(tensor.dtype, []).append(tensor)
    for alike in kinds.values():
        together = _flatten_dense_tensors(alike)
        call(together, *(extra_args or ()))
        for tensor, new in zip(alike, _unflatten_dense_tensors(together, alike)):
            tensor.copy_(new)
