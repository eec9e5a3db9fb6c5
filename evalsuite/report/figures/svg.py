"""matplotlib's SVG as a page can theme it: colours of `style.ROLES` are classes, numbers have one decimal.

Neighbouring strokes of one look are one path: a page holds a hundred drawings.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from evalsuite.report.figures.data import clean
from evalsuite.report.figures.style import ROLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CLASSES = {colour: name for name, colour in ROLES.items()}
_HREF = "{http://www.w3.org/1999/xlink}href"
_KEPT = ("x", "y", "width", "height", "patternUnits", "stroke-width", "stroke-dasharray", "fill-opacity", "opacity")
_STROKES = re.compile(r'(<path class="line-[\w-]+" fill="none"[^>]*) d="[^"]*"/>(?:\1 d="[^"]*"/>)+')


@dataclass(frozen=True, kw_only=True)
class Group:
    """The annotations of an artist, by its gid: its series and the cases that its shapes lead to, as they are drawn."""

    refs: Iterator[str | None] = field(default_factory=lambda: iter(()))
    series: str | None = None


def draw(figure: "Figure", id: str, groups: Mapping[str, Group]) -> str:
    """The shapes of *figure* as SVG, with ids that begin with *id*."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    text = StringIO()
    FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None})  # type: ignore[no-untyped-call]
    root = ElementTree.fromstring(text.getvalue())
    names: dict[str, str] = {}
    for node in root.iter():
        if _tag(node) in ("path", "pattern") and "id" in node.attrib:
            names[node.attrib["id"]] = f"{id}-{len(names)}"
    shapes = "".join(_write(node, names, groups, Group()) for node in root if _tag(node) in ("g", "defs"))
    return _STROKES.sub(lambda found: found[0].replace(f'"/>{found[1]} d="', ""), shapes)


def _write(node: ElementTree.Element, names: Mapping[str, str], groups: Mapping[str, Group], group: Group) -> str:
    tag, id = _tag(node), node.get("id", "")
    own = groups.get(id)
    inside = "".join(_write(child, names, groups, own or group) for child in node if _tag(child) != "style")
    if tag in ("g", "defs") and not (tag == "defs" and inside):
        return f"<g{attributes({'data-series': own.series})}>{inside}</g>" if own and own.series else inside
    look = {"id": names.get(id), **({} if tag == "path" and id else _look(node, names)), "d": _shorten(node.get("d"))}
    ref = next(group.refs, None) if tag in ("path", "use") and not id else None
    if ref is not None:
        look = {"data-ref": ref or None, **look, "class": f"mark {look['class'] or ''}".rstrip()}
    return f"<{tag}{attributes(look)}>{inside}</{tag}>" if inside else f"<{tag}{attributes(look)}/>"


def _look(node: ElementTree.Element, names: Mapping[str, str]) -> dict[str, str | None]:
    given = node.attrib | dict(part.split(": ") for part in node.get("style", "").split("; ") if part)
    fill = given.get("fill", "")
    colours = (("fill", fill), ("line", given.get("stroke", "")))
    return {
        "class": " ".join(f"{kind}-{_CLASSES[colour]}" for kind, colour in colours if colour in _CLASSES) or None,
        "fill": f"url(#{names[fill[5:-1]]})" if fill.startswith("url") else fill if fill == "none" else None,
        "href": f"#{names[given[_HREF][1:]]}" if _HREF in given else None,
        **{name: _shorten(given.get(name)) for name in _KEPT},
    }


def _tag(node: ElementTree.Element) -> str:
    return node.tag.rpartition("}")[2]


def _shorten(numbers: str | None) -> str | None:
    return numbers and re.sub(r"-?\d+\.\d+", lambda found: short(float(found[0])), " ".join(numbers.split()))


def short(value: float) -> str:
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def attributes(given: Mapping[str, str | None]) -> str:
    pairs = ((name, value) for name, value in given.items() if value is not None)
    return "".join(f" {name}={quoteattr(clean(value))}" for name, value in pairs)
