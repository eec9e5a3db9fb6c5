"""`torch.cuda` of a machine with devices whose streams, events and memory are the CPU's."""

import os
import time
from collections import namedtuple

Properties = namedtuple("Properties", "name major minor total_memory multi_processor_count gcnArchName")
MEMORY = 80 << 30
PROPERTIES = Properties("stand-in", 8, 0, MEMORY, 108, "")  # compute capability, memory and units of an A100
TYPES = ("Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double", "BFloat16", "Bool")
NOTHING = (
    *("_lazy_init", "cudart", "empty_cache", "init", "ipc_collect", "reset_accumulated_memory_stats"),
    *("reset_max_memory_allocated", "reset_max_memory_cached", "reset_peak_memory_stats"),
    *("set_per_process_memory_fraction", "set_stream", "set_sync_debug_mode", "synchronize"),
)
NO_BYTES = (
    *("memory_allocated", "memory_cached", "memory_reserved", "max_memory_allocated", "max_memory_cached"),
    *("max_memory_reserved", "device_memory_used", "utilization"),
)
YES = ("is_available", "is_initialized", "is_bf16_supported", "can_device_access_peer", "current_stream_is_idle")


def devices():
    """How many a process sees: what is visible of those that the rehearsal gives this node."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([number for number in visible.split(",") if number.strip()])
    return int(os.environ.get("EVALSUITE_STAND_IN_DEVICES") or os.environ.get("LOCAL_WORLD_SIZE") or 1)


class Stream:
    def __init__(self, *args, **kwargs):
        self.cuda_stream = 0
        self.device = "cuda"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def synchronize(self):
        pass

    def wait_stream(self, stream):
        pass

    def wait_event(self, event):
        pass

    def query(self):
        return True

    def is_capturing(self):
        return False

    def record_event(self, event=None):
        event = event or Event()
        event.record(self)
        return event


class Event:
    def __init__(self, *args, **kwargs):
        self._at_s = 0.0

    def record(self, stream=None):
        self._at_s = time.perf_counter()

    def elapsed_time(self, later):
        return 1000 * (later._at_s - self._at_s)

    def synchronize(self):
        pass

    def wait(self, stream=None):
        pass

    def query(self):
        return True


class Scope:
    """`torch.cuda.device(…)` and `torch.cuda.stream(…)`: what is inside runs where it would anyway."""

    def __init__(self, *args, **kwargs):
        self.stream = args[0] if args else None
        self.idx = args[0] if args and isinstance(args[0], int) else 0

    def __enter__(self):
        return self.stream

    def __exit__(self, *error):
        return None


class DeviceScope(Scope):
    pass


class DeviceOfScope(Scope):
    pass


class StreamScope(Scope):
    pass


def _constant(name, value):
    """A function of its own for each name: torch._dynamo keeps a table by object."""

    def stand_in(*args, **kwargs):
        return value

    stand_in.__name__ = stand_in.__qualname__ = name
    return stand_in


def replace_cuda(torch):
    cuda = torch.cuda
    for names, value in ((NOTHING, None), (NO_BYTES, 0), (YES, True)):
        for name in names:
            setattr(cuda, name, _constant(name, value))
    _replace_devices(cuda)
    _replace_random(torch)
    _replace_streams(cuda)
    _replace_accelerator(torch)
    for name in TYPES:
        if hasattr(torch, name + "Tensor"):
            setattr(cuda, name + "Tensor", getattr(torch, name + "Tensor"))
    for name in ("range_push", "range_pop", "mark"):
        setattr(cuda.nvtx, name, _constant(name, None))


def _replace_devices(cuda):
    current = [0]

    def set_device(device):
        number = getattr(device, "index", device)
        current[0] = int(str(number).split(":")[-1]) if str(number).split(":")[-1].isdigit() else current[0]

    def current_device():
        return current[0]

    def device_count():
        return devices()

    def mem_get_info(device=None):
        return MEMORY, MEMORY

    def memory_stats(device=None):
        return _Zeros()

    for function in (set_device, current_device, device_count, mem_get_info, memory_stats):
        setattr(cuda, function.__name__, function)
    for name, value in (
        ("get_device_properties", PROPERTIES),
        ("get_device_name", PROPERTIES.name),
        ("get_device_capability", (PROPERTIES.major, PROPERTIES.minor)),
        ("get_arch_list", ["sm_80"]),
        ("memory_summary", ""),
    ):
        setattr(cuda, name, _constant(name, value))


class _Zeros(dict):
    def __missing__(self, name):
        return 0


def _replace_random(torch):
    """The one generator of the CPU serves; what saves and restores a state of CUDA saves and restores its."""
    cuda = torch.cuda

    def manual_seed(seed):
        torch.default_generator.manual_seed(int(seed))

    def manual_seed_all(seed):
        torch.default_generator.manual_seed(int(seed))

    def get_rng_state(device=None):
        return torch.default_generator.get_state()

    def set_rng_state(state, device=None):
        torch.default_generator.set_state(state)

    def get_rng_state_all():
        return [torch.default_generator.get_state() for _ in range(devices())]

    def set_rng_state_all(states):
        for state in states:
            torch.default_generator.set_state(state)

    def initial_seed():
        return torch.default_generator.initial_seed()

    def _lazy_call(function, **kwargs):
        function()

    of_states = (get_rng_state, set_rng_state, get_rng_state_all, set_rng_state_all)
    for function in (manual_seed, manual_seed_all, initial_seed, *of_states):
        setattr(cuda, function.__name__, function)
        setattr(getattr(cuda, "random", cuda), function.__name__, function)
    cuda._lazy_call = _lazy_call
    cuda.default_generators = tuple(torch.default_generator for _ in range(devices()))


def _replace_streams(cuda):
    of_all = Stream()
    cuda.Stream, cuda.ExternalStream, cuda.Event = Stream, Stream, Event
    cuda.device, cuda.device_of, cuda.stream = DeviceScope, DeviceOfScope, StreamScope
    cuda.current_stream = _constant("current_stream", of_all)
    cuda.default_stream = _constant("default_stream", of_all)


def _replace_accelerator(torch):
    """The same by its other name (2.6 and later), which optimisers and newer scripts use."""
    accelerator, cuda = getattr(torch, "accelerator", None), torch.cuda
    for name, function in (
        *((name, getattr(cuda, name)) for name in ("current_stream", "device_count", "is_available", "synchronize")),
        ("current_accelerator", _constant("current_accelerator", torch.device("cuda"))),
        *((name, cuda.current_device) for name in ("current_device_index", "current_device_idx")),
        *((name, cuda.set_device) for name in ("set_device_index", "set_device_idx")),
    ):
        if hasattr(accelerator, name):
            setattr(accelerator, name, function)
