"""One run folder → one measurement: throughput from its log, utilisation over the same steps."""

import contextlib
import functools
import itertools
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from evalsuite import __version__
from evalsuite.contracts.dialect import NO_ITEMS, PIECES, Dialect
from evalsuite.core import findings, model
from evalsuite.core.decode import number, whole
from evalsuite.core.documents import HostEnvironment, RunCommand, UsedRecipe, stated_figures
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message, join
from evalsuite.core.model import Case, Fact, Finding, Log, Measurement, Run, Step, Throughput, Utilisation, Window
from evalsuite.logs import catalogue, excerpt, options, reading
from evalsuite.logs.catalogue import Places
from evalsuite.logs.formatting import unit_of
from evalsuite.results.measure import as_given, balance, convergence, facts, goodput, machines, plausibility
from evalsuite.results.measure.units import BATCH_ITEMS, NOT_SAID, in_tokens
from evalsuite.results.samples import run_figures, utilisation
from evalsuite.runs.endings import Outcome
from evalsuite.runs.samples import Samples
from evalsuite.runs.store import RunFolder

FULL = model.Protocol()
HOUSE: Places = ()  # where dialects are found: only the built-in ones
FIRST_LOSSES = 3
PARTS = 16  # of the steps that a window needs
LARGEST_LOSS = 1e100  # its square is a number, too


def measurement(folder: RunFolder, places: Places = HOUSE) -> Measurement:
    return measured(folder, places)[0]


def measured(folder: RunFolder, places: Places = HOUSE) -> tuple[Measurement, RunCommand | None]:
    """The run in *folder* as numbers, and its command; what cannot be read is a failed measurement with the reason."""
    run, command, held = folder.run(), None, None
    try:
        outcome, command = folder.outcome(), folder.command()
        read, held = _measurement(run, folder, outcome, command, places), outcome.sha256
    except EvalsuiteError as error:
        read = Measurement(run=run, status="failed", reason=error.message)
    return replace(read, records=folder.hash_records(held)), command


def read_logs(
    logs: Sequence[Log], case: Case, recipe: UsedRecipe, dialects: Mapping[str, Dialect], well: bool
) -> reading.Reading:
    dialects = catalogue.with_example(recipe, dialects)
    dialect = dialects.get(recipe.dialect or "")
    tokens = whole(case.option("sequence_length", "")) if dialect and dialect.unit == recipe.unit in PIECES else None
    read = functools.partial(
        reading.read_run,
        logs,
        case,
        recipe.dialect,
        scope=recipe.scope,
        steps_per_report=recipe.steps_per_report,
        dialects=dialects,
        ended_well=well,
        items_per_batch=tokens,
    )
    first = read(shape=recipe.shape)
    # what counts to the very step that we asked the script for is its counter
    sure = well and recipe.kind != "imported" and first.shape and first.steps
    return read(shape=first.shape) if sure and first.steps[-1].index == case.protocol.total_steps else first


def _measurement(run: Run, folder: RunFolder, outcome: Outcome, command: RunCommand, places: Places) -> Measurement:
    environments, logs, own = folder.environments(), folder.logs(), replace(run, repeat=run.repeat - folder.shift)
    dialects = _checked(recipe := command.recipe, catalogue.with_example(recipe, catalogue.known(places)))
    well, planned = outcome.status == "completed" and outcome.exit_code == 0, utilisation.Devices.of(run.case)
    read = read_logs(logs, run.case, recipe, dialects, well)
    status, reason = _status(run.case, recipe, outcome, read)
    valid, throughput = status in ("ok", "partial"), _in_unit_of(recipe, read.throughput, run.case)
    window = _window(throughput, read.steps if (command.stated or {}).get("utilisation") else ())
    lines = (throughput.line_first, throughput.line_last) if throughput else (None, None)
    samples, unread = _samples(folder, environments or folder.sampled_hosts())
    used, sampled = utilisation.of_job(samples, window, planned=planned) if window else ((), ())
    log, dialect, nodes = next(iter(logs), None), dialects.get(read.dialect or ""), folder.agents()
    agents, campaign, head = [*nodes.values()], command.campaign, options.head(log.path) if log else b""
    records = run_figures.RunRecords(
        planned=planned, samples=samples, window=window, agents=agents, logs=logs, dialect=dialect, lines=lines
    )
    said = b"\n".join(filter(None, (head and (facts.sentences(head).encode() or b"\n"), facts.noted(command))))
    stated = _facts(run, head, command, environments, read, dialect)
    named, known = facts.of_head(run.case, said, stated, records.printed) if said else None, facts.believed(stated)
    printed = _printed(run.case, command, read, head, facts.believed((*stated, *(named or ()))))
    contradictions = (
        *balance.borne_out(read.findings, records, throughput),
        *plausibility.implausible(folder, run.case, outcome, environments, read),
        *(*(throughput.findings if throughput else ()), *sampled, *([read.unfinished] if well else [])),
        *(*plausibility.beside(throughput, records.printed.mean_items_per_s), *_busy_machine(used, samples, window)),
        *plausibility.of_hosts(own, outcome, command, nodes, samples, environments, printed),
        *facts.disagreements(stated, run.case, named, elsewhere=command.stated is not None),
        *(*_short(run.case, window, read), *unread, *facts.other_items(run.case, getattr(throughput, "unit", None))),
        *(*plausibility.by_nccl(run.case, environments, read), *_balance(outcome, throughput, records)),
    )
    return Measurement(
        run=run,
        status=status,
        origin=outcome.origin or "measured",
        reason=reason,
        throughput=throughput if valid or throughput is None else replace(throughput, items_per_s=None),
        utilisation=used,
        breakdown=read.breakdown if valid else None,
        scores=read.scores,
        findings=tuple(dict.fromkeys(replace(each, where=each.where or run.id) for each in contradictions if each)),
        **_times(outcome, read.steps, head),
        exit_code=outcome.exit_code,
        fault=outcome.fault,
        host=next(iter(environments), None),
        hosts=tuple(sorted({each.host for each in environments.values()})) or options.hosts(head),
        environment=machines.of_run(environments, command),
        framework_version=command.framework_version or getattr(known.get("framework_version"), "value", None),
        log=f"{folder.place}/{log.name}" if log else None,
        log_sha256=(outcome.sha256 or {}).get(log.name) if log else None,
        printed_steps=(read.steps[0].index - read.steps[0].steps, read.steps[-1].index) if read.steps else None,
        printed_each=tuple(filter(None, (each.seconds or each.items_per_s for each in read.steps))),
        printers=read.printers,
        lines=excerpt.excerpt([log.path for log in logs], read, dialect),
        figures=(*run_figures.read(records), *stated_figures(command.stated or {}), *_goodput(folder, read, dialects)),
        facts=(*stated, *(fact for fact in named or () if command.stated is not None and fact.key not in known)),
        campaign=(campaign.id if campaign else (command.stated or {}).get("campaign")) or folder.label or None,
        round=campaign.round if campaign else None,
        probe_s=campaign.probe_s if campaign else None,
        **_of_log(read),
    )


def _goodput(folder: RunFolder, read: reading.Reading, dialects: Mapping[str, Dialect]) -> Iterator[tuple[str, float]]:
    """Of a recorded run whose training began again: the share of its time that steps took which count."""
    if any(isinstance(each, convergence.AGAIN) for each in read.findings):
        with contextlib.suppress(EvalsuiteError):  # without a clock
            seconds = goodput.totals(goodput.divide(goodput.read([folder.path], dialects, read.dialect)))
            yield "goodput", seconds["steps"] / math.fsum(seconds.values())


def _checked(recipe: UsedRecipe, dialects: Mapping[str, Dialect]) -> Mapping[str, Dialect]:
    name, source = recipe.dialect, recipe.dialect_source
    if name is None or name in dialects:
        return dialects
    if source is None or source.file is None:
        raise EvalsuiteError.of("results.dialect_none", name=name)
    where = {"file": source.file, "folder": source.file.rpartition("/")[0]}
    raise EvalsuiteError.of("results.dialect_gone", name=name, sha256=(source.sha256 or "")[:12], **where)


def _status(case: Case, recipe: UsedRecipe, outcome: Outcome, read: reading.Reading) -> tuple[model.Status, str]:
    if outcome.status == "timed_out":
        own_signal = read.reason.startswith("killed,")  # what the script says of the agent's own SIGTERM
        return "timed_out", join(outcome.reason, None if own_signal else read.reason)
    if outcome.enough == "silent":  # what it says of being ended is no reason
        return "failed", outcome.reason
    if not outcome.ended_well:
        said = read.reason if read.status == "failed" else ""  # that no step was found is the consequence
        return "failed", said or outcome.reason or read.reason
    if unlike := _unlike_its_declaration(case, recipe, outcome, read):
        return "failed", unlike
    cut_short = ("failed", "incomplete")
    if outcome.enough and read.status in cut_short and read.throughput and read.throughput.items_per_s:
        return "ok", ""
    return read.status, read.reason


def _unlike_its_declaration(case: Case, recipe: UsedRecipe, outcome: Outcome, read: reading.Reading) -> str | None:
    """Why a log of ours that was read by itself is not what a participant says of its script."""
    if recipe.dialect is not None or outcome.origin is not None:
        return None
    unit, said, asked = read.throughput and read.throughput.unit, recipe.unit, case.protocol.total_steps
    if unit and said and unit not in (said, *NO_ITEMS) and not {unit, said} <= {*BATCH_ITEMS}:
        return Message("results.run_unit", unit=unit, wanted=said)
    if read.status == "unrecognised" and not read.steps:
        return Message("results.run_no_step", reason=read.reason)
    return None if outcome.enough else ended_early(read, asked)


def ended_early(read: reading.Reading, asked: int, reports: int = 0) -> str | None:
    """Whether the next report would still be one of the steps *asked*; *reports*: lines, which a coarse clock joins."""
    if not read.steps:
        return None
    every, last = read.steps[0].index, read.steps[-1]
    following = max(last.index, reports * every) + (last.steps if len(read.steps) > 1 else every)
    return None if following > asked else Message("results.run_early", step=last.index, wanted=asked)


def _in_unit_of(recipe: UsedRecipe, throughput: Throughput | None, case: Case) -> Throughput | None:
    """In the unit that the recipe declares of its batches, or tokens/s; that of an import is what its dialect said."""
    unit, length = recipe.unit, whole(case.option("sequence_length", ""))
    if throughput and unit == "tokens/s" and throughput.unit in BATCH_ITEMS and length:
        return in_tokens(throughput, length)
    if throughput is None or unit is None or recipe.kind == "imported":
        return throughput
    if not {unit, throughput.unit} <= set(BATCH_ITEMS) or (throughput.unit, unit) == NOT_SAID:
        return throughput
    return replace(throughput, unit=unit_of(case.model, unit))


def _samples(folder: RunFolder, hosts: Iterable[str]) -> tuple[dict[str, Samples], list[Finding]]:
    by_host, unread = dict[str, Samples](), list[Finding]()
    for host in hosts:
        try:
            if samples := folder.samples(host):
                by_host[host] = samples
        except EvalsuiteError as error:
            unread.append(findings.UnreadableSamples(said=error.message))
    return by_host, unread


def _window(measured: Throughput | None, steps: Sequence[Step]) -> Window | None:
    """By the times that *steps* of the log print themselves, on whose clock the samples of an exporter were put."""
    window = measured.window if measured else None
    if window is None:
        return None
    near = [step.stamp_s for step in steps if window.first_step - 1 <= step.index <= window.last_step]
    stamps = [stamp_s for stamp_s in near if stamp_s is not None]
    return replace(window, begin_s=stamps[0], end_s=stamps[-1]) if stamps else window


def _short(case: Case, window: Window | None, read: reading.Reading) -> tuple[Finding, ...]:
    """D07: fewer than 100 measured steps or fewer than 20 skipped."""
    warmup = case.protocol.warmup_steps
    if window is None or (window.steps >= FULL.measured_steps and warmup >= FULL.warmup_steps):
        return ()
    if read.in_epochs:
        return (findings.EpochWindow(measured_epochs=window.steps),)
    least = findings.TooShortWindow.least_steps
    short = findings.TooShortWindow if window.steps < least else findings.ShortWindow
    return (short(skipped_steps=window.first_step - 1, measured_steps=window.steps),)


def _busy_machine(
    used: Sequence[Utilisation], samples: Mapping[str, Samples], window: Window | None
) -> tuple[Finding, ...]:
    """Around a window of a few samples, as long as five of them take: the job's own start is its own CPU."""
    needed = {"cpu", "job_cpu"}
    of_host = of_job(used)
    if not needed <= of_host.keys() and samples and window is not None and window.begin_s is not None:
        of_host = of_job(utilisation.of_job(samples, _around(window, samples), only=needed)[0])
    if not needed <= of_host.keys():
        return ()
    others = (of_host["cpu"].mean - of_host["job_cpu"].mean) / 100
    return (findings.BusyMachine(others=others),) if others > findings.BusyMachine.limit else ()


def of_job(used: Sequence[Utilisation]) -> dict[str, Utilisation]:
    """By resource; what was read too few times proves nothing."""
    return {use.resource: use for use in used if use.samples >= utilisation.FEWEST_READINGS}


def _around(window: Window, samples: Mapping[str, Samples]) -> Window:
    spans = [host.span_s or (0.0, 0.0) for host in samples.values()]
    begin_s, end_s = max(begin for begin, _ in spans), min(end for _, end in spans)
    least_s = (utilisation.FEWEST_READINGS + 1) / min(host.header.hz for host in samples.values())
    missing_s = least_s - (window.length_s or 0.0)
    before_s = max(begin_s, (window.begin_s or 0.0) - missing_s)
    return replace(window, begin_s=before_s, end_s=min(end_s, max(window.end_s or 0.0, before_s + missing_s)))


def _balance(outcome: Outcome, measured: Throughput | None, run: run_figures.RunRecords) -> Iterator[Finding]:
    if measured is None or run.window is None or (outcome.origin is not None and not run.agents):
        if measured is not None and outcome.origin == "imported":
            yield from balance.after_import(run, measured)
        return
    ended_s = max((agent.duration_s for agent in run.agents), default=outcome.duration_s)
    by_itself = outcome.status == "completed" and not outcome.enough
    yield from balance.findings(run, measured, ended_s if by_itself else None)


def _facts(
    run: Run,
    head: bytes,
    command: RunCommand,
    environments: Mapping[str, HostEnvironment],
    read: reading.Reading,
    dialect: Dialect | None,
) -> tuple[Fact, ...]:
    printed = {**read.printed, **facts.spoken(head, stated=False)}
    if read.printers > 1:
        printed.pop("parameters", None)  # each process may print those that it holds
    tokens, beyond = dialect.tokens if dialect else None, as_given.beyond(run, command, environments)
    of_run = facts.of_run(run.case, command, environments, printed, options.printed(head), tokens)
    known = (*of_run, *facts.statements(head))
    return (*known, Fact(key="beyond_recipe", value=beyond, source="command_line")) if beyond else known


def _printed(
    case: Case, command: RunCommand, read: reading.Reading, head: bytes, believed: Mapping[str, Fact]
) -> dict[str, Any]:
    """What its other records must bear out: when its steps ended, where it ran, and how large its model is."""
    stamps = [step.stamp_s for step in read.steps if step.stamp_s]
    here = command.engine == "local" and command.container is None
    alone = case.device == "cpu" and case.nodes == 1 and "parameters" in believed
    ours = command.recipe.kind == "reference" and command.evalsuite == __version__
    return {
        **plausibility.of_head(head.decode("utf-8", "replace") if ours else "", case.model),
        "span": (min(stamps), max(stamps)) if stamps else None,
        "hosts": options.hosts(head) if here else None,
        "parameters": number(believed["parameters"].value) if alone else None,
    }


def _times(outcome: Outcome, steps: Sequence[Step], head: bytes) -> dict[str, Any]:
    """Begin and length; of an imported log by its stamps, where they have a date: then *head* has it, too."""
    known = {"started_at": outcome.started_at, "duration_s": outcome.duration_s}
    stamps = [step.stamp_s for step in steps if step.stamp_s] if outcome.origin == "imported" else []
    if not stamps:
        return known
    begin = datetime.fromtimestamp(stamps[0], UTC).replace(tzinfo=None)
    dates = [f"{begin:%Y{sign}%m{sign}%d}" for sign in ("-", "/", "_", "")]
    if not any(date.encode() in head for date in (*dates, str(int(stamps[0])))):
        return known
    stamped = {"started_at": begin.isoformat(timespec="milliseconds"), "duration_s": stamps[-1] - stamps[0]}
    return {name: known[name] if known[name] is not None else stamped[name] for name in known}


def _of_log(read: reading.Reading) -> dict[str, Any]:
    known = ((step.index, step.loss) for step in read.steps if step.loss is not None and math.isfinite(step.loss))
    first = tuple(itertools.islice(known, FIRST_LOSSES))
    told = [(step.index, step.loss) for step in read.steps if step.loss is not None and abs(step.loss) < LARGEST_LOSS]
    each = math.ceil(len(told) / PARTS)
    parts = (told[begin : begin + each] for begin in range(0, len(told), max(1, each)))
    course = tuple(tuple(statistics.fmean(column) for column in zip(*part, strict=True)) for part in parts)
    return {"dialect": read.dialect, "trained": read.trained, "first_losses": first, "course": course}
