"""An evaluation at 1 to 32 nodes that some frameworks pass, some fail and some leave open: made of measured runs. Five
runs a scale, of one campaign and on one machine; every way to each outcome stands in it once."""

import random
from dataclasses import replace
from functools import cache

import synthetic

from evalsuite.core.model import Case, Evaluation, Measurement, Summary
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge.verdicts import verdicts

SCALES = ((1, 1), (1, 8), (4, 8), (20, 8), (32, 8))
REPEATS = 5
SHAPES = (("resnet50_v1.5", "fp32", 128), ("resnet50_v1.5", "amp", 256), ("bert_base", "amp", 64))
EFFICIENCY = {"pytorch": 0.93, "mxnet": 0.90, "oneflow": 0.96, "paddlepaddle": 0.90, "tensorflow": 0.85}
# what goes otherwise: framework, model, precision → efficiency on 32 nodes, spread of its runs, GPU utilisation
OTHERWISE = {
    ("mxnet", "resnet50_v1.5", "fp32"): (0.64, 0.005, 91.0),
    ("mxnet", "bert_base", "amp"): (0.88, 0.005, 71.0),
    ("tensorflow", "resnet50_v1.5", "amp"): (0.80, 0.03, 90.0),
}
BROKEN = ("paddlepaddle", "resnet50_v1.5", "amp")  # its script ends with an error on 32 nodes
UNMEASURED = ("tensorflow", "bert_base", "amp")  # planned on 32 nodes, and not run


@cache
def accepted() -> Evaluation:
    """Five frameworks on three models and precisions."""
    found: list[Summary] = []
    planned: list[Case] = []
    for model, precision, batch in SHAPES:
        for framework in EFFICIENCY:
            cases = [_case(framework, model, precision, batch, scale) for scale in SCALES]
            planned += cases
            found += [summary for case in cases if (summary := _summary(case))]
    rows = with_scaling(found)
    judged = verdicts(rows, synthetic.criteria.read(), planned)
    facts = {"profile": "full", "repeats": REPEATS, "title": "Acceptance at 32 nodes"}
    return synthetic.evaluation(rows, planned=tuple(planned), verdicts=judged, **facts)


def _case(framework: str, model: str, precision: str, batch: int, scale: tuple[int, int]) -> Case:
    about = {"model": model, "precision": precision, "batch_per_device": batch, "recipe": f"official-{model[:4]}"}
    return synthetic.case(framework, scale, device="gpu", options=(), protocol=synthetic.FULL, **about)


def _summary(case: Case) -> Summary | None:
    key = (case.framework, case.model, case.precision)
    if case.nodes == SCALES[-1][0] and key == UNMEASURED:
        return None
    if case.nodes == SCALES[-1][0] and key == BROKEN:
        failed = (synthetic.failed(case, repeat, "log.gpu-01.txt:88: NCCL error") for repeat in range(REPEATS))
        return synthetic.summary(failed)
    return synthetic.summary(_run(case, repeat) for repeat in range(REPEATS))


def _run(case: Case, repeat: int) -> Measurement:
    last, spread, gpu = OTHERWISE.get(
        (case.framework, case.model, case.precision), (EFFICIENCY[case.framework], 0.005, 92.0)
    )
    base = {"resnet50_v1.5": 390.0, "bert_base": 160.0}[case.model] * (2.4 if case.precision == "amp" else 1.0)
    share = 1 - (1 - last) * case.total_devices.bit_length() / 9 if case.total_devices > 1 else 1.0
    noise = random.Random(f"{case.id}{repeat}").uniform(-spread, spread) if case.total_devices > 1 else 0.001 * repeat
    speed = base * (0.9 + 0.2 * EFFICIENCY[case.framework]) * case.total_devices * share * (1 + noise)
    used = synthetic.gpu_resources(case, repeat)
    resources = [replace(reading, mean=gpu) if reading.resource == "gpu" else reading for reading in used]
    return synthetic.measured(case, repeat, speed, environment=synthetic.GPU, resources=resources)
