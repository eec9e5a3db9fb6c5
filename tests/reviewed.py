"""Marks that a reading was reviewed by eye against its log: tests/golden/reviewed.csv.

    python -m tests.reviewed ok chainer/cosmoflow_256_noeol_ansi.log
    python -m tests.reviewed left utilisation/lambda_tf_8xA100_thermal.log --why "a table without a header"

A mark holds for one reading: it names the row of tests/golden/readings.csv that was looked at by a checksum, and is
lost when the row changes.
"""

import argparse
import csv
import datetime
import zlib

from tests import goldens
from tests.corpus import rows_of

READINGS = goldens.FOLDER / "readings.csv"
REVIEWED = goldens.FOLDER / "reviewed.csv"
VERDICTS = ("ok", "mended", "left")  # left: as it is, for the reason given


def checksum(row: dict[str, str]) -> str:
    return f"{zlib.crc32(','.join(row.values()).encode()):08x}"


def marked(verdict: str, files: list[str], why: str, on: str) -> None:
    """Writes the marks of *files* anew. Raises KeyError for a file without a reading."""
    readings = {row["file"]: row for row in rows_of(READINGS)}
    marks = {row["file"]: row for row in rows_of(REVIEWED) if row["file"] in readings}
    for file in files:
        row = checksum(readings[file])
        marks[file] = {"file": file, "reading": row, "date": on, "verdict": verdict, "why": why}
    with open(REVIEWED, "w", newline="") as file:
        writer = csv.DictWriter(file, ("file", "reading", "date", "verdict", "why"), lineterminator="\n")
        writer.writeheader()
        writer.writerows(marks[name] for name in sorted(marks))


def main() -> None:
    parser = argparse.ArgumentParser(description="Mark readings as reviewed by eye.")
    parser.add_argument("verdict", choices=VERDICTS)
    parser.add_argument("file", nargs="+", help="as in tests/golden/readings.csv")
    parser.add_argument("--why", default="", help="one sentence; needed for left")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    options = parser.parse_args()
    marked(options.verdict, options.file, options.why, options.date)


if __name__ == "__main__":
    main()
