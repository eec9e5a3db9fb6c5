import copy
import json

import jsonschema
import pytest
import synthetic

from evalsuite.core import paths
from evalsuite.finished import finished
from evalsuite.report.book import identity
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from tests import sources

SCHEMA = json.loads((paths.DATA / "schema" / "summary.schema.json").read_text(encoding="utf-8"))


def closed(schema):
    """*schema* with every object closed, so that a field which it does not describe is an error here."""
    found = copy.deepcopy(schema)
    for part in [found, *found["$defs"].values()]:
        if "properties" in part:
            part["additionalProperties"] = False
    return found


CLOSED = jsonschema.Draft202012Validator(closed(SCHEMA))


def document(evaluation):
    return summary_json.document(Book(evaluation=identity.ordered(evaluation)), identity.build_hash(evaluation))


def test_the_schema_is_one_of_its_draft_and_of_the_version_that_is_read_with_every_field_required():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)  # raises
    assert SCHEMA["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]

    for part in [SCHEMA, *SCHEMA["$defs"].values()]:
        known = part.get("properties", {})
        later = {name for name, each in known.items() if "absent in reports of earlier" in each.get("description", "")}
        assert set(known) - {"manifest"} - later == set(part.get("required", ()))

    assert SCHEMA["properties"]["schema_version"]["const"] == finished.SCHEMA_VERSION


@pytest.mark.parametrize("page", synthetic.TRIED)
def test_every_summary_keeps_to_the_published_schema_and_has_no_field_beyond_it(page):
    facts = json.loads(json.dumps(document(synthetic.PAGES[page]()), allow_nan=False))

    assert [error.message for error in CLOSED.iter_errors(facts)] == []


@pytest.mark.parametrize(("path", "value"), sources.table("schema.toml")["wrong_values"])
def test_a_wrong_value_is_refused(path, value):
    facts = json.loads(json.dumps(document(synthetic.quick())))
    place = facts
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(facts, SCHEMA)
