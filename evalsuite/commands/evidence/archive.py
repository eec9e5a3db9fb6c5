"""`evalsuite archive`: run folders and their journal as one file."""

import argparse
import itertools
from pathlib import Path

from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line, note
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.logs.text import logfile
from evalsuite.results.publish import log_copies
from evalsuite.runs import archive
from evalsuite.runs.store import Store


def run(arguments: argparse.Namespace) -> int:
    if not Store(arguments.runs).finished():
        raise EvalsuiteError.of("audit.archive_empty", path=arguments.runs)
    if arguments.out.exists():
        raise EvalsuiteError.of("audit.archive_there", path=arguments.out)
    leave_out = _holds_secret if arguments.redact else lambda _: False
    try:
        packed, left = archive.pack(arguments.runs, arguments.out, leave_out)
    except OSError as error:
        raise EvalsuiteError.of("core.out_file", path=arguments.out, error=error) from error
    for name in left:
        note(say("archive.left_out", path=arguments.runs / name))
    line(say("archive.written", path=arguments.out, n=packed))
    return Exit.DONE


def _holds_secret(file: Path) -> bool:
    try:
        raw, other = itertools.tee(piece for piece, _ in logfile.pieces(file))
        return any(line != masked for line, masked in zip(raw, log_copies.masked(other), strict=True))
    except logfile.Unreadable:
        return True
