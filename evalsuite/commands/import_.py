"""`evalsuite import`: run folders from logs or tables produced elsewhere."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from evalsuite.commands.options import search_paths
from evalsuite.commands.printing import i18n, terminal
from evalsuite.commands.printing.i18n import say, worded
from evalsuite.commands.printing.terminal import print_json
from evalsuite.core import files, redaction
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import by_key
from evalsuite.importing import log_import, published_figures, published_tables, questions, user_facts
from evalsuite.importing.log_import import Imported
from evalsuite.importing.published_tables import CitedTable
from evalsuite.logs import catalogue
from evalsuite.report.text.findings import document
from evalsuite.results.measure import facts
from evalsuite.runs import campaign_facts, group
from evalsuite.runs.store import Store

MOST_ALIKE = 3  # equal complaints that are printed one by one


def run(arguments: argparse.Namespace) -> int:
    (defaults, runs), columns = _read_mapping(arguments.map)
    into = Store(arguments.runs, group.number(arguments.group) if arguments.group is not None else None)
    common = user_facts.campaign_facts(arguments.facts) if arguments.facts else campaign_facts.read(into.root)
    user = user_facts.stated([*common.items(), *arguments.set])
    if arguments.facts:
        campaign_facts.write_once(into.root, common)
    found_by = user_facts.pattern(arguments.pattern) if arguments.pattern else None
    results: list[log_import.Imported] = []
    dialects = catalogue.known(search_paths(arguments))
    asked = log_import.SaidOfLogs(
        user=user, mapped=(defaults, runs), found_by=found_by, common=common, amend=arguments.amend
    )
    importer = log_import.Importer(into, asked, dialects, facts.printed_precision)
    for path in arguments.paths:
        if _is_table(path, columns):
            table = _table(path, columns)
            results += published_figures.cite_table(
                table, into, defaults, user, dialects, common=common, amend=arguments.amend
            )
        else:
            results += importer.logs(path)
    if not results:
        raise EvalsuiteError.of("commands.no_logs", path=arguments.paths[0])
    _print(results, arguments.json)
    return _exit(results)


def read_table(path: Path, into: Store, arguments: argparse.Namespace) -> list[Imported]:
    """Cites every figure of the table in *path*, by `--map` and `--set` of *arguments*."""
    (defaults, _), columns = _read_mapping(arguments.map)
    known = catalogue.known(search_paths(arguments))
    said = user_facts.stated(arguments.set)
    return list(published_figures.cite_table(_table(path, columns), into, defaults, said, known))


def _table(path: Path, columns: Sequence[tuple[str, str]]) -> CitedTable:
    table = published_tables.read(path, columns)
    questions.check_columns(table, [name for name, _ in columns])
    if table.unread:
        terminal.note(f"{path}: columns that are not read: {', '.join(table.unread)}")
    return table


def _read_mapping(given: Sequence[str]) -> tuple[tuple[dict[str, str], list[dict[str, str]]], list[tuple[str, str]]]:
    """((`[defaults]`, `[[runs]]`) of the mapping file, (our name, the table's column)…)."""
    files = [text for text in given if "=" not in text or Path(text).is_file()]
    if len(files) > 1:
        raise EvalsuiteError.of("commands.second_mapping", path=files[1])
    pairs = [text.partition("=") for text in given if text not in files]
    wrong = next(("".join(pair) for pair in pairs if not pair[0] or not pair[2]), None)
    if wrong is not None:
        raise EvalsuiteError.of("commands.map_wrong", wrong=wrong)
    columns = [(user_facts.field_name(name), column) for name, _, column in pairs]
    return user_facts.mapping(Path(files[0])) if files else ({}, []), columns


def _is_table(path: Path, columns: Sequence[tuple[str, str]]) -> bool:
    if path.suffix.lower() != ".csv":
        return path.suffix.lower() == ".xlsx"
    try:
        with files.open_file(path, follow=True) as file:
            head = published_tables.decoded(file.readline())
            return bool(columns) or published_tables.is_one(head)
    except OSError as error:
        raise EvalsuiteError.of("commands.import_path", path=path, error=error) from error


def _print(results: Sequence[Imported], as_json: bool) -> None:
    if as_json:
        rows = [asdict(replace(each, findings=())) | {"findings": [*map(document, each.findings)]} for each in results]
        print_json(redaction.redact_value(rows))
        return
    for alike in _group_alike(results):
        first = alike[0]
        if len(alike) > MOST_ALIKE:
            said = {"status": i18n.status(first.status), "reason": worded(first.reason or "")}
            print(_printable(say("import.many", n=len(alike), source=first.source, **said)))
            continue
        for result in alike:
            reason = f"; {worded(result.reason)}" if result.reason else ""
            run = result.run or say("import.no_run")
            print(_printable(f"{result.source}: {run}: {i18n.status(result.status)}{reason}"))
            for finding in result.findings:
                print(_printable(f"  {finding.code}: {i18n.finding(finding)}"))
    made = sum(bool(result.run) and result.status not in ("already there", "cited") for result in results)
    cited = sum(result.status == "cited" for result in results)
    left = len(results) - made - cited
    told = {"made": made, "left": left, **({"cited": cited} if cited else {})}
    print(say("import.made_citing" if cited else "import.made", **told))


def _group_alike(results: Sequence[Imported]) -> list[list[Imported]]:
    keys = (place if each.run else (each.status, each.reason) for place, each in enumerate(results))
    return list(by_key(zip(keys, results, strict=True)).values())


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in redaction.redact(text))


def _exit(results: Sequence[Imported]) -> int:
    runs = [result for result in results if result.run is not None]
    if not runs:  # what was refused can be mended; of other kinds of figures there is nothing to measure
        return Exit.USAGE if any(result.status == "skipped" for result in results) else Exit.NOTHING_MEASURED
    return Exit.DONE if len(runs) == len(results) else Exit.SOME_FAILED
