"""Hues, markers, dashes, and the styles that let one SVG serve light, dark, print and forced colours."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from evalsuite import paths

# docs/report.md#figures: at least 3.1:1 on white and 3.6:1 on #14171A, told apart under protan, deutan, tritan.
LIGHT_HUES = ("#EE4411", "#0088FF", "#441133", "#CC7788", "#000099", "#770000")
HUES = len(LIGHT_HUES)
DARK_HUES = ("#DDDDDD", "#FF6600", "#BB11FF", "#337799", "#33FF88", "#887755")

# Matplotlib's cividis in ten steps: perceptually uniform, and read alike with and without colour vision
# (Nuñez, Anderton, Renslow 2018, doi 10.1371/journal.pone.0199239). Light theme: low is pale; dark: low is dark.
CIVIDIS = (
    *("#00224E", "#123570", "#3B496C", "#575D6D", "#707173"),
    *("#8A8678", "#A59C74", "#C3B369", "#E1CC55", "#FEE838"),
)

# name: (light, dark). Text at least 4.5:1, lines that carry meaning at least 3:1, the grid below both.
COLOURS = {
    "ink": ("#1B1F24", "#E6E8EA"),
    "muted": ("#57606A", "#A3ABB3"),
    "rule": ("#6E7781", "#8B949E"),  # ideal lines, thresholds, frames
    "grid": ("#E3E6EA", "#2B3137"),
    "shade": ("#EEF0F3", "#20252A"),  # warm-up, target ranges
    "surface": ("#FFFFFF", "#14171A"),  # what the figure stands on
    "cell-ok": ("#CFE8D8", "#1D4A37"),
    "cell-partial": ("#FBE8B4", "#584711"),
    "cell-bad": ("#F8CFC8", "#6A2620"),
    "cell-none": ("#EEF0F3", "#242A30"),
    "hue-other": ("#6B7280", "#9199A3"),
    **{f"hue-{i}": pair for i, pair in enumerate(zip(LIGHT_HUES, DARK_HUES, strict=True), 1)},
    **{f"seq-{i}": pair for i, pair in enumerate(zip(CIVIDIS[::-1], CIVIDIS, strict=True))},
}
ROLES = {name: f"#a{i:02x}b5d" for i, name in enumerate(COLOURS)}  # what matplotlib is told; never seen

_POLYGONS = {
    "square": ((-0.86, -0.86), (0.86, -0.86), (0.86, 0.86), (-0.86, 0.86)),
    "triangle": ((0, 1.1), (1.05, -0.8), (-1.05, -0.8)),
    "diamond": ((0, 1.2), (1.2, 0), (0, -1.2), (-1.2, 0)),
    "triangle-down": ((0, -1.1), (1.05, 0.8), (-1.05, 0.8)),
    "cross": (
        *((-0.4, 1.1), (0.4, 1.1), (0.4, 0.4), (1.1, 0.4), (1.1, -0.4), (0.4, -0.4)),
        *((0.4, -1.1), (-0.4, -1.1), (-0.4, -0.4), (-1.1, -0.4), (-1.1, 0.4), (-0.4, 0.4)),
    ),
    "pentagon": ((0, 1.1), (1.05, 0.34), (0.65, -0.89), (-0.65, -0.89), (-1.05, 0.34)),
    "left": ((-1.1, 0), (0.8, 1.05), (0.8, -1.05)),
    "right": ((1.1, 0), (-0.8, 1.05), (-0.8, -1.05)),
    "hexagon": ((0.55, 0.95), (1.1, 0), (0.55, -0.95), (-0.55, -0.95), (-1.1, 0), (-0.55, 0.95)),
    "bar": ((-0.35, -1.2), (0.35, -1.2), (0.35, 1.2), (-0.35, 1.2)),
    "flat": ((-1.2, -0.35), (1.2, -0.35), (1.2, 0.35), (-1.2, 0.35)),
}
_HUE_MARKERS = ("circle", "square", "triangle", "diamond", "triangle-down", "cross")
_GREY_MARKERS = ("pentagon", "left", "right", "hexagon", "bar", "flat")
_DASHES = ((), (6, 2), (3, 1.6), (8, 2, 2, 2), (5, 1.6, 1.4, 1.6), (10, 2.4))  # in pixels of a 2 px line
DOTTED = (0.1, 5)  # two measured scales: joined, not a line (round caps make dots)
MARKER_RADIUS = 4.2


@dataclass(frozen=True, kw_only=True)
class Hue:
    """How a framework looks in every figure. *index* is 1–6, or 0 for the grey of "others"."""

    index: int
    marker: str
    dash: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        return f"hue-{self.index}" if self.index else "hue-other"

    @property
    def css(self) -> str:
        """The value to write into a page's own styles."""
        return f"var(--fig-{self.name})"


OTHER = Hue(index=0, marker="pentagon", dash=(2, 1))


@dataclass(frozen=True, kw_only=True)
class Look:
    """What all figures of one report share: the hue of each framework and where drawn figures are kept."""

    hues: Mapping[str, Hue]
    cache: Path | None = None  # None: draw every time

    def hue(self, framework: str) -> Hue:
        return self.hues.get(framework, OTHER)


def palette(frameworks: Sequence[str]) -> dict[str, Hue]:
    """Hue, marker and dash per framework, by place: six hues, then grey with markers of their own."""
    unique = list(dict.fromkeys(frameworks))
    coloured = zip(unique, range(1, HUES + 1), _HUE_MARKERS, _DASHES, strict=False)
    hues = {name: Hue(index=i, marker=marker, dash=dash) for name, i, marker, dash in coloured}
    for place, name in enumerate(unique[HUES:]):
        hues[name] = Hue(index=0, marker=_GREY_MARKERS[place % len(_GREY_MARKERS)], dash=(2, 1))
    return hues


def look(frameworks: Sequence[str], *, cache: bool = True) -> Look:
    """The look of a report over *frameworks* (all that it names, in the plan's order)."""
    return Look(hues=palette(frameworks), cache=paths.cache() / "figures" if cache else None)


def polygon(marker: str) -> tuple[tuple[float, float], ...] | None:
    """The corners of a marker within about ±1, y upwards; None for the circle."""
    return _POLYGONS.get(marker)


def swatch(hue: Hue, *, form: str = "line", hollow: bool = False, variant: int = 0) -> str:
    """A legend's sample of *hue* as inline SVG: its dash and marker, or a filled box (`form="bar"`).

    The box of a *variant* has as many stripes as its bars (`shapes.cores`).
    """
    if form == "bar":
        body = f'<rect x="6" y="3" width="16" height="10" class="fill-{hue.name}"/>'
        gap = 16 / (min(variant, 3) + 1)
        body += "".join(
            f'<rect x="{6 + gap * (k + 1) - 1:g}" y="3" width="2" height="10" class="fill-surface"/>'
            for k in range(min(variant, 3))
        )
    else:
        body = _line_sample(hue) + _marker_sample(hue, hollow)
    return _sample(body)


def _sample(body: str, width: int = 28) -> str:
    box = f'viewBox="0 0 {width} 16" width="{width}" height="16"'
    return f'<svg class="fig-swatch" {box} aria-hidden="true">{body}</svg>'


def _line_sample(hue: Hue) -> str:
    dash = f' stroke-dasharray="{" ".join(f"{d:g}" for d in hue.dash)}"' if hue.dash else ""
    return f'<path d="M0 8H28" class="line-{hue.name}" fill="none" stroke-width="2"{dash}/>'


def _marker_sample(hue: Hue, hollow: bool) -> str:
    kind = f'class="fill-{"surface" if hollow else hue.name} line-{hue.name}" stroke-width="1.5"'
    corners = polygon(hue.marker)
    if corners is None:
        return f'<circle cx="14" cy="8" r="{MARKER_RADIUS}" {kind}/>'
    points = " ".join(f"{14 + x * MARKER_RADIUS:.1f},{8 - y * MARKER_RADIUS:.1f}" for x, y in corners)
    return f'<polygon points="{points}" {kind}/>'


def phase_swatch(hue: int) -> str:
    """A filled box in the hue of a phase (0 = the grey of "other")."""
    return swatch(Hue(index=hue, marker="square"), form="bar")


def note_swatch(key: str) -> str:
    """The sample of something that is no framework: the ideal line, a threshold, a shaded warm-up, …"""
    return _sample(_NOTE_SAMPLES[key])


_NOTE_SAMPLES = {
    "ideal": '<path d="M0 8H28" class="line-rule" fill="none" stroke-width="1.2" stroke-dasharray="2 3"/>',
    "ideal_box": '<rect x="7" y="2" width="14" height="12" class="line-ink" fill="none" stroke-width="1.2"/>',
    "threshold": '<path d="M0 8H28" class="line-ink" fill="none" stroke-width="1.2" stroke-dasharray="6 3"/>',
    "warmup": '<rect x="2" y="2" width="24" height="12" class="fill-shade"/>',
    "window": '<path d="M3 4V12M25 4V12M3 8H25" class="line-ink" fill="none" stroke-width="1.5"/>',
    "missing": '<rect x="2" y="2" width="24" height="12" class="fill-surface line-rule"/>'
    '<path d="M2 14L14 2M10 14L22 2M18 14L26 6" class="line-rule" fill="none"/>',
    "median": '<path d="M14 1V15" class="line-ink" fill="none" stroke-width="2"/>',
    "oom": '<rect x="2" y="2" width="24" height="12" class="fill-cell-bad line-rule"/>'
    '<path d="M2 14L14 2M10 14L22 2M18 14L26 6" class="line-rule" fill="none"/>',
    "option_off": '<circle cx="14" cy="8" r="5" class="fill-surface line-ink" stroke-width="1.6"/>',
    "option_on": '<path d="M9 2.5L20 8L9 13.5Z" class="fill-ink"/>',
    "nested": '<rect x="2" y="3" width="24" height="10" class="fill-surface line-ink"/>'
    '<path d="M4 13L14 3M12 13L22 3M20 13L26 7" class="line-rule" fill="none"/>',
    "dot": '<path d="M2 8H16" class="line-rule" stroke-width="1.4"/><circle cx="16" cy="8" r="4" class="fill-ink"/>',
    "curve": '<path d="M0 8H28" class="line-ink" fill="none" stroke-width="1.8" stroke-dasharray="7 4"/>',
    "mean": '<path d="M0 8H28" class="line-ink" fill="none" stroke-width="2.6"/>',
    "line_0": '<path d="M0 11L8 5L16 10L28 4" class="line-ink" fill="none" stroke-width="1.4"/>',
    "line_1": '<path d="M0 11L8 5L16 10L28 4" class="line-rule" fill="none" stroke-width="1.4"'
    ' stroke-dasharray="5 2"/>',
    "line_2": '<path d="M0 11L8 5L16 10L28 4" class="line-muted" fill="none" stroke-width="1.4"'
    ' stroke-dasharray="1.5 2"/>',
    "line_3": '<path d="M0 11L8 5L16 10L28 4" class="line-hue-other" fill="none" stroke-width="1.4"'
    ' stroke-dasharray="7 2 2 2"/>',
    "band": '<rect x="2" y="2" width="24" height="12" class="fill-shade"/>'
    '<path d="M2 14L14 2M10 14L22 2M18 14L26 6" class="line-rule" fill="none"/>',
}


def scale_swatch() -> str:
    """The sequential scale of heat strips, from 0 to the capacity."""
    steps = "".join(f'<rect x="{8 * i}" y="2" width="8" height="12" class="fill-seq-{i}"/>' for i in range(10))
    frame = '<rect x=".5" y="2.5" width="79" height="11" fill="none" class="line-rule"/>'
    return _sample(steps + frame, width=80)


def css() -> str:
    """The styles of all figures, to be put once into the page.

    Themes follow `<html data-theme="light|dark">`; any other value, or none, follows the reader's system.
    The same text makes a downloaded SVG complete: put it into a `<style>` of the copy.
    """
    light, dark = _variables(0), _variables(1)
    system = "--fig-ink:CanvasText;--fig-muted:CanvasText;--fig-rule:CanvasText;--fig-surface:Canvas;"
    return "\n".join(
        (
            f":root{{{light}}}",
            f'@media (prefers-color-scheme:dark){{:root:not([data-theme="light"]){{{dark}}}}}',
            f':root[data-theme="dark"]{{{dark}}}',
            f"@media (forced-colors:active) and (prefers-color-scheme:light){{:root:root:root{{{light}{system}}}}}",
            f"@media (forced-colors:active) and (prefers-color-scheme:dark){{:root:root:root{{{dark}{system}}}}}",
            f"@media print{{:root:root:root{{{light}}}}}",
            *(f".fill-{name}{{fill:var(--fig-{name})}}" for name in COLOURS),
            *(f".line-{name}{{stroke:var(--fig-{name})}}" for name in COLOURS),
            _RULES,
        )
    )


def standalone(svg: str, *, title: str = "", description: str = "") -> str:
    """A figure as a file of its own: with its styles, and named in one language. The page's script does the same."""
    named = f"<title>{escape(title)}</title><desc>{escape(description)}</desc><style>{css()}\n{_ALONE}</style>"
    opening, bracket, rest = svg.partition(">")
    opening = re.sub(r' aria-(labelledby|describedby)="[^"]*"', "", opening)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{opening}{bracket}{named}{rest}\n'


_ALONE = (
    '.fig-svg{font-family:system-ui,"Segoe UI",Arial,"PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif}'
)


def _variables(theme: int) -> str:
    return "".join(f"--fig-{name}:{pair[theme]};" for name, pair in COLOURS.items())


_RULES = """\
.fig-svg{display:block;max-width:100%;height:auto;overflow:visible;font-family:inherit;\
font-variant-numeric:tabular-nums;stroke-linejoin:round;forced-color-adjust:none}
.fig-wide{min-width:34rem}
.fig-svg text{stroke-width:0}
[class*="fill-seq-"]{shape-rendering:crispEdges}
.fig-svg .halo{paint-order:stroke;stroke:var(--fig-surface);stroke-width:3px}
.fig-svg .strong{font-weight:600}
.fig-swatch{display:inline-block;vertical-align:-.2em;forced-color-adjust:none}
.fig-svg .mark{outline:none;pointer-events:all}
.fig-svg .mark:hover,.fig-svg .mark:focus,.fig-svg .mark.is-pinned{stroke:var(--fig-ink);stroke-width:2.5px}
.fig-svg.is-picking [data-series]:not(.is-picked){opacity:.22}"""
