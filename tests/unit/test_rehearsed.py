"""Each rehearsal of the house: its log still shows the steps that its evidence says, and nothing takes it for more."""

import json
from dataclasses import replace

import pytest

from evalsuite.cli import main
from evalsuite.errors import EvalsuiteError
from evalsuite.files import sha256
from evalsuite.logs import catalogue, reading
from evalsuite.plan import evidence
from evalsuite.registry import discover
from evalsuite.runs import rehearsed
from evalsuite.runs.store import Log

ADAPTERS = discover()
FOUND = [evidence.read_file(file) for file in sorted(evidence.FOLDER.glob("*.json"))]
SCALES = [pytest.param(one, scale, id=f"{one.framework}/{one.recipe} {scale}") for one in FOUND for scale in one.scales]


def read(one, scale):
    logs = [evidence.LOGS / name for name in sorted(one.scales[scale].logs)]
    recipe, case = ADAPTERS[one.framework].recipe(one.recipe), evidence.case(one, scale)
    return reading.read_run(
        [Log(path=path, arrivals=path.with_suffix(".csv"), host=path.stem, rank=None) for path in logs],
        case,
        recipe.dialect_name,
        scope=recipe.scope,
        dialects=catalogue.known(),
        ended_well=True,
    )


@pytest.mark.parametrize(("one", "scale"), SCALES)
def test_a_kept_log_shows_the_steps_that_were_rehearsed(one, scale):
    seen, found = one.scales[scale], read(one, scale)

    assert {name: sha256(evidence.LOGS / name) for name in seen.logs} == seen.logs
    assert (found.steps[-1].index, found.steps_reported) == (seen.steps_seen, seen.reports)
    assert (found.dialect, found.unit) == (seen.dialect, seen.unit)


@pytest.mark.parametrize(("one", "scale"), SCALES)
def test_a_kept_log_is_never_imported_as_a_measurement(one, scale):
    for name in one.scales[scale].logs:
        with pytest.raises(EvalsuiteError, match="is a rehearsal"):
            rehearsed.refuse_log(evidence.LOGS / name)


@pytest.mark.parametrize("one", FOUND, ids=lambda one: f"{one.framework}/{one.recipe}")
def test_evidence_is_about_a_recipe_of_the_house(one):
    recipe = ADAPTERS[one.framework].recipe(one.recipe)

    assert (one.model, recipe.kind) == (recipe.model, "official")
    assert one.scales


@pytest.mark.parametrize("one", FOUND[:1], ids=lambda one: f"{one.framework}/{one.recipe}")
def test_evidence_holds_as_long_as_the_recipe_starts_the_same(one):
    recipe = ADAPTERS[one.framework].recipe(one.recipe)
    asked = {scale: recipe.command(evidence.case(one, scale)) for scale in one.scales}
    scales = {
        scale: replace(seen, command=asked[scale].argv, environment=asked[scale].environment)
        for scale, seen in one.scales.items()
    }
    now = replace(one, scales=scales)

    def other(case):
        return replace(recipe.command(case), argv=(*recipe.command(case).argv, "--more"))

    assert evidence.current(now, recipe) == now
    assert evidence.current(now, replace(recipe, command=other)) is None
    assert evidence.current(replace(now, origin="https://example.org/a/b at 0123"), recipe) is None


def test_the_listing_names_the_four_levels(capsys):
    main(["adapters", "--json"])
    found = {f"{one['framework']}/{one['recipe']}": one["verification"] for one in json.loads(capsys.readouterr().out)}

    levels = {name: one["level"] for name, one in found.items()}
    assert set(levels.values()) <= {"our own", "unchecked", "arguments checked", "rehearsed", "ran here"}
    for one in FOUND:
        still = evidence.of_recipe(one.framework, ADAPTERS[one.framework].recipe(one.recipe))
        name = f"{one.framework}/{one.recipe}"
        assert (levels[name] in ("rehearsed", "ran here")) or still is None
        assert ("rehearsed_steps" in found[name]) == (still is not None)


def test_every_kept_log_belongs_to_evidence():
    named = {name for one in FOUND for seen in one.scales.values() for name in seen.logs}

    assert {file.name for file in evidence.LOGS.glob("*.log")} == named
