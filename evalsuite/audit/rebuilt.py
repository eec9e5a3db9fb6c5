"""A report against the same one made again, byte by byte, with the place of the first difference."""

import io
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from evalsuite.audit.own_files import ARCHIVES, BINARY, MOST_BYTES, members
from evalsuite.core.errors import Contradicts, EvalsuiteError, Gone
from evalsuite.core.files import read_bytes, sha256
from evalsuite.core.messages import Message
from evalsuite.finished import manifest

BEFORE, SHOWN = 20, 60  # letters of a line: before its first difference, and in all
BROWSER = re.compile(rb"/(?:Creator|Producer) \(.*\)")  # of a PDF


def differences(report: Path, again: Path) -> Iterator[EvalsuiteError]:
    given, made = ({file.relative_to(folder): file for file in manifest.files_of(folder)} for folder in (report, again))
    other = {name for name in given.keys() | made if _hash(given.get(name)) != _hash(made.get(name))}
    for name in sorted(other - {Path(manifest.NAME)} or other):
        if name not in made:
            yield Contradicts.of("audit.added", path=given[name])
        elif name not in given:
            yield Gone.of("audit.gone", path=report / name)
        else:
            yield _difference(given[name], made[name])


def _hash(file: Path | None) -> str:
    return sha256(file) if file else ""


def _difference(given: Path, again: Path) -> EvalsuiteError:
    if given.suffix in BINARY:
        browsers = {tuple(BROWSER.findall(read_bytes(file, most=MOST_BYTES))) for file in (given, again)}
        if len(browsers) > 1:
            return Gone.of("audit.other_browser", path=given)
        return Contradicts.of("audit.changed", path=given)
    try:
        ours, theirs = _texts(given), _texts(again)
    except EvalsuiteError as error:
        return Contradicts(error.message)
    name = next((name for name in sorted({*ours, *theirs}) if ours.get(name) != theirs.get(name)), None)
    if name is None:
        return Contradicts.of("audit.changed", path=given)  # nothing but the way it is packed
    texts = (texts.get(name, b"").decode("utf-8", "surrogateescape") for texts in (ours, theirs))
    lines = itertools.zip_longest(*(io.StringIO(text, newline="\n") for text in texts), fillvalue="")
    number, pair = next((number, pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1])
    same = next((at for at, letters in enumerate(zip(*pair, strict=False)) if len({*letters}) > 1), 0)
    got, expected = (text[max(0, same - BEFORE) :][:SHOWN].strip() for text in pair)
    path = Message("core.file_line", path=given / name, line=number)
    return Contradicts.of("audit.other_form", path=path, got=got, expected=expected)


def _texts(file: Path) -> dict[str, bytes]:
    return dict(members(file)) if file.suffix in ARCHIVES else {"": read_bytes(file, most=MOST_BYTES)}
