"""Lies by class, and honest changes beside them: what the first screen and the findings say of each."""

import json

import pytest

from evalsuite.results.evaluation import evaluate
from evalsuite.runs.store import Store, folder_name
from tests import corruptions
from tests.toys import CASE


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    return corruptions.honest(tmp_path_factory.mktemp("honest"))


def laid_out_anew(file):
    file.write_text(json.dumps(json.loads(file.read_text())))


def append(text):
    return lambda file: file.write_text((file.read_text() if file.exists() else "") + text)


@pytest.mark.parametrize(
    ("name", "change", "counts"),
    [
        ("note.txt", append("by Li Lei"), True),
        ("log.n0.txt", append("\n \n"), True),
        ("case.json", laid_out_anew, True),
        ("log.n0.txt", append("Epoch: [0]"), False),
        ("log.n0.r1.txt", append("\n"), False),
        ("command.json", lambda file: file.write_text(file.read_text().replace("{", '{"by": "Li Lei",', 1)), False),
    ],
)
def test_a_note_or_a_blank_line_takes_no_run_out_and_what_changes_the_record_does(
    name, change, counts, honest, tmp_path
):
    place = honest.copied(tmp_path)
    change(place.runs / folder_name(CASE) / "r0" / name)
    found = evaluate(Store(place.runs))

    said = [each for each in found.findings if each.code == "changed_since_run"]
    assert [(each.severity, each.files) for each in said] == [("note" if counts else "exclude", (name,))]
    assert [row.n for row in found.summaries if row.case == CASE] == [2 if counts else 1]
