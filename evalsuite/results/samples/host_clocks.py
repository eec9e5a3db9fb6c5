"""Whether the clocks of a job's hosts agree, as far as their samples tell: the utilisation is brought to one clock."""

from collections.abc import Iterator, Mapping

from evalsuite.findings import HostClocksDiffer
from evalsuite.model import Finding
from evalsuite.runs.samples import Samples


def findings(hosts: Mapping[str, Samples]) -> Iterator[Finding]:
    """For the host farthest from the first: the smaller offset, since a node may start late or end late."""
    if len(hosts) < 2:
        return
    spans = {host: span for host, samples in hosts.items() if (span := _span(samples))}
    if len(spans) < 2:
        return
    (first, (begin_s, end_s)), *others = spans.items()
    offsets = {host: _offset_s(began_s - begin_s, ended_s - end_s) for host, (began_s, ended_s) in others}
    worst = max(offsets, key=lambda host: abs(offsets[host]))
    if abs(offsets[worst]) > HostClocksDiffer.limit_s:
        yield HostClocksDiffer(host=worst, first=first, offset_s=abs(offsets[worst]))


def _offset_s(at_start_s: float, at_end_s: float) -> float:
    if (at_start_s > 0) != (at_end_s > 0):
        return 0.0
    return min(at_start_s, at_end_s, key=abs)


def _span(samples: Samples) -> tuple[float, float] | None:
    start = samples.header.started_at_unix_s
    span_s = samples.span_s
    return None if start is None or span_s is None else (start + span_s[0], start + span_s[1])
