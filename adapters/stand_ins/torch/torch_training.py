"""What training asks of CUDA beyond tensors: mixed precision, process groups, loaders, compiled kernels."""

import functools
import importlib


def replace_autocast(torch):
    """bfloat16 where the CPU has autocast (1.10 and later), nothing before."""
    general = getattr(torch, "autocast", None)

    class autocast(general or object):
        def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
            if general is None:
                return
            half = torch.bfloat16 if dtype in (None, torch.float16) else dtype
            kind = "cpu" if device_type == "cuda" else device_type
            general.__init__(self, kind, dtype=half, enabled=enabled, cache_enabled=cache_enabled)

        def __enter__(self):
            return general.__enter__(self) if general else self

        def __exit__(self, *error):
            return general.__exit__(self, *error) if general else None

        def __call__(self, function):
            @functools.wraps(function)
            def inside(*args, **kwargs):
                with self:
                    return function(*args, **kwargs)

            return inside

    class cuda_autocast(autocast):
        def __init__(self, enabled=True, dtype=None, cache_enabled=True):
            autocast.__init__(self, "cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)

    if general is not None:
        torch.autocast = autocast
        _set_everywhere("autocast", autocast, getattr(torch, "amp", None))
    _set_everywhere("autocast", cuda_autocast, torch.cuda.amp, getattr(torch.cuda.amp, "autocast_mode", None))


def replace_grad_scaler(torch):
    """Its scale is 1 and it changes nothing: bfloat16 needs none."""
    places = (torch.cuda.amp, torch.cuda.amp.grad_scaler, getattr(torch, "amp", None))
    for place in places:
        if not hasattr(place, "GradScaler"):
            continue
        general = place.GradScaler

        class GradScaler(general):
            def __init__(self, *args, _general=general, **kwargs):
                kwargs["enabled"] = False
                _general.__init__(self, **kwargs)

        place.GradScaler = GradScaler


def _set_everywhere(name, value, *places):
    for place in places:
        if hasattr(place, name):
            setattr(place, name, value)


def replace_gelu(torch):
    """NVIDIA's builds of 2021 took `approximate=True` for what is "tanh" today."""
    gelu = torch.nn.functional.gelu

    def stand_in(input, approximate="none"):
        if approximate in (False, "none"):
            return gelu(input)
        return 0.5 * input * (1 + torch.tanh(0.7978845608 * (input + 0.044715 * input**3)))

    torch.nn.functional.gelu = stand_in


def replace_flex_attention(flex):
    """Dense, for on a CPU it has no gradient; the mask is made of the same function."""
    import torch
    from torch_devices import on_cpu

    make_mask = flex.create_block_mask

    def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, **kwargs):
        if score_mod is not None or getattr(kwargs.get("return_aux"), "lse", False):
            raise RuntimeError("the stand-in for FlexAttention has masks alone, no changed scores")
        sizes = (query.shape[0], query.shape[1], query.shape[2], key.shape[2])
        mask = None if block_mask is None else flex.create_mask(block_mask.mask_mod, *sizes, device="cpu")
        output = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, scale=scale, enable_gqa=enable_gqa
        )
        return (output, flex.AuxOutput()) if kwargs.get("return_aux") is not None else output

    @functools.wraps(make_mask)
    def create_block_mask(*args, **kwargs):
        kwargs["device"] = on_cpu(torch, kwargs.get("device", "cpu"))
        return make_mask(*args, **kwargs)

    flex.flex_attention, flex.create_block_mask = flex_attention, create_block_mask


def replace_distributed(torch):
    distributed = torch.distributed
    start, group = distributed.init_process_group, distributed.new_group
    parallel = torch.nn.parallel.DistributedDataParallel
    wrap = parallel.__init__

    @functools.wraps(start)
    def init_process_group(backend=None, *args, **kwargs):
        kwargs.pop("device_id", None)
        return start(_on_gloo(backend) or "gloo", *args, **kwargs)

    @functools.wraps(group)
    def new_group(*args, **kwargs):
        if "backend" in kwargs:
            kwargs["backend"] = _on_gloo(kwargs["backend"])
        return group(*args, **kwargs)

    @functools.wraps(wrap)
    def __init__(self, module, device_ids=None, output_device=None, *args, **kwargs):
        wrap(self, module, None, None, *args, **kwargs)

    distributed.init_process_group, distributed.new_group = init_process_group, new_group
    distributed.is_nccl_available = lambda: True
    parallel.__init__ = __init__


def replace_meshes(torch):
    """A mesh of devices (2.2 and later) is one of CPUs: what is sharded over it looks there for its parts."""
    mesh = getattr(getattr(torch.distributed, "device_mesh", None), "DeviceMesh", None)
    if mesh is None:
        return
    make = mesh.__init__

    @functools.wraps(make)
    def __init__(self, device_type, *args, **kwargs):
        make(self, "cpu" if device_type == "cuda" else device_type, *args, **kwargs)

    mesh.__init__ = __init__


def replace_gradient_division(collectives):
    """FSDP divides gradients itself: gloo has sums alone, neither means nor weighted sums."""
    factors = collectives._get_gradient_divide_factors

    @functools.wraps(factors)
    def stand_in(*args, **kwargs):
        kwargs["force_sum_reduction_for_comms"] = True
        return factors(*args[:5], **kwargs)

    collectives._get_gradient_divide_factors = stand_in


def _on_gloo(backend):
    """ "nccl" and "cuda:nccl,cpu:gloo" are "gloo"."""
    return "gloo" if isinstance(backend, str) and "nccl" in backend else backend


def replace_loader(torch):
    loader = torch.utils.data.DataLoader
    make = loader.__init__

    @functools.wraps(make)
    def __init__(self, *args, **kwargs):
        kwargs["pin_memory"] = False
        make(self, *args, **kwargs)

    loader.__init__ = __init__


def replace_extensions(cpp_extension):
    """A CUDA kernel that a script compiles is a module of that name on the path; C++ is compiled."""
    load = cpp_extension.load

    @functools.wraps(load)
    def stand_in(name, sources, *args, **kwargs):
        if any(str(source).endswith(".cu") for source in sources):
            return importlib.import_module(name)
        return load(name, sources, *args, **kwargs)

    cpp_extension.load = stand_in


def silence_fusers(torch):
    """Switches of TorchScript's fusers that a CPU build lacks or refuses."""
    for name in ("_jit_set_nvfuser_enabled", "_jit_set_texpr_fuser_enabled", "_jit_override_can_fuse_on_gpu"):
        setattr(torch._C, name, lambda *args: None)
