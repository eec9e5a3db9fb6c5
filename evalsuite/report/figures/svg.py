"""A matplotlib backend whose SVG a page can theme: colours are classes, texts are texts.

Each colour of `style.ROLES` becomes a class. Coordinates have a tenth of a pixel and neighbouring strokes of one
look are one path: a page holds a hundred drawings.
"""

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from matplotlib.backend_bases import RendererBase
from matplotlib.colors import to_hex
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Transform

from evalsuite.report.figures.data import Bilingual, Group, clean
from evalsuite.report.figures.style import ROLES

Attributes = Mapping[str, str | None]
LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}
ANCHORS = {"left": None, "center": "middle", "right": "end"}
CLASSES = {colour: name for name, colour in ROLES.items()}
HATCH_PX = 5  # from one line of a hatch to the next
NO_GROUP = Group()


class Renderer(RendererBase):
    def __init__(self, id: str, width: float, height: float, groups: Mapping[str, Group]):
        super().__init__()
        self._id, self._width, self._height = id, width, height
        self._down = Affine2D().scale(1, -1).translate(0, height)  # SVG counts from the top
        self._groups = groups
        self._open = [NO_GROUP]
        self._parts: list[str] = []
        self._names: dict[str, str] = {}  # a definition → its id
        self._strokes: list[str] = []  # the last ones, of one look
        self._look = ""

    def svg(self) -> str:
        self._add("")
        return "".join(self._parts)

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self._width, self._height

    def get_text_width_height_descent(self, s: str, prop: FontProperties, ismath: Any) -> tuple[float, float, float]:
        size = prop.get_size_in_points()
        return 0.6 * size * len(s), size, 0.22 * size

    def open_group(self, s: str, gid: str | None = None) -> None:
        self._open.append(self._groups.get(gid or "", NO_GROUP))
        if self._open[-1].series is not None:
            self._add(f"<g{_attributes({'data-series': self._open[-1].series})}>")

    def close_group(self, s: str) -> None:
        if self._open.pop().series is not None:
            self._add("</g>")

    def draw_path(self, gc: Any, path: Path, transform: Transform, rgbFace: Any = None) -> None:
        path = path.transformed(transform + self._down)
        closed = Path.CLOSEPOLY in _codes(path)[-1:]
        ref, look = (
            self._open[-1].next_ref(),
            self._paint(gc, rgbFace if closed else None) | {"clip-path": self._clip(gc, path)},
        )
        if ref is None and look["fill"] == "none":
            self._add_stroke(_attributes(look), _path_data(path))
        else:
            self._add(f'<path{_mark_attributes(ref, look)} d="{_path_data(path)}"/>')

    def draw_markers(
        self, gc: Any, marker_path: Path, marker_trans: Transform, path: Path, trans: Transform, rgbFace: Any = None
    ) -> None:
        refs = [self._open[-1].next_ref() for _ in _points(path)]
        if not any(ref is not None for ref in refs):
            super().draw_markers(gc, marker_path, marker_trans, path, trans, rgbFace)
            return
        shape = _path_data(marker_path.transformed(marker_trans + Affine2D().scale(1, -1)))
        href = f"#{self._define('path', {'d': shape})}"
        places = _points(path.transformed(trans + self._down)).tolist()
        uses = [
            f"<use{_mark_attributes(ref, {'href': href, 'x': _number(x), 'y': _number(y)})}/>"
            for ref, (x, y) in zip(refs, places, strict=True)
        ]
        self._add(f"<g{_attributes(self._paint(gc, rgbFace))}>{''.join(uses)}</g>")

    def draw_text(
        self,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        ismath: Any = False,
        mtext: Text | None = None,
    ) -> None:
        assert mtext is not None  # since it has one line
        group = self._open[-1]
        look = {
            "class": f"{group.style} fill-{_role(gc.get_rgb())}".lstrip(),
            "x": _number(mtext.get_transform().transform(mtext.get_unitless_position())[0]),
            "y": _number(y),
            "font-size": _number(prop.get_size_in_points()),
            "text-anchor": ANCHORS[mtext.get_horizontalalignment()],
        }
        label = group.label
        words = {"zh-CN": label.zh, "en": label.en} if isinstance(label, Bilingual) else {None: s}
        for language, text in words.items():
            self._add(
                f"<text{_attributes({'lang': language, **look})}>{escape(clean(text), {chr(34): '&quot;'})}</text>"
            )

    def _add(self, element: str) -> None:
        if self._strokes:
            self._parts.append(f'<path{self._look} d="{"".join(self._strokes)}"/>')
        self._strokes = []
        self._parts.append(element)

    def _add_stroke(self, look: str, moves: str) -> None:
        if self._strokes and look != self._look:
            self._add("")
        self._look = look
        self._strokes.append(moves)

    def _paint(self, gc: Any, face: Any) -> dict[str, str | None]:
        hatch = gc.get_hatch()
        filled = face is not None and (len(face) == 3 or face[3] > 0)
        width = gc.get_linewidth()
        dashes = gc.get_dashes()[1] if width else None
        classes = [f"fill-{_role(face)}"] if filled and not hatch else []
        classes += [f"line-{_role(gc.get_rgb())}"] if width else []
        return {
            "class": " ".join(classes) or None,
            "fill": self._hatch(gc, face if filled else None) if hatch else None if filled else "none",
            "fill-opacity": _number(face[3]) if filled and len(face) == 4 and face[3] < 1 else None,
            "stroke-width": _number(width) if width not in (0, 1) else None,
            "stroke-dasharray": None if dashes is None else ",".join(map(_number, dashes)),
            "stroke-linecap": "round" if width and gc.get_capstyle() == "round" else None,
        }

    def _hatch(self, gc: Any, face: Any) -> str:
        ground = (
            f'<rect class="fill-{_role(face)}" width="{HATCH_PX}" height="{HATCH_PX}"/>' if face is not None else ""
        )
        line = f'<path class="line-{_role(gc.get_hatch_color())}" d="M0 0V{HATCH_PX}" stroke-width="1.6"/>'
        size = {"width": str(HATCH_PX), "height": str(HATCH_PX)}
        look = {**size, "patternUnits": "userSpaceOnUse", "patternTransform": "rotate(45)"}
        return f"url(#{self._define('pattern', look, ground + line)})"

    def _clip(self, gc: Any, path: Path) -> str | None:
        panel = gc.get_clip_rectangle()
        points = _points(path)
        if panel is None or not len(points):
            return None
        box = panel.transformed(self._down)
        (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
        if left >= box.xmin - 0.1 and right <= box.xmax + 0.1 and top >= box.ymin - 0.1 and bottom <= box.ymax + 0.1:
            return None
        edges = {"x": box.xmin, "y": box.ymin, "width": box.width, "height": box.height}
        rectangle = f"<rect{_attributes({name: _number(value) for name, value in edges.items()})}/>"
        return f"url(#{self._define('clipPath', {}, rectangle)})"

    def _define(self, tag: str, attributes: Attributes, body: str = "") -> str:
        key = f"{tag}{_attributes(attributes)}{body}"
        if key not in self._names:
            self._names[key] = f"{self._id}-{len(self._names)}"
            self._add(f"<defs><{tag}{_attributes({'id': self._names[key], **attributes})}>{body}</{tag}></defs>")
        return self._names[key]


def _role(colour: Any) -> str:
    return CLASSES[to_hex(colour[:3])]


def _mark_attributes(ref: str | None, look: Attributes) -> str:
    if ref is None:
        return _attributes(look)
    classes = " ".join(filter(None, ("mark", look.get("class"))))
    return _attributes({"data-ref": ref or None, **look, "class": classes})


def _attributes(attributes: Attributes) -> str:
    pairs = ((name, value) for name, value in attributes.items() if value is not None)
    return "".join(f" {name}={quoteattr(clean(value))}" for name, value in pairs)


def _points(path: Path) -> Any:
    return path.vertices


def _codes(path: Path) -> list[Any]:
    known: Any = path.codes
    return [Path.MOVETO, *[Path.LINETO] * (len(_points(path)) - 1)] if known is None else known.tolist()


def _path_data(path: Path) -> str:
    parts: list[str] = []
    before = None
    for (x, y), code in zip(_points(path).tolist(), _codes(path), strict=True):
        if code == Path.CLOSEPOLY:
            parts.append("Z")
        elif code != before or code == Path.MOVETO:
            parts.append(f"{LETTERS[code]}{_number(x)} {_number(y)}")
        else:
            parts.append(f" {_number(x)} {_number(y)}")
        before = code
    return "".join(parts)


def _number(value: float) -> str:
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
