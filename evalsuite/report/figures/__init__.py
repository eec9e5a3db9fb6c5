"""Figures of the report: plain data → SVG text with real text nodes, themed by the page.

An SVG holds only numbers, units and proper names: words live in HTML (docs/report.md#words).
"""

from evalsuite.report.figures.curves import Curve, CurvePanel, convergence
from evalsuite.report.figures.data import (
    Bilingual,
    Figure,
    Label,
    Metric,
    ScalePoint,
    ScaleSeries,
    Table,
    plain,
    series_of,
)
from evalsuite.report.figures.multiples import Multiple, small_multiples
from evalsuite.report.figures.scaling import curves, per_device, throughput, time_to_solution
from evalsuite.report.figures.steps import PhaseBar, StepBar, phases
from evalsuite.report.figures.strips import Strip, utilisation
from evalsuite.report.figures.style import Look, as_picture, css, family, look, palette
from evalsuite.report.figures.sweeps import SweepLine, SweepPoint, row_name, size_sweep
