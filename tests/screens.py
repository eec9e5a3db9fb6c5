"""Pictures of the report, small and grey, and how far two of them are apart. A screenshot is reduced to a quarter and
to 16 greys, which keeps where things are and how dark, and loses how letters are drawn. Two pictures are compared tile
by tile, a tile being 48 × 48 pixels of the page, by the mean grey of each tile (0 to 255), each moved by up to 8 pixels
up or down: letters may lie elsewhere inside it, ink may not come or go. Measured: the same page twice 0; all text 0.05
pixels wider per letter 5; a row above that grew by a line's rounding 7; a legend gone 13, a line chart 23, the number
of a card 38; the other theme 238."""

import base64
import io
import shutil
import subprocess
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageChops

from tests import sources

REDUCED = 4
GREYS = 16
TILE = 12  # reduced pixels
FURTHEST = 10.0  # what two tiles may be apart
TALLEST = 4_000  # pixels of the page; a picture then stays below 30 kB
SHIFT = 2  # reduced pixels that a part may lie higher or lower: a line above it may have grown by some
BOX = (
    "(found => found && [found.left + scrollX, found.top + scrollY, found.width, found.height])"
    "(document.querySelector('{}')?.getBoundingClientRect())"
)
LATIN = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf")  # of matplotlib
CHINESE = "WenQuanYi Micro Hei"  # Debian's fonts-wqy-microhei, which the PDF's test needs as well
FONTCONFIG = sources.text("screens_fontconfig.xml")


def fonts(folder: Path) -> dict[str, str]:
    """The environment in which a browser sees the fonts of the golden pictures and no other; written into *folder*.
    Raises FileNotFoundError where the Chinese ones are not installed."""
    for file in (*_latin(), *_chinese()):
        (folder / file.name).symlink_to(file)
    config = folder / "fonts.conf"
    config.write_text(FONTCONFIG.format(folder=folder), encoding="utf-8")
    return {"FONTCONFIG_FILE": str(config)}


def _latin() -> list[Path]:
    return [Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name for name in LATIN]


def _chinese() -> list[Path]:
    found = ""
    if shutil.which("fc-list"):
        asked = ["fc-list", CHINESE, "--format", r"%{file}\n"]
        found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    if not found:
        raise FileNotFoundError(
            f"the golden pictures are drawn with {CHINESE}, which is not here: apt-get install fontconfig "
            "fonts-wqy-microhei (tools/prepare_tests.py does it)"
        )
    return sorted({Path(line) for line in found.splitlines()})


def picture(tab, selector: str) -> Image.Image:
    """The first element that *selector* finds, reduced."""
    x, y, width, height = tab.evaluate(BOX.format(selector))
    clip = {"x": x, "y": y, "width": width, "height": min(height, TALLEST), "scale": 1}
    shot = tab.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
    return reduced(Image.open(io.BytesIO(base64.b64decode(shot))))


def reduced(image: Image.Image) -> Image.Image:
    grey = image.convert("L").reduce(REDUCED)
    step = 255 // (GREYS - 1)
    return grey.point([round(value / step) * step for value in range(256)])


def distance(one: Image.Image, other: Image.Image) -> float:
    """How far the tile that differs most is apart, moved up or down as suits it best. Infinite where the pictures are
    not of one size."""
    if any(abs(a - b) > SHIFT for a, b in zip(one.size, other.size, strict=True)):
        return float("inf")
    box = (0, 0, min(one.width, other.width), min(one.height, other.height))
    ours, theirs = _tiles(one.crop(box)), other.crop(box)
    moved = (_tiles(ImageChops.offset(theirs, 0, pixels)) for pixels in range(-SHIFT, SHIFT + 1))
    return float(np.min([np.abs(ours - tiles) for tiles in moved], axis=0).max())


def _tiles(image: Image.Image) -> np.ndarray:
    """The mean grey of each tile, tiles at the edge being smaller."""
    return np.asarray(image.convert("F").reduce(TILE))


def open_grey(file: Path) -> Image.Image:
    return Image.open(file).convert("L")


def keep(image: Image.Image, file: Path) -> None:
    """*image* as a PNG of 16 greys."""
    file.parent.mkdir(parents=True, exist_ok=True)
    image.quantize(GREYS).save(file, optimize=True)
