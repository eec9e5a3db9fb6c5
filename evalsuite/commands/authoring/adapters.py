"""`evalsuite adapters`: the frameworks, their recipes, what of them is installed, and an author's check."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from evalsuite import author_modules, paths, registry
from evalsuite.adapter import Adapter, Recipe
from evalsuite.commands.authoring import checking
from evalsuite.commands.authoring.checking import Checked
from evalsuite.commands.options.common import search_paths
from evalsuite.commands.printing.i18n import known, say, status, worded
from evalsuite.commands.printing.terminal import line, print_json, table
from evalsuite.errors import EvalsuiteError, Exit
from evalsuite.launch.provision import virtualenvs, wheels
from evalsuite.logs import catalogue
from evalsuite.logs.formatting import rate
from evalsuite.model import Case, Device
from evalsuite.plan import evidence as rehearsed
from evalsuite.plan import repositories
from evalsuite.registry import choose_adapters, discover


def run(arguments: argparse.Namespace) -> int:
    if arguments.check is not None:
        return _check(arguments)
    if arguments.log is not None:
        raise EvalsuiteError.of("commands.check_log")
    adapters = discover(arguments.adapters)
    wanted = arguments.frameworks.split(",") if arguments.frameworks else sorted(adapters)
    found = [
        facts(adapter, recipe, arguments.device)
        for adapter in choose_adapters(wanted, adapters)
        for recipe in adapter.recipes
    ]
    if arguments.json:
        print_json(found)
    else:
        _print(found, arguments.device)
    return Exit.DONE


def facts(adapter: Adapter, recipe: Recipe, device: Device) -> dict[str, Any]:
    """One recipe as plain values; `runs`, `amp` and `xla` say whether it can, as what, and if not, why."""
    case = Case(framework=adapter.name, recipe=recipe.name, model=recipe.model, batch_per_device=32, device=device)
    made = virtualenvs.existing(recipe, device=device)
    repository = repositories.of(recipe).get(recipe.checkout)
    evidence = _evidence(adapter, recipe)
    return {
        "framework": adapter.name,
        "title": adapter.title,
        "recipe": recipe.name,
        "model": recipe.model,
        "kind": recipe.kind,
        "spawn": recipe.spawn,
        "dialect": recipe.dialect_name,
        "unit": recipe.unit,
        "device": device,
        "runs": _answer(recipe, case),
        "amp": _answer(recipe, case, recipe.amp, precision="amp"),
        "xla": _answer(recipe, case, recipe.xla, xla=True),
        "options": {name: list(values) for name, values in (recipe.options or {}).items()},
        "python": recipe.python,
        "pins": [*virtualenvs.pins(recipe, device), *recipe.built],
        "wheel": _wheel(recipe, device),
        "environment": {"folder": str(made.folder), "size_bytes": made.size_bytes} if made else None,
        "source": recipe.source or recipe.checkout,
        "repository": repository.address if repository else recipe.source or None,
        "commit": repository.commit if repository else recipe.commit or None,
        "licence": repository.licence if repository else None,
        "scripts": evidence.get("scripts") or _scripts(recipe, case),
        "image": recipe.image,
        "verification": _verification(adapter, recipe, evidence),
    }


def _wheel(recipe: Recipe, device: Device) -> dict[str, str] | None:
    found = wheels.find_wheel(virtualenvs.pins(recipe, device)) if device == "gpu" else None
    if found is None:
        return None
    least, most = (f"{major}.{minor}" for major, minor in (found.least, found.most))
    return {"pin": found.pin, "cuda": found.cuda, "least": least, "most": most}


def _evidence(adapter: Adapter, recipe: Recipe) -> Mapping[str, Any]:
    file = paths.DATA / "verification.json"
    ours = recipe.brought_by == paths.ADAPTERS and file.is_file()
    found: Mapping[str, Any] = json.loads(file.read_text()).get(f"{adapter.name}/{recipe.name}", {}) if ours else {}
    return found


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
    return {"level": "rehearsed", "date": seen.date, "rehearsed_steps": steps}


def _scripts(recipe: Recipe, case: Case) -> list[str]:
    cases = (case, replace(case, device="gpu"), replace(case, device="gpu", precision="amp"))
    served = next((one for one in cases if recipe.refusal(one) is None), None)
    words = recipe.command_of(served).argv if served else ()
    return [word.removeprefix("{checkout}/").removeprefix("{workloads}/") for word in words if word.endswith(".py")]


def _answer(recipe: Recipe, case: Case, kind: str | None = None, **switch: Any) -> dict[str, object]:
    refusal = recipe.refusal(replace(case, **switch))
    return {"supported": refusal is None, "as": None if refusal else kind, "reason": refusal}


def _print(found: Sequence[Mapping[str, Any]], device: str) -> None:
    before, after = ("framework", "recipe", "model", "kind", "spawn"), ("pins", "environment", "checked")
    headings = (
        *(say(f"columns.{name}") for name in before),
        *(device.upper(), "AMP", "XLA"),
        *(say(f"columns.{name}") for name in after),
    )
    rows = [
        (
            *(one[name] for name in ("framework", "recipe", "model")),
            *(known("adapters", one[name]) for name in ("kind", "spawn")),
            *(say("adapters.yes" if one[name]["supported"] else "adapters.no") for name in ("runs", "amp", "xla")),
            " ".join(one["pins"][:2]) + (" …" if len(one["pins"]) > 2 else ""),
            f"{one['environment']['size_bytes'] / 1e6:.0f} MB" if one["environment"] else say("adapters.not_made"),
            known("adapters", one["verification"]["level"]),
        )
        for one in found
    ]
    title = say("adapters.title", n=len(rows), device=device.upper())
    table(title, [(heading, "left") for heading in headings], rows)


# --check


def _check(arguments: argparse.Namespace) -> int:
    more = search_paths(arguments)
    known = catalogue.discover(more.dialects, (*more.adapters, arguments.check.resolve()))
    found = [
        checked
        for file in author_modules.find_modules(arguments.check, registry.CONTRACT)
        for checked in checking.check_adapters(registry.load_author_adapters(file), file, known, arguments.log)
    ]
    return show(found, arguments, registry.CONTRACT)


def show(found: Sequence[Checked], arguments: argparse.Namespace, contract: author_modules.Contract) -> int:
    """Prints what a check has *found*; the exit code says whether something is missing."""
    if not found:
        raise EvalsuiteError.of("commands.check_none", path=arguments.check, example=contract.example)
    if arguments.json:
        print_json([asdict(one) for one in found], default=str)
    else:
        for one in found:
            _show(one)
    return Exit.UNDETERMINED if any(one.missing for one in found) else Exit.DONE


def _show(one: Checked) -> None:
    line(f"{one.name} ({one.file})")
    if one.commands:
        columns = [(say(f"columns.{name}"), "left") for name in ("case", "starts")]
        table(say("adapters.commands"), columns, list(_command_rows(one)))
    for text in [_read(one)] if one.devices is None else map(_values, one.devices):
        line(text)
    for lack in one.missing:
        line(say("adapters.missing", what=worded(lack.what), advice=worded(lack.advice).rstrip(".。")))
    line(
        say("adapters.lacks", name=one.name, n=len(one.missing))
        if one.missing
        else say("adapters.whole", name=one.name)
    )
    line("")


def _command_rows(one: Checked) -> Iterator[tuple[str, str]]:
    rows: dict[str, list[str]] = {}
    for built in one.commands:
        words = (*(f"{name}={value}" for name, value in sorted(built.environment.items())), *built.argv)
        text = say("adapters.refused", reason=worded(built.refused)) if built.refused else " ".join(words)
        rows.setdefault(text, []).append(f"{built.device} {built.scale} {built.switches}")
    every = len(one.commands)
    return (
        (say("adapters.every_case") if len(cases) == every else ", ".join(cases), text) for text, cases in rows.items()
    )


def _values(device: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in {**device, **device["reading"]}.items() if name != "reading")


def _read(one: Checked) -> str:
    read = one.read
    if read is None:
        return say("adapters.unreadable")
    if read.log is None:
        return say("adapters.samples", dialect=read.dialect, n=read.steps)
    speed = f" · {rate(read.items_per_s)} {read.unit}" if read.items_per_s is not None else ""
    reason = f" · {worded(read.reason)}" if read.reason else ""
    found = say("adapters.read", log=read.log, dialect=read.dialect, status=status(read.status), n=read.steps)
    return f"{found}{speed}{reason}"
