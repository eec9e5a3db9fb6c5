"""`evalsuite dialects`: the log dialects as a table, or line by line how one log is read."""

import argparse
from pathlib import Path

from evalsuite.commands import places
from evalsuite.errors import EvalsuiteError, Exit

HELP = "list the log dialects, or explain how a log is read"
EXAMPLES = """\
  python -m evalsuite dialects
  python -m evalsuite dialects --explain train.log
  python -m evalsuite dialects --explain train.log --dialect torchtitan --all
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--explain", metavar="LOG", type=Path, help="say line by line what matched and what was skipped"
    )
    parser.add_argument("--dialect", metavar="NAME", help="explain as this dialect instead of finding out")
    places.add_arguments(parser)
    parser.add_argument("--all", action="store_true", help="every line, not only the first of each kind")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    from evalsuite.logs import catalogue

    dialects = catalogue.known(places.places(arguments))
    if arguments.explain is None:
        _list(dialects, arguments.json)
        return Exit.DONE
    return _explain(arguments, dialects)


def _list(dialects, as_json: bool) -> None:
    rows = [
        {
            "name": known.name,
            "title": known.title,
            "framework": known.framework,
            "unit": known.unit,
            "scope": known.scope,
            "averaging": known.averaging,
            "notes": known.notes,
        }
        for known in sorted(dialects.values(), key=lambda known: known.name)
    ]
    if as_json:
        import json

        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    widths = {key: max(len(key), *(len(str(row[key] or "-")) for row in rows)) for key in rows[0] if key != "notes"}
    print("  ".join(key.ljust(width) for key, width in widths.items()))
    for row in rows:
        print("  ".join(str(row[key] or "-").ljust(width) for key, width in widths.items()))


def _explain(arguments: argparse.Namespace, dialects) -> int:
    from evalsuite.logs import explaining
    from evalsuite.logs.logfile import Unreadable

    try:
        found = explaining.explained(arguments.explain, dialects, arguments.dialect, every=arguments.all)
    except Unreadable as error:
        raise EvalsuiteError(f"{arguments.explain}: {error}.") from error
    if arguments.json:
        import json
        from dataclasses import asdict

        print(json.dumps(asdict(found), indent=1, ensure_ascii=False))
    else:
        print("\n".join(explaining.sentences(found)))
    return Exit.DONE if found.dialect else Exit.NOTHING_MEASURED
