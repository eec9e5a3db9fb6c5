"""Which devices the wheels of an environment serve: by the CUDA toolkit of their build (`data/wheels.toml`)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalsuite.contracts.adapter import Recipe
from evalsuite.core import paths
from evalsuite.core.model import Device

Capability = tuple[int, int]  # NVIDIA's number of a device's instructions: (7, 0) of a V100
Pins = tuple[str, ...]

_FILE: Mapping[str, Any] = paths.read_data("wheels.toml")


@dataclass(frozen=True, kw_only=True)
class GpuWheel:
    pin: str
    cuda: str
    least: Capability
    most: Capability

    def serves(self, capability: Capability) -> bool:
        return self.least <= capability and (capability <= self.most or capability[0] == self.most[0])


def parse_capability(text: str) -> Capability:
    """ "7.0" → (7, 0)."""
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def find_wheel(pins: Sequence[str]) -> GpuWheel | None:
    pin = next((pin for pin in pins if pin in _FILE["wheels"]), None)
    if pin is None:
        return None
    cuda = _FILE["wheels"][pin]
    least, most = map(parse_capability, _FILE["toolkits"][cuda])
    return GpuWheel(pin=pin, cuda=cuda, least=least, most=most)


def is_without_gpu(pin: str) -> bool:
    return pin.partition("==")[0] in _FILE["without_gpu"]["names"]


def choose_pins(recipe: Recipe, device: Device, capabilities: Iterable[Capability] = ()) -> Pins:
    """The first that serve all *capabilities* (none: unknown), or its first where none do; () without any."""
    every = list(capabilities)
    choices = (recipe.pins(device), *(recipe.other_wheels if device == "gpu" else ()))
    return next((pins for pins in choices if find_unserved(pins, every) is None), choices[0])


def find_unserved(pins: Sequence[str], capabilities: Iterable[Capability]) -> tuple[GpuWheel, Capability] | None:
    wheel = find_wheel(pins)
    unserved = next((each for each in capabilities if wheel and not wheel.serves(each)), None)
    return (wheel, unserved) if wheel and unserved else None
