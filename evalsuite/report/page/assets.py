"""Style sheet and script of a page, joined from the parts under `templates/`, and what a browser may do with it.

A part names the others as for a browser, at the beginning of a line: `@import "palette.css";`,
`import { all, one } from "./dom.js";`.
"""

import base64
import functools
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from evalsuite.core import paths

STYLE_IMPORT = re.compile(r'^@import "([\w./-]+)";\n', re.MULTILINE)
SCRIPT_IMPORT = re.compile(r'^import (?:\{[^}]*\} from )?"([\w./-]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ", re.MULTILINE)
COMMENT = re.compile(r"^[ \t]*(?:/\*.*?\*/|//[^\n]*)\n|[ \t]+/\*[^\n]*\*/$", re.MULTILINE | re.DOTALL)
BLANKS = re.compile(r"^\s+|[ \t]+$", re.MULTILINE)


@functools.cache
def style(name: str) -> str:
    return shorten(join_style(paths.TEMPLATES / "style" / name))


@functools.cache
def script(name: str) -> str:
    modules: dict[Path, str] = {}
    _add_module(paths.TEMPLATES / "script" / name, modules)
    return shorten('(() => {\n"use strict";\n' + "\n".join(modules.values()) + "\n})();\n")


def join_style(file: Path) -> str:
    return STYLE_IMPORT.sub(lambda match: join_style(file.parent / match[1]), file.read_text(encoding="utf-8"))


def _add_module(file: Path, modules: dict[Path, str]) -> None:
    text = file.read_text(encoding="utf-8")
    for other in SCRIPT_IMPORT.findall(text):
        if (needed := (file.parent / other).resolve()) not in modules:
            _add_module(needed, modules)
    modules[file.resolve()] = EXPORT.sub("", SCRIPT_IMPORT.sub("", text))


def shorten(text: str) -> str:
    """Without comments on lines of their own, and without indentation."""
    return BLANKS.sub("", COMMENT.sub("", text))


def policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """Our own styles and scripts by their hash, no request; an image of data, by which the script makes a PNG."""
    return (
        f"default-src 'none'; script-src {_hashes(scripts)}; style-src {_hashes(styles)}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hashes(texts: Iterable[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
