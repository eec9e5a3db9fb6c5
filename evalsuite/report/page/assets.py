"""The style sheet of a page: joined from the parts under `templates/style/` that people edit, then minified.

A part names the others it needs as a browser would be told, `@import "palette.css";`, so that editors and browsers
understand the sources too. A page holds one sheet, which its content policy allows by its hash. The same sources give
the same text, made once per process.

The minifier knows only the language that our own sources are written in (tests/unit/test_page_assets.py). It takes out
what a reader needs and a browser does not, comments and blanks, and renames nothing.
"""

import functools
import re
from pathlib import Path

from evalsuite import paths

STYLE_IMPORT = re.compile(r'^@import "([\w./-]+)";\n', re.MULTILINE)


@functools.cache
def style(name: str) -> str:
    """The sheet `templates/style/<name>` with everything that it imports, minified."""
    return minified_style(joined_style(paths.TEMPLATES / "style" / name))


def joined_style(file: Path) -> str:
    """*file* with each `@import` replaced by the text of that sheet."""
    return STYLE_IMPORT.sub(lambda found: joined_style(file.parent / found[1]), file.read_text(encoding="utf-8"))


STRING = r"""(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
STYLE_COMMENT = re.compile(rf"({STRING})|/\*.*?\*/", re.DOTALL)  # a comment in a string is none
STYLE_STRING = re.compile(rf"({STRING})")


def minified_style(text: str) -> str:
    """The sheet *text* without comments and needless blanks; what stands in quotes stays as it is."""
    pieces = STYLE_STRING.split(STYLE_COMMENT.sub(lambda found: found[1] or " ", text))
    short = "".join(piece if place % 2 else _short_style(piece) for place, piece in enumerate(pieces))
    return short.strip() + "\n"


def _short_style(text: str) -> str:
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r" ?([{},;>]) ?", r"\1", text)  # not + and -: `calc()` needs the blanks round them
    text = re.sub(r": ", ":", text)  # not the blank before: `tr :is(th, td)` says "inside"
    text = text.replace(" !important", "!important").replace(";}", "}")
    text = re.sub(r"\}(?!\})", "}\n", text)  # a rule a line: a change of a page can then be read
    return re.sub(r"(?<![\w.])0\.(?=\d)", ".", text)
