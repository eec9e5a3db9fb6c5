"""Published figures beside ours, and by arithmetic on the log why they differ. `EVALSUITE_GOLDEN=write python -m pytest
tests/unit/test_published.py` writes `tests/golden/published.csv`; what the authors did, and why ours differs, stands in
`tests/golden/published_ways.toml`."""

import re
import statistics
import tomllib

import pytest

from evalsuite.core import paths
from tests import goldens
from tests.corpus import LOGS, compared, read, six, sources, with_logs

PUBLISHED = goldens.FOLDER / "published.csv"
WAYS = tomllib.loads((goldens.FOLDER / "published_ways.toml").read_text(encoding="utf-8"))
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


def test_every_difference_above_one_per_cent_is_explained():
    far = {row["file"] for row in paths.read_rows(PUBLISHED) if abs(float(row["difference_percent"])) > 1}

    assert far <= set(WAYS)
