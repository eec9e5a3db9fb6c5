"""Figures of the report: plain data → SVG text with real text nodes, themed by the page.

Words live in HTML (REPORT.md §7): inside an SVG stand numbers, units and proper names. Each function gives a
`Figure` with the SVG, the table behind it, its legend and the keys of its axes. Matplotlib is imported when
the first figure is really drawn; a figure drawn before comes from the cache.
"""

from .data import Axis, Cell, Figure, Label, LegendEntry, Point, Series, Table, Words, series_of
from .runs import Bullet, CoverageCell, Repeats, Strip, bullets, coverage, repeats, utilisation
from .scaling import efficiency, per_device, speedup, throughput
from .style import Hue, Look, css, look, note_swatch, palette, scale_swatch, swatch

__all__ = [
    "Axis",
    "Bullet",
    "Cell",
    "CoverageCell",
    "Figure",
    "Hue",
    "Label",
    "LegendEntry",
    "Look",
    "Point",
    "Repeats",
    "Series",
    "Strip",
    "Table",
    "Words",
    "bullets",
    "coverage",
    "css",
    "efficiency",
    "look",
    "note_swatch",
    "palette",
    "per_device",
    "repeats",
    "scale_swatch",
    "series_of",
    "speedup",
    "swatch",
    "throughput",
    "utilisation",
]
