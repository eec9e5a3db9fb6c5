"""A matplotlib figure measured in CSS pixels."""

import contextlib
import hashlib
import pickle
import re
import unicodedata
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeAlias
from xml.sax.saxutils import escape

from evalsuite.core import files, paths
from evalsuite.report.figures import svg
from evalsuite.report.figures.data import Bilingual, Label, clean
from evalsuite.report.figures.style import MARKER_RADIUS, ROLES, Hue, polygon

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Panel: TypeAlias = "Axes"  # matplotlib's, which is imported when something is drawn

WIDTH = 760  # pixels: the text column of the report (docs/architecture.md#figures)
TEXT, SMALL = 13, 11.5
BASELINE = 0.28  # of its size: how far the line that a text stands on is below its middle
ANCHORS = {"left": None, "center": "middle", "right": "end"}
_PIXELS_PER_INCH = 72  # matplotlib's points are then our pixels


class Sheet:
    """One SVG in the making. Coordinates are pixels from the top left unless a panel is named."""

    def __init__(self, id: str, *, height: float, width: float = WIDTH):
        from matplotlib.figure import Figure

        if not re.fullmatch(r"[A-Za-z][\w-]*", id):
            raise ValueError(f"figure id {id!r}: a letter, then letters, digits, - and _ are expected")
        self.id, self.width, self.height = id, width, height
        self.figure = Figure(figsize=(width / _PIXELS_PER_INCH, height / _PIXELS_PER_INCH), dpi=_PIXELS_PER_INCH)
        self.figure.patch.set_visible(False)
        self._groups: dict[str, svg.Group] = {}
        self._texts: list[str] = []

    def panel(self, left: float, top: float, right: float, bottom: float, *, foot: bool = True) -> Panel:
        from matplotlib.lines import Line2D

        box = (left / self.width, 1 - bottom / self.height)
        axes = self.figure.add_axes((*box, (right - left) / self.width, (bottom - top) / self.height), facecolor="none")
        axes.set_axis_off()
        if foot:
            line = Line2D((0, 1), (0, 0), transform=axes.transAxes, color=ROLES["rule"], linewidth=1, zorder=2.5)
            axes.add_artist(line)
        return axes

    def write(
        self,
        x: float,
        y: float,
        text: Label,
        *,
        anchor: str = "left",
        size: float = SMALL,
        colour: str = "muted",
        style: str = "",
    ) -> None:
        """*y* is the middle. *style* is a class: "halo" (readable over lines), "strong"."""
        words = {"zh-CN": text.zh, "en": text.en} if isinstance(text, Bilingual) else {None: text} if text else {}
        look = {
            "class": f"{style} fill-{colour}".lstrip(),
            "x": svg.short(x),
            "y": svg.short(y + BASELINE * size),
            "font-size": svg.short(size),
            "text-anchor": ANCHORS[anchor],
        }
        for language, label in words.items():
            shown = escape(clean(label), {'"': "&quot;"})
            self._texts.append(f"<text{svg.attributes({'lang': language, **look})}>{shown}</text>")

    def line(self, points: Sequence[tuple[float, float]], *, width: float) -> None:
        from matplotlib.lines import Line2D

        xs, ys = zip(*((x / _PIXELS_PER_INCH, (self.height - y) / _PIXELS_PER_INCH) for x, y in points), strict=True)
        line = Line2D(xs, ys, color=ROLES["rule"], linewidth=width, transform=self.figure.dpi_scale_trans)
        self.figure.add_artist(line)

    def pixel(self, panel: Panel, x: float, y: float) -> tuple[float, float]:
        across, up = panel.transData.transform((x, y))
        return float(across), self.height - float(up)

    def mark(self, artist: "Artist", refs: Sequence[str | None], *, series: str | None = None) -> None:
        """The shapes of *artist* lead to these cases, in the order they are drawn; None: to none."""
        artist.set_gid(str(len(self._groups)))
        self._groups[str(len(self._groups))] = svg.Group(refs=iter(refs), series=series)

    def join(
        self, panel: Panel, xs: Sequence[float], ys: Sequence[float], hue: Hue, series: str, *, width: float = 2
    ) -> None:
        dashed: dict[str, Any] = {"dashes": hue.dash} if hue.dash else {}
        (line,) = panel.plot(xs, ys, color=ROLES[hue.name], linewidth=width, zorder=3, **dashed)
        self.mark(line, (), series=series)

    def dots(
        self,
        panel: Panel,
        xs: Sequence[float],
        ys: Sequence[float],
        hue: Hue,
        refs: Sequence[str],
        series: str,
        *,
        hollow: bool = False,
    ) -> None:
        """Markers, each a mark."""
        (dots,) = panel.plot(xs, ys, zorder=4, **marker_style(hue, hollow=hollow))
        self.mark(dots, refs, series=series)

    def svg(self) -> str:
        for artist in (artist for panel in self.figure.axes for artist in panel.get_children()):
            artist.set_clip_on(False)  # limits hold all that is drawn, and a line along an edge keeps its width
        shapes = svg.draw(self.figure, self.id, self._groups)
        classes = f"fig-svg{' fig-wide' * (self.width == WIDTH)}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{classes}" id="{self.id}-svg" role="img" '
            f'aria-labelledby="{self.id}-title" aria-describedby="{self.id}-reading" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}" height="{self.height:g}">'
            f"{shapes}{''.join(self._texts)}</svg>"
        )


def draw(drawing: Callable[..., str], *arguments: object) -> str:
    """What *drawing* gives for *arguments*, kept by both, by our code and by matplotlib's version."""
    asked = pickle.dumps((drawing.__module__, drawing.__name__, version("matplotlib"), arguments))
    kept = files.version_folder(paths.cache() / "figures") / f"{hashlib.sha256(asked).hexdigest()}.svg"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return kept.read_text("utf-8")
    import matplotlib

    with matplotlib.rc_context():
        defaults = matplotlib.rcParamsDefault.items()
        matplotlib.rcParams.update({k: v for k, v in defaults if not k.startswith("backend")})
        matplotlib.rcParams.update(_SETTINGS)
        drawn = drawing(*arguments)
    files.write_cache(kept, drawn.encode("utf-8"))
    return drawn


_SETTINGS: dict[Any, Any] = {
    "path.simplify": False,
    "hatch.linewidth": 1.6,
    "lines.scale_dashes": False,
    "lines.solid_capstyle": "butt",
}


def marker_style(hue: Hue, *, hollow: bool = False) -> dict[str, Any]:
    from matplotlib.path import Path

    corners = polygon(hue.marker)
    # matplotlib scales a path of our own so that its furthest corner lies at half the size
    reach = 1 if corners is None else max(max(abs(x), abs(y)) for x, y in corners)
    return {
        "linestyle": "none",
        "marker": "o" if corners is None else Path((*corners, corners[0]), closed=True),
        "markersize": 2 * MARKER_RADIUS * reach,
        "markerfacecolor": ROLES["surface" if hollow else hue.name],
        "markeredgecolor": ROLES[hue.name],
        "markeredgewidth": 1.6 if hollow else 1.0,
    }


def text_width(text: Label, size: float = SMALL) -> float:
    """A guess in pixels, on the wide side: the page's font is not known."""
    if isinstance(text, Bilingual):
        return max(text_width(text.zh, size), text_width(text.en, size))
    return size * sum(_character_width(character) for character in text)


def _character_width(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if unicodedata.combining(character):
        return 0.0
    if character in "iljft.,:;'|!()[] -/":
        return 0.34
    return 0.9 if character in "mwMW@%" else 0.7 if character.isupper() else 0.61


def shorten(text: Label, width: float, size: float = SMALL) -> Label:
    """*text* with "…" in its middle: long names often differ at their ends alone. Legend and table have the whole."""
    if isinstance(text, Bilingual):
        return Bilingual(zh=_cut(text.zh, width, size), en=_cut(text.en, width, size))
    return _cut(text, width, size)


PARTS_OF_NUMBERS = "0123456789.,"  # a number that is cut reads as another one


def _cut(text: str, width: float, size: float) -> str:
    if text_width(text, size) <= width:
        return text
    if " + " in text:  # a name of several options keeps the value of each
        parts = text.split(" + ")
        return " + ".join(_cut(part, width / len(parts) - text_width(" + ", size), size) for part in parts)
    value = re.search("[:：].*", text)
    if value and text_width(value[0], size) < width / 2:
        while text_width(text, size) + size > width and len(text) > len(value[0]):
            text = text[: -len(value[0]) - 1] + value[0]
        return f"{text.removesuffix(value[0]).rstrip()}…{value[0]}"
    while text and text_width(text, size) + size > width:
        text = text[: len(text) // 2] + text[len(text) // 2 + 1 :]
    middle = len(text) // 2
    before, behind = text[:middle].rstrip(PARTS_OF_NUMBERS), text[middle:].lstrip(PARTS_OF_NUMBERS)
    return f"{before.rstrip()}…{behind.lstrip()}"


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The places nearest to *wanted*, in the same order, at least *gap* apart, from *low* to *high* if they fit.

    Least squares under an order constraint: pool adjacent violators, en.wikipedia.org/wiki/Isotonic_regression.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    pools: list[tuple[float, int]] = []  # (sum, count) of neighbours that share one offset
    for rank, i in enumerate(order):
        pools.append((wanted[i] - rank * gap, 1))
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] >= pools[-1][0] / pools[-1][1]:
            last, before = pools.pop(), pools.pop()
            pools.append((last[0] + before[0], last[1] + before[1]))
    offsets = [total / count for total, count in pools for _ in range(count)]
    ceiling = max(low, high - gap * (len(wanted) - 1))
    places = {i: min(max(o, low), ceiling) + rank * gap for rank, (i, o) in enumerate(zip(order, offsets, strict=True))}
    return [places[i] for i in range(len(wanted))]
