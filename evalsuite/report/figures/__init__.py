"""Figures of the report: plain data → SVG text with real text nodes, themed by the page.

An SVG holds only numbers, units and proper names: words live in HTML (docs/architecture.md#words).
"""

from evalsuite.report.figures.data import (
    Bilingual,
    Figure,
    Label,
    Line,
    Point,
)
from evalsuite.report.figures.lines import LinePanel, lines
from evalsuite.report.figures.style import Look, css, family, look
