"""The chart of a page, and the hues and markers of frameworks."""

from evalsuite.report.figures.lines import Chart, Line, Point, chart
from evalsuite.report.figures.style import COLOURS, Look, css, look, outline
