"""`evalsuite dialects`: the log dialects as a table, line by line how one log is read, and an author's check."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict, replace

from evalsuite.commands.authoring import checking
from evalsuite.commands.authoring.adapters import show
from evalsuite.commands.options import search_paths
from evalsuite.commands.printing import explanation, i18n, terminal
from evalsuite.commands.printing.terminal import print_json
from evalsuite.contracts import author_modules
from evalsuite.contracts.dialect import Dialect
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.logs import catalogue, explaining
from evalsuite.logs.text.logfile import Unreadable

SHOWN = ("name", "title", "framework", "unit", "scope", "averaging")


def run(arguments: argparse.Namespace) -> int:
    if arguments.check is not None:
        return _check(arguments)
    if arguments.log is not None:
        raise EvalsuiteError.of("commands.explain_log")
    dialects = catalogue.known(search_paths(arguments))
    if arguments.explain is None:
        _list(dialects, arguments.json)
        return Exit.DONE
    return _explain(arguments, dialects)


def _list(dialects: Mapping[str, Dialect], as_json: bool) -> None:
    rows = [
        {name: getattr(known, name) for name in (*SHOWN, "notes")}
        for known in sorted(dialects.values(), key=lambda known: known.name)
    ]
    if as_json:
        print_json(rows)
        return
    shown = [[i18n.known("dialects", str(row[key] or "-")) for key in SHOWN] for row in rows]
    terminal.aligned([[i18n.say(f"columns.{key}") for key in SHOWN], *shown])


def _explain(arguments: argparse.Namespace, dialects: Mapping[str, Dialect]) -> int:
    try:
        size = arguments.explain.stat().st_size if arguments.explain.is_file() else 0
        with terminal.bar(size, worth_it=size >= terminal.WORTH_A_BAR_BYTES) as bar:
            watcher = bar.show if bar else None
            reading = explaining.explained(
                arguments.explain, dialects, arguments.dialect, every=arguments.all, watcher=watcher
            )
    except Unreadable as error:
        raise EvalsuiteError.of("commands.log_unread", path=arguments.explain, error=error) from error
    if arguments.json:
        groups = tuple(replace(group, dialect=None) for group in reading.groups)
        print_json(asdict(replace(reading, groups=groups)))
    else:
        print("\n".join(explanation.sentences(reading)))
    return Exit.DONE if reading.dialect else Exit.NOTHING_MEASURED


def _check(arguments: argparse.Namespace) -> int:
    more = search_paths(arguments)
    known = catalogue.discover((*more.dialects, arguments.check.resolve()), more.adapters)
    declared = {file: catalogue.load(file) for file in author_modules.find_modules(arguments.check, catalogue.CONTRACT)}
    results = [
        checking.check_dialect(known[dialect.name], str(file), known, arguments.log)
        for file, dialects in declared.items()
        for dialect in dialects
    ]
    return show(results, arguments, catalogue.CONTRACT)
