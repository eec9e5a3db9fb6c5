"""The style sheet and the script of a page: joined from the parts under `templates/` that people edit, then minified.

A part names the others it needs as a browser would be told, `@import "palette.css";` or
`import { all, one } from "./dom.js";`, so that editors and browsers understand the sources too. A page holds one sheet
and one classic script, which its content policy allows by their hash. The same sources give the same text, made once
per process.

The minifiers know only the language that our own sources are written in (tests/unit/test_page_assets.py). They take out
what a reader needs and a browser does not, comments and blanks, and rename nothing.
"""

import functools
import re
from collections.abc import Iterator
from pathlib import Path

from evalsuite import paths
from evalsuite.errors import EvalsuiteError

STYLE_IMPORT = re.compile(r'^@import "([\w./-]+)";\n', re.MULTILINE)
SCRIPT_IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"([\w./-]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|const|let|class) (\w+))", re.MULTILINE)
TOP_LEVEL = re.compile(r"^(?:export )?(?:async function|function|const|let|class) (\w+)", re.MULTILINE)
OTHER_MODULE_SYNTAX = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


@functools.cache
def style(name: str) -> str:
    """The sheet `templates/style/<name>` with everything that it imports, minified."""
    return minified_style(joined_style(paths.TEMPLATES / "style" / name))


@functools.cache
def script(name: str) -> str:
    """The module `templates/script/<name>` with everything that it imports, as one minified classic script."""
    return minified_script(joined_script(paths.TEMPLATES / "script" / name))


# joining


def joined_style(file: Path) -> str:
    """*file* with each `@import` replaced by the text of that sheet."""
    return STYLE_IMPORT.sub(lambda found: joined_style(file.parent / found[1]), file.read_text(encoding="utf-8"))


def joined_script(file: Path) -> str:
    """The module *file* and all it imports as one function, each module once and after those that it needs.

    All modules then share one scope, so a name may be declared by one of them only. Raises EvalsuiteError where that
    does not hold, where a module imports what another does not export, or is written in a way that is not joined.
    """
    modules: dict[Path, str] = {}
    _add_module(file.resolve(), modules, ())
    _check_names(modules)
    body = "\n".join(EXPORT.sub("", SCRIPT_IMPORT.sub("", text)) for text in modules.values())
    return f'(() => {{\n"use strict";\n{body}\n}})();\n'


def _add_module(file: Path, modules: dict[Path, str], asking: tuple[Path, ...]) -> None:
    """Puts *file* into *modules*, after what it imports; *asking* are the modules that it is imported for."""
    if file in modules:
        return
    if file in asking:
        raise EvalsuiteError(f"{file}: imports itself, through {asking[-1].name}; expected modules without a circle.")
    text = file.read_text(encoding="utf-8")
    for _, other in SCRIPT_IMPORT.findall(text):
        _add_module((file.parent / other).resolve(), modules, (*asking, file))
    modules[file] = text


def _check_names(modules: dict[Path, str]) -> None:
    owners: dict[str, Path] = {}
    for file, text in modules.items():
        for name in TOP_LEVEL.findall(text):
            if name in owners:
                raise EvalsuiteError(
                    f"{file}: declares {name}, and so does {owners[name].name}; expected each name once, since the "
                    "modules of a page are joined into one. Try a name of its own."
                )
            owners[name] = file
        for names, other in SCRIPT_IMPORT.findall(text):
            offered = EXPORT.findall(modules[(file.parent / other).resolve()])
            for name in filter(None, (part.strip() for part in names.split(","))):
                if name not in offered:
                    raise EvalsuiteError(f"{file}: imports {name} from {other}; expected one of {', '.join(offered)}.")
        left = OTHER_MODULE_SYNTAX.search(EXPORT.sub("", SCRIPT_IMPORT.sub("", text)))
        if left:
            raise EvalsuiteError(
                f'{file}: {left[0]}; expected `import {{ name }} from "./module.js";` or `export` before a '
                "declaration. Try one of these, at the beginning of a line."
            )


# minifying

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


SCRIPT_TOKEN = re.compile(
    rf"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<string>{STRING}|`(?:[^`\\]|\\.)*`)
    |(?P<word>[\w$.]+)
    |(?P<blank>\s+)
    |(?P<slash>/)
    |(?P<sign>.)""",
    re.DOTALL | re.VERBOSE,
)
REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
VALUE_ENDS = re.compile(r"[\w$)\]}\"'`]$")  # after these a slash divides; elsewhere it begins a regular expression
WORDS_BEFORE_A_VALUE = ("return", "typeof", "case", "in", "of")
TIGHT = set("{}()[],;:?=<>&|*")  # blanks beside these say nothing
OPENING = set("{([,;:?=<>&|*")  # a statement never ends with these, so neither does a line need to
CLOSING = set("})],;:?=>&|*.")  # nor does one begin with these, and a `}` ends the one before it by itself


def minified_script(text: str) -> str:
    """The script *text* without comments and needless blanks; a line stays where it may be the end of a statement."""
    written: list[str] = []
    blank = ""
    for token in _tokens(text):
        if token.isspace():
            blank = blank or " "
            blank = "\n" if "\n" in token else blank
            continue
        if written and blank and not _tight(written[-1][-1], token[0], blank):
            written.append(blank)
        written.append(token)
        blank = ""
    return "".join(written).strip() + "\n"


def _tight(before: str, after: str, blank: str) -> bool:
    """Whether the *blank* between two characters of code says nothing."""
    if blank == "\n":
        return before in OPENING or after in CLOSING
    return before in TIGHT or after in TIGHT


def _tokens(text: str) -> Iterator[str]:
    """Words, signs, strings, regular expressions and blanks of the script *text*; a comment counts as a blank."""
    place, last = 0, ""
    while place < len(text):
        found = SCRIPT_TOKEN.match(text, place)
        assert found is not None  # the last alternative takes any character
        token, kind = found[0], found.lastgroup
        if kind == "slash" and (not VALUE_ENDS.search(last) or last in WORDS_BEFORE_A_VALUE):
            expression = REGEX.match(text, place)
            token = expression[0] if expression else token
        if kind == "comment":
            token = "\n" if "\n" in token or token.startswith("//") else " "
        elif kind != "blank":
            last = token
        yield token
        place += len(found[0]) if kind == "comment" else len(token)
