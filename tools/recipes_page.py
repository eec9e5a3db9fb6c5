"""Writes the tables of `docs/recipes.md`: every official recipe, how far it was checked, and what it needs.

python tools/recipes_page.py

From the adapters, `data/repositories.toml` and `data/verification.json` (tools/verify_recipes.py).
"""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))

from evalsuite.contracts import registry
from evalsuite.core import paths
from evalsuite.logs import catalogue
from evalsuite.plan import data_sets, repositories, spec
from evalsuite.rehearsal import evidence as rehearsals
from evalsuite.rehearsal import tables as rehearsal
from tools.write_public_record import filled

SCOPES = {
    "global": "the whole job",
    "per_device": "one device",
    "own": "each printer's own share",
    "auto": "the whole job, or each printer's own share: told by the clock or by who prints",
    "unstated": "nobody says whose",
}
MEANS = {"step": "the last step", "interval": "the steps since the line before", "cumulative": "all steps so far"}
PAGE = HOUSE / "docs" / "recipes.md"


def main() -> int:
    PAGE.write_text(page())
    return 0


def page() -> str:
    """As it is, with the tables of today."""
    evidence = json.loads((paths.DATA / "verification.json").read_text())
    official = [(name, each) for name, adapter in sorted(registry.discover([]).items()) for each in adapter.recipes]
    official = [(name, recipe) for name, recipe in official if recipe.kind == "official"]
    seen = {(name, recipe.name): rehearsals.of_recipe(name, recipe) for name, recipe in official}
    ran = {name for name, facts in evidence.items() if facts["level"] == "ran here"}
    missing = [
        (name, recipe)
        for name, recipe in official
        if not seen[name, recipe.name] and f"{name}/{recipe.name}" not in ran
    ]
    counts, recipes = _recipes(official, evidence, seen)
    tables = {
        "recipes": recipes,
        "rehearsed": _rehearsed({name: levels for name, levels in seen.items() if levels}),
        "not rehearsed": _not_rehearsed(missing),
        "numbers": _numbers(official),
        "data": _data(official),
        "sources": (_source(*each) for each in data_sets.declared().sources.items()),
    }
    return filled(re.sub("(?<=<!-- counts -->\n).*", lambda _: counts, PAGE.read_text()), tables.items())


def _level(facts, seen) -> tuple[str, str]:
    if seen and facts["level"] != "ran here":
        return rehearsals.level(seen), seen.date
    return facts["level"], facts["date"]


def _recipes(official, evidence, seen) -> tuple[str, list]:
    models = repositories.known()
    unknown = {"level": "unchecked", "date": ""}
    facts = {(name, recipe.name): evidence.get(f"{name}/{recipe.name}", unknown) for name, recipe in official}
    levels_of = {key: _level(each, seen[key]) for key, each in facts.items()}
    tried = {key: _tried(each, seen[key]) for key, each in facts.items()}
    levels = [level for level, _ in levels_of.values()]
    names = ("ran here", "rehearsed", "rehearsed earlier", "arguments checked", "unchecked")
    counts = ", ".join(f"{levels.count(level)} {level}" for level in names)
    several = sum(max(ranks, default=0) > 1 for ranks, _ in tried.values())
    over = sum(max(hosts, default=0) > 1 for _, hosts in tried.values())
    said = (
        f"{len(official)} recipes: {counts}. {sum(bool(ranks) for ranks, _ in tried.values())} took "
        f"steps, {several} with more than one rank, {over} over more than one host."
    )
    rows = []
    for framework, recipe in official:
        key = (framework, recipe.name)
        ranks, hosts = (", ".join(map(str, sorted(each))) for each in tried[key])
        cells = (
            *(framework, recipe.name, recipe.model, _origin(recipe, models, seen[key])),
            ", ".join(each.upper() for each in recipe.devices if each != "cpu" or not recipe.needs_gpu),
            *(recipe.amp or "no", ", ".join(levels_of[key])),
            f"{ranks}; {hosts}{_alone(framework, recipe, ranks)}" if ranks else "none",
            _line_started(framework, recipe, facts[key], seen[key]),
            ", ".join(facts[key]["imports"]),
        )
        rows.append(cells)
    return said, rows


def _origin(recipe, models, seen) -> str:
    """What was really used stands before what a measurement uses."""
    model = models.get(recipe.checkout)
    where = f"{'/'.join(model.owner_and_name)} `{model.commit[:7]}` ({model.name})" if model else recipe.source
    return f"{where}; rehearsed: {seen.origin}" if seen and model and " at " not in seen.origin else where


def _tried(facts, seen) -> tuple[set[int], set[int]]:
    """Numbers of ranks and of hosts with which the script took steps."""
    scales = [spec.scale(run["case"].rpartition("-")[2]) for run in facts.get("ran", ())]
    scales += [(each.hosts, each.ranks // each.hosts) for each in seen.scales.values()] if seen else []
    return {hosts * ranks for hosts, ranks in scales}, {hosts for hosts, _ in scales}


def _alone(framework, recipe, ranks) -> str:
    """Why there was one rank alone; "" where there were more."""
    how = rehearsal.of_framework(framework).get(recipe.name)
    two = replace(rehearsal.case(framework, recipe, rehearsal.Rehearsal(), (1, 2)), device="cpu")
    why = how.untried.en if how and how.untried else None if recipe.needs_gpu else recipe.refusal(two)
    return "" if ranks != "1" else f": {why or 'more were not tried'}"


def _line_started(framework, recipe, facts, seen) -> str:
    """Whose command line: another launcher on a GPU than on a CPU is another program."""
    if seen and seen.device != "cpu":
        return "the GPU's"
    if not seen and not facts.get("ran"):
        return "none"
    for scale in ((1, 2), (1, 1)):
        asked = [rehearsal.case(framework, recipe, rehearsal.Rehearsal(), scale)]
        asked = [replace(asked[0], device=device) for device in ("cpu", "gpu")]
        if not any(recipe.refusal(case) for case in asked):
            on_cpu, on_gpu = (rehearsal.launcher(recipe.command_of(case)) for case in asked)
            return "the CPU's, as the GPU's" if on_cpu == on_gpu else f"the CPU's by {on_cpu}; the GPU's is by {on_gpu}"
    return "the CPU's alone"


def _rehearsed(seen):
    for (framework, recipe), proof in sorted(seen.items()):
        stand_ins = ", ".join(f"{name} `{digest[:8]}`" for name, digest in sorted(proof.stand_ins.items())) or "none"
        where = f"; script from {proof.origin}" if " at " not in proof.origin else ""
        scales = "; ".join(_scale(scale, each) for scale, each in sorted(proof.scales.items()))
        pins = f"{proof.python}: {', '.join(proof.pins)}{where}"
        yield framework, recipe, scales, proof.date, pins, stand_ins, _changes(proof.changes)


def _scale(scale: str, seen) -> str:
    [first, *more] = sorted(seen.logs)
    hosts = f" over {seen.hosts} hosts" if seen.hosts > 1 else ""
    by = f" by {seen.launcher}" if seen.ranks > 1 else ""
    log = f"[{scale}](../tests/logs/rehearsed/{first})" + (f" and {len(more)} logs more" if more else "")
    return f"{log}: {seen.steps_seen} steps{by}{hosts}, log {seen.status}"


def _changes(changes) -> str:
    words = [f"`{name} {value}`".replace(" `", "`") for name, value in changes.get("set", {}).items()]
    words += [f"without `{name}`" for name in changes.get("drop", ())]
    words += [f"`{' '.join(changes['append'])}`"] if changes.get("append") else []
    words += [f"`{name}={value}`" for name, value in changes.get("environment", {}).items()]
    return ", ".join(words).replace("|", "\\|") or "none"


def _not_rehearsed(official):
    for framework, recipe in official:
        how = rehearsal.of_framework(framework).get(recipe.name)
        reason = (how.impossible or how.untried) if how else None
        yield framework, recipe.name, reason.en if reason else "not rehearsed yet"


def _numbers(official):
    for framework, recipe in official:
        dialect = catalogue.known()[recipe.dialect]
        items, whose = recipe.unit.removesuffix("/s"), SCOPES[recipe.scope or dialect.scope]
        over, source = MEANS[dialect.averaging], dialect.step[0].source
        yield framework, recipe.name, dialect.name, items, whose, over, source


def _data(official):
    readers: dict[str, set[str]] = {}
    for framework, recipe in official:
        for name in data_sets.of_recipe(framework, recipe):
            readers.setdefault(name, set()).add(f"{framework}/{recipe.name}")
    for name, each in data_sets.declared().data_sets.items():
        read_by = ", ".join(sorted(readers.get(name, ["no recipe yet"])))
        yield f"`{name}`", each.holds, each.from_original, each.original_size, read_by


def _source(name: str, source: data_sets.Source) -> tuple[str, ...]:
    sizes = (" and ".join(f"{count:,}" for count in source.items[size].values()) for size in ("tiny", "full-shape"))
    return name.replace("_", " "), source.original, *sizes


if __name__ == "__main__":
    sys.exit(main())
