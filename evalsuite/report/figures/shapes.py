"""Shapes that several figures draw: bars, boxes, whiskers, leads, fields of rectangles."""

from collections.abc import Sequence

from .data import Point
from .sheet import Sheet
from .style import ROLES, Hue

Box = tuple[float, float, float, float]  # x, y, width, height in the panel's data


def bars(
    sheet: Sheet,
    panel,
    boxes: Sequence[Box],
    hue: Hue,
    points: Sequence[Point],
    first_row: int,
    series: str,
) -> None:
    """Rectangles (x, y, width, height); hatched where the points are not fully measured."""
    from matplotlib.collections import PolyCollection

    hollow = points[0].hollow
    collection = PolyCollection(
        [corners(box) for box in boxes],
        facecolors=ROLES["surface" if hollow else hue.name],
        edgecolors=ROLES[hue.name],
        hatch="////" if hollow else None,
        linewidths=1.4 if hollow else 0.6,
        zorder=2,
    )
    panel.add_collection(collection, autolim=False)
    sheet.mark(collection, [(p.ref, row) for row, p in enumerate(points, first_row)], series=series)


def corners(box: Box) -> tuple[tuple[float, float], ...]:
    x, y, width, height = box
    return ((x, y), (x + width, y), (x + width, y + height), (x, y + height))


def whisker(panel, xs: tuple[float, float], ys: tuple[float, float], *, wide: bool = True) -> None:
    """An interval over a bar: ink on a halo of the surface, so that it is seen on any hue."""
    if wide:
        panel.plot(xs, ys, color=ROLES["surface"], linewidth=3.6, zorder=3)
    panel.plot(xs, ys, color=ROLES["ink"], linewidth=1.4 if wide else 0.8, zorder=3.1)


def outline(panel, box: Box, *, colour: str = "ink", width: float = 1.1, zorder: float = 2.5):
    """An empty box: what ideal scaling would fill, the frame of a strip."""
    from matplotlib.patches import Rectangle

    x, y, across, up = box
    patch = Rectangle(
        (x, y), across, up, facecolor="none", edgecolor=ROLES[colour], linewidth=width, zorder=zorder, clip_on=False
    )
    return panel.add_patch(patch)


def field(panel, boxes: Sequence[Box], colour: str, *, hatch: str = "", zorder: float = 1, alpha: float = 1):
    """Many boxes of one colour as one path: a heat strip of a thousand cells stays a few elements.

    *hatch* is the colour of the lines over it.
    """
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    path = Path.make_compound_path(*(Path((*corners(box), corners(box)[0]), closed=True) for box in boxes))
    patch = PathPatch(
        path,
        facecolor=ROLES.get(colour, "none"),
        edgecolor=ROLES[hatch] if hatch else "none",
        linewidth=0,
        hatch="/////" if hatch else None,
        alpha=None if alpha == 1 else alpha,
        zorder=zorder,
    )
    return panel.add_patch(patch)


def lead(sheet: Sheet, points: Sequence[tuple[float, float]]) -> None:
    """A hairline over the whole sheet, through pixels."""
    from matplotlib.lines import Line2D

    xs, ys = zip(*((x / 72, (sheet.height - y) / 72) for x, y in points), strict=True)
    line = Line2D(xs, ys, color=ROLES["rule"], linewidth=0.7, transform=sheet.figure.dpi_scale_trans)
    sheet.figure.add_artist(line)
