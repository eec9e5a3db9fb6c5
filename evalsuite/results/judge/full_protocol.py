"""What the full protocol would take on this machine, from the durations of a shorter one."""

import statistics
import tomllib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from evalsuite import paths
from evalsuite.decode import whole
from evalsuite.model import Measurement, Protocol, Summary

SPEC = paths.DATA / "specs" / "full.toml"
COMMAND = "make report PROFILE=full"
FULL = Protocol()


def full_protocol_s(summaries: Iterable[Summary]) -> float | None:
    """Seconds that the cases of the full protocol among *summaries* take; None where a duration is not recorded.

    The steps of a run become more and, with more and larger images, longer in proportion; the rest stays.
    """
    spec = tomllib.loads(SPEC.read_text(encoding="utf-8"))
    found = [one for one in summaries if one.case.model in spec["models"] and one.case.scale in spec["scales"]]
    taken = [median_s(one, lambda run: _of_run(run, spec)) for one in found]
    known = [least_repeats(spec) * each for each in taken if each is not None]
    return sum(known) if known and len(known) == len(taken) else None


def median_s(one: Summary, seconds_of: Callable[[Measurement], float | None]) -> float | None:
    taken = [each for run in one.measurements if run.counts and (each := seconds_of(run)) is not None]
    return statistics.median(taken) if taken else None


def least_repeats(spec: Mapping[str, Any]) -> int:
    """Of `5-7` five: most cases need no more."""
    return int(str(spec["repeats"]).partition("-")[0])


def _of_run(run: Measurement, spec: Mapping[str, Any]) -> float | None:
    case = run.run.case
    return lengthened_s(run, FULL, _growth(case.batch_per_device, case.option("image_size"), spec))


def lengthened_s(run: Measurement, protocol: Protocol, growth: float = 1.0) -> float | None:
    """What *run* would take with the steps of *protocol*, each *growth* times as long; None if it is not known."""
    case = run.run.case
    if run.duration_s is None or run.value is None:
        return None
    step_s = case.global_batch / run.value
    rest_s = max(0.0, run.duration_s - case.protocol.total_steps * step_s)
    return rest_s + protocol.total_steps * step_s * growth


def _growth(batch: int, size: str | None, spec: Mapping[str, Any]) -> float:
    images = float(spec["batch_per_device"][0]) / batch
    full = spec.get("options", {}).get("image_size")
    side = whole(size or "")
    return images * (float(full) / side) ** 2 if full is not None and side else images
