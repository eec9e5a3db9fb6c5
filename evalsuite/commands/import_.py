"""`evalsuite import`: run folders from logs or tables produced elsewhere, also those that `report` is given."""

import argparse
import os
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import cast

from evalsuite.commands.options import search_paths
from evalsuite.commands.printing import i18n, log_table, terminal
from evalsuite.commands.printing.i18n import say, worded
from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.messages import Message, Value
from evalsuite.core.model import by_key
from evalsuite.importing import exporters, histories, log_import, published_figures, published_tables, user_facts
from evalsuite.importing.log_import import Imported
from evalsuite.logs import catalogue
from evalsuite.logs.text.disclosure import disclosed
from evalsuite.report.text.findings import document
from evalsuite.results.measure import facts
from evalsuite.runs import campaign_facts
from evalsuite.runs.store import Store, check_root

MOST_ALIKE, MOST_RUNS = 3, 30  # equal complaints, and runs of which the same is said, that are printed one by one
MARK = ".logs-of-a-report"  # of a folder of runs that `report LOGS` made and may make anew
EXAMPLES: Mapping[str, str] = {**user_facts.NEEDED, "scope": "global", "unit": "samples/s"}


def run(arguments: argparse.Namespace) -> int:
    check_root(arguments.runs)
    if arguments.runs.exists() and not arguments.runs.is_dir():
        raise EvalsuiteError.of("commands.runs_file", path=arguments.runs)
    results = _read(arguments, Store(arguments.runs))
    os.sync()  # once: until then all of it can be made again from its source
    _print(results, arguments.json)
    return _exit(results)


def _read(arguments: argparse.Namespace, into: Store) -> list[Imported]:
    """Brings the logs and tables of *arguments* into a store. Raises EvalsuiteError where there is none."""
    common = user_facts.campaign_facts(arguments.facts) if arguments.facts else campaign_facts.read(into.root)
    user = user_facts.stated([*common.items(), *arguments.set])
    campaign_facts.check(into.root, common)
    if common and not arguments.facts:
        told = ", ".join(f"{name}={value}" for name, value in common.items())
        terminal.note(say("import.facts_there", file=into.root / campaign_facts.NAME, facts=told))
    found_by = user_facts.pattern(arguments.pattern) if arguments.pattern else None
    results: list[log_import.Imported] = []
    dialects = catalogue.known(search_paths(arguments))
    exported = exporters.read(arguments.utilisation) if arguments.utilisation else None
    user |= {"utilisation": arguments.utilisation.name} if exported else {}
    importer = log_import.Importer(into, user, common, found_by, dialects, facts.printed_facts, exported)
    for path in arguments.paths:
        found = histories.find(path)
        if not found and path.is_file() and published_tables.is_one(path):
            table = published_tables.read(path, user.get("tag"))
            if table.unread:
                terminal.note(f"{path}: columns that are not read: {', '.join(table.unread[: histories.MOST_NAMED])}")
            given = (f"--set {name}" for name in ("dialect", "scope", "shape", "steps_per_report") if name in user)
            said = [*["--pattern"][: bool(found_by)], *["--utilisation"][: bool(exported)], *given]
            if said and len(arguments.paths) == 1:
                raise EvalsuiteError.of("commands.option_needs", option=", ".join(said), others="LOG")
            results += published_figures.cite_table(table, into, user, dialects, common=common)
        else:
            of_rows = [f"--set {name}" for name in user_facts.OF_A_ROW if name in user]
            if of_rows and not found and len(arguments.paths) == 1:
                raise EvalsuiteError.of("commands.option_needs", option=", ".join(of_rows), others="TABLE")
            taken = {place for each in found for place in each.places}
            own = [*importer.logs(path, taken)] if not path.is_file() or not found else []
            of_logs = any(result.run for result in own)
            results += own if of_logs or not found else importer.histories(found, path)
            if of_logs and found:
                terminal.note(say("import.histories_left", n=len(found), source=found[0].source))
    if not results:
        raise EvalsuiteError.of("commands.no_logs", path=arguments.paths[0])
    if arguments.facts and any(result.run for result in results):
        campaign_facts.write_once(into.root, common)
    return results


def into_own_folder(arguments: argparse.Namespace) -> tuple[Path, int]:
    """A folder of runs beside the report, with the logs that `report` was given and no other, and how whole it is.
    What the logs do not say is asked for all at once. Raises EvalsuiteError with the line to type where nobody can be
    asked, and where nothing is a log; then nothing is changed."""
    for path in arguments.paths:
        if path.is_dir() and Store(path).finished():
            raise EvalsuiteError.of("commands.report_is_runs", path=path)
    own = Path(f"{arguments.out.resolve()}-runs")
    ours = (own / MARK).exists() and all(folder.command().imported for folder in Store(own).finished())
    if os.path.lexists(own) and not ours:
        raise EvalsuiteError.of("commands.report_runs", path=own)
    while True:
        new = Path(tempfile.mkdtemp(prefix=f".{own.name}-", dir=files.existing(own.parent)))
        try:
            results = _read(arguments, Store(new))
            if not (lacking := _lacking(results, dict(arguments.set))):
                _print(results, False)
                if not any(result.run for result in results):
                    raise EvalsuiteError.of("commands.report_no_logs", n=len(results), path=arguments.paths[0])
                (new / MARK).touch()
                own.parent.mkdir(parents=True, exist_ok=True)
                shutil.rmtree(own, ignore_errors=True)
                os.replace(new, own)
                return own, _exit(results)
        finally:
            shutil.rmtree(new, ignore_errors=True)
        arguments.set = [*arguments.set, *_ask(arguments, lacking)]


def _lacking(results: Sequence[Imported], stated: Mapping[str, str]) -> dict[str, tuple[str, Message]]:
    """What nobody says of the logs that can be read, or could if somebody confirms how: fact → what to type, why."""
    lacking, lacked = dict[str, tuple[str, Message]](), Counter[str]()
    for result in results:
        said = {message.id: message for message in _messages(result.reason)}
        shape = said.get("logs.shape_accept")
        if not (result.run or shape or said.keys() in ({"importing.says"}, {"importing.row_no_unit"})):
            continue  # it is no log of a training
        names = cast("tuple[str, ...]", said["importing.says"].values["absent"]) if "importing.says" in said else ()
        names += ("unit",) * ("importing.row_no_unit" in said)
        names += ("scope",) if "logs.log_whose" in said or (shape and stated.get("devices") != "1") else ()
        lacked.update(names)
        for name in names:
            first = lacking[name][1].values["log"] if name in lacking else result.source
            facts = {"name": name, "log": first, "example": EXAMPLES[name], "n": lacked[name]}
            lacking[name] = ("…", Message("commands.report_lack", **facts))
        if shape:
            taken = said.get("logs.read_by_shape") or said["logs.read_beside"]
            asked = Message("commands.report_lack_shape", taken=taken, log=result.source)
            own, (known, before) = str(shape.values["shape"]), lacking.get("shape", ("", None))
            if before and own not in known:  # another format
                own, asked = f"{known},{own}", Message("system.then", first=before, second=asked)
            if own not in known:
                lacking["shape"] = (own, asked)
    return {name: lack for name, lack in lacking.items() if name not in stated}


def _messages(reason: Value) -> Iterator[Message]:
    if isinstance(reason, Message) and reason.id == "system.then":
        yield from (each for part in reason.values.values() for each in _messages(part))
    elif isinstance(reason, Message):
        yield reason


def _ask(arguments: argparse.Namespace, lacking: Mapping[str, tuple[str, Message]]) -> list[tuple[str, str]]:
    """What is lacking, at a terminal. Raises EvalsuiteError elsewhere."""
    given = (word for name, (value, _) in lacking.items() for word in ("--set", f"{name}={value}"))
    lacks, line = [asked for _, asked in lacking.values()], shlex.join(["evalsuite", *arguments.typed, *given])
    error = EvalsuiteError.of("commands.report_lacks", lacks=lacks, line=line)
    if not sys.stdin.isatty():
        raise error
    terminal.note(i18n.worded(error.message))
    try:
        return [(name, input(f"{name} [{value}]: ").strip() or value) for name, (value, _) in lacking.items()]
    except EOFError:
        raise error from None


def _print(results: Sequence[Imported], as_json: bool) -> None:
    if as_json:
        rows = [asdict(replace(each, findings=())) | {"findings": [*map(document, each.findings)]} for each in results]
        terminal.print_json(disclosed(rows))
        return
    limits = ((MOST_RUNS if each.run else MOST_ALIKE, each) for each in results)
    said_of = [(n, r.status, log_table.without_example(r.reason), r.findings if r.run else ()) for n, r in limits]
    times = Counter(map(str, said_of))
    keys = (str(key) if times[str(key)] > key[0] else at for at, key in enumerate(said_of))
    for first, *others in by_key(zip(keys, results, strict=True)).values():
        if others:
            said = {"status": i18n.status(first.status), "reason": worded(first.reason or "")}
            terminal.line(say("import.many", n=len(others) + 1, source=first.source, **said))
            continue
        reason = f"; {worded(first.reason)}" if first.reason else ""
        terminal.line(f"{first.source}: {first.run or say('import.no_run')}: {i18n.status(first.status)}{reason}")
        for finding in first.findings:
            terminal.line(f"  {finding.code}: {i18n.finding(finding)}")
    made = sum(bool(result.run) and result.status not in ("already there", "cited") for result in results)
    cited = sum(result.status == "cited" for result in results)
    told = {"made": made, "left": len(results) - made - cited, **({"cited": cited} if cited else {})}
    terminal.line(say("import.made_citing" if cited else "import.made", **told))


def _exit(results: Sequence[Imported]) -> int:
    runs = [result for result in results if result.run is not None]
    if not runs:  # what was refused can be mended
        return Exit.USAGE if any(result.status == "skipped" for result in results) else Exit.NOTHING_MEASURED
    read = [run for run in runs if run.status != "unrecognised"]
    return Exit.of(len(read), len(results))
