"""Shapes that several figures draw."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalsuite.report.figures.sheet import Panel
from evalsuite.report.figures.style import ROLES

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.collections import Collection

Box = tuple[float, float, float, float]  # x, y, width, height in the panel's data


def corners(box: Box) -> tuple[tuple[float, float], ...]:
    x, y, width, height = box
    return ((x, y), (x + width, y), (x + width, y + height), (x, y + height))


def outlines(
    panel: Panel, boxes: Sequence[Box], *, colour: str = "ink", width: float = 1.1, zorder: float = 2.5
) -> "Collection":
    from matplotlib.collections import PolyCollection

    shapes = PolyCollection(
        [corners(box) for box in boxes], facecolors="none", edgecolors=ROLES[colour], linewidths=width, zorder=zorder
    )
    return panel.add_collection(shapes, autolim=False)


def field(
    panel: Panel, boxes: Sequence[Box], colour: str, *, hatch: str = "", zorder: float = 1, alpha: float = 1
) -> "Artist":
    """Boxes as one path: a strip of a thousand cells stays one element. *hatch* is a colour."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    vertices = [corner for box in boxes for corner in (*corners(box), box[:2])]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(boxes)
    patch = PathPatch(
        Path(vertices, codes),
        facecolor=ROLES.get(colour, "none"),
        edgecolor=ROLES[hatch] if hatch else "none",
        linewidth=0,
        hatch="///" if hatch else None,
        alpha=None if alpha == 1 else alpha,
        zorder=zorder,
    )
    return panel.add_artist(patch)  # add_patch would look for the limits of every corner
