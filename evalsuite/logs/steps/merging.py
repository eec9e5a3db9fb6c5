"""From increments to the steps of the whole job: its batch and devices, and what its ranks print.

What every rank repeats is counted once, what each says of itself is summed. The attempt with the most steps is the run.
"""

import itertools
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evalsuite.contracts.dialect import PIECES, Dialect
from evalsuite.core import findings as rules
from evalsuite.core.model import Finding, Step, by_key
from evalsuite.logs.steps.increments import Increment, increments_of, tick_s
from evalsuite.logs.steps.streams import Attempt, find_run, take_turns
from evalsuite.logs.text.records import Arrival, Record, place, positive

FEWEST_OF_JOB, SAME = 3, 0.1  # reports; so near a printed rate is that of a known batch
LEAST_OF_EPOCH, MOST_OF_EPOCHS, FEWEST_EPOCHS = 0.8, 0.9, 2  # of the longest; without those that were cut short
FEWEST_STEPS = 20  # of an epoch: then a batch that was cut short is a twentieth
FEWEST_PIECES = 256  # of a device in a step of a toy model; fewer are sequences of unknown length
Said = Mapping[str, bytes | float]
"""Facts as lines of the log give them: names of `dialect.GROUPS` → text or number."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Batch and devices of a job: from the options, the case, or the log itself."""

    devices: int | None = None
    nodes: int | None = None
    batch_per_device: float | None = None
    global_batch: float | None = None  # per optimiser step
    items_per_epoch: float | None = None
    items_per_batch: float | None = None  # tokens in a sequence
    items_per_count: float = 1.0  # the same for what a counter counts: only a log says that its counter is of sequences
    batch_from_outside: bool = False
    argument: str | None = None  # as printed in the log
    model: str | None = None
    items_per_step: float | None = None
    accumulation: float = 1.0
    product: float | None = None  # of the batch of a device, accumulation and devices, where it contradicts the total
    assumed: str | None = None  # the line by which, and because nothing speaks of a second process, it is of one
    in_parts: bool = False  # are its batches accumulated, and no total printed? A step may be a part of an optimiser's
    batch_on_device: float | None = None  # None of a model spread over devices: it has no batch on each
    in_pieces: Literal["yes", "perhaps", "no"] = "yes"  # is the batch of tokens? From outside it may be of sequences


def facts(known: Facts, said: Said, case: bool = False) -> Facts:
    """What the log says, completed from outside; of a *case* the other way round, whose recipe has chosen the batch."""
    numbers = {name: value for name, text in said.items() if (value := positive(text)) is not None}
    counts = {name: value for name, value in numbers.items() if value == int(value)}  # no batch of 491.52 for 491,520
    accumulation = numbers.get("accumulation", 1.0)
    given = known.batch_per_device and known.batch_per_device * (1.0 if case else accumulation)
    batch = (known.batch_per_device if case else None) or counts.get("batch_per_device", 0.0) * accumulation or given
    spoken = counts.get("argued_total")
    if "argued_batch_per_device" in counts:  # beside that of one device a train_batch_size is of all, as DeepSpeed's
        spoken = spoken or counts.get("train_batch")
    total = None if case and batch else numbers.get("reduced_batch") or counts.get("global_batch") or spoken
    named = int(numbers.get("devices", 0)) or int(numbers.get("nodes", 1)) * int(numbers.get("devices_per_node", 0))
    parts = numbers.get("accumulation", 1.0 if "counts_batches" in said else numbers.get("argued_accumulation", 1.0))
    own = (numbers.get("batch_per_device") or numbers.get("argued_batch_per_device", 0.0)) * parts
    sure = numbers.get("global_batch") or (spoken if "argued_accumulation" in numbers else None)
    listed = numbers.get("listed_devices") if numbers.get("nodes", 1) == 1 else None
    told = named or (sure and _quotient(numbers, sure, own)) or known.devices or numbers.get("world_size") or listed
    told = told or numbers.get("nodes", 1) * numbers.get("on_node", 0.0) or None
    if (effective := counts.get("argued_effective")) and not (case or total):
        alone = (numbers.get("bare_batch") or own / parts) * (told or 1)
        total = effective if parts == 1.0 and alone in (0.0, effective) else None
        said = {"argued_parts": effective, **said} if total is None else said
    unsure = case or "bare_batches" in said or counts.get("nodes", 1) > 1 or said.keys() >= {"not_named", "rated"}
    bare = "bare_batch" in counts and not unsure
    said, counts, assumed = _with_bare_batch(said, counts, told, listed) if bare else (said, counts, False)
    in_parts = total is None and ("argued_parts" in said or (parts > 1 and not (batch and "accumulation" in numbers)))
    argued = [name for name in ARGUED if not (case or batch or total or in_parts) and f"argued_{name}" in counts]
    if argued:
        batch, total = (counts[f"argued_{name}"] if name in argued else counts.get(name) for name in reversed(ARGUED))
        told = named or _quotient(numbers, total, (batch or 0.0) * accumulation) or told
    devices = (known.devices if case else None) or told
    product = own * (named or numbers.get("world_size", 0.0))  # less than the total is tensor parallel
    sequence = counts.get("argued_sequence") if total or batch else None
    items_per_batch = counts.get("items_per_batch") or known.items_per_batch or sequence
    spread = total / devices if total and devices else batch
    step = total or (batch * devices if batch and devices else None)
    on_device = None if total and devices and spread and spread < 1 else spread
    outside = bool(argued) or bool(batch and batch == given) or bool(total and total in (spoken, effective))
    few = on_device is not None and on_device < FEWEST_PIECES
    texts = [_text(said[f"argued_{name}_text"]) for name in ARGUED if f"argued_{name}_text" in said]
    return replace(
        known,
        devices=int(devices) if devices else None,
        nodes=known.nodes or (int(numbers["nodes"]) if "nodes" in numbers else None),
        batch_per_device=batch,
        global_batch=total,
        items_per_epoch=numbers.get("epoch_items"),
        items_per_batch=items_per_batch,
        items_per_count=counts.get("items_per_batch", 1.0),
        items_per_step=step and step * (items_per_batch or 1.0),
        batch_on_device=on_device,
        batch_from_outside=outside,
        in_pieces="yes" if not outside or items_per_batch is not None else "no" if few else "perhaps",
        argument=", ".join(texts) if argued else None,
        accumulation=parts,
        assumed=known.assumed or (", ".join(texts) if assumed and argued and known.devices is None else None),
        product=product if product and total and product % total and (parts != 1.0 or total % product) else None,
        in_parts=in_parts and not case,
        model=known.model or (_text(said["model"]) if "model" in said else None),
    )


def _with_bare_batch(
    said: Said, counts: dict[str, float], told: float | None, listed: float | None
) -> tuple[Said, dict[str, float], bool]:
    """The batch that stands with no word of whose: the job's where one process is proven, or nothing tells of more."""
    alone = said.keys() & {"alone", "rated"} == {"alone"} and told in (None, listed)
    assumed = told is None and said.keys().isdisjoint(("alone", "launched", "rated", "argued_global_batch"))
    if told == 1 or alone or assumed:
        said = {"argued_global_batch_text": said["bare_batch_text"], **said}
        counts = {"argued_global_batch": counts["bare_batch"], **counts}
    return said, counts, assumed


def join_epoch(said: Said, records: Sequence[Record], dialect: Dialect) -> Said:
    """With the batch of the job where the training set and the steps of an epoch prove it: as printed, or so often."""
    items, told, batch = (positive(said.get(name)) for name in ("train_items", "epoch_steps", "bare_batch"))
    if dialect.name == "no_dialect" and dialect.epochs_are_steps:
        items = items or (told and batch and "launched" not in said and told * batch) or None
        return {"global_batch": items} if items else {}
    lengths = {told} if told else {record.interval if dialect.per_epoch else record.of for record in records}
    steps = positive(lengths.pop()) if len(lengths) == 1 and "rated" not in said else None
    inside = told or dialect.per_epoch or any(record.epoch for record in records)
    if items is None or steps is None or steps < FEWEST_OF_JOB:
        return said
    own, parts = batch or positive(said.get("argued_batch_per_device")) or 0, positive(said.get("argued_accumulation"))
    own *= parts or 1
    if (over := positive(said.get("epochs"))) and items < LEAST_OF_EPOCH * own * steps:  # which no epoch has
        steps, batch, inside = steps / over, own, True
        said = {name: of for name, of in said.items() if name[:10] not in ("argued_bat", "argued_acc", "argued_par")}
    quotient = items / steps
    times = max(1.0, round(quotient / batch) * batch if batch else round(quotient))
    usual = times < 8 or not times % 8 or not times % 10  # batches that nobody states: of a part of the set few are
    few = batch is None and (steps < FEWEST_STEPS or not usual)
    proven = items / (steps + 1) < times < items / (steps - 1) and not few
    if proven and (batch or inside) and "bare_batches" not in said:
        text = b"%b: %d" % (_text(said["train_items_text"]).encode(), steps)
        return {**said, "argued_global_batch": times, "argued_global_batch_text": text}
    return {**said, "launched": 1.0} if batch and inside else said


def _quotient(said: Said, total: float | None, own: float) -> int | None:
    return round(total / own) if total and own and total % own == 0 and "split" not in said else None


ARGUED = ("global_batch", "batch_per_device")


def _text(said: bytes | float) -> str:
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)


# several files and printers


@dataclass(frozen=True, kw_only=True)
class Merged:
    steps: tuple[Step, ...]
    scope: str  # "global", "per_device" or "own"
    in_epochs: bool  # each report is an epoch of unknown length
    printers: int = 0
    tick_s: float | None = None  # of a clock that counts whole seconds
    several_jobs: bool = False  # print into one file
    findings: tuple[Finding, ...] = ()


def merge_records(
    files: Sequence[Sequence[Record]],
    dialect: Dialect,
    facts: Facts,
    *,
    arrivals: Sequence[Arrival | None] = (),
    scope: str | None = None,
) -> Merged:
    """The steps of the run whose *files* (one per process or node) hold these records, and their *arrivals*.

    *scope* overrules the dialect: a recipe may know whose rate its script prints.
    """
    spoke = [number for number, records in enumerate(files) if records]
    if not spoke:
        return Merged(steps=(), scope=scope or dialect.scope, in_epochs=dialect.per_epoch)
    files = [number_epochs(records) for records in files] if dialect.steps_restart == "unnumbered" else files
    again = dialect.redrawn or any(record.elapsed_s is not None for records in files for record in records[-1:])
    files = [_without_redraws(records) for records in files] if again else files
    runs = [find_run(files[place], dialect, facts.devices) for place in spoke]
    streams = [increments_of(stream, dialect) for run in runs for stream in run.streams]
    whose, findings = str(scope or dialect.scope), list[Finding]()
    if whose in ("auto", "unstated"):
        whose, findings = _settle_scope(streams, dialect, whose, facts)
    rated = any(increment.rate is not None for stream in streams for increment in stream)
    sequences = dialect.unit in PIECES and facts.in_pieces in ("no", "perhaps" if rated else "no")
    unlike = dialect.epochs_are_steps and facts.batch_from_outside  # steps cannot be distinguished
    summed = whose == "own" and len(streams) > 1 and {None, len(streams)} & {facts.devices, facts.nodes or 0}
    factor = 1 if whose == "global" else None if whose == "unstated" else len(streams) if summed else facts.devices
    job = _Job(
        printed_by_all=factor,
        steps_counted=(facts.nodes if dialect.steps_times_nodes else 1),
        items_per_step=None if sequences or unlike else facts.items_per_step,
        epochs=dialect.per_epoch and not dialect.epochs_are_steps,
        items_per_epoch=facts.items_per_epoch if dialect.per_epoch else None,
        items_per_batch=facts.items_per_batch or 1.0,
        items_per_count=facts.items_per_count,
        arrival=arrivals[spoke[0]] if arrivals else None,
    )
    if len(streams) == 1:
        steps = [_step(increment, increment.record, increment.stamp_s, job) for increment in streams[0]]
    else:
        steps = list(_steps_of_several(streams, len(runs[0].streams), job))
    attempts, as_long, copies = (max(getattr(run, name) for run in runs) for name in ("attempts", "as_long", "copies"))
    if as_long > 1:
        findings.append(rules.SeveralRuns(attempts=attempts, as_long=as_long))
    elif attempts > 1:
        findings.append(rules.Restarted(attempts=attempts))
    aside = sum(record.evaluated for run in runs for stream in run.streams for record in stream)
    if aside and not any(increment.record.evaluated for stream in streams for increment in stream):
        findings.append(rules.StepsLeftOut(steps=aside))
    ticks = [tick_s(stream) for run in runs for stream in run.streams] if dialect.clock_s else []
    return Merged(
        steps=tuple(steps),
        scope=whose,
        in_epochs=dialect.per_epoch and (dialect.epochs_are_steps or not any(step.steps > 1 for step in steps)),
        printers=len(streams),
        tick_s=max(filter(None, ticks), default=None),
        several_jobs=any(_are_several_jobs(run, dialect) for run in runs if len(run.streams) + len(run.beside) > 1),
        findings=(*findings, *([rules.Copied(copies=copies)] if copies > 1 else ())),
    )


def _are_several_jobs(run: Attempt, dialect: Dialect) -> bool:
    """Ranks of one job take the same time for a step, each of them and as a whole."""
    every, tagged = [*run.streams, *run.beside], run.streams[0][0].rank is not None
    alike = [of for of in every if not tagged or of[0].rank in [other[0].rank for other in run.beside[:1]]]
    if take_turns(each for _, each in sorted((of.end, place(of) or (0, 0)) for stream in alike for of in stream)):
        return True
    streams = [increments_of(stream, dialect) for stream in alike]
    streams = [stream for stream in streams if len(stream) >= FEWEST_OF_JOB]
    at_step = by_key((increment.step, pace) for each in streams for increment in each if (pace := _step_s(increment)))
    apart = [max(paces) / min(paces) for paces in at_step.values() if len(paces) > 1]
    if len(apart) >= FEWEST_OF_JOB and statistics.median(apart) > rules.BatchDoubted.limit:
        return True
    whole: list[float] = []
    for stream in streams:
        printed = [pace for increment in stream if (pace := _step_s(increment))]
        stamps = [(increment.step, increment.stamp_s) for increment in stream if increment.stamp_s is not None]
        if printed:
            whole.append(statistics.median(printed))
        elif len(stamps) >= FEWEST_OF_JOB and stamps[-1][0] > stamps[0][0]:
            whole.append((stamps[-1][1] - stamps[0][1]) / (stamps[-1][0] - stamps[0][0]))
    return len(whole) > 1 and max(whole) > rules.ClocksFarApart.limit * min(whole)


def _step_s(increment: Increment) -> float | None:
    if since := increment.record.mean_s or (increment.record.elapsed_s or 0.0) / max(1, increment.step):
        return since
    if increment.seconds and increment.steps:
        return increment.seconds / increment.steps
    return 1 / increment.rate if increment.rate else None


def number_epochs(records: Sequence[Record]) -> Sequence[Record]:
    """Where the step begins anew after as many as before; not of printers that take turns."""
    steps = [record.step or 0 for record in records]
    falls = [pair for pair in itertools.pairwise(records) if (pair[1].step or 0) < (pair[0].step or 0)]
    longest = LEAST_OF_EPOCH * max(steps, default=0)
    ends = [a.step == a.of or (2 * b.step <= a.step >= longest) for a, b in falls if a.step and b.step is not None]
    if len(falls) < FEWEST_EPOCHS or sum(ends) < MOST_OF_EPOCHS * len(falls) or take_turns((0, step) for step in steps):
        return records
    epochs = itertools.accumulate((after < before for before, after in itertools.pairwise(steps)), initial=1)
    return [record._replace(epoch=epoch) for record, epoch in zip(records, epochs, strict=True)]


def _without_redraws(records: Sequence[Record]) -> list[Record]:
    """A count shown again, by a bar or beside the time since the start, is that of a step that ended earlier."""
    rest: list[Record] = []
    paused = False
    for record in records:
        if rest and record.step is not None and (record.rank, place(record)) == (rest[-1].rank, place(rest[-1])):
            paused = paused or record.gap
        else:
            rest.append(record._replace(gap=True) if paused else record)
            paused = False
    return rest


# whose rate was printed


def _settle_scope(
    streams: list[list[Increment]], dialect: Dialect, scope: str, facts: Facts
) -> tuple[str, list[Finding]]:
    """Of `auto` and `unstated`: by the clock where batch and devices are known; `auto` else by who prints."""
    if facts.devices == 1 or (scope == "auto" and len(streams) == 1 and facts.devices is None):
        return "global", []
    sure = facts.devices is not None and not (dialect.unit in PIECES and facts.in_pieces != "yes")
    by_clock = None if dialect.per_epoch else _scope_by_clock(streams[0], facts, sure=sure)
    if by_clock or scope == "unstated":
        return by_clock or scope, []
    if len(streams) == 1:
        return "global", [rules.ScopeAssumed(why="one_prints", printers=1)]
    if dialect.tagged_print_all and streams[0][0].record.rank is not None:
        return "global", [rules.ScopeAssumed(why="launcher", printers=len(streams))]
    return "own", [rules.ScopeAssumed(why="several_print", printers=len(streams))]


def _scope_by_clock(stream: list[Increment], facts: Facts, *, sure: bool) -> str | None:  # else the number proves it
    stamped = [each for each in stream if each.stamp_s is not None and each.rate and not each.record.relayed]
    timed = [each for each in stream if each.seconds and each.rate]
    devices = facts.devices or 1
    if not facts.items_per_step or max(len(stamped), len(timed)) < 4:
        return None
    steps, seconds = sum(each.steps for each in timed), math.fsum(each.seconds or 0.0 for each in timed)
    if len(stamped) >= 4:
        steps, seconds = stamped[-1].step - stamped[0].step, (stamped[-1].stamp_s or 0.0) - (stamped[0].stamp_s or 0.0)
    if steps <= 0 or seconds <= 0:
        return None
    rate = statistics.median(each.rate or 0.0 for each in stamped or timed)
    share = rate * seconds * devices / (steps * facts.items_per_step)
    proven = math.isclose(share, devices, rel_tol=SAME) or (devices > 1 and math.isclose(share, 1, rel_tol=SAME))
    return None if not (sure or proven) else "global" if share > math.sqrt(devices) or devices == 1 else "own"


# increments → steps


@dataclass(frozen=True, kw_only=True)
class _Job:
    printed_by_all: float | None  # factor from one printer's rate to that of all devices
    steps_counted: int | None  # how often the printed steps/s count one step
    items_per_step: float | None
    epochs: bool  # is an increment without a number of steps an epoch?
    items_per_epoch: float | None  # where every increment is an epoch
    items_per_batch: float
    items_per_count: float
    arrival: Arrival | None


def _steps_of_several(streams: list[list[Increment]], clock: int, job: _Job) -> Iterator[Step]:
    """One for each step number. Times are of the first *clock* streams: one node's clock, never two."""
    numbered = [(increment.step, (at < clock, increment)) for at, stream in enumerate(streams) for increment in stream]
    for _, each in sorted(by_key(numbered).items()):
        increments, timed = [increment for _, increment in each], [increment for own, increment in each if own]
        middle = increments[0] if len(increments) == 1 else _middle(increments)
        ends = max(timed, key=lambda increment: increment.record.end, default=middle)
        stamp = max((increment.stamp_s for increment in timed if increment.stamp_s is not None), default=None)
        yield _step(middle, ends.record, stamp, job if timed else replace(job, arrival=None))


def _step(increment: Increment, record: Record, at: float | None, job: _Job) -> Step:
    said, relayed, arrival = increment.record, record.relayed, job.arrival
    items: float | None = None
    if increment.items is not None:
        items = increment.items * job.items_per_count
    elif said.global_batch is not None:
        items = said.global_batch * job.items_per_batch * increment.steps
    elif said.interval is not None and said.interval == job.items_per_epoch:
        items = said.interval  # a bar that counts items
    elif job.items_per_step is not None and not (job.epochs and said.interval is None and said.step is None):
        items, epoch = job.items_per_step * increment.steps, job.items_per_epoch  # else a whole epoch
        items = epoch if epoch is not None and items - job.items_per_step < epoch <= items else items
    rate = None
    if increment.rate is not None:  # over all devices
        rate = None if job.printed_by_all is None else increment.rate * job.printed_by_all
    elif items is not None and said.steps_per_s is not None and job.steps_counted:
        rate = said.steps_per_s / job.steps_counted * items / increment.steps
    elif items is not None and increment.seconds is not None:
        rate = items / increment.seconds
    values = (
        increment.step,
        increment.steps,
        items,
        increment.seconds,
        rate,
        None if relayed else at,
        None if arrival is None else arrival(record.end),
        at if relayed else None,
        said.loss,
        record.line,
        increment.pause,
        said.parts,
    )
    return tuple.__new__(Step, values)  # half of what Step(…) costs


def _middle(increments: list[Increment]) -> Increment:
    names = ("seconds", "items", "rate")
    told = {name: [of for one in increments if (of := getattr(one, name)) is not None] for name in names}
    return increments[0]._replace(
        steps=statistics.median_low([increment.steps for increment in increments]),
        seconds=statistics.median(told["seconds"]) if told["seconds"] else None,
        items=statistics.median(told["items"]) if told["items"] else None,
        rate=statistics.fmean(told["rate"]) if told["rate"] else None,
        pause=any(increment.pause for increment in increments),
    )
