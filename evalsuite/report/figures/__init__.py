"""Figures of the report: plain data → SVG text with real text nodes, themed by the page.

Words live in HTML (REPORT.md §7): inside an SVG stand numbers, units and proper names. Each function gives a
`Figure` with the SVG, the table behind it, its legend and the keys of its axes. Matplotlib is imported when
the first figure is really drawn; a figure drawn before comes from the cache.
"""

from .curves import Curve, CurvePanel, convergence
from .data import Axis, Cell, Figure, Label, LegendEntry, Point, Series, Table, Words, plain, series_of
from .forecast import Forecast, extrapolation
from .multiples import Multiple, small_multiples
from .options import Pair, dumbbell
from .rates import TimeLine, TimePanel, time_panels
from .runs import Bullet, CoverageCell, Repeats, Strip, bullets, coverage, repeats, utilisation
from .scaling import efficiency, per_device, speedup, throughput, time_to_solution
from .steps import Phase, Step, phases
from .style import HUES, Hue, Look, css, look, note_swatch, palette, scale_swatch, standalone, swatch
from .sweeps import Sweep, SweepPoint, batch_sweep

__all__ = [
    "HUES",
    "Axis",
    "Bullet",
    "Cell",
    "CoverageCell",
    "Curve",
    "CurvePanel",
    "Figure",
    "Forecast",
    "Hue",
    "Label",
    "LegendEntry",
    "Look",
    "Multiple",
    "Pair",
    "Phase",
    "Point",
    "Repeats",
    "Series",
    "Step",
    "Strip",
    "Sweep",
    "SweepPoint",
    "Table",
    "TimeLine",
    "TimePanel",
    "Words",
    "batch_sweep",
    "bullets",
    "convergence",
    "coverage",
    "css",
    "dumbbell",
    "efficiency",
    "extrapolation",
    "look",
    "note_swatch",
    "palette",
    "per_device",
    "phases",
    "plain",
    "repeats",
    "scale_swatch",
    "series_of",
    "small_multiples",
    "speedup",
    "standalone",
    "swatch",
    "throughput",
    "time_panels",
    "time_to_solution",
    "utilisation",
]
