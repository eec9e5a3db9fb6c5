"""A site takes no report that seems to hold a secret, or what evalsuite did not write: everybody reads a site."""

import json
from collections.abc import Sequence
from pathlib import Path

from evalsuite import redaction
from evalsuite.audit import own_files
from evalsuite.errors import EvalsuiteError
from evalsuite.messages import Message

WHOLE = ("summary.json", "tables.json")  # texts of their own in them, which are judged by all signs


def check(folder: Path, files: Sequence[Path]) -> None:
    """Raises EvalsuiteError with file and place of the first secret, the secret left out, or of what no form writes.

    *files*: all in *folder*, a finished report.
    """
    for wrong in own_files.mistakes(folder, files, _secret):
        raise EvalsuiteError(wrong.message)


def _secret(file: Path, name: str, text: str) -> EvalsuiteError | None:
    place = _place(name, text)
    return EvalsuiteError.of("site.site_secret", path=file, place=place) if place else None


def _place(name: str, text: str) -> str | None:
    if redaction.is_issued(text):
        line = next((number for number, line in enumerate(text.split("\n"), 1) if redaction.is_issued(line)), None)
        return Message("core.file_line", path=name, line=line) if line else name
    if name not in WHOLE:
        return None
    try:
        return redaction.find_secret(json.loads(text))
    except (ValueError, RecursionError):
        return None
