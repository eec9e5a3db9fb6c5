"""Every reading of the corpus carries the mark of a review by eye, and loses it when it changes."""

from tests.corpus import rows_of
from tests.reviewed import READINGS, REVIEWED, VERDICTS, checksum


def test_every_reading_was_reviewed_as_it_is_now():
    marks = {row["file"]: row["reading"] for row in rows_of(REVIEWED)}

    unreviewed = [row["file"] for row in rows_of(READINGS) if marks.get(row["file"]) != checksum(row)]

    assert unreviewed == [], "look at these logs and renew their marks: python -m tests.reviewed ok FILE …"


def test_a_mark_belongs_to_a_reading_and_says_why_it_is_left():
    marks = rows_of(REVIEWED)

    assert {row["file"] for row in marks} == {row["file"] for row in rows_of(READINGS)}
    assert {row["verdict"] for row in marks} <= set(VERDICTS)
    assert all(row["why"] for row in marks if row["verdict"] == "left")


def test_a_reading_that_changes_loses_its_mark():
    row = rows_of(READINGS)[0]

    assert checksum(row) != checksum({**row, "throughput": "1"})
