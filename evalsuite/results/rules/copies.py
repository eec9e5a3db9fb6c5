"""D04: runs that are no repeats of their own: copies of another, parts of one training, values without any scatter."""

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from evalsuite.core.findings import EqualRepeats, OneTraining, SameBytes, SameFigures
from evalsuite.core.model import Finding, Measurement, by_key

OWN_LOGS = ("measured", "imported")  # of others a table's row is the log
FEWEST_VALUES = 8  # different ones among the equal step times: coarse figures repeat themselves
FEWEST_EQUAL = 3  # runs; two may agree by their digits


def copies(runs: Sequence[Measurement]) -> dict[int, Finding]:
    figures, logs = _met(runs, _sequences, SameFigures), _met(runs, _log, SameBytes)
    return {**_without_scatter(runs), **_parts(runs), **figures, **logs}


def _met(
    runs: Sequence[Measurement],
    marks: Callable[[Measurement], Iterable[object]],
    rule: type[SameBytes | SameFigures],
) -> Mapping[int, Finding]:
    first: dict[object, str] = {}
    findings: dict[int, Finding] = {}
    for place, run in enumerate(runs):
        known = (first.setdefault(mark, run.run.id) for mark in (marks(run) if run.origin in OWN_LOGS else ()))
        if other := next((run_id for run_id in known if run_id != run.run.id), None):
            findings[place] = rule(first=other)
    return findings


def _log(run: Measurement) -> Iterator[object]:
    """Two runs of a short script without times may print the same; they do not begin and end at the same moment."""
    attempt = (run.run.case.id, run.started_at, run.duration_s, run.campaign, run.round)
    told = () if run.origin == "imported" else attempt  # whatever case they are of
    if run.log_sha256 is not None:
        yield run.log_sha256, run.origin, *told


def _sequences(run: Measurement) -> Iterator[tuple[float, ...]]:
    """Every `SameFigures.steps` step times that follow each other, as far as they differ among themselves."""
    counted = run.throughput.counted if run.throughput else None
    if counted is None:
        return
    length, seconds = SameFigures.steps, (*counted.before_s, *counted.seconds, *counted.after_s)
    for begin in range(len(seconds) - length + 1):
        part = seconds[begin : begin + length]
        if len(set(part)) >= FEWEST_VALUES:
            yield part


def _parts(runs: Sequence[Measurement]) -> Mapping[int, Finding]:
    of_case = by_key(
        (run.run.case.id, (*run.printed_steps, place))
        for place, run in enumerate(runs)
        if run.origin == "imported" and run.printed_steps
    )
    findings: dict[int, Finding] = {}
    for logs in of_case.values():
        for (begin, end, earlier), (after, _, place) in pairwise(sorted(logs)):
            if begin < after and abs(after - end) <= 1:  # steps are counted from 0 or from 1
                findings[place] = OneTraining(first=runs[earlier].run.id, step=after)
    return findings


def _without_scatter(runs: Sequence[Measurement]) -> Mapping[int, Finding]:
    of_case = by_key((run.run.case.id, place) for place, run in enumerate(runs) if run.counts and run.value is not None)
    findings: dict[int, Finding] = {}
    for places in of_case.values():
        values = [value for place in places if (value := runs[place].value) is not None]
        if len(values) >= FEWEST_EQUAL and statistics.pstdev(values) < EqualRepeats.limit * statistics.fmean(values):
            findings |= {place: EqualRepeats(repeats=len(values), first=runs[places[0]].run.id) for place in places[1:]}
    return findings
