"""Published figures beside ours, and by arithmetic on the log why they differ.

`EVALSUITE_GOLDEN=write python -m pytest tests/unit/test_published.py` writes `tests/golden/published.csv`, and
`python tools/write_published.py` the page.
"""

import re
import statistics

import pytest

from tests import goldens
from tests.corpus import LOGS, compared, read, six, sources, with_logs
from tools import write_published

PUBLISHED = goldens.FOLDER / "published.csv"
WAYS = write_published.ways()
SAME = 1e-4  # what the authors did must give their figure to the digits they print


def authors_figure(text: bytes, way: dict) -> float:
    """What *way* makes of the numbers that the log prints: without the first, the lowest and the highest ones."""
    printed = [float(number) for number in re.findall(way["numbers"].encode(), text)]
    trim = way.get("trim", 0)
    kept = sorted(printed[way.get("skip", 0) :])
    kept = kept[trim : len(kept) - trim]
    mean = statistics.harmonic_mean if way.get("mean") == "harmonic" else statistics.fmean
    return way.get("devices", 1) * mean(kept)


@with_logs
def test_every_published_figure_stands_beside_ours():
    found = []
    for name, row in sorted(sources().items()):
        if row["published_throughput"]:
            reading, published = read(name, row), float(row["published_throughput"])
            ours = reading.throughput.items_per_s
            found.append(
                {
                    "file": name, "published": six(published), "ours": six(ours),
                    "difference_percent": f"{100 * (ours / published - 1):+.2f}", "unit": reading.unit,
                    "our_method": reading.throughput.method, "status": reading.status,
                }
            )  # fmt: skip

    assert len(found) == 36
    compared(PUBLISHED, found)


@with_logs
@pytest.mark.parametrize("name", WAYS)
def test_what_the_authors_did_gives_their_figure(name):
    figure = authors_figure((LOGS / name).read_bytes(), WAYS[name])

    assert figure == pytest.approx(float(sources()[name]["published_throughput"]), rel=SAME)


def test_every_difference_is_explained():
    assert {row["file"] for row in write_published.rows() if not write_published.is_near(row)} <= set(WAYS)


def test_the_page_of_published_figures_is_up_to_date():
    assert write_published.PAGE.read_text() == write_published.page()
