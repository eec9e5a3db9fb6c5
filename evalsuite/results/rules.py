"""Data rules of REPORT.md §9 that ask more than one log: duplicates, origins, hardware that cannot be.

`checked` looks at the runs before they are summarised, `findings` at the whole afterwards. Both take values
and give values. Where each rule is raised, here or elsewhere, stands in docs/data-rules.md.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import get_args

from evalsuite import paths
from evalsuite.documents import HostEnvironment, RunCommand
from evalsuite.model import Finding, Measurement, Origin, Summary, Unmeasured, Utilisation
from evalsuite.results import breakdown
from evalsuite.results.summary import valid

ABOVE_CAPACITY = 1.02  # D20: what a link or a disk cannot do
MEMORY_TOLERANCE = 0.12  # D22: drivers keep some of it, and GB and GiB differ by 7 %
GIB = 1024**3
# D26: control characters but tab and line ends, and what a browser would take for an element
STRANGE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffd]|<[A-Za-z/!]")
ORIGINS = get_args(Origin)


def checked(measurements: Iterable[Measurement]) -> list[Measurement]:
    """The runs with what the rules find in each, and with what they may not keep taken out; order kept."""
    runs = [_of_known_origin(run) for run in measurements]
    later = _duplicates(runs)
    return [_checked(run, place in later) for place, run in enumerate(runs)]


def _checked(run: Measurement, duplicate: bool) -> Measurement:
    possible, impossible = _possible(run.utilisation)
    found = [
        *([_duplicate(run)] if duplicate else []),
        *(_too_fast(used) for used in impossible),
        *_backwards(run),
        *breakdown.findings(run.breakdown),
        *_unfinished(run),
        *_strange(run),
    ]
    placed = tuple(replace(finding, where=run.run.id) for finding in found)
    if not placed:
        return run
    return replace(run, utilisation=possible, findings=tuple(dict.fromkeys((*run.findings, *placed))))


def _of_known_origin(run: Measurement) -> Measurement:
    """D27: a value of unknown origin is treated as cited, never as measured."""
    if run.origin in ORIGINS:
        return run
    finding = Finding(
        code="D27",
        severity="note",
        text=f'the origin "{run.origin}" is unknown; the value is treated as cited',
        values=(("origin", str(run.origin)),),
        where=run.run.id,
    )
    return replace(run, origin="cited", findings=(*run.findings, finding))


def _duplicates(runs: Sequence[Measurement]) -> set[int]:
    """D04: places of runs whose case and repeat were met before; the first by its start is kept."""
    first: set[str] = set()
    found = set()
    for place in sorted(range(len(runs)), key=lambda k: (runs[k].started_at or "~", k)):
        name = runs[place].run.id
        found |= {place} if name in first else set()
        first.add(name)
    return found


def _duplicate(run: Measurement) -> Finding:
    return Finding(
        code="D04",
        severity="exclude",
        text=f"repeat {run.run.repeat} of this case was met before; the first by its start is kept",
        values=(("repeat", str(run.run.repeat)),),
    )


def _possible(used: Sequence[Utilisation]) -> tuple[tuple[Utilisation, ...], tuple[Utilisation, ...]]:
    """D20: readings that the hardware can do, and those above its capacity."""
    above = tuple(one for one in used if one.unit != "%" and one.capacity and one.mean > one.capacity * ABOVE_CAPACITY)
    return tuple(one for one in used if one not in above), above


def _too_fast(used: Utilisation) -> Finding:
    named = f"{used.resource} {used.device}" if used.device else used.resource
    return Finding(
        code="D20",
        severity="flag",
        text=f"{named}: {used.mean:,.0f} {used.unit} is above its capacity of {used.capacity:,.0f}; left out",
        values=(
            ("resource", named),
            ("mean", f"{used.mean:,.0f}"),
            ("capacity", f"{used.capacity:,.0f}"),
            ("unit", used.unit),
        ),
    )


def _backwards(run: Measurement) -> Iterable[Finding]:
    """D21: reports of the window that end before they begin, by the log's own stamps.

    Not by arrivals: two lines in one write have the same, and nothing is wrong.
    """
    stamped = run.throughput is not None and run.throughput.method == "log stamps"
    times = run.throughput.step_time_s if stamped else ()
    if (count := sum(seconds <= 0 for seconds in times)) > 0:
        yield Finding(
            code="D21",
            severity="flag",
            text=f"{count} of {len(times)} reports end at or before the one they follow: a clock ran backwards",
            values=(("n", str(count)), ("all", str(len(times)))),
        )


def _unfinished(run: Measurement) -> Iterable[Finding]:
    """D25: the process ended well, and its log has no end."""
    if run.status == "incomplete" and run.exit_code == 0:
        yield Finding(
            code="D25",
            severity="reject",
            text=f"the process reported success, but {run.reason}",
            values=(("reason", run.reason),),
        )


def _strange(run: Measurement) -> Iterable[Finding]:
    """D26: which fields of the run hold characters that are shown spelled out."""
    names = ("reason", "host", "framework_version", "log", "environment")
    held = [name for name in names if STRANGE.search(str(getattr(run, name) or ""))]
    held += [f.name for f in fields(run.run.case) if STRANGE.search(str(getattr(run.run.case, f.name)))]
    if held:
        yield Finding(
            code="D26",
            severity="note",
            text=f"control characters or markup in {', '.join(held)}; shown as text",
            values=(("fields", ", ".join(held)),),
        )


def findings(
    summaries: Sequence[Summary | Unmeasured],
    environments: Mapping[str, HostEnvironment],
    commands: Mapping[str, RunCommand] | None = None,
) -> tuple[Finding, ...]:
    """What only the whole shows: series of several conditions, machines that cannot be, speed-ups that do not follow.

    *commands* (run id → what was run) hold the speed-ups that imported tables print.
    """
    return (*_split_series(summaries), *_machines(environments), *_printed_speedups(valid(summaries), commands or {}))


def _printed_speedups(summaries: Sequence[Summary], commands: Mapping[str, RunCommand]) -> Iterable[Finding]:
    """D16: a table prints another speed-up than its own throughputs give; the recomputed one is used."""
    for one in summaries:
        known = (commands.get(run.run.id) for run in one.measurements)
        printing = (command.printed for command in known if command and command.printed)
        for text in dict.fromkeys(beside.speedup for beside in printing if beside.speedup):
            printed = written(text)
            if one.speedup and printed is not None and not rounds_to(printed, one.speedup.value):
                yield Finding(
                    code="D16_speedup",
                    severity="flag",
                    text=f"the table prints a speed-up of {text}; its throughputs give {one.speedup.value:.2f}",
                    values=(("printed", text), ("computed", f"{one.speedup.value:.2f}")),
                    where=one.case.id,
                )


def written(text: str) -> Decimal | None:
    """A number as somebody wrote it, digits and all: "1.57x", "12,411"; None where it is none."""
    try:
        return Decimal(re.sub(r"[,\s%x×]", "", text))
    except InvalidOperation:
        return None


def rounds_to(printed: Decimal, computed: float) -> bool:
    """Whether *printed* is *computed* rounded to the digits that were written (REPORT.md §9, D16 and D23)."""
    half = Decimal("0.5").scaleb(printed.as_tuple().exponent) * Decimal("1.000001")
    return abs(printed - Decimal(computed)) <= max(half, abs(printed) * Decimal("1e-9"))


def _split_series(summaries: Sequence[Summary | Unmeasured]) -> Iterable[Finding]:
    """D15: the cases of one series were run with different versions or on different machines."""
    conditions: dict[str, dict[str, set[str]]] = {}
    for summary in summaries:
        held = conditions.setdefault(summary.case.series, {"environment": set(), "framework_version": set()})
        for name, values in held.items():
            values |= {value for run in summary.measurements if (value := getattr(run, name))}
    for series, held in conditions.items():
        for name, values in held.items():
            if len(values) > 1:
                listed = "; ".join(sorted(values))
                yield Finding(
                    code=f"D15_{name}",
                    severity="flag",
                    text=f"{len(values)} values of {name} in one series: {listed}; no speed-up across them",
                    values=(("n", str(len(values))), ("list", listed)),
                    where=series,
                )


def _machines(environments: Mapping[str, HostEnvironment]) -> Iterable[Finding]:
    """D22: an accelerator whose memory its makers never sold it with."""
    for key, host in sorted(environments.items()):
        stated = ((gpu.name, gpu.memory_total_bytes) for gpu in host.gpus or ())
        for name, memory_bytes in sorted({(name, size) for name, size in stated if name and size is not None}):
            sold = _sold_gib(name)
            if sold and all(abs(memory_bytes / GIB / size - 1) > MEMORY_TOLERANCE for size in sold):
                sizes = ", ".join(str(size) for size in sold)
                gib = f"{memory_bytes / GIB:.1f}"
                yield Finding(
                    code="D22",
                    severity="flag",
                    text=f"{name} with {gib} GiB of memory; it is sold with {sizes} GiB",
                    values=(("device", name), ("memory", gib), ("sold", sizes)),
                    where=key,
                )


def _sold_gib(name: str) -> tuple[float, ...]:
    """What the makers sell *name* with; nothing for a device that is not listed, or a slice of one (MIG)."""
    if "MIG" in name:
        return ()
    return next((sizes for known, sizes in _catalogue() if re.search(rf"\b{known}\b", name)), ())


@cache
def _catalogue() -> tuple[tuple[str, tuple[float, ...]], ...]:
    found = tomllib.loads((paths.DATA / "devices.toml").read_text(encoding="utf-8"))["device"]
    return tuple((re.escape(one["name"]), tuple(one["memory_gib"])) for one in found)
