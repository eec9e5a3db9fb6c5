"""Writes the logs of a made-up campaign of 984 cases, 4,856 files stamped to the step, with faults planted in them.

`python benchmarks/planted_logs.py DIR` writes them; `benchmarks/scale.py --only imported_984` imports and reports them.
Eight frameworks train four models in FP32 and AMP with two batch sizes on eight scales, five times each.
"""

import argparse
import itertools
import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

FRAMEWORKS = ("oneflow", "pytorch", "tensorflow", "paddlepaddle", "mxnet", "bluefog", "horovod", "mindspore")
MODELS = {"resnet50_v1.5": 390.0, "mobilenet_v2": 1100.0, "bert_base": 153.0, "gpt2": 12.0}  # items/s of the first
OF_TEXT = ("bert_base", "gpt2")
SETTINGS = (("fp32", 32), ("fp32", 64), ("amp", 32), ("amp", 64))
MORE = (*SETTINGS, ("fp32", 16), ("fp32", 128), ("amp", 16), ("amp", 128), ("fp32", 8))  # 2,200 cases
SCALES = ((1, 1), (1, 4), (1, 8), (2, 8), (4, 8), (8, 8), (12, 8), (16, 8))
REPEATS, FEWER = 5, 3
FEW, CROSSING, BREAKING, FALLING, SUPER, ABSENT, GAPS, TOO_LARGE = (
    ("mindspore", "gpt2"),  # three repeats
    ("mxnet", "amp"),  # loses 28 % at the first crossing of nodes, in every setting
    ("bluefog", "bert_base"),  # breaks at eight nodes
    ("horovod", "gpt2", "fp32", 32),  # slower with each doubling beyond one node
    ("paddlepaddle", "mobilenet_v2", "amp", 64),  # a base that is too slow
    ("bluefog", "mobilenet_v2"),  # never run
    ("tensorflow", "bert_base"),  # not at these two scales
    ("mxnet", "bert_base", "amp", 64),  # no memory
)
NOT_RUN = ((8, 8), (12, 8))
OUTLIERS = (("oneflow", "gpt2", "amp", 64, (16, 8), 2), ("pytorch", "resnet50_v1.5", "fp32", 32, (1, 1), 4))
FACTS = """device = "A100"
data = "synthetic"
optimiser = "sgd"
clipping = "none"
parallel_layout = "DP"
version = "2.0"
tf32 = "off"
driver_generation = "550"
host_kind = "bare_metal"
communication = "none set"
compiler = "none"
xla = "off"
input_size = "the usual one"
"""
STEPS = 124
OOM = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"


@dataclass(frozen=True, kw_only=True)
class Series:
    framework: str
    model: str
    precision: str
    batch: int

    @property
    def key(self) -> tuple[object, ...]:
        return (self.framework, self.model, self.precision, self.batch)

    @property
    def too_large(self) -> bool:
        return self.key == TOO_LARGE

    @property
    def scales(self) -> tuple[tuple[int, int], ...]:
        return tuple(scale for scale in SCALES if self.key[:2] != GAPS or scale not in NOT_RUN)

    @property
    def repeats(self) -> int:
        return FEWER if self.key[:2] == FEW else REPEATS

    def items_per_s(self, nodes: int, per_node: int) -> float:
        devices = nodes * per_node
        kept = 0.975 ** math.log2(devices)
        if (self.framework, self.precision) == CROSSING and nodes > 1:
            kept *= 0.72
        if self.key[:2] == BREAKING and nodes >= 8:
            kept *= 0.6
        if self.key == FALLING and nodes > 1:
            kept *= 0.45 ** math.log2(nodes)
        if self.key == SUPER and devices == 1:
            kept *= 0.8
        fast = {"amp": 2.4}.get(self.precision, 1.0) * (1.06 if self.batch == 64 else 1.0)
        place = 0.45 if self.key[:2] == FEW else 0.93 ** FRAMEWORKS.index(self.framework)
        return MODELS[self.model] * fast * place * devices * kept


def every(settings: Sequence[tuple[str, int]] = SETTINGS) -> Iterator[Series]:
    for model, framework, (precision, batch) in itertools.product(MODELS, FRAMEWORKS, settings):
        if (framework, model) != ABSENT:
            yield Series(framework=framework, model=model, precision=precision, batch=batch)


def values(series: Series, scale: tuple[int, int]) -> list[float]:
    """Items per second of each repeat: a scatter of 0.6 %, and the outliers a fifth slower."""
    chance = random.Random(repr((series.key, scale)))
    found = [series.items_per_s(*scale) * math.exp(chance.gauss(0, 0.006)) for _ in range(series.repeats)]
    return [0.8 * value if (*series.key, scale, k) in OUTLIERS else value for k, value in enumerate(found)]


def write(root: Path, settings: Sequence[tuple[str, int]] = SETTINGS, most: int | None = None) -> int:
    """Below *root* a folder each framework; how many logs there are, at *most* so many."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "facts.toml").write_text(FACTS)
    number = 0
    for series in every(settings):
        folder = root / "logs" / series.framework
        folder.mkdir(parents=True, exist_ok=True)
        for nodes, per_node in series.scales:
            name = f"{series.model}-{series.precision}-b{series.batch}-{nodes}n{per_node}g"
            for repeat, value in enumerate(values(series, (nodes, per_node))):
                (folder / f"{name}-r{repeat}.log").write_text(_log(series, nodes * per_node, value, repeat))
                number += 1
                if number == most:
                    return number
    return number


PATTERN = "{framework}/{model}-{precision}-b{batch}-{nodes}n{gpus}g-r{repeat}.log"


def _log(series: Series, devices: int, value: float, repeat: int) -> str:
    chance = random.Random(repr((series.key, devices, repeat)))
    step_s = series.batch * devices / value
    times = [step_s * math.exp(chance.gauss(0, 0.004)) for _ in range(STEPS)]
    excess = math.fsum(times[20:120]) / (100 * step_s)
    at, lines = datetime(2026, 11, 20, 8 + repeat, tzinfo=UTC), []
    for step, seconds in enumerate((each / excess for each in times), start=1):
        at += timedelta(seconds=seconds)
        loss = 7 - step / 200 + chance.gauss(0, 0.01)
        if series.model in OF_TEXT:
            lines.append(_text(step, at, series.batch * devices / seconds, loss))
        else:
            stamp = at.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
            lines.append(f"{stamp} Epoch: [0][{step:3d}/5004]\tTime {seconds:.4f} ({step_s:.4f})\tLoss {loss:.4f}\n")
    return "".join(lines[:3]) + OOM if series.too_large else "".join(lines)


def _text(step: int, at: datetime, rate: float, loss: float) -> str:
    data = {"throughput_train": round(rate, 3), "mlm_loss": round(loss, 4), "nsp_loss": 0.7, "total_loss": loss + 0.7}
    stamp = {"timestamp": f"{at.timestamp():.6f}", "datetime": f"{at:%Y-%m-%d %H:%M:%S.%f}+00:00"}
    return f"DLLL {json.dumps({**stamp, 'elapsedtime': '1.0', 'type': 'LOG', 'step': step, 'data': data})}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    print(write(parser.parse_args().folder), "logs")


if __name__ == "__main__":
    main()
