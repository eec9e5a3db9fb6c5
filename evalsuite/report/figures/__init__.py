"""Figures of the report: plain data → SVG text with real text nodes, themed by the page.

An SVG holds only numbers, units and proper names: words live in HTML (docs/architecture.md#words).
"""

from evalsuite.report.figures.data import (
    Bilingual,
    Figure,
    Label,
    Line,
    Metric,
    Point,
    drawable,
    plain,
    series_of,
)
from evalsuite.report.figures.lines import LinePanel, lines, reaches_far
from evalsuite.report.figures.steps import StepBar, phases
from evalsuite.report.figures.strips import Strip, utilisation
from evalsuite.report.figures.style import Look, as_picture, css, family, look
