"""`evalsuite parse`: what training logs say, without any run folder."""

import argparse
import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsuite.commands.options import search_paths
from evalsuite.commands.printing import i18n, log_table, terminal
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.log_table import Row
from evalsuite.core import files, processes
from evalsuite.core.errors import EvalsuiteError, Exit, for_terminal, look_up
from evalsuite.core.messages import Message, join
from evalsuite.core.model import Protocol
from evalsuite.runs import recordings

if TYPE_CHECKING:
    from evalsuite.contracts.dialect import Dialect
    from evalsuite.core.model import Finding
    from evalsuite.importing.histories import History
    from evalsuite.logs.reading import Reading

Read = Callable[[Path], Row]
READ_BY = ("dialect", "scope", "shape", "steps_per_report")
COUNTS = {"sequence_length": "8192", "accumulation": "8", "tp": "2", "tokens_per_image": "256"}  # with an example
MAY_BE_NONE = {"images_per_sequence": "1"}  # likewise, from 0 on
SAID = (*READ_BY, *COUNTS, *MAY_BE_NONE, "precision", "rule", "trained", "tower", "recompute")  # these of a --model
VALUES = (("trained", "lora"), ("tower", "frozen"), ("recompute", "full"))  # those that there are
WORTH_FORKING_BYTES = 16 << 20  # below, starting processes takes longer than reading


def run(arguments: argparse.Namespace) -> int:
    from evalsuite.logs import catalogue

    dialects = catalogue.known(search_paths(arguments))
    arguments.said = _read_said(arguments.set, SAID if arguments.model else READ_BY)
    if name := arguments.said["dialect"]:
        look_up("logs.dialect", dialects, name)
    arguments.counted = None
    if arguments.model:
        from evalsuite.results.measure import flops

        arguments.counted = flops.read_model(arguments.model)
    if arguments.goodput:
        return _divide_time(arguments, dialects)
    paths, arguments.histories = _files(arguments.logs)
    if not paths:
        raise EvalsuiteError.of("commands.no_logs", path=arguments.logs[0])
    if arguments.explain:
        return max(_explain(log, arguments, dialects) for log in paths)
    language = "en" if arguments.json else i18n.language()
    rows = [
        row | {"findings": [_in_words(finding, language) for finding in row["findings"]]}
        for row in _each(paths, _reader(arguments, dialects))
    ]
    read = [dialects[row["dialect"]] for row in rows if row["dialect"] in dialects]
    known = {"scope": all(each.knows_scope for each in read), "steps_per_report": not any(x.per_epoch for x in read)}
    known["shape"] = len(read) == len(rows)  # it tells lines of no known dialect apart
    for name in (name for name in known if read and known[name] and arguments.said[name]):
        terminal.note(say("parse.says_itself", name=name))
    if arguments.json:
        terminal.print_json(rows, allow_nan=False)
    else:
        log_table.show(rows)
    measured = [row for row in rows if row["throughput"] is not None and row["status"] in ("ok", "partial")]
    return Exit.of(len(measured), len(rows)) if all(map(os.path.exists, arguments.logs)) else Exit.USAGE


def _divide_time(arguments: argparse.Namespace, dialects: Mapping[str, "Dialect"]) -> int:
    from evalsuite.results.measure import goodput

    if lost := next((folder for folder in arguments.logs if not os.path.lexists(folder)), None):
        raise EvalsuiteError.of("importing.no_such", path=lost)
    attempts = goodput.read([Path(folder) for folder in arguments.logs], dialects, arguments.said["dialect"])
    spans = goodput.divide(attempts)
    seconds, whole = goodput.totals(spans), attempts[-1].end_s - attempts[0].begin_s
    if arguments.json:
        listed = [vars(span) | {"log": str(span.log)} for span in spans]
        terminal.print_json(
            {"seconds": whole, "goodput": seconds["steps"] / whole, "buckets": seconds, "spans": listed}
        )
    else:
        log_table.show_goodput(spans, seconds, whole, attempts=len(attempts))
    return Exit.DONE


def _explain(log: Path, arguments: argparse.Namespace, dialects: Mapping[str, "Dialect"]) -> int:
    from evalsuite.logs.explaining import explained
    from evalsuite.logs.text.logfile import Unreadable

    try:
        with terminal.bar(_size(log), worth_it=_size(log) >= terminal.WORTH_A_BAR_BYTES) as show:
            read = explained(log, dialects, arguments.said["dialect"], every=arguments.json, watcher=show)
    except Unreadable as error:
        raise EvalsuiteError.of("importing.stated", who=log, error=error) from error
    name = _reader(arguments, dialects)(log)["reading"]
    if arguments.json:
        groups = tuple(replace(group, dialect=None) for group in read.groups)
        terminal.print_json({"reading": name, **asdict(replace(read, groups=groups))})
    else:
        print(say("parse.reading", name=name, what=i18n.known("readings", name)), *log_table.explain(read), sep="\n")
    return Exit.DONE if read.dialect else Exit.NOTHING_MEASURED


def _read_said(pairs: Sequence[tuple[str, str]], known: Sequence[str]) -> dict[str, Any]:
    """How a log is to be read, by what `--set` says that it does not say itself."""
    if not pairs:
        return dict.fromkeys(SAID)
    from evalsuite.importing import user_facts  # slow
    from evalsuite.results.measure import facts as stated_facts
    from evalsuite.results.measure import flops

    said = user_facts.stated(pairs)
    if wrong := next((name for name in said if name not in known), None):
        raise EvalsuiteError.of("commands.parse_set", name=wrong, names=", ".join(known))
    fits = {
        **{f"{key}={such}": user_facts.is_whole(said.get(key, such), least=1) for key, such in COUNTS.items()},
        **{f"{key}={such}": user_facts.is_whole(said.get(key, such), least=0) for key, such in MAY_BE_NONE.items()},
        "precision=bf16": stated_facts.said_precision(said.get("precision", "bf16")),
        **{f"{name}={value}": said.get(name, value) == value for name, value in VALUES},
    }
    if unfit := next((example for example, fit in fits.items() if not fit), None):
        raise EvalsuiteError.of("commands.parse_value", example=unfit, text=said[unfit.partition("=")[0]][:60])
    look_up("core.unknown", of := flops.listed()["rules"], said.get("rule", flops.HOUSE), where="rule", names=[*of])
    how = {"scope": user_facts.scope(said), "steps_per_report": user_facts.whole_number(said, "steps_per_report")}
    return dict.fromkeys(SAID) | said | how


def _reader(arguments: argparse.Namespace, dialects: Mapping[str, "Dialect"]) -> Read:
    from evalsuite.logs.reading import read_file  # noqa: F401  before processes are forked that each need it

    how = {name: arguments.said[name] for name in READ_BY}
    how |= {"dialects": dialects, "protocol": arguments.steps or Protocol()}
    of_each_device = {name: replace(each, scope="per_device") for name, each in dialects.items() if "history" in name}

    def row(path: Path) -> Row:
        own = arguments.histories.get(path)
        asked = how if own is None or own.scope is None else how | {"dialects": of_each_device}
        reading, logs = read_path(path, devices=arguments.devices, batch_per_device=arguments.batch_per_device, **asked)
        if own is not None:
            path, reading = Path(own.source), replace(reading, reason=join(own.lack, reading.reason))
        elif reading.throughput is None:
            from evalsuite.importing import published_tables  # slow, and most logs have a figure

            if published_tables.is_one(path):
                reading = replace(reading, status="unrecognised", reason=Message("importing.is_table", path=path.name))
        if reading.throughput and reading.may_leave_out:
            from evalsuite.logs.options import head
            from evalsuite.results.measure.facts import spoken  # slow

            if denied := spoken(head(logs[0]), stated=True).get("left_out"):
                why = Message("logs.untrained", mode=denied)
                reading = replace(reading, status="doubtful", reason=join(why, reading.reason))
        dialect = dialects.get(reading.dialect or "")
        window = reading.throughput and reading.throughput.window
        unit = dialect.unit if dialect and dialect.scope == "per_device" else reading.unit
        read = facts(path, reading) | {
            "window_counts": window and ("epochs" if reading.in_epochs else "steps"),
            "printed_unit": unit,
            "also_printed": _also_printed(logs[0], reading, dialect) if logs else None,
        }
        given = arguments.devices and arguments.batch_per_device
        if read["certainty"] == "printed only" and not given and recordings.arrivals_of(logs[0]):
            read["certainty_reason"] = Message("logs.sure_recorded")
        return _count_operations(read, reading, logs[0], unit, arguments) if logs else read | {"compute": None}

    return row


def _count_operations(read: Row, reading: "Reading", log: Path, unit: str | None, arguments: argparse.Namespace) -> Row:
    """With what a device computes by named rules, and what the log prints of that and cannot be."""
    also = read["also_printed"] or {}
    if not (arguments.counted or also.get("mfu") or also.get("tflop_per_s_per_device")):
        return read | {"compute": None}
    from evalsuite.results.measure import facts as stated
    from evalsuite.results.rules import flops_and_energy

    said = {name: value for name, value in arguments.said.items() if value}
    said |= {"input_size": said["sequence_length"]} if "sequence_length" in said else {}
    said |= {"parallel_layout": f"TP {said['tp']}"} if "tp" in said else {}
    known = {**stated.printed_facts(log), **reading.printed, **said}
    compute, found = flops_and_energy.of_log(read, known, unit=unit, model=arguments.counted, device=arguments.device)
    doubted = {"status": "doubtful", "reason": Message("results.counted_impossible")}
    read |= doubted if found and read["status"] in ("ok", "partial") else {}
    return read | {"compute": compute, "findings": (*read["findings"], *found)}


def read_path(
    path: Path, *, devices: int | None, batch_per_device: float | None, **how: Any
) -> tuple["Reading", Sequence[Path]]:
    """A log, or what agents recorded, doubtful where that is no whole run; and the logs."""
    from evalsuite.logs.reading import read_file

    how |= _of_run(path if path.is_dir() else path.parent, how) if not how.get("dialect") else {}
    if not path.is_dir():
        clock = [recordings.arrivals_of(path)]
        return read_file(path, arrivals=clock, devices=devices, batch_per_device=batch_per_device, **how), [path]
    from evalsuite.importing import user_facts  # slow, for all that a folder may hold
    from evalsuite.runs import campaign_facts, sampled
    from evalsuite.runs.store import RunFolder

    folder, facts, lack = RunFolder(path), {}, None
    try:
        facts = campaign_facts.read(path)
        lack = None if folder.launched else sampled.find_lack(folder)
    except EvalsuiteError as error:
        lack = error.message
    logs, arrivals = [log.path for log in folder.logs()], [log.arrivals for log in folder.logs()]
    batch = batch_per_device or user_facts.whole_number(facts, "batch")
    devices = devices or user_facts.devices(facts)
    reading = read_file(*logs, arrivals=arrivals, devices=devices, batch_per_device=batch, **how)
    return replace(reading, status="doubtful", reason=join(lack, reading.reason)) if lack else reading, logs


def _of_run(folder: Path, how: Mapping[str, Any]) -> Row:
    """How a log of ours reads by the example line that the record of its run keeps."""
    if not (folder / "command.json").is_file():
        return {}
    from evalsuite.logs import catalogue
    from evalsuite.runs.store import RunFolder

    with contextlib.suppress(EvalsuiteError):
        recipe = RunFolder(folder).command().recipe
        dialects = catalogue.with_example(recipe, known := how.get("dialects") or catalogue.known())
        return {"dialect": recipe.dialect, "dialects": dialects} if dialects is not known else {}
    return {}


def _each(paths: Sequence[Path], read: Read) -> Iterator[Row]:
    sizes = [_size(path) for path in paths]
    whole, done = sum(sizes), 0
    words = lambda: for_terminal(i18n.report_word("statuses", i18n.status("ok")))  # noqa: E731  as all tables are
    with terminal.bar(whole, worth_it=len(paths) > 1 and whole >= terminal.WORTH_A_BAR_BYTES) as show:
        rows = processes.shared(read, paths, words, worth=whole >= WORTH_FORKING_BYTES)
        for path, size, row in zip(paths, sizes, rows, strict=True):
            done += size
            if show:
                show(done, log_table.printable(Path(path.name)))
            yield row


def _size(path: Path) -> int:
    with contextlib.suppress(OSError, ValueError):
        return sum(file.lstat().st_size for file in (path.iterdir() if path.is_dir() else [path.resolve()]))
    return 0


def _files(names: Sequence[str]) -> tuple[list[Path], Mapping[Path, "History"]]:
    """The logs, and those made of histories that trackers keep."""
    paths = [path for name in map(Path, names) for path in (recordings.units(name) if name.is_dir() else [name])]
    if not any(map(_may_be_history, paths)):
        return paths, {}
    from evalsuite.importing import histories  # slow

    found = {each.path: each for name in names for each in map(histories.write, histories.find(Path(name)))}
    taken = {place for each in found.values() for place in each.places}
    return [*(path for path in paths if {path, *path.parents}.isdisjoint(taken)), *found], found


def _may_be_history(path: Path) -> bool:
    """Whether it is a folder, binary, or a table or a history by its name; a text by another name is a log."""
    found = path.suffix.lower() in (".csv", ".tsv", ".jsonl", ".wandb") or "tfevents" in path.name
    found = found or path.is_dir() or path.name == "meta.yaml"  # of MLflow
    with contextlib.suppress(OSError), files.open_file(path, follow=True) as file:
        found = found or b"\0" in file.read(64)
    return found


def facts(path: Path, reading: "Reading") -> Row:
    """One element of `parse --json` (docs/contracts.md#parse---json), whose findings are to be put into words."""
    throughput, batch = reading.throughput, reading.batch_per_device
    window = None if throughput is None else throughput.window

    def read(*names: str) -> Row:
        return {name: getattr(reading, name) for name in names}

    return {
        "file": log_table.printable(path),
        **read("dialect", "framework", "model", "reading", "status", "reason", "total_devices"),
        "batch_size_per_device": int(batch) if batch is not None and batch == int(batch) else batch,
        **read("scope", "shape"),
        "throughput": None if throughput is None else throughput.items_per_s,
        "unit": reading.unit,
        "method": None if throughput is None else throughput.method,
        "window": window and {"first_step": window.first_step, "last_step": window.last_step, "steps": window.steps},
        **read("steps_reported", "reported_final", "certainty", "certainty_reason", "trained"),
        "findings": (*reading.findings, *(throughput.findings if throughput else ())),
    }


def _in_words(finding: "Finding", language: str) -> dict[str, str]:
    from evalsuite.report.text.findings import english

    text = english(finding) if language == "en" else i18n.finding(finding)
    return {"code": finding.code, "severity": finding.severity, "text": text}


def _also_printed(path: Path, reading: "Reading", dialect: "Dialect | None") -> dict[str, float | None] | None:
    from evalsuite.logs.extra_metrics import also_printed

    measured = reading.throughput
    first, last = (measured.line_first, measured.line_last) if measured else (None, None)
    also = None if dialect is None else also_printed(path, dialect, first, last)
    return None if also is None else asdict(also)
