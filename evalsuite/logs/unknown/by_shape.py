"""Reads a log by the heaviest group of its lines that has a counter and a time, where no dialect does."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from types import MappingProxyType

from evalsuite.contracts.dialect import NO_ITEMS, Dialect, Scope
from evalsuite.core.messages import Message, join, message_of
from evalsuite.core.redaction import redact
from evalsuite.logs.judging import FEWEST_STEPS, Reading, judge
from evalsuite.logs.steps.merging import Said
from evalsuite.logs.steps.numbers import Given, Pass, compute_numbers, in_steps, measure_logs
from evalsuite.logs.text.logfile import Unreadable
from evalsuite.logs.text.records import Arrival
from evalsuite.logs.unknown.groups import Group, groups
from evalsuite.logs.unknown.starts import choose_start
from evalsuite.logs.unknown.whole import SMALL_BYTES, over_all
from evalsuite.logs.unknown.words import OF_ONE


def read_by_shape(
    paths: Sequence[Path],
    arrivals: Sequence[Arrival | None],
    given: Given,
    silent: Reading,
    *,
    bars: bool | None,
    beside: Dialect | None = None,
    said: Said = MappingProxyType({}),
) -> Reading:
    """What the heaviest group of reports says, or *silent*: what else is said of the log.

    *bars*: by these alone, or by none. *said*: facts that a dialect reads. *beside*: by rates that it leaves.
    """
    grouped = groups(paths[0], few=silent.dialect is None) if paths else []
    grouped = [of for of in grouped if bars in (None, bool(of.dialect and of.dialect.redrawn))]
    if beside:
        told = [(of, of.text.encode()) for of in grouped if of.dialect and "rate" in of.roles]
        rated = [line.compiled for line in beside.step if {"rate", "rate_k"} & line.compiled.groupindex.keys()]
        grouped = [of for of, text in told if not any(map(re.Pattern.search, rated, repeat(text)))]
    found = silent
    others = [of for of in grouped[1:] if of.dialect and "rate" in of.roles]
    others = [of for of in others if {"step", "epoch"} & of.roles.keys() or of.count < FEWEST_STEPS]
    for shape in (*grouped[:1], *others):
        read = _read_group(replace(shape, text=redact(shape.text)), paths, arrivals, given, silent, said)
        counts, steps = read.throughput and read.throughput.items_per_s, found.throughput
        richer = counts and read.unit not in NO_ITEMS and counts > ((steps and steps.items_per_s) or 0.0)
        found = read if found is silent or richer else found
        if richer:
            break  # of lines that tell steps alone, and others that rate items, these say more
    return found


def _read_group(
    shape: Group, paths: Sequence[Path], arrivals: Sequence[Arrival | None], given: Given, silent: Reading, said: Said
) -> Reading:
    if shape.dialect is None and silent.status == "failed" and "step" not in shape.roles:
        return silent
    if shape.dialect is None:
        roles = Message("logs.shape_roles", roles=shape.outline) if shape.roles else ""
        nearly = Message("logs.shape_nearly", line=shape.line, text=shape.text, roles=roles, why=shape.lacks)
        died = silent.reason if silent.status == "failed" else None  # it trained, and died
        known = silent.reason if silent.dialect else None
        return replace(silent, status="unrecognised" if died else silent.status, reason=join(known, nearly, died))
    size = paths[0].stat().st_size
    start = choose_start(paths[0], shape.dialect, given) if len(paths) == 1 and size < 4 * SMALL_BYTES else None
    try:
        given = replace(given, lines=start.lines if start else None, all_records=size < SMALL_BYTES)
        run = measure_logs(paths, arrivals, shape.dialect, given).run
        batches = {"counts_batches": 1.0} if "batch" in shape.roles.get("step", "") else {}  # not an optimiser's steps
        run = replace(run, said={**(start.said if start else {}), **run.said, **batches, **said})
        if shape.per_epoch and not run.said and "items" not in shape.roles:
            raise Unreadable(Message("logs.shape_epochs"))
    except Unreadable as error:
        return replace(silent, reason=join(_taken_for(shape, silent), message_of(error)))
    result = asked = silent
    for variant in _variants(run, shape.roles):
        numbers = over_all(compute_numbers(variant))
        whose = variant.dialect.scope == "auto" and numbers.facts.devices not in (None, 1)  # is asked
        quoted = '"' in (numbers.facts.assumed or "") and "steps_per_s" in shape.roles
        quoted = quoted and variant.dialect.unit not in NO_ITEMS  # of a table, perhaps of another part
        if whose or quoted or (numbers.facts.in_parts and numbers.facts.batch_from_outside and not numbers.rated):
            continue  # is a step of theirs a part of an optimiser's step?
        result = judge(numbers)
        if result.throughput is not None:
            break
        by_steps = variant.dialect.unit in NO_ITEMS and "rate" not in shape.roles  # then no batch would help
        asked = asked if asked.steps and not by_steps else result
    result = replace(result if result.throughput else asked, dialect=None, shape=shape.shape)
    taken = join(_taken_for(shape, silent), shape.doubt, start.reason if start else None)
    accept, accepted = Message("logs.shape_accept", shape=shape.shape), shape.shape in (given.shape or "").split(",")
    if result.throughput is None or result.throughput.items_per_s is None:
        parts = (result.reason, taken) if accepted else (taken, result.reason)
        whose = getattr(result.reason, "id", "") == "logs.log_whose" and not accepted
        return replace(result, status="doubtful", reason=join(*parts, accept if whose else None))
    if accepted and start is None:
        return result
    alone = numbers.facts.assumed and result.unit not in NO_ITEMS
    assumed = Message("logs.batch_assumed", text=numbers.facts.assumed) if alone else None
    died = next((silence.reason for silence in (result, silent) if silence.status == "failed"), None)
    return replace(result, status="doubtful", reason=join(taken, assumed, accept, start.died if start else died))


def _taken_for(shape: Group, silent: Reading) -> Message:
    told = {"line": shape.line, "text": shape.text, "roles": shape.outline}
    if silent.dialect:
        return Message("logs.read_beside", dialect=silent.dialect, **told)
    return Message("logs.read_by_shape", **told)


def _variants(run: Pass, said: Mapping[str, str]) -> Iterator[Pass]:
    """By the tokens of a step, as it stands, as of all devices, and in steps: what counts items says more."""
    if (tokens := run.said.get("argued_tokens")) and "rate" not in said:
        yield replace(run, dialect=replace(run.dialect, unit="tokens/s"), said={**run.said, "global_batch": tokens})
    yield run
    if run.dialect.scope == "unstated":
        scopes: tuple[Scope, ...] = ("auto", "per_device") if re.search(OF_ONE, said.get("rate", "")) else ("auto",)
        yield from (replace(run, dialect=replace(run.dialect, scope=scope)) for scope in scopes)  # the last of several
    if not run.dialect.per_epoch and {"step", "seconds"} & said.keys():
        yield in_steps(run)
