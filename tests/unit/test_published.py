"""Published figures beside ours, and by arithmetic on the log why they differ.

`EVALSUITE_GOLDEN=write python -m pytest tests/unit/test_published.py` writes `tests/golden/published.csv` and
`docs/published-figures.md`. What the authors averaged and why it differs is written by hand, in
`tests/golden/published_ways.toml`.
"""

import re
import statistics
import tomllib

import pytest

from tests import goldens
from tests.corpus import LOGS, ROOT, compared, read, rows_of, six, sources, with_logs

PUBLISHED = goldens.FOLDER / "published.csv"
PAGE = ROOT / "docs" / "published-figures.md"
WAYS = tomllib.loads((goldens.FOLDER / "published_ways.toml").read_text())
NEAR_PERCENT = 1.0  # a published figure this near needs no explanation
SAME = 1e-4  # what the authors did must give their figure to the digits they print

INTRO = """\
# Published figures beside ours

Of the logs that evalsuite is tested with, {count} come with a figure that their authors published. `evalsuite parse`
gives {near} of them within {near_percent:g} %. For each of the others this page says what the authors averaged, which
a test repeats on the log and finds their figure, and why the window of [method.md](method.md) gives another one.

This page is made by `tests/unit/test_published.py`; the sentences are in `tests/golden/published_ways.toml`.
"""


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
                    "file": name,
                    "published": six(published),
                    "ours": six(ours),
                    "difference_percent": f"{100 * (ours / published - 1):+.2f}",
                    "unit": reading.unit,
                    "our_method": reading.throughput.method,
                    "status": reading.status,
                }
            )

    assert len(found) == 36
    compared(PUBLISHED, found)


@with_logs
@pytest.mark.parametrize("name", WAYS)
def test_what_the_authors_did_gives_their_figure(name):
    figure = authors_figure((LOGS / name).read_bytes(), WAYS[name])

    assert figure == pytest.approx(float(sources()[name]["published_throughput"]), rel=SAME)


def test_every_difference_is_explained():
    far = [row["file"] for row in rows_of(PUBLISHED) if abs(float(row["difference_percent"])) > NEAR_PERCENT]

    assert set(far) <= set(WAYS)


def page() -> str:
    rows = rows_of(PUBLISHED)
    far = [row for row in rows if row["file"] in WAYS]
    near = sum(abs(float(row["difference_percent"])) <= NEAR_PERCENT for row in rows)
    table = ["| Log | Published | Ours | Difference | Unit | Our method |", "|---|--:|--:|--:|---|---|"]
    for row in rows:
        shown = f"[{row['file']}](#{anchor(row['file'])})" if row in far else row["file"]
        table.append(
            f"| {shown} | {row['published']} | {row['ours']} | {row['difference_percent']} % | {row['unit']} "
            f"| {row['our_method']} |"
        )
    parts = [INTRO.format(count=len(rows), near=near, near_percent=NEAR_PERCENT), "\n".join(table)]
    for row in far:
        way = WAYS[row["file"]]
        parts.append(f"## {row['file']}")
        parts.append(f"Published {row['published']}, ours {row['ours']} {row['unit']} ({row['difference_percent']} %).")
        parts.append(f"*What the authors did:* {way['authors']}")
        parts.append(f"*Why ours differs:* {way['why']}")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def anchor(heading: str) -> str:
    """The anchor that a heading gets on a page of a repository."""
    return re.sub(r"[^\w-]", "", heading.lower())


def test_the_page_of_published_figures_is_up_to_date():
    if goldens.WRITE:
        PAGE.write_text(page())

    assert PAGE.read_text() == page()
