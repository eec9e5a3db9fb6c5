"""Memory of each stage of a transformer's training, from its `config.json`: an estimate, and how far it is off. Adam,
and weights in shards where the layout has `fsdp`: then two layers are gathered at a time, of a pipeline all. Kept of a
token in a layer: its input, those of both norms, and what each matrix takes or gives (`none`); its input and half of
these (`selective`, torchtitan's every second matrix); the input (`full`): Korthikanti et al., "Reducing Activation
Recomputation in Large Transformer Models", 2022, §4, without the square of the sequence, which no fused kernel keeps.
Experts lie over `ep` ranks and meet as many tokens each. A layer for a further token (MTP) lies in the last stage."""

import itertools
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace

from evalsuite.core import paths
from evalsuite.results.measure import flops
from evalsuite.results.measure.flops import Transformer

STATES = {"amp-bf16": (4, 4, 8), "fp32": (4, 4, 8), "bf16": (2, 2, 4)}  # bytes of a weight, its gradient, Adam's two
RECOMPUTE = ("none", "selective", "full")
LOGITS = 7  # values of working width for each: themselves, in float32, their softmax there, and both gradients
OF_EXPERTS = -0.26  # of OLMoE 1B-7B, as the device counts: vuiseng9/mbridge@51fbda445f olmoe_workload_base_configs.py
GIB = 2**30
PARTS = ("parameters", "gradients", "optimiser", "gathered", "activations")
MOST_DEVICES = 1 << 14


@dataclass(frozen=True, kw_only=True)
class Job:
    model: Transformer
    sequence: int
    batch: int  # sequences of one copy of the model in a step
    layout: Mapping[str, int]  # part → number, as in data/layouts.toml
    precision: str = "amp-bf16"
    recompute: str = "none"
    micro_batch: int | None = None  # None: all at once, or as many parts as there are stages

    def of(self, part: str) -> int:
        return self.layout.get(part, 1)

    @property
    def devices(self) -> int:
        return math.prod(self.of(part) for part in ("DP", "FSDP", "TP", "PP", "CP"))

    @property
    def micro(self) -> int:
        return min(self.batch, self.micro_batch or max(1, self.batch // self.of("PP")))


def stages(job: Job) -> tuple[Mapping[str, float], ...]:
    """Bytes by part of one rank of each pipeline stage; those of a stage are alike."""
    model, tensor, pipeline = job.model, job.of("TP"), job.of("PP")
    layers, wide = len(model.windows), 4 if job.precision == "fp32" else 2
    shards = job.of("FSDP") * job.of("CP") if "FSDP" in job.layout else 1
    table = model.vocabulary * model.hidden
    dense = model.matrices + model.norms + model.router + model.idle - model.routed
    routed, apart = model.routed / job.of("EP"), max(1, shards // job.of("EP"))  # of a rank's part so many shards
    tokens = job.micro * job.sequence / job.of("CP") / tensor
    whole = 4 * model.hidden + model.matrices / layers / model.hidden
    kept = {"none": whole, "selective": model.hidden + (whole - 4 * model.hidden) / 2, "full": model.hidden}
    found = []
    for stage in range(pipeline):
        last = stage == pipeline - 1
        further = last * model.predicted
        own = math.ceil(layers / pipeline) + further
        ends = (stage == 0) * (table + model.places) + (last and not (model.tied and pipeline == 1)) * table
        ends += further * 2 * model.hidden**2
        weights = (dense * own / layers + ends) / tensor
        experts = routed * own / layers / tensor
        parts = [each * (weights / shards + experts / apart) for each in STATES[job.precision]]
        spread = experts if apart > 1 else 0.0  # a rank's alone need no gathering
        layer = dense / layers / tensor + spread / own
        gathered = min(2 * layer + ends / tensor, weights + spread) * wide
        gathered = (weights + spread) * (wide + 4) if pipeline > 1 else gathered
        flying = min(pipeline - stage, math.ceil(job.batch / job.micro))
        held = flying * own * kept[job.recompute] * wide + 2 * whole * wide  # and one layer with its gradients
        logits = last * (1 + further) * LOGITS * model.vocabulary * wide
        parts += [gathered if shards > 1 else 0.0, tokens * (held + logits)]
        found.append(dict(zip(PARTS, parts, strict=True)))
    return tuple(found)


def peak(job: Job) -> float:
    return max(math.fsum(stage.values()) for stage in stages(job))


def spread() -> tuple[float, float, float, int]:
    """Estimate ÷ published peak − 1 of the rows whose layout is known: least, median, greatest, and of how many."""
    found = sorted(
        peak(
            Job(
                model=flops.read_model(row["model"]),
                sequence=int(row["sequence"]),
                batch=int(row["batch"]),
                layout={part: int(row[part]) for part in ("FSDP", "TP", "PP", "CP") if row[part]},
                recompute=row["recompute"],
            )
        )
        / (float(row["peak_gib"]) * GIB)
        - 1
        for row in paths.read_rows(paths.DATA / "reference" / "memory.csv")
    )
    return found[0], statistics.median(found), found[-1], len(found)


def fitting(job: Job, room: float) -> Job | None:
    """The first that fits at the same global batch: few stages and parts, little recomputed; then more devices."""
    devices, sequences = job.devices, job.batch * job.of("DP") * job.of("FSDP")
    ways = itertools.product((1, 2, 4, 8, 16), (1, 2, 4, 8), RECOMPUTE, (None, 1))
    likely = [way for way in ways if way[0] <= len(job.model.windows) and not job.model.divided[0] % way[1]]
    while devices <= MOST_DEVICES:
        for pipeline, tensor, recompute, micro in likely:
            copies, rest = divmod(devices, pipeline * tensor * job.of("CP"))
            if rest or not copies or sequences % copies:
                continue
            layout = {"FSDP": copies, "TP": tensor, "PP": pipeline, "CP": job.of("CP")}
            layout |= {"EP": math.gcd(job.of("EP"), copies)} if "EP" in job.layout else {}
            changed = replace(job, layout=layout, batch=sequences // copies, recompute=recompute, micro_batch=micro)
            if peak(changed) <= room:
                return changed
        devices *= 2
    return None
