"""A report against the same one made again: every form byte by byte, with the place of the first difference."""

from collections.abc import Iterator
from pathlib import Path

from evalsuite.audit.own_files import ARCHIVES, MOST_BYTES, files_of, members
from evalsuite.errors import Contradicts, EvalsuiteError, Gone
from evalsuite.files import is_file, read_bytes, sha256
from evalsuite.messages import Message
from evalsuite.report.data import manifest

BEFORE, SHOWN = 20, 60  # letters of a line: before its first difference, and in all


def differences(report: Path, again: Path) -> Iterator[EvalsuiteError]:
    for file in files_of(again):
        given = report / file.relative_to(again)
        if file.name == manifest.NAME:
            continue
        if not is_file(given):
            yield Gone.of("audit.gone", path=given)
        elif sha256(given) != sha256(file):
            yield _difference(given, file)


def _difference(given: Path, again: Path) -> EvalsuiteError:
    try:
        ours, theirs = _texts(given), _texts(again)
    except EvalsuiteError as error:
        return Contradicts(error.message)
    name = next((name for name in sorted({*ours, *theirs}) if ours.get(name) != theirs.get(name)), None)
    if name is None:
        return Contradicts.of("audit.changed", path=given)  # nothing but the way it is packed
    texts = (texts.get(name, b"").decode("utf-8", "replace") for texts in (ours, theirs))
    lines = zip(*([*text.split("\n"), ""] for text in texts), strict=False)
    number, pair = next((number, pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1])
    same = next((at for at, letters in enumerate(zip(*pair, strict=False)) if len({*letters}) > 1), 0)
    got, expected = (text[max(0, same - BEFORE) :][:SHOWN].strip() for text in pair)
    path = Message("core.file_line", path=given / name, line=number)
    return Contradicts.of("audit.other_form", path=path, got=got, expected=expected)


def _texts(file: Path) -> dict[str, bytes]:
    return dict(members(file)) if file.suffix in ARCHIVES else {"": read_bytes(file, most=MOST_BYTES)}
