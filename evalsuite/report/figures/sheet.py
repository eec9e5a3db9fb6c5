"""The drawing board: a matplotlib figure measured in CSS pixels, and the SVG that a page can theme.

Matplotlib draws with stand-in colours and stand-in texts. Afterwards the colours become CSS classes, the
texts become what was meant (escaped, never read as mathematics, never looked up in a font), and ids,
styles and metadata that would clash inside one page are dropped.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any, TypeAlias
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from evalsuite.report.figures.data import Bilingual, Label
from evalsuite.report.figures.style import MARKER_RADIUS, ROLES, Hue, polygon

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.path import Path

Mark: TypeAlias = tuple[str, int]  # case id, row of the figure's table
Panel: TypeAlias = "Axes"  # matplotlib's, which is imported when something is drawn

WIDTH = 760  # pixels: the text column of the report (docs/report.md#figures)
TEXT, SMALL = 13, 11.5
_PIXELS_PER_INCH = 72  # matplotlib's points are then our pixels
_TOKEN = re.compile(r"X(\d+)X")
_DRAWN = ("path", "use", "rect", "circle")


class Sheet:
    """One SVG in the making. Coordinates are pixels from the top left unless a panel is named."""

    def __init__(self, id: str, *, height: float, width: float = WIDTH, ends: bool = False):
        from matplotlib.figure import Figure

        if not re.fullmatch(r"[A-Za-z][\w-]*", id):
            raise ValueError(f"figure id {id!r}: a letter, then letters, digits, - and _ are expected")
        self.id, self.width, self.height = id, width, height
        self.ends = ends  # the right end says most, and a narrow window begins there
        self.figure = Figure(figsize=(width / _PIXELS_PER_INCH, height / _PIXELS_PER_INCH), dpi=_PIXELS_PER_INCH)
        self.figure.patch.set_visible(False)
        self._texts: list[Label] = []
        self._groups: list[_Group] = []

    def panel(self, left: float, top: float, right: float, bottom: float) -> Panel:
        """Axes between these edges, with nothing on them yet."""
        box = (left / self.width, 1 - bottom / self.height)
        axes = self.figure.add_axes((*box, (right - left) / self.width, (bottom - top) / self.height), facecolor="none")
        axes.patch.set_visible(False)
        for side in ("left", "right", "top"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set(color=ROLES["rule"], linewidth=1)
        axes.tick_params(length=0, which="both", labelsize=SMALL, labelcolor=ROLES["muted"], pad=5)
        axes.set(xticks=(), yticks=(), axisbelow=True)
        axes.margins(0)
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
        valign: str = "center",
        style: str = "",
        rotation: float = 0,
    ) -> None:
        """A text node at a pixel. *style* is a class: "halo" (readable over lines), "strong"."""
        if not text:
            return
        token = f"X{len(self._texts)}X"
        self._texts.append(text)
        self.figure.text(
            x / _PIXELS_PER_INCH,
            (self.height - y) / _PIXELS_PER_INCH,
            token,
            transform=self.figure.dpi_scale_trans,
            ha=anchor,
            va=valign,
            fontsize=size,
            color=ROLES[colour],
            rotation=rotation,
            gid=self._group(style) if style else None,
        )

    def pixel(self, panel: Panel, x: float, y: float) -> tuple[float, float]:
        """Where a point of *panel*'s data lies on the sheet."""
        across, up = panel.transData.transform((x, y))
        return float(across), self.height - float(up)

    def mark(self, artist: "Artist", refs: Sequence[Mark | None], *, series: str | None = None) -> None:
        """Makes the shapes of *artist* marks: (case id, table row) each, in the order they are drawn; None for none."""
        artist.set_gid(self._group("", refs, series))

    def belongs(self, artist: "Artist", series: str) -> None:
        """Ties a line or band to a framework, so that the page can bring it out or grey it."""
        artist.set_gid(self._group("", (), series))

    def _group(self, style: str, refs: Sequence[Mark | None] = (), series: str | None = None) -> str:
        self._groups.append(_Group(style, refs, series))
        return f"group-{len(self._groups) - 1}"

    def svg(self) -> str:
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        FigureCanvasSVG(self.figure)
        buffer = StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        self.figure.savefig(buffer, format="svg", metadata=nothing, transparent=True)
        return _Page(self, self._texts, self._groups).page(ElementTree.fromstring(buffer.getvalue()))


@contextmanager
def settings() -> Iterator[None]:
    """Matplotlib's own defaults whatever the user's matplotlibrc says, and output that never varies."""
    import matplotlib

    with matplotlib.rc_context():
        defaults = matplotlib.rcParamsDefault.items()
        matplotlib.rcParams.update({k: v for k, v in defaults if not k.startswith("backend")})
        matplotlib.rcParams.update(_SETTINGS)
        yield


_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "evalsuite",
    "path.simplify": False,
    "text.parse_math": False,
    "lines.scale_dashes": False,
    "hatch.linewidth": 0.8,
}


def marker(hue_marker: str) -> "str | Path":
    """What matplotlib is given for one of our markers."""
    corners = polygon(hue_marker)
    return "o" if corners is None else _closed(corners)


def _closed(corners: Sequence[tuple[float, float]]) -> "Path":
    from matplotlib.path import Path

    return Path((*corners, corners[0]), closed=True)


def marker_size(hue_marker: str) -> float:
    """`markersize` so that the marker measures what its legend's swatch does.

    Matplotlib scales a path of its own kind so that its furthest corner lies at half the size.
    """
    corners = polygon(hue_marker)
    reach = 1 if corners is None else max(max(abs(x), abs(y)) for x, y in corners)
    return 2 * MARKER_RADIUS * reach


def dashes(pattern: Sequence[float]) -> dict[str, Any]:
    """What matplotlib is told of a line's dashes: nothing for a whole line."""
    return {"dashes": pattern} if pattern else {}


def marker_style(hue: Hue, *, hollow: bool = False) -> dict[str, Any]:
    return {
        "linestyle": "none",
        "marker": marker(hue.marker),
        "markersize": marker_size(hue.marker),
        "markerfacecolor": ROLES["surface" if hollow else hue.name],
        "markeredgecolor": ROLES[hue.name],
        "markeredgewidth": 1.6 if hollow else 1.0,
        "clip_on": False,
    }


def text_width(text: Label, size: float = SMALL) -> float:
    """A guess of the width in pixels, on the wide side: the page's font is not known here."""
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


def shortened(text: Label, width: float, size: float = SMALL) -> Label:
    """*text* cut with "…" so that it fits; the whole name is in the legend and the table."""
    if isinstance(text, Bilingual):
        return Bilingual(zh=_cut(text.zh, width, size), en=_cut(text.en, width, size))
    return _cut(text, width, size)


def _cut(text: str, width: float, size: float) -> str:
    if text_width(text, size) <= width:
        return text
    while text and text_width(text, size) + size > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


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


def clean(text: str) -> str:
    """*text* without the characters that XML forbids or that turn writing around."""
    return "".join(c if _printable(c) else "\N{REPLACEMENT CHARACTER}" for c in text)


def _printable(character: str) -> bool:
    """Not: control characters, lone surrogates, the embeddings of bidi text, the two non-characters."""
    code = ord(character)
    return not (
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or 0x202A <= code <= 0x202E
        or 0x2066 <= code <= 0x2069
        or code & 0xFFFE == 0xFFFE
    )


class _Page:
    """Matplotlib's SVG tree → SVG text with classes, our texts, our ids."""

    def __init__(self, sheet: Sheet, texts: Sequence[Label], groups: Sequence["_Group"]):
        self.sheet, self.texts, self.groups = sheet, texts, groups
        self.ids: dict[str, str] = {}
        self.marks = 0
        self.colours = {colour: name for name, colour in ROLES.items()}

    def page(self, root: ElementTree.Element) -> str:
        body = "".join(self.element(child, _NO_GROUP) for child in root)
        id, width, height = self.sheet.id, f"{self.sheet.width:g}", f"{self.sheet.height:g}"
        attributes = {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": " ".join(
                ("fig-svg", *["fig-wide"] * (self.sheet.width == WIDTH), *["fig-ends"] * self.sheet.ends)
            ),
            "id": f"{id}-svg",
            "role": "img",
            "aria-labelledby": f"{id}-title",
            "aria-describedby": f"{id}-reading",
            "viewBox": f"0 0 {width} {height}",
            "width": width,
            "height": height,
        }
        opening = " ".join(f'{name}="{value}"' for name, value in attributes.items())
        return f"<svg {opening}>{body}</svg>"

    def element(self, node: ElementTree.Element, group: "_Group") -> str:
        tag = node.tag.rpartition("}")[2]
        if tag in ("metadata", "style"):
            return ""
        if tag == "text":
            return self.text(node, group)
        if tag in ("g", "defs", "clipPath", "pattern"):
            return self.container(tag, node, group)
        return self.shape(tag, node, group)

    def container(self, tag: str, node: ElementTree.Element, group: "_Group") -> str:
        own = self.own_group(node)
        inside = _IN_DEFS if tag != "g" else own or group
        body = "".join(self.element(child, inside) for child in node)
        attributes = self.attributes(node, keep_id=tag != "g")
        if own and own.series is not None:
            attributes += f" data-series={quoteattr(clean(own.series))}"
        if not body or (not attributes and tag in ("g", "defs") and tag == "g"):
            return body
        return f"<{tag}{attributes}>{body}</{tag}>"

    def own_group(self, node: ElementTree.Element) -> "_Group | None":
        name = node.get("id", "")
        return self.groups[int(name[6:])] if name.startswith("group-") else None

    def shape(self, tag: str, node: ElementTree.Element, group: "_Group") -> str:
        mark = group.next_mark() if tag in _DRAWN else None
        classes, plain = self.painted(node)
        extra = ""
        if mark:
            ref, row = mark
            classes = ["mark", *classes]
            extra = f' id="{self.sheet.id}-m{self.marks}" data-row="{row}"'
            self.marks += 1
            extra += f" data-ref={quoteattr(clean(ref))}" if ref else ""
        attributes = self.attributes(node, keep_id=group is _IN_DEFS)
        return f"<{tag}{extra}{_classes(classes)}{attributes}{plain}/>"

    def text(self, node: ElementTree.Element, group: "_Group") -> str:
        classes, plain = self.painted(node)
        found = _TOKEN.fullmatch(node.text or "")
        label = self.texts[int(found[1])] if found else node.text or ""
        classes = [*group.style.split(), *classes]
        shared = f"{_classes(classes)}{self.attributes(node)}{plain}"
        if isinstance(label, Bilingual):
            both = (("zh-CN", label.zh), ("en", label.en))
            return "".join(f'<text lang="{lang}"{shared}>{_written(words)}</text>' for lang, words in both)
        return f"<text{shared}>{_written(label)}</text>"

    def painted(self, node: ElementTree.Element) -> tuple[list[str], str]:
        """A style attribute as (classes for colours, presentation attributes for the rest).

        A content security policy without 'unsafe-inline' ignores style attributes; these it lets through.
        """
        style: dict[str, str] = {name: node.attrib[name] for name in ("fill", "stroke") if name in node.attrib}
        style |= dict(_declarations(node.get("style", "")))
        classes = []
        for paint, prefix in (("fill", "fill"), ("stroke", "line")):
            role = self.colours.get(style.get(paint, "").lower())
            if role:
                classes.append(f"{prefix}-{role}")
                del style[paint]
        return classes, "".join(f" {name}={quoteattr(self.value(value))}" for name, value in _kept(style))

    def attributes(self, node: ElementTree.Element, keep_id: bool = False) -> str:
        pairs = []
        for name, value in node.attrib.items():
            name = name.rpartition("}")[2]
            if name in ("style", "type", "fill", "stroke") or (name == "id" and not keep_id):
                continue
            if name == "transform" and value.startswith("rotate(-0"):
                continue
            value = self.identifier(value) if name == "id" else self.value(value)
            pairs.append((name, _compact(value) if name == "d" else value))
        return "".join(f" {name}={quoteattr(value)}" for name, value in pairs if value)

    def value(self, value: str) -> str:
        """Numbers to a hundredth of a pixel, references to our own ids."""
        value = _REFERENCE.sub(lambda found: f"{found[1]}{self.identifier(found[2])}", value)
        if value.startswith(("#", "url(")):
            return value
        return " ".join(_NUMBER.sub(_rounded, value).split())

    def identifier(self, name: str) -> str:
        return self.ids.setdefault(name, f"{self.sheet.id}-d{len(self.ids)}")


def _written(text: str) -> str:
    return escape(clean(text), {'"': "&quot;"})


class _Group:
    """What the shapes inside one artist have in common."""

    def __init__(self, style: str = "", refs: Iterable[Mark | None] = (), series: str | None = None):
        self.style, self.series = style, series
        self._refs = iter(tuple(refs))

    def next_mark(self) -> Mark | None:
        return next(self._refs, None)


_NO_GROUP, _IN_DEFS = _Group(), _Group()
_REFERENCE = re.compile(r"^(url\(#|#)([\w-]+)")
_NUMBER = re.compile(r"-?\d+\.\d+")
_RECTANGLE = re.compile(r"M(\S+) (\S+)L(\S+) \2L\3 ([^L\s]+)L\1 \4(?:L\1 \2)?z")


def _compact(path: str) -> str:
    """The same path with fewer characters: no needless spaces, rectangles by their edges."""
    path = re.sub(r" ?([MLCQz]) ?", r"\1", path)
    return _RECTANGLE.sub(r"M\1 \2H\3V\4H\1z", path)


def _rounded(found: re.Match[str]) -> str:
    text = f"{float(found[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _declarations(style: str) -> Iterable[tuple[str, str]]:
    for declaration in style.split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            yield name.strip(), value.strip()


def _kept(style: dict[str, str]) -> Iterable[tuple[str, str]]:
    """The declarations that say something: the size of a font but not its family, no defaults."""
    for name, value in style.items():
        if name in ("font", "font-size"):
            size = re.search(r"([\d.]+)px", value)
            yield "font-size", size[1] if size else str(TEXT)
        elif name in ("font-family", "font-weight", "stroke-linejoin") or (name, value) in _DEFAULTS:
            continue
        else:
            yield name, value.removesuffix("px")


_DEFAULTS = {("text-anchor", "start"), ("stroke-linecap", "butt"), ("opacity", "1"), ("stroke-dashoffset", "0")}


def _classes(classes: Sequence[str]) -> str:
    return f' class="{" ".join(classes)}"' if classes else ""
