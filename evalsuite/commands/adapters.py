"""`evalsuite adapters`: the frameworks, their recipes, and what of them is installed."""

import json
from pathlib import Path

from evalsuite.errors import Exit

HELP = "list the frameworks and their recipes"
EXAMPLES = """  evalsuite adapters
  evalsuite adapters --frameworks pytorch,mxnet --device gpu
  evalsuite adapters --adapters ./my-adapters --json
"""


def add_arguments(parser) -> None:
    parser.add_argument("--frameworks", metavar="A,B,…", help="only these")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu", help="what is asked about (default: cpu)")
    parser.add_argument("--adapters", metavar="DIR", type=Path, action="append", default=[], help="more adapters")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(arguments) -> int:
    from evalsuite.registry import chosen, discover

    adapters = discover(arguments.adapters)
    wanted = arguments.frameworks.split(",") if arguments.frameworks else sorted(adapters)
    found = [
        facts(adapter, recipe, arguments.device) for adapter in chosen(wanted, adapters) for recipe in adapter.recipes
    ]
    if arguments.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
    else:
        _print(found, arguments.device)
    return Exit.DONE


def facts(adapter, recipe, device: str) -> dict:
    """One recipe as plain values; `refused`, `amp` and `xla` are why not, or null."""
    from evalsuite.launch import virtualenvs
    from evalsuite.model import Case

    case = Case(framework=adapter.name, recipe=recipe.name, model=recipe.model, batch_per_device=32, device=device)
    made = virtualenvs.existing(recipe, device=device) if recipe.pins(device) else None
    return {
        "framework": adapter.name,
        "title": adapter.title,
        "recipe": recipe.name,
        "model": recipe.model,
        "kind": recipe.kind,
        "spawn": recipe.spawn,
        "dialect": recipe.dialect,
        "unit": recipe.unit,
        "device": device,
        "runs": _answer(recipe, case),
        "amp": _answer(recipe, case, recipe.amp, precision="amp"),
        "xla": _answer(recipe, case, recipe.xla, xla=True),
        "options": {name: list(values) for name, values in (recipe.options or {}).items()},
        "python": recipe.python,
        "pins": [*recipe.pins(device), *recipe.built],
        "environment": {"folder": str(made.folder), "size_bytes": made.size_bytes} if made else None,
        "source": recipe.source or recipe.checkout,
        "commit": recipe.commit,
        "image": recipe.image,
        "verification": _verification(adapter, recipe),
    }


def _verification(adapter, recipe) -> dict:
    """How far the command was checked against the script: its level and when (tools/verify_recipes.py)."""
    from evalsuite import paths

    file = paths.DATA / "verification.json"
    evidence = json.loads(file.read_text()) if file.is_file() else {}
    found = evidence.get(f"{adapter.name}/{recipe.name}")
    if recipe.kind == "reference":
        return {"level": "our own", "date": None}
    return {"level": found["level"], "date": found["date"]} if found else {"level": "unchecked", "date": None}


def _answer(recipe, case, kind: str | None = None, **switch) -> dict:
    """Whether the recipe can serve *case* with *switch*, as what, and if not, why."""
    from dataclasses import replace

    refusal = recipe.refusal(replace(case, **switch))
    return {"supported": refusal is None, "as": None if refusal else kind, "reason": refusal}


def _print(found: list[dict], device: str) -> None:
    from evalsuite.commands.terminal import table

    headings = ("framework", "recipe", "model", "kind", "spawn", device, "AMP", "XLA", "pins", "environment", "checked")
    rows = [
        (
            *(one[name] for name in ("framework", "recipe", "model", "kind", "spawn")),
            *("yes" if one[name]["supported"] else "no" for name in ("runs", "amp", "xla")),
            " ".join(one["pins"][:2]) + (" …" if len(one["pins"]) > 2 else ""),
            f"{one['environment']['size_bytes'] / 1e6:.0f} MB" if one["environment"] else "not made",
            one["verification"]["level"],
        )
        for one in found
    ]
    table(f"{len(rows)} recipes on a {device}", [(heading, "left") for heading in headings], rows)
