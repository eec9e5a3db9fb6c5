"""Hues, markers, dashes, and one set of styles for light, dark, print and forced colours."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalsuite.core import paths

# Six hues of one name in both themes: blue, orange, green, purple, brick, teal. At least 3.1:1 on white and 3.6:1 on
# #14171A; the least OKLab distance of two, with full or simulated protan, deutan, tritan vision, is 0.15 and 0.17.
LIGHT_HUES = ("#39649D", "#DF731A", "#194015", "#A76BF4", "#905049", "#3B9C96")
DARK_HUES = ("#68B8FA", "#EEA05B", "#B0EFC8", "#BD3FF1", "#DC3135", "#288B94")
HUES = len(LIGHT_HUES)
_SHAPES = paths.read_data("figures.toml")


COLOURS: Mapping[str, tuple[str, str]] = {
    **{name: (light, dark) for name, (light, dark) in _SHAPES["colours"].items()},
    **{f"hue-{i}": pair for i, pair in enumerate(zip(LIGHT_HUES, DARK_HUES, strict=True), 1)},
}

_HUE_MARKERS = ("circle", "square", "triangle", "diamond", "triangle-down", "cross")
_OTHER_MARKERS = ("pentagon", "left", "right", "hexagon", "bar", "flat")
_BUILD_MARKERS = ("hexagon", "pentagon", "left", "flat", "right", "bar")  # by the hue of their family
_NAMED = {name: (hue, marker) for name, (hue, marker) in _SHAPES["frameworks"].items()}
BUILD_DASH = "6 2"
_BUILDS = ("ngc_", "ngc-")  # of one framework by another hand: NVIDIA's images
MARKER_RADIUS = 4.2


@dataclass(frozen=True, kw_only=True)
class Hue:
    """*index* is 1–6, or 0 for the grey of "others"."""

    index: int
    marker: str
    dash: str = ""

    @property
    def name(self) -> str:
        return f"hue-{self.index}" if self.index else "hue-other"


OTHER = Hue(index=0, marker="pentagon", dash="2 1")


@dataclass(frozen=True, kw_only=True)
class Look:
    hues: Mapping[str, Hue]

    def hue(self, framework: str, variant: int = 0) -> Hue:
        """*variant*: of a framework that stands alone, whose lines have a hue each."""
        first = self.hues.get(framework, OTHER)
        index = (first.index - 1 + variant) % HUES
        return Hue(index=index + 1, marker=_HUE_MARKERS[index]) if variant else first


def family(framework: str) -> str:
    """The framework that this is a build of, or itself: "ngc_pytorch" → "pytorch"."""
    return next((framework.removeprefix(build) for build in _BUILDS if framework.startswith(build)), framework)


def look(frameworks: Sequence[str]) -> Look:
    """A hue and a marker for each, distinct among those present; a build has its own marker and a dash.
    The first six of the table have their hue in every report; each other one takes its own where it is free, else what
    the others leave, beginning at its hash."""
    unique = dict.fromkeys(frameworks)
    families = sorted(dict.fromkeys(map(family, unique)), key=[*_NAMED, *unique].index)
    places = dict[str, tuple[int, str]]()
    for name in families:
        used = {index for index, _ in places.values()}
        named = _NAMED.get(name)
        places[name] = named if named and named[0] not in used else _free(name, list(places.values()))
    hues = {}
    for name in unique:
        (index, marker), build = places[family(name)], name != family(name)
        own = _BUILD_MARKERS[index - 1] if build else marker
        hues[name] = Hue(index=index, marker=own, dash=BUILD_DASH if build else "")
    return Look(hues=hues)


def _free(name: str, taken: Sequence[tuple[int, str]]) -> tuple[int, str]:
    first = zlib.crc32(name.encode())
    around = [(first + place) % HUES for place in range(HUES)]
    used = {index for index, _ in taken}
    whole = [(place + 1, _HUE_MARKERS[place]) for place in around if place + 1 not in used]
    shared = ((place + 1, marker) for marker in _OTHER_MARKERS for place in around)
    return next((look for look in (*whole, *shared) if look not in taken), (0, OTHER.marker))


def outline(marker: str) -> str:
    """The path of *marker* around (0, 0)."""
    if marker == "circle":
        return f"M{-MARKER_RADIUS} 0a1 1 0 1 0 {2 * MARKER_RADIUS} 0a1 1 0 1 0 {-2 * MARKER_RADIUS} 0Z"
    return (
        "M" + "L".join(f"{MARKER_RADIUS * x:.1f} {-MARKER_RADIUS * y:.1f}" for x, y in _SHAPES["markers"][marker]) + "Z"
    )


def css() -> str:
    both = "".join(f"--fig-{name}:light-dark({light},{dark});" for name, (light, dark) in COLOURS.items())
    system = "--fig-ink:CanvasText;--fig-muted:CanvasText;--fig-rule:CanvasText;--fig-surface:Canvas;"
    return "\n".join(
        (
            f":root{{{both}}}",
            f"@media (forced-colors:active){{:root:root:root{{color-scheme:light dark;{system}}}}}",
            *(f".fill-{name}{{fill:var(--fig-{name})}}" for name in COLOURS),
            *(f".line-{name}{{stroke:var(--fig-{name})}}" for name in COLOURS),
        )
    )
