"""`evalsuite runs prune`: room in a folder of runs."""

import argparse
from datetime import UTC, datetime

from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.runs.store import Store

DAY_S = 86_400.0


def run(arguments: argparse.Namespace) -> int:
    store, now = Store(arguments.runs), datetime.now(UTC)
    aside, finished = store.aside(), [folder.path for folder in store.finished()]
    if not aside and not finished:
        raise EvalsuiteError.of("launch.none_begun", path=store.root)
    folders = aside + (finished if arguments.finished else [])
    since_s = now.timestamp() - arguments.older_than * DAY_S
    old = [path for path in folders if max(each.lstat().st_mtime for each in (path, *path.rglob("*"))) < since_s]
    for path in old:
        line(str(path))
        if arguments.go:
            store.remove(path, now.isoformat())
    line(say("runs.removed" if arguments.go else "runs.would_go", n=len(old)))
    return Exit.DONE
