"""Figures already drawn: an unchanged chart is read back, and matplotlib is then not even imported."""

import hashlib
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path

from evalsuite import files
from evalsuite.report.figures import sheet
from evalsuite.report.figures.style import Look
from evalsuite.report.figures.style import look as look_of


def drawn(draw: Callable[..., str], id: str, look: Look, *arguments: object) -> str:
    """`draw(id, look, *arguments)`, from the cache of *look* if the same was drawn before.

    The key holds everything the drawing depends on: arguments, hues, this package's source, matplotlib's version.
    """
    if look.cache is None:
        return _draw(draw, id, look, arguments)
    asked = repr((draw.__qualname__, id, tuple(sorted(look.hues.items())), arguments, _drawer()))
    path = look.cache / f"{hashlib.sha256(asked.encode('utf-8', 'backslashreplace')).hexdigest()}.svg"
    known = _read(path)
    if known is None:
        known = _draw(draw, id, look, arguments)
        files.keep(path, known.encode())
    return known


def make_ready() -> None:
    """Loads what draws where nothing was ever drawn, since then it will be needed."""
    look = look_of(())
    if look.cache is not None and not look.cache.is_dir():
        with sheet.settings():
            board = sheet.Sheet("nothing", height=10)
            board.panel(0, 0, 10, 10)
            board.svg()


def _draw(draw: Callable[..., str], id: str, look: Look, arguments: tuple[object, ...]) -> str:
    with sheet.settings():
        return draw(id, look, *arguments)


def _read(path: Path) -> str | None:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return text if text.startswith("<svg ") and text.endswith("</svg>") else None


@cache
def _drawer() -> str:
    """Changes when the drawing code or matplotlib does."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    code = b"".join(source.read_bytes() for source in sources)
    return f"{hashlib.sha256(code).hexdigest()} {version('matplotlib')}"
