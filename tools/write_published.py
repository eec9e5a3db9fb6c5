"""Writes docs/published-figures.md.

    python tools/write_published.py

The figures are those of tests/golden/published.csv, the sentences those of tests/golden/published_ways.toml.
"""

import csv
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
PAGE = ROOT / "docs" / "published-figures.md"
NEAR_PERCENT = 1.0  # a published figure this near needs no explanation
INTRO = """\
# Published figures beside ours

Of the logs that evalsuite is tested with, {count} come with a figure that their authors published. `evalsuite parse`
gives {near} of them within {near_percent:g} %. For each of the others this page says what the authors averaged, which
a test repeats on the log and finds their figure, and why the window of [numbers.md](numbers.md) gives another one.

This page is made by `tools/write_published.py`; the sentences are in `tests/golden/published_ways.toml`.
"""


def ways() -> dict[str, dict]:
    return tomllib.loads((GOLDEN / "published_ways.toml").read_text(encoding="utf-8"))


def rows() -> list[dict[str, str]]:
    with open(GOLDEN / "published.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def is_near(row: dict[str, str]) -> bool:
    return abs(float(row["difference_percent"])) <= NEAR_PERCENT


def page() -> str:
    explained = ways()
    table = ["| Log | Published | Ours | Difference | Unit | Our method |", "|---|--:|--:|--:|---|---|"]
    for row in rows():
        shown = f"[{row['file']}](#{_anchor(row['file'])})" if row["file"] in explained else row["file"]
        table.append(
            f"| {shown} | {row['published']} | {row['ours']} | {row['difference_percent']} % | {row['unit']} "
            f"| {row['our_method']} |"
        )
    near = sum(map(is_near, rows()))
    parts = [INTRO.format(count=len(rows()), near=near, near_percent=NEAR_PERCENT), "\n".join(table)]
    for row in (row for row in rows() if row["file"] in explained):
        way = explained[row["file"]]
        parts.append(f"## {row['file']}")
        parts.append(f"Published {row['published']}, ours {row['ours']} {row['unit']} ({row['difference_percent']} %).")
        parts.append(f"*What the authors did:* {way['authors']}")
        parts.append(f"*Why ours differs:* {way['why']}")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w-]", "", heading.lower())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
