"""The report as it looks, against golden pictures: `tests/golden/screens` (tests/screens.py). The pictures are drawn
with fonts that are the same everywhere (docs/decisions.md, 12). Without them the comparison is skipped and says why; in
CI it fails. `EVALSUITE_GOLDEN=write` makes them anew: look at each before it is committed."""

import chromium
import pytest
import screens

from tests import goldens, sources

chromium.require()

GOLDEN = goldens.FOLDER / "screens"
SHOTS = sources.table("screens.toml")["shots"]


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    """A browser with the fonts of the golden pictures, whatever else is installed."""
    try:
        environment = screens.fonts(tmp_path_factory.mktemp("fonts"))
    except FileNotFoundError as missing:
        chromium.lacking(str(missing))
    with chromium.browser(tmp_path_factory.mktemp("profile"), environment) as found:
        yield found


def shot(tab, address, name, spoiled=""):
    """The picture *name*, after the script *spoiled* has run in the page."""
    page, look, width, media, selector = SHOTS[name]
    tab.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    tab.call("Emulation.setEmulatedMedia", media=media, features=[])
    tab.visit(f"{address(page)}#{look}")
    if spoiled:
        tab.evaluate(spoiled)
    return screens.picture(tab, selector)


@pytest.mark.parametrize("name", SHOTS)
def test_the_page_looks_like_its_golden_picture(tab, address, name):
    found, file = shot(tab, address, name), GOLDEN / f"{name}.png"
    if goldens.WRITE:
        screens.keep(found, file)

    assert file.stat().st_size < 30_000
    assert screens.distance(found, screens.open_grey(file)) <= screens.FURTHEST


@pytest.mark.parametrize(("name", "spoiled"), sources.table("screens.toml")["spoiled"])
def test_what_vanishes_or_loses_its_theme_is_noticed(tab, address, name, spoiled):
    golden = screens.open_grey(GOLDEN / f"{name}.png")

    assert screens.distance(shot(tab, address, name, spoiled), golden) > screens.FURTHEST


def test_text_that_runs_a_little_wider_is_not_taken_for_a_change(tab, address):
    golden = screens.open_grey(GOLDEN / "block-en.png")
    wider = "document.querySelectorAll('.fig-reading').forEach(line => line.style.letterSpacing = '0.15px')"

    assert screens.distance(shot(tab, address, "block-en", wider), golden) < screens.FURTHEST / 2
