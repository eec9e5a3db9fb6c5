"""TFLOP/s of each device, and their share of its peak (model FLOPs utilisation; `data/models.json`, `data/peaks.csv`).
Nothing has a default. Recomputed operations do not count; how the others do is in `results/measure/flops.py`."""

import functools
import itertools
import math
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from evalsuite.core import files, paths
from evalsuite.core.decode import whole
from evalsuite.core.findings import AbovePeak, ImpossibleSamples, PrintedImpossible
from evalsuite.core.messages import Message, join
from evalsuite.core.model import UNKNOWN, Case, Fact, Finding, Measurement, Summary
from evalsuite.results.compare import fairness
from evalsuite.results.measure import facts, flops
from evalsuite.results.measure.units import SEQUENCES

PEAKS = paths.DATA / "peaks.csv"
ARITHMETIC = ("fp4", "fp8", "fp16", "bf16", "tf32", "fp32")
Stated = Mapping[str, str]
RECIPES = {"amp": ("fp16", "bf16"), "mxfp8": ("fp8",), "nvfp4": ("fp4",)}


@dataclass(frozen=True, kw_only=True)
class Peak:
    """What a device can do at most, dense, by arithmetic."""

    words: tuple[str, ...]  # all of them occur in its name
    without: tuple[str, ...]  # none of these does
    tflops: Mapping[str, float]
    boost: float  # how many times that at the highest clock, where the data sheet's is lower
    watts: float | None
    source: str


@dataclass(frozen=True, kw_only=True)
class Compute:
    flops_per_item: float
    tflops_per_device: float
    by_rule: Mapping[str, float]  # TFLOP/s of each device, by further rules of counting; empty: there is one
    peak_tflops: float | None  # of one device; None where device or precision is unknown
    source: str  # of the operations

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
    facts.model_of.cache_clear()


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
    rates = {rule: each * row.items_per_s_per_device / 1e12 for rule, each in by_rule.items()}
    return Compute(
        flops_per_item=by_rule[flops.HOUSE],
        tflops_per_device=rates[flops.HOUSE],
        by_rule=rates if len(rates) > 1 else {},
        peak_tflops=peak,
        source=source,
    )


def run_tflops(run: Measurement) -> Mapping[str, float]:
    """Of all devices, by rule; of images whose size nobody states as large as the model is published for."""
    case, unit = run.run.case, run.throughput.unit if run.throughput else ""
    sizes = (each["input_size"] for each in flops.listed()["convolutions"] if case.model in each["names"])
    usual = Fact(key="input_size", value=str(next(sizes, "")), source="case")
    by_rule, _ = flops_by_rule(case, unit, facts.of_measurement(run).get("input_size", usual))
    return {rule: each * run.value / 1e12 for rule, each in by_rule.items()} if run.value is not None else {}


def flops_by_rule(case: Case, unit: str, size: Fact | None) -> tuple[dict[str, float], str]:
    """Operations for one item of *unit*, forward and backward, at *size* pixels or tokens; and their source."""
    length = whole(size.value) if size else None
    for each in flops.listed()["convolutions"]:
        if case.model in each["names"]:
            fits = unit == "images/s" and length == each["input_size"]
            return ({flops.HOUSE: 6.0 * each["forward_macs"]} if fits else {}), each["source"]
    tokens = {"tokens/s": 1, **dict.fromkeys(SEQUENCES, length)}.get(unit)
    model = facts.model_of(case) if length and tokens else None
    if model is None or model.tower or not length or not tokens:
        return {}, ""
    return {rule: tokens * model.flops_per_token(length, rule) for rule in flops.SHOWN}, model.source


def impossible(run: Measurement) -> Iterator[Finding]:
    """Above the highest peak that a device of that name has (D20); and what the script prints of itself against all."""
    if run.run.case.device != "cpu":
        rates = {rule: each / run.run.case.total_devices for rule, each in run_tflops(run).items()}
        printed = (run.figure("tflops_printed"), run.figure("mfu_printed"), run.figure("spread_printed"))
        known = facts.of_measurement(run) if rates or any(printed) else {}  # else there is nothing to check
        yield from check_figures(printed, rates, {key: fact.value for key, fact in known.items()})


def denied(run: Measurement) -> set[str]:
    """What readings say of busy devices, where their power is that of a rest, or their memory none that the log has."""
    used, rule = {use.resource: use.mean for use in run.utilisation}, ImpossibleSamples
    name = facts.of_measurement(run).get("device_model")
    watts = min((each.watts for each in _fitting(name.value) if each.watts), default=0.0) if name else 0.0
    printed, held = (run.figure(f"peak_memory_{how}_bytes") for how in ("printed", "sampled"))
    at_rest = {"gpu_power"} if used.get("gpu_power", watts) < rule.power * watts else set[str]()
    at_rest |= {"gpu_sm_clock"} if used.get("gpu_sm_clock", rule.clock) < rule.clock else set()
    at_rest |= {"gpu_memory"} if printed and held and held < rule.memory * printed else set()
    return at_rest | {"gpu"} if at_rest and used.get("gpu", 0.0) > 100 * rule.busy else set()


@functools.cache
def highest_peak(device: str, precision: str) -> tuple[float, str]:
    """Of all devices by that name at that precision, with its name; of one that is not named or listed, of any."""
    alike = _fitting(device) or [each for each in _peaks() if _has(device, each.words[0])] or _peaks()
    kinds = _kinds(precision) | ({"tf32"} if precision == "fp32" else set())
    listed = {kind for each in _peaks() for kind in each.tflops}
    wanted = listed & kinds or (listed if precision in ("", UNKNOWN) else set())
    peaks = {most * each.boost: each for each in alike for kind, most in each.tflops.items() if kind in wanted}
    most = max(peaks, default=math.inf)
    return most, " ".join(peaks[most].words) if peaks else ""


def check_figures(
    printed: tuple[float | None, float | None, float | None], recomputed: Mapping[str, float], known: Mapping[str, str]
) -> Iterator[Finding]:
    """What of a device's figures cannot be; of a script's own, with the factor that explains it. *printed*: TFLOP/s,
    MFU, and how far rates lie apart beside one and the same TFLOP/s; *recomputed*: TFLOP/s by each rule."""
    device = known.get("device_model", "")
    peak, name = highest_peak(device, known.get("precision", ""))
    if recomputed and recomputed[flops.HOUSE] > peak:
        yield AbovePeak(device=device or name, tflops=recomputed[flops.HOUSE], peak_tflops=peak)
    tflops, mfu, spread = printed

    def apart(cause: str, value: float, other: float) -> Finding:
        message = Message(f"results.apart_{cause}")
        return PrintedImpossible(printed=value, recomputed=other, ratio=value / other, cause=message)

    if mfu is not None and mfu > 1:
        yield apart("above_one", mfu, 1.0)
    if not tflops:
        return
    if spread and spread > PrintedImpossible.spread + 1 / tflops:  # beyond what rounding to whole numbers hides
        yield apart("constant", tflops, tflops * spread)
    if tflops > peak:
        yield apart("above_peak", tflops, peak)
    if any(abs(tflops / each - 1) <= PrintedImpossible.apart for each in recomputed.values()):
        return
    parts = re.search(r"\bTP (\d+)", known.get("parallel_layout", ""))
    sizes = {"parts": int(parts[1]) if parts else 1, "accumulation": whole(known.get("accumulation", "")) or 1}
    factors = [(cause, float(size) ** sign) for cause, size in sizes.items() if size > 1 for sign in (1, -1)]
    for (cause, factor), each in itertools.product([*factors, ("binary", 1e12 / 2**40)], recomputed.values()):
        if abs(tflops / each / factor - 1) <= PrintedImpossible.fits:
            yield apart(cause, tflops, each)
            return


def of_log(
    read: Mapping[str, Any], known: Stated, *, unit: str | None, model: flops.Transformer | None, device: str | None
) -> tuple[dict[str, Any] | None, list[Finding]]:
    """What one device computes by named rules, or why that is not known; and what the log prints and cannot be.
    *read*: of `parse --json`; *known*: what is stated of the training; *unit*: of the rate of one device."""
    also, total, sequence = read["also_printed"] or {}, read["total_devices"], whole(known.get("input_size", ""))
    rate = also.get("items_per_s_per_device") or (total and read["throughput"] and read["throughput"] / total)
    compute: dict[str, Any] | None = None
    rates: dict[str, float] = {}
    tflops, stated = also.get("tflop_per_s_per_device"), known.get("precision", "")
    precision = facts.said_precision(stated) or stated
    if model is not None:
        compute = {"model": model.source, "sequence_length": sequence}
        if unit not in (*SEQUENCES, "tokens/s"):
            return {**compute, "note": Message("results.counted_unit", unit=unit or "–")}, []
        if not sequence:
            return {**compute, "note": Message("results.counted_length")}, []
        if not rate:
            return {**compute, "note": Message("results.counted_rate")}, []
        images, tokens = (whole(known.get(name, "")) for name in ("images_per_sequence", "tokens_per_image"))
        if model.tower and (images is None or (images and not tokens) or images * (tokens or 0) > sequence):
            return {**compute, "note": Message("results.counted_images")}, []
        model = replace(model, images=(images or 0, tokens or 0, 2 if known.get("tower") == "frozen" else 6))
        rate *= sequence if unit in SEQUENCES else 1
        listed = flops.listed()["rules"]
        each_token = functools.partial(model.flops_per_token, sequence, frozen=known.get("trained") == "lora")
        counted = {rule: each_token(rule) * rate / 1e12 for rule in listed}
        own, other = _own_rule(read["dialect"], counted, tflops)
        rates = {rule: counted[rule] for rule in listed if rule in (*flops.SHOWN, own, known.get("rule"))}
        peak = peak_tflops(device, precision or "bf16") if device else None
        fits = peak and rates[flops.HOUSE] <= peak  # else the precision is another, or something stated is wrong
        recomputed = each_token(again=True) * rate / 1e12 if known.get("recompute") == "full" else None
        unlisted = Message("results.counted_device", name=device, precision=precision or "bf16")
        assumed = Message("results.counted_precision") if peak and not precision else ""
        compute |= {
            **{"device": device, "precision": precision or "bf16"},
            **{"peak_tflops": peak, "own_rule": own, "tflops_per_device": rates},
            "mfu": {rule: each / peak for rule, each in rates.items()} if fits and peak else None,
            "hfu": recomputed / peak if fits and peak and recomputed else None,
            "note": join(other, unlisted if device and not peak else assumed),
        }
    printed = (tflops, also.get("mfu"), also.get("spread_of_rates"))
    return compute, [*check_figures(printed, rates, {**known, "device_model": device or "", "precision": precision})]


def _own_rule(dialect: str | None, counted: Mapping[str, float], tflops: float | None) -> tuple[str | None, str]:
    """Of its stack's the one that *tflops*, printed by the script, follow; or that they follow none of them."""
    listed = flops.listed()["rules"]
    own = [rule for rule in listed if dialect in listed[rule].get("dialects", ())]
    nearest = min(own, key=lambda rule: abs(counted[rule] - tflops) if tflops else 0.0, default=None)
    if not tflops or not nearest or abs(counted[nearest] / tflops - 1) <= PrintedImpossible.apart:
        return nearest, ""
    values = {"printed": f"{tflops:,.4g}", "rule": nearest, "counted": f"{counted[nearest]:,.4g}"}
    return None, Message("results.counted_other", **values)


@dataclass(frozen=True, kw_only=True)
class Energy:
    joules_per_item: float
    method: Literal["energy counter", "sampled power"]


def energy(summary: Summary) -> Energy | None:
    """By the devices' own counters where all runs read them, else by their sampled power; None without both."""
    counted = [run for run in summary.measurements if run.counts]
    read = [(run.figure("energy_j"), run.value, run.throughput and run.throughput.window) for run in counted]
    known = [used / rate / at.length_s for used, rate, at in read if used is not None and rate and at and at.length_s]
    if known and len(known) == len(counted):
        return Energy(joules_per_item=statistics.median(known), method="energy counter")
    power_w = next((used.mean for used in summary.utilisation if used.resource == "gpu_power"), None)
    if power_w is None:
        return None
    return Energy(joules_per_item=power_w / summary.items_per_s_per_device, method="sampled power")


@functools.cache
def peak_tflops(device: str, precision: str) -> float | None:
    """Of the device by that name at that precision; None where either is not listed, or several peaks are possible."""
    peak = next(iter(_fitting(device)), None) if not _has(device, "MIG") else None
    peaks = {most for kind, most in peak.tflops.items() if kind in _kinds(precision)} if peak else set()
    return peaks.pop() if len(peaks) == 1 else None


def _kinds(precision: str) -> set[str]:
    """Of arithmetic that the matrices may be multiplied in: "bf16 or bf16_amp" says it as "bf16" does."""
    words = {word.removesuffix("_amp") for word in precision.split(" or ")}
    return {kind for word in words for kind in RECIPES.get(word, (word,))}


def _only(stated: tuple[Fact, ...] | None) -> Fact | None:
    return stated[0] if stated and len(stated) == 1 else None


@functools.cache
def _fitting(device: str) -> Sequence[Peak]:
    has = functools.partial(_has, device)
    return [each for each in _peaks() if all(map(has, each.words)) and not any(map(has, each.without))]


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
            watts=float(row["watts"]) if row["watts"] else None,
            source=f"{row['source']}, {row['date']}",
        )
        for row in paths.read_rows(PEAKS)
    ]
