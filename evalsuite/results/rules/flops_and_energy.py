"""TFLOP/s of each device, and their share of its peak (model FLOPs utilisation).

Sources: `data/models.json`, `data/peaks.csv`. Nothing has a default: what is not stated or listed gives no number.
Recomputed operations do not count; how the others do is in `results/measure/flops.py`.
"""

import functools
import math
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evalsuite.core import files, paths
from evalsuite.core.decode import whole
from evalsuite.core.findings import AbovePeak, PrintedImpossible
from evalsuite.core.messages import Message
from evalsuite.core.model import UNKNOWN, Case, Fact, Finding, Measurement, Summary
from evalsuite.results.compare import fairness
from evalsuite.results.compare.units import SEQUENCES
from evalsuite.results.measure import facts, flops

PEAKS = paths.DATA / "peaks.csv"
BINARY = {"binary": 1e12 / 2**40}
ARITHMETIC = ("fp4", "fp8", "fp16", "bf16", "tf32", "fp32")


@dataclass(frozen=True, kw_only=True)
class Peak:
    """What a device can do at most, dense, by arithmetic."""

    words: tuple[str, ...]  # all of them occur in its name
    without: tuple[str, ...]  # none of these does
    tflops: Mapping[str, float]
    boost: float  # how many times that at the highest clock, where the data sheet's is lower
    source: str

    def fits(self, device: str) -> bool:
        return all(_has(device, word) for word in self.words) and not any(_has(device, word) for word in self.without)


@dataclass(frozen=True, kw_only=True)
class Compute:
    flops_per_item: float
    tflops_per_device: float
    by_rule: Mapping[str, float]  # TFLOP/s of each device, by further rules of counting; empty: there is one
    peak_tflops: float | None  # of one device; None where device or precision is unknown
    source: str  # of the operations
    device: str | None = None  # its name, where one is stated

    @property
    def mfu(self) -> float | None:
        share = self.tflops_per_device / self.peak_tflops if self.peak_tflops else None
        return share if share is None or share <= 1 else None  # at a clock above that of the data sheet


def bring_models(folders: Iterable[Path]) -> None:
    """NAME.json in one of *folders*, a `config.json`, stands for the cases of that model. Raises EvalsuiteError."""
    known, own = flops.listed()["transformers"], []
    for file in (file for folder in folders for file in sorted(folder.glob("*.json"))):
        config = files.read_json(file)
        flops.from_config(config, file)
        own.append({"names": [file.stem], "config": config, "source": file.name, "own": True})
    known[:] = [*own, *(each for each in known if "own" not in each)]
    flops.of_case.cache_clear()


def compute(row: Summary) -> Compute | None:
    """None where the model is not listed, or nothing states the size of its input."""
    known = fairness.facts_of(row)
    by_rule, source = flops_by_rule(row.case, row.unit, _only(known.get("input_size")))
    if not by_rule:
        return None
    device, precision = _only(known.get("device_model")), _only(known.get("precision"))
    peak = peak_tflops(device.value, precision.value) if device and precision else None
    if device and precision and (precision.source, precision.value) == ("case", "fp32"):  # it may round to TF32
        peak = peak if peak_tflops(device.value, "tf32") is None else None
    rates = {rule: flops * row.items_per_s_per_device / 1e12 for rule, flops in by_rule.items()}
    return Compute(
        flops_per_item=by_rule[flops.HOUSE],
        tflops_per_device=rates[flops.HOUSE],
        by_rule=rates if len(rates) > 1 else {},
        peak_tflops=peak,
        source=source,
        device=device.value if device else None,
    )


def run_tflops(run: Measurement) -> float | None:
    unit = run.throughput.unit if run.throughput else ""
    by_rule, _ = flops_by_rule(run.run.case, unit, facts.of_measurement(run).get("input_size"))
    return by_rule[flops.HOUSE] * run.value / 1e12 if by_rule and run.value is not None else None


def flops_by_rule(case: Case, unit: str, size: Fact | None) -> tuple[dict[str, float], str]:
    """Operations for one item of *unit*, forward and backward, at *size* pixels or tokens; and their source."""
    length = whole(size.value) if size else None
    for each in flops.listed()["convolutions"]:
        if case.model in each["names"]:
            fits = unit == "images/s" and length == each["input_size"]
            return ({flops.HOUSE: 6.0 * each["forward_macs"]} if fits else {}), each["source"]
    tokens = {"tokens/s": 1, **dict.fromkeys(SEQUENCES, length)}.get(unit)
    model = flops.of_case(case) if length and tokens else None
    if model is None or not length or not tokens:
        return {}, ""
    return {rule: tokens * model.flops_per_token(length, rule) for rule in flops.SHOWN}, model.source


def impossible(run: Measurement) -> Iterator[Finding]:
    """Above the highest peak that a device of that name has (D20); and what the script prints of itself against all."""
    case, tflops, known = run.run.case, run_tflops(run), facts.of_measurement(run)
    if case.device == "cpu":
        return
    device, precision = (known[key].value if key in known else "" for key in ("device_model", "precision"))
    most, name = highest_peak(device, precision)
    unit, devices = run.throughput.unit if run.throughput else "", case.total_devices
    if tflops is not None and tflops > most * devices:
        yield AbovePeak(device=device or name, tflops=tflops / devices, peak_tflops=most)
    by_rule, _ = flops_by_rule(case, unit, known.get("input_size"))
    rates = {rule: each * run.value / devices / 1e12 for rule, each in by_rule.items()} if run.value else {}
    parts = re.search(r"\bTP (\d+)", known["parallel_layout"].value) if "parallel_layout" in known else None
    printed, mfu, spread = (run.figure(f"{name}_printed") for name in ("tflops", "mfu", "spread"))
    yield from printed_apart(printed, mfu, spread, rates, {"parts": int(parts[1])} if parts else {}, most)


def highest_peak(device: str, precision: str) -> tuple[float, str]:
    """Of all devices by that name at that precision, with its name; of one that is not named or listed, of any."""
    fitting = [each for each in _peaks() if each.fits(device)]
    alike = fitting or [each for each in _peaks() if _has(device, each.words[0])] or _peaks()
    kinds = {"fp32": ("fp32", "tf32"), "amp": ("fp16", "bf16")}.get(precision, (precision.removesuffix("_amp"),))
    listed = {kind for each in _peaks() for kind in each.tflops}
    wanted = listed & {*kinds} or (listed if precision in ("", UNKNOWN) else set())
    peaks = {most * each.boost: each for each in alike for kind, most in each.tflops.items() if kind in wanted}
    most = max(peaks, default=math.inf)
    return most, " ".join(peaks[most].words) if peaks else ""


def printed_apart(
    printed: float | None,
    mfu: float | None,
    spread: float | None,
    recomputed: Mapping[str, float],
    sizes: Mapping[str, int],
    peak: float,
) -> Iterator[Finding]:
    """What of a script's own TFLOP/s and MFU cannot be, with the factor that explains it.

    *spread*: of the rates beside one TFLOP/s; *recomputed*: TFLOP/s by each rule; *sizes*: tensor-parallel parts and
    batches a step, by which a job can count too often or not at all.
    """
    if mfu is not None and mfu > 1:
        yield PrintedImpossible(printed=mfu, recomputed=1.0, ratio=mfu, cause=Message("results.apart_above_one"))
    if not printed:
        return
    if spread and spread > PrintedImpossible.spread + 1 / printed:  # beyond what rounding to whole numbers hides
        yield PrintedImpossible(
            printed=printed, recomputed=printed * spread, ratio=1 / spread, cause=Message("results.apart_constant")
        )
    if printed > peak:
        yield PrintedImpossible(
            printed=printed, recomputed=peak, ratio=printed / peak, cause=Message("results.apart_above_peak")
        )
    if any(abs(printed / each - 1) <= PrintedImpossible.apart for each in recomputed.values()):
        return
    twice = {name: float(size) for name, size in sizes.items() if size > 1}
    for cause, factor in {**twice, **{f"{name}_missing": 1 / size for name, size in twice.items()}, **BINARY}.items():
        near = [each for each in recomputed.values() if abs(printed / each / factor - 1) <= PrintedImpossible.fits]
        if near:
            yield PrintedImpossible(
                printed=printed, recomputed=near[0], ratio=printed / near[0], cause=Message(f"results.apart_{cause}")
            )
            return


def of_log(
    log: Path,
    read: Mapping[str, Any],
    also: Mapping[str, float | None],
    said: Mapping[str, str],
    *,
    unit: str | None,
    model: flops.Transformer | None,
    device: str | None,
) -> tuple[dict[str, Any] | None, list[Finding]]:
    """What one device computes by named rules, or why that is not known; and what *also* is printed and cannot be.

    *read*: an element of `parse --json`; *said*: what is stated of the training.
    """
    printed = {**facts.printed_facts(log), **said}
    precision, sequence = (
        printed.get("precision"),
        whole(printed.get("sequence_length") or printed.get("input_size") or ""),
    )
    total, rate = read["total_devices"], also.get("items_per_s_per_device")
    rate = rate or (read["throughput"] / total if read["throughput"] and total else None)
    rate = rate * (sequence or 0) if rate and unit in SEQUENCES else rate
    compute: dict[str, Any] | None = None
    rates: dict[str, float] = {}
    if model is not None:
        compute = {"model": model.source, "not_counted": list(model.not_counted), "sequence_length": sequence}
        lacks = "unit" if unit not in (*SEQUENCES, "tokens/s") else "" if sequence else "length"
        if lacks or not sequence or not rate:
            values = {"unit": unit or "–"} if lacks == "unit" else {}
            return {**compute, "note": Message(f"results.counted_{lacks or 'rate'}", **values)}, []
        own = [name for name, rule in flops.listed()["rules"].items() if read["dialect"] in rule.get("dialects", ())]
        frozen, wanted = printed.get("trained") == "lora", filter(None, [printed.get("rule")])

        def tflops(rule: str) -> float:
            return model.flops_per_token(sequence, rule, frozen=frozen) * rate / 1e12

        nearest = also.get("tflop_per_s_per_device") or 0.0
        followed = min(own, key=lambda rule: abs(tflops(rule) - nearest) if nearest else 0.0, default=None)
        rates = {rule: tflops(rule) for rule in dict.fromkeys((*flops.SHOWN, *wanted, *filter(None, [followed])))}
        peak = peak_tflops(device, precision or "bf16") if device else None
        head = 0 if model.both_ways else 2 * model.hidden * model.vocabulary
        again = (model.flops_per_token(sequence) / 3 - head) * rate / 1e12  # the forward pass of the layers
        compute |= {
            **{"device": device, "precision": precision or "bf16", "precision_stated": precision is not None},
            **{"peak_tflops": peak, "own_rule": followed, "tflops_per_device": rates},
            "mfu": {rule: each / peak for rule, each in rates.items()} if peak else None,
            "hfu": (rates[flops.HOUSE] + again) / peak if peak and printed.get("recompute") == "full" else None,
            "note": Message("results.counted_device", name=device, precision=precision or "bf16")
            if device and not peak
            else "",
        }
    most, name = highest_peak(device or "", precision or UNKNOWN)
    found: list[Finding] = []
    if rates and rates[flops.HOUSE] > most:
        found = [AbovePeak(device=device or name, tflops=rates[flops.HOUSE], peak_tflops=most)]
    parts = re.search(r"\bTP (\d+)", printed.get("parallel_layout", ""))
    sizes = {"parts": int(parts[1]) if parts else 1, "accumulation": whole(printed.get("accumulation", "")) or 1}
    tflops_printed, mfu, spread = (also.get(each) for each in ("tflop_per_s_per_device", "mfu", "spread_of_rates"))
    return compute, [*found, *printed_apart(tflops_printed, mfu, spread, rates, sizes, most)]


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
    kinds = {"amp": ("fp16", "bf16"), "mxfp8": ("fp8",), "nvfp4": ("fp4",)}.get(
        precision, (precision.removesuffix("_amp"),)
    )
    peaks = {most for kind, most in peak.tflops.items() if kind in kinds} if peak else set()
    return peaks.pop() if len(peaks) == 1 else None


def _only(stated: tuple[Fact, ...] | None) -> Fact | None:
    return stated[0] if stated and len(stated) == 1 else None


def _has(name: str, word: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", name, re.IGNORECASE) is not None


@functools.cache
def _peaks() -> Sequence[Peak]:
    return [
        Peak(
            words=tuple(row["words"].split()),
            without=tuple(row["without"].split()),
            tflops={kind: float(row[kind]) for kind in ARITHMETIC if row[kind]},
            boost=float(row["boost"] or 1),
            source=f"{row['source']}, {row['date']}",
        )
        for row in paths.read_rows(PEAKS)
    ]
