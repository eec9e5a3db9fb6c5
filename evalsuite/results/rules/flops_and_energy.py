"""TFLOP/s of each device, and their share of its peak (model FLOPs utilisation).

Sources: `data/models.toml`, `data/devices.toml`. Nothing has a default: what is not stated or listed gives no number.
Recomputed operations do not count (Chowdhery et al., "PaLM", 2022, appendix B).
"""

import functools
import math
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from evalsuite.core import paths
from evalsuite.core.decode import decode, read_toml, whole
from evalsuite.core.findings import AbovePeak
from evalsuite.core.model import UNKNOWN, Case, Fact, Finding, Measurement, Summary
from evalsuite.results.compare import fairness
from evalsuite.results.compare.units import SEQUENCES
from evalsuite.results.measure import facts

MODELS = paths.DATA / "models.toml"
DEVICES = paths.DATA / "devices.toml"
Arithmetic = Literal["fp8", "fp16", "bf16", "tf32", "fp32"]
SIZES = ("num_layers", "hidden_size", "vocabulary")  # options of a case


@dataclass(frozen=True, kw_only=True)
class ModelFlops:
    names: tuple[str, ...]
    kind: Literal["convolution", "encoder", "decoder", "parameters"]
    source: str
    forward_macs: int | None = None
    input_size: int | None = None
    layers: int = 0
    hidden: int = 0
    vocabulary: int = 0
    parameters: int = 0

    def sized(self, case: Case) -> "ModelFlops":
        """With the layers, the hidden size and the vocabulary that are options of *case*."""
        layers, hidden, vocabulary = (whole(case.option(name, "")) for name in SIZES)
        return replace(
            self, layers=layers or self.layers, hidden=hidden or self.hidden, vocabulary=vocabulary or self.vocabulary
        )

    def per_item(self, size: int, unit: str) -> float | None:
        """Floating-point operations for one item of *unit*, forward and backward, at *size* pixels or tokens."""
        if self.kind == "convolution":
            fits = unit == "images/s" and size == self.input_size
            return 6.0 * self.forward_macs if fits and self.forward_macs else None
        tokens = {"tokens/s": 1, **dict.fromkeys(SEQUENCES, size)}.get(unit)
        return None if tokens is None or not (self.layers and self.hidden) else self._sequence(size) / size * tokens

    def _sequence(self, tokens: int) -> float:
        if self.kind == "parameters":
            return tokens * (6 * self.parameters + 12 * self.layers * self.hidden * tokens)
        return transformer_flops(tokens=tokens, layers=self.layers, hidden=self.hidden, vocabulary=self.vocabulary)


@dataclass(frozen=True, kw_only=True)
class Peak:
    """What a device can do at most, dense, by arithmetic."""

    words: tuple[str, ...]  # all of them occur in its name
    source: str
    tflops: Mapping[Arithmetic, float]
    without: tuple[str, ...] = field(default_factory=tuple)  # none of these does

    def fits(self, device: str) -> bool:
        return all(_has(device, word) for word in self.words) and not any(_has(device, word) for word in self.without)


@dataclass(frozen=True, kw_only=True)
class Compute:
    flops_per_item: float
    tflops_per_device: float
    peak_tflops: float | None  # of one device; None where device or precision is unknown
    source: str  # of the operations
    device: str | None = None  # its name, where one is stated

    @property
    def mfu(self) -> float | None:
        return self.tflops_per_device / self.peak_tflops if self.peak_tflops else None


def transformer_flops(*, tokens: int, layers: int, hidden: int, vocabulary: int = 0, passes: int = 3) -> float:
    """Operations to train on one sequence, of which the layers' part is so many forward *passes*.

    Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC21, §5.1:
    96·s·l·h²·(1 + s/6h + V/16lh) with recomputation, which makes them four.
    """
    return passes * 24 * tokens * layers * hidden**2 * (1 + tokens / (6 * hidden)) + 6 * tokens * hidden * vocabulary


def compute(row: Summary) -> Compute | None:
    """None where the model is not listed, or nothing states the size of its input."""
    known = fairness.facts_of(row)
    model, flops = _models().get(row.case.model), _flops_per_item(row.case, row.unit, _only(known.get("input_size")))
    if model is None or flops is None:
        return None
    device, precision = _only(known.get("device_model")), _only(known.get("precision"))
    peak = peak_tflops(device.value, precision.value) if device and precision else None
    if device and precision and (precision.source, precision.value) == ("case", "fp32"):  # it may round to TF32
        peak = peak if peak_tflops(device.value, "tf32") is None else None
    return Compute(
        flops_per_item=flops,
        tflops_per_device=flops * row.items_per_s_per_device / 1e12,
        peak_tflops=peak,
        source=model.source,
        device=device.value if device else None,
    )


def run_tflops(run: Measurement) -> float | None:
    unit = run.throughput.unit if run.throughput else ""
    flops = _flops_per_item(run.run.case, unit, facts.of_measurement(run).get("input_size"))
    return flops * run.value / 1e12 if flops is not None and run.value is not None else None


def _flops_per_item(case: Case, unit: str, size: Fact | None) -> float | None:
    model = _models().get(case.model)
    if model is None or size is None or not re.fullmatch(r"[1-9]\d*", size.value):
        return None
    return model.sized(case).per_item(int(size.value), unit)


def impossible(run: Measurement) -> Iterator[Finding]:
    """Above the highest peak that a device of that name has (D20); of one that is not named or listed, that any has."""
    case, tflops, known = run.run.case, run_tflops(run), facts.of_measurement(run)
    if tflops is None or case.device == "cpu":
        return
    device, precision = (known[key].value if key in known else "" for key in ("device_model", "precision"))
    fitting = [each for each in _peaks() if each.fits(device)]
    alike = fitting or [each for each in _peaks() if _has(device, each.words[0])] or _peaks()
    kinds = {"fp32": ("fp32", "tf32"), "amp": ("fp16", "bf16")}.get(precision, (precision.removesuffix("_amp"),))
    listed = {kind for each in _peaks() for kind in each.tflops}
    wanted = listed & {*kinds} or (listed if precision in ("", UNKNOWN) else set())
    peaks = {most: each for each in alike for kind, most in each.tflops.items() if kind in wanted}
    most = max(peaks, default=math.inf)
    if tflops > most * case.total_devices:
        name = device or " ".join(peaks[most].words)
        yield AbovePeak(device=name, tflops=tflops / case.total_devices, peak_tflops=most)


@dataclass(frozen=True, kw_only=True)
class Energy:
    joules_per_item: float
    method: Literal["energy counter", "sampled power"]


def energy(summary: Summary) -> Energy | None:
    """By the devices' own counters where all runs read them, else by their sampled power; None without both."""
    counted = [_counted_j_per_item(run) for run in summary.measurements if run.counts]
    known = [each for each in counted if each is not None]
    if known and len(known) == len(counted):
        return Energy(joules_per_item=statistics.median(known), method="energy counter")
    power_w = next((used.mean for used in summary.utilisation if used.resource == "gpu_power"), None)
    if power_w is None:
        return None
    return Energy(joules_per_item=power_w / summary.items_per_s_per_device, method="sampled power")


def _counted_j_per_item(run: Measurement) -> float | None:
    window = run.throughput.window if run.throughput else None
    taken_j = run.figure("energy_j")
    if taken_j is None or not run.value or window is None or window.length_s is None:
        return None
    return taken_j / (run.value * window.length_s)


@functools.cache
def peak_tflops(device: str, precision: str) -> float | None:
    """Of the device by that name at that precision; None where either is not listed, or several peaks are possible."""
    devices = _peaks() if not _has(device, "MIG") else ()
    peak = next((each for each in devices if each.fits(device)), None)
    kinds = ("fp16", "bf16") if precision == "amp" else (precision.removesuffix("_amp"),)
    peaks = {most for kind, most in peak.tflops.items() if kind in kinds} if peak else set()
    return peaks.pop() if len(peaks) == 1 else None


def _only(stated: tuple[Fact, ...] | None) -> Fact | None:
    return stated[0] if stated and len(stated) == 1 else None


def _has(name: str, word: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", name, re.IGNORECASE) is not None


@dataclass(frozen=True, kw_only=True)
class _Devices:
    peak: tuple[Peak, ...]


@functools.cache
def _peaks() -> Sequence[Peak]:
    return decode(_Devices, read_toml(DEVICES, DEVICES.name), DEVICES).peak


@dataclass(frozen=True, kw_only=True)
class _Models:
    model: tuple[ModelFlops, ...]


@functools.cache
def _models() -> Mapping[str, ModelFlops]:
    models = decode(_Models, read_toml(MODELS, MODELS.name), MODELS).model
    return {name: model for model in models for name in model.names}
