"""Each rehearsal of the house: its log still shows the steps that its evidence says, and nothing takes it for more."""

import json
from dataclasses import replace

import pytest

from evalsuite.cli import main
from evalsuite.contracts.registry import discover
from evalsuite.core.files import sha256
from evalsuite.core.model import Log
from evalsuite.logs import catalogue, reading
from evalsuite.logs.formatting import unit_of
from evalsuite.rehearsal import evidence, tables

ADAPTERS = discover()
FOUND = [evidence.read(*file.stem.split("-", 1)) for file in sorted(evidence.FOLDER.glob("*.json"))]
SCALES = [pytest.param(row, scale, id=f"{row.framework}/{row.recipe} {scale}") for row in FOUND for scale in row.scales]


def read(record, scale):
    logs = [evidence.LOGS / name for name in sorted(record.scales[scale].logs)]
    recipe, case = ADAPTERS[record.framework].recipe(record.recipe), evidence.case(record, scale)
    return reading.read_run(
        [Log(path=path, arrivals=path.with_suffix(".csv"), host=path.stem, rank=None, name=path.name) for path in logs],
        case,
        recipe.dialect,
        scope=recipe.scope,
        dialects=catalogue.known(),
        ended_well=True,
    )


@pytest.mark.parametrize(("record", "scale"), SCALES)
def test_a_kept_log_shows_the_steps_that_were_rehearsed(record, scale):
    seen, found = record.scales[scale], read(record, scale)

    assert {name: sha256(evidence.LOGS / name) for name in seen.logs} == seen.logs
    assert (found.steps[-1].index, found.steps_reported) == (seen.steps_seen, seen.reports)
    assert (found.dialect, found.unit) == (seen.dialect, unit_of(record.model, seen.unit))


@pytest.mark.parametrize("record", FOUND[:1], ids=lambda each: f"{each.framework}/{each.recipe}")
def test_evidence_holds_as_long_as_the_recipe_starts_the_same(record):
    recipe = ADAPTERS[record.framework].recipe(record.recipe)
    asked = {scale: recipe.command(evidence.case(record, scale)) for scale in record.scales}
    scales = {
        scale: replace(seen, command=asked[scale].argv, environment=asked[scale].environment)
        for scale, seen in record.scales.items()
    }
    now = replace(record, scales=scales)

    def other(case):
        return replace(recipe.command(case), argv=(*recipe.command(case).argv, "--more"))

    assert evidence.current(now, recipe) == now
    assert evidence.current(now, replace(recipe, command=other)) is None
    assert evidence.current(replace(now, origin="https://example.org/a/b at 0123"), recipe) is None
    fresh = replace(now, stand_ins=tables.stand_in_hashes(["torch"]))
    assert evidence.level(fresh) == "rehearsed"
    assert evidence.level(replace(fresh, stand_ins={**fresh.stand_ins, "torch": "0" * 64})) == "rehearsed earlier"


def test_the_listing_names_the_levels(capsys):
    main(["adapters", "--json"])
    found = {f"{row['framework']}/{row['recipe']}": row["verification"] for row in json.loads(capsys.readouterr().out)}

    for record in FOUND:
        still = evidence.of_recipe(record.framework, ADAPTERS[record.framework].recipe(record.recipe))
        name = f"{record.framework}/{record.recipe}"
        assert found[name]["level"] in (evidence.level(record), "ran here") or still is None
        assert ("rehearsed_steps" in found[name]) == (still is not None)


def test_every_kept_log_belongs_to_evidence():
    named = {name for each in FOUND for seen in each.scales.values() for name in seen.logs}

    assert {file.name for file in evidence.LOGS.glob("*.log")} == named
