"""`evalsuite published`: what others printed of a model on a device, each figure with the line that prints it."""

import argparse

from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import aligned, note, print_json
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.results.compare import published_rates
from evalsuite.results.compare.published_rates import plain

COLUMNS = ("framework", "model", "machine", "total_devices", "precision_as_printed", "batch_as_printed")


def run(arguments: argparse.Namespace) -> int:
    wanted = {"model": arguments.model, "machine": arguments.device, "framework": arguments.framework}
    given = {name: plain(word) for name, word in wanted.items() if word}
    rows = published_rates.figures()
    chosen = [row for row in rows if all(word in plain(row[name]) for name, word in given.items())]
    if not chosen:
        raise EvalsuiteError.of(
            "commands.none_published", n=len(rows), words=[word for word in wanted.values() if word]
        )
    if arguments.json:
        print_json(chosen)
        return Exit.DONE
    headings = [say(f"published.{name}") for name in (*COLUMNS, "value", "place")]
    shown = [
        [*(row[name] for name in COLUMNS), f"{row['value']} {row['unit_as_printed']}", f"{row['path']}:{row['line']}"]
        for row in chosen
    ]
    aligned([headings, *shown], [*["left"] * len(COLUMNS), "right", "left"])
    note(say("published.counted", n=len(chosen), doubtful=sum("DOUBT:" in row["notes"] for row in chosen)))
    return Exit.DONE
