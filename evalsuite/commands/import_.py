"""`evalsuite import`: run folders from logs or tables produced elsewhere."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from evalsuite.commands.options import search_paths
from evalsuite.commands.printing import i18n, terminal
from evalsuite.commands.printing.i18n import say, worded
from evalsuite.commands.printing.terminal import print_json
from evalsuite.core import redaction
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import by_key
from evalsuite.importing import log_import, published_figures, published_tables, user_facts
from evalsuite.importing.log_import import Imported
from evalsuite.logs import catalogue
from evalsuite.report.text.findings import document
from evalsuite.results.measure import facts
from evalsuite.runs import campaign_facts
from evalsuite.runs.store import Store

MOST_ALIKE = 3  # equal complaints that are printed one by one


def run(arguments: argparse.Namespace) -> int:
    into = Store(arguments.runs)
    common = user_facts.campaign_facts(arguments.facts) if arguments.facts else campaign_facts.read(into.root)
    user = user_facts.stated([*common.items(), *arguments.set])
    campaign_facts.check(into.root, common)
    found_by = user_facts.pattern(arguments.pattern) if arguments.pattern else None
    results: list[log_import.Imported] = []
    dialects = catalogue.known(search_paths(arguments))
    importer = log_import.Importer(into, user, common, found_by, dialects, facts.printed_facts)
    for path in arguments.paths:
        if _is_table(path):
            table = published_tables.read(path)
            if table.unread:
                terminal.note(f"{path}: columns that are not read: {', '.join(table.unread)}")
            results += published_figures.cite_table(table, into, user, dialects, common=common)
        else:
            results += importer.logs(path)
    if not results:
        raise EvalsuiteError.of("commands.no_logs", path=arguments.paths[0])
    if arguments.facts and any(result.run for result in results):
        campaign_facts.write_once(into.root, common)
    _print(results, arguments.json)
    return _exit(results)


def _is_table(path: Path) -> bool:
    try:
        return path.suffix.lower() == ".csv" and published_tables.is_one(path)
    except OSError as error:
        raise EvalsuiteError.of("commands.import_path", path=path, error=error) from error


def _print(results: Sequence[Imported], as_json: bool) -> None:
    if as_json:
        rows = [asdict(replace(each, findings=())) | {"findings": [*map(document, each.findings)]} for each in results]
        print_json(redaction.redact_value(rows))
        return
    keys = (place if each.run else (each.status, each.reason) for place, each in enumerate(results))
    for alike in by_key(zip(keys, results, strict=True)).values():
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


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in redaction.redact(text))


def _exit(results: Sequence[Imported]) -> int:
    runs = [result for result in results if result.run is not None]
    if not runs:  # what was refused can be mended
        return Exit.USAGE if any(result.status == "skipped" for result in results) else Exit.NOTHING_MEASURED
    return Exit.DONE if len(runs) == len(results) else Exit.SOME_FAILED
