"""`evalsuite adapters`: recipes, log dialects and sensors, listed, or an author's own checked."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from evalsuite.commands.authoring import checking
from evalsuite.commands.authoring.checking import Checked
from evalsuite.commands.options import search_paths
from evalsuite.commands.printing.i18n import known, say, worded
from evalsuite.commands.printing.terminal import aligned, line, print_json, table
from evalsuite.contracts import author_modules, registry
from evalsuite.contracts.adapter import Adapter, Recipe
from evalsuite.contracts.registry import choose_adapters, discover
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import Case, Device, by_key
from evalsuite.launch.provision import virtualenvs
from evalsuite.logs import catalogue
from evalsuite.machine.sensors import accelerators
from evalsuite.plan import repositories
from evalsuite.rehearsal import evidence as rehearsed

CONTRACTS = {"recipes": registry.CONTRACT, "dialects": catalogue.CONTRACT, "sensors": accelerators.CONTRACT}
OF_DIALECT = ("name", "title", "framework", "unit", "scope", "averaging")
OF_SENSOR = ("sensor", "kind", "devices", "driver")


def run(arguments: argparse.Namespace) -> int:
    if arguments.check is not None:
        return _check(arguments)
    if arguments.kind == "dialects":
        dialects = sorted(catalogue.known(search_paths(arguments)).values(), key=lambda dialect: dialect.name)
        rows = [{name: getattr(dialect, name) for name in (*OF_DIALECT, "notes")} for dialect in dialects]
    else:
        rows = _sensors() if arguments.kind == "sensors" else _recipes(arguments)
    if arguments.json:
        print_json(rows)
    elif arguments.kind == "recipes":
        _print(rows, arguments.device)
    else:
        shown = OF_DIALECT if arguments.kind == "dialects" else OF_SENSOR
        heads = [say(f"columns.{name}") for name in shown]
        aligned([heads, *([known("dialects", str(row[name] or "-")) for name in shown] for row in rows)])
    return Exit.DONE


def _recipes(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    adapters = discover(arguments.adapters)
    wanted = arguments.frameworks.split(",") if arguments.frameworks else sorted(adapters)
    return [
        facts(adapter, recipe, arguments.device)
        for adapter in choose_adapters(wanted, adapters)
        for recipe in adapter.recipes
    ]


def _sensors() -> list[dict[str, Any]]:
    return [
        {
            "sensor": str(sensor.file) if isinstance(sensor, accelerators.Brought) else type(sensor).__name__.lower(),
            "kind": sensor.kind,
            "devices": len(sensor),
            "driver": sensor.versions().get("driver"),
        }
        for sensor in accelerators.open_sensors()
    ]


def facts(adapter: Adapter, recipe: Recipe, device: Device) -> dict[str, Any]:
    """One recipe as plain values; `runs`, `amp` and `xla` say whether it can, as what, and if not, why."""
    case = Case(framework=adapter.name, recipe=recipe.name, model=recipe.model, batch_per_device=32, device=device)
    made = virtualenvs.existing(recipe, device=device)
    repository = repositories.of(recipe).get(recipe.checkout)
    levels = (paths.DATA / "verification.json").read_text("utf-8") if recipe.brought_by == paths.ADAPTERS else "{}"
    evidence: Mapping[str, Any] = json.loads(levels).get(f"{adapter.name}/{recipe.name}", {})
    return {
        **{"framework": adapter.name, "title": adapter.title, "recipe": recipe.name},
        **{name: getattr(recipe, name) for name in ("model", "kind", "spawn", "dialect", "unit")},
        "device": device,
        "runs": _answer(recipe, case),
        "amp": _answer(recipe, case, recipe.amp, precision="amp"),
        "xla": _answer(recipe, case, recipe.xla, xla=True),
        "options": {name: list(values) for name, values in (recipe.options or {}).items()},
        "python": recipe.python,
        "pins": [*virtualenvs.pins(recipe, device), *recipe.built],
        "environment": {"folder": str(made.folder), "size_bytes": made.size_bytes} if made else None,
        "source": recipe.source or recipe.checkout,
        "repository": repository.address if repository else recipe.source or None,
        "commit": repository.commit if repository else recipe.commit or None,
        "licence": repository.licence if repository else None,
        "scripts": evidence.get("scripts", []),
        "image": recipe.image,
        "verification": _verification(adapter, recipe, evidence),
    }


def _verification(adapter: Adapter, recipe: Recipe, evidence: Mapping[str, Any]) -> dict[str, object]:
    if recipe.kind == "reference":
        return {"level": "our own", "date": None}
    level, date = evidence.get("level", "unchecked"), evidence.get("date")
    seen = rehearsed.of_recipe(adapter.name, recipe) if evidence else None
    if seen is None:
        return {"level": level, "date": date}
    steps = {scale: each.steps_seen for scale, each in seen.scales.items()}
    if level == "ran here":
        return {"level": level, "date": date, "rehearsed_steps": steps}
    return {"level": rehearsed.level(seen), "date": seen.date, "rehearsed_steps": steps}


def _answer(recipe: Recipe, case: Case, kind: str | None = None, **switch: Any) -> dict[str, object]:
    refusal = recipe.refusal(replace(case, **switch))
    return {"supported": refusal is None, "as": None if refusal else kind, "reason": refusal}


def _print(shown_recipes: Sequence[Mapping[str, Any]], device: str) -> None:
    names = ("framework", "recipe", "model", "spawn", "AMP", "XLA", "pins", "environment", "checked")
    columns = [(name if name.isupper() else say(f"columns.{name}"), "left") for name in names]
    for kind in ("reference", "official"):
        served = [row for row in shown_recipes if row["kind"] == kind and row["runs"]["supported"]]
        rows = list(map(_row, served))
        if kind == "reference":  # taken by this word and the model
            alike = by_key(((row[0], *row[3:]), row) for row in rows)
            models = {key: ", ".join(dict.fromkeys(row[2] for row in every)) for key, every in alike.items()}
            rows = [
                (key[0], f"{kind}-*" if each[1:] else each[0][1], models[key], *key[1:]) for key, each in alike.items()
            ]
        rows.sort(key=lambda row: row[-2] == say("adapters.not_made"))  # first what runs here as it is
        if rows:
            table(say(f"adapters.title_{kind}", n=len(served), device=device.upper()), columns, rows)
    others = [f"{row['framework']}/{row['recipe']}" for row in shown_recipes if not row["runs"]["supported"]]
    if others:
        line(say("adapters.others", n=len(others), device=device.upper(), names=", ".join(others)))


def _row(recipe: Mapping[str, Any]) -> tuple[str, ...]:
    pins, made = recipe["pins"], recipe["environment"]
    return (
        *(recipe[name] for name in ("framework", "recipe", "model")),
        known("adapters", recipe["spawn"]),
        *(say("adapters.yes" if recipe[name]["supported"] else "adapters.no") for name in ("amp", "xla")),
        " ".join(pins[:1]) + (" …" if len(pins) > 1 else ""),
        f"{made['size_bytes'] / 1e6:.0f} MB" if made else say("adapters.not_made"),
        known("adapters", recipe["verification"]["level"]),
    )


# --check


def _check(arguments: argparse.Namespace) -> int:
    contract, more, place = CONTRACTS[arguments.kind], search_paths(arguments), arguments.check.absolute()
    results: list[Checked] = []
    recipes = arguments.kind == "recipes"
    for file in registry.find_files(place) if recipes else author_modules.find_modules(place, contract):
        if arguments.kind == "sensors":
            results.append(checking.check_sensor(accelerators.Brought(file)))
        elif arguments.kind == "dialects":
            dialects = catalogue.known((*more, place))
            results += [checking.check_dialect(dialects[each.name], str(file)) for each in catalogue.load(file)]
        else:
            results += checking.check_adapters(registry.load_author_adapters(file), file, catalogue.known(more))
    if not results:
        raise EvalsuiteError.of("commands.check_none", path=arguments.check, example=contract.example)
    if arguments.json:
        print_json([asdict(checked) for checked in results], default=str)
    else:
        for checked in results:
            _show(checked)
    return Exit.UNDETERMINED if any(checked.missing for checked in results) else Exit.DONE


def _show(checked: Checked) -> None:
    line(f"{checked.name} ({checked.file})")
    if checked.commands:
        rows: dict[str, list[str]] = {}
        for case, command in checked.commands.items():
            words = "" if isinstance(command, str) else (f"{k}={v}" for k, v in sorted(command.environment.items()))
            text = (
                say("adapters.refused", reason=worded(command))
                if isinstance(command, str)
                else " ".join((*words, *command.argv))
            )
            rows.setdefault(text, []).append(case)
        every = say("adapters.every_case")
        cells = [
            (every if len(cases) == len(checked.commands) else ", ".join(cases), text) for text, cases in rows.items()
        ]
        table(say("adapters.commands"), [(say(f"columns.{name}"), "left") for name in ("case", "starts")], cells)
    for device in checked.devices or ():
        values = {**device, **device["reading"]}
        line(" ".join(f"{name}={value}" for name, value in values.items() if name != "reading"))
    for lack in checked.missing:
        line(say("adapters.missing", what=worded(lack)))
    n = len(checked.missing)
    line(say("adapters.lacks", name=checked.name, n=n) if n else say("adapters.whole", name=checked.name))
    line("")
