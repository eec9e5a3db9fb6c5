"""`evalsuite plan`: the test matrix as a table. Nothing is started."""

import argparse
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from evalsuite.commands.launching import preparation, prices
from evalsuite.commands.launching.adaptive_repeats import missing_runs, repeats_asked
from evalsuite.commands.launching.request import Request, lacking, read_request
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import SIZES, print_json, table
from evalsuite.core import layout, redaction
from evalsuite.core.decode import whole
from evalsuite.core.errors import EvalsuiteError, Exit, look_up
from evalsuite.core.messages import Message
from evalsuite.core.model import Case, Finding, Run, by_key
from evalsuite.launch.provision import virtualenvs
from evalsuite.logs.formatting import unit_of
from evalsuite.logs.text.disclosure import disclosed
from evalsuite.plan import largest
from evalsuite.plan.commandline import NOT_MADE_YET, CommandLine, command_line
from evalsuite.plan.plan import NO_RECIPE, Plan
from evalsuite.plan.spec import scale
from evalsuite.report.text.findings import english
from evalsuite.results.measure import units
from evalsuite.runs.store import Store

if TYPE_CHECKING:
    from evalsuite.results.measure.memory import Job


def run(arguments: argparse.Namespace) -> int:
    if arguments.memory:
        return _estimate_memory(arguments)
    request = read_request(arguments)
    if arguments.json:
        facts = _facts(request, with_commands=arguments.commands)
        print_json(disclosed(facts))
    elif arguments.commands:
        _print_commands(request)
    elif arguments.prepare:
        print("\n".join(preparation.lines(request)))
    else:
        print_table(request)
    return Exit.DONE if request.plan.cases else Exit.NOTHING_MEASURED


def _estimate_memory(arguments: argparse.Namespace) -> int:
    """Of each rank, before the job: no recipe is asked for. Raises EvalsuiteError for what cannot fit."""
    from evalsuite.results.measure import memory  # of nothing else that a plan says

    job, room = _read_job(arguments)
    found, (least, middle, most, rows) = memory.stages(job), memory.spread()
    peak, worst = memory.peak(job), min(least, memory.OF_EXPERTS) if job.model.routed else least
    span = {"low": f"{peak / (1 + most) / memory.GIB:.1f}", "high": f"{peak / (1 + least) / memory.GIB:.1f}"}
    off = {"least": f"{least:+.0%}", "middle": f"{middle:+.0%}", "most": f"{most:+.0%}", "rows": rows}
    if arguments.json:
        listed = [{f"{name}_bytes": round(value) for name, value in stage.items()} for stage in found]
        error = {"least": least, "median": middle, "most": most, "rows": rows}
        print_json({"model": arguments.memory, "stages": listed, "peak_bytes": round(peak), "error": error})
    else:
        columns = [(say(f"memory.{name}"), "right") for name in ("stage", *found[0], "sum")]
        values = ((*stage.values(), math.fsum(stage.values())) for stage in found)
        body = [(str(n), *(f"{each / memory.GIB:.1f}" for each in row)) for n, row in enumerate(values)]
        laid = " · ".join(filter(None, (_layout(job), arguments.scales)))
        table(say("memory.title", model=arguments.memory, layout=laid, devices=job.devices), columns, body)
        print(say("memory.off", **span, **off))
        if job.model.routed:
            print(say("memory.routed"))
    if room and peak / (1 + most) > room * memory.GIB:
        better = memory.fitting(job, room * memory.GIB * (1 + worst))
        instead = Message("commands.memory_never", devices=memory.MOST_DEVICES)
        if better:
            instead = Message("commands.memory_instead", layout=_layout(better), devices=better.devices)
        raise EvalsuiteError.of(
            "commands.memory_over", model=arguments.memory, low=span["low"], room=room, instead=instead
        )
    if room and not arguments.json:
        print(say("memory.fits" if peak / (1 + worst) <= room * memory.GIB else "memory.close", room=room))
    return Exit.DONE


def _read_job(arguments: argparse.Namespace) -> "tuple[Job, int | None]":
    from evalsuite.results.measure import flops, memory

    parts, model = layout.table()["parts"], flops.read_model(arguments.memory)
    words: dict[str, Sequence[str]] = {"precision": [*memory.STATES], "recompute": memory.RECOMPUTE}
    asked = {"precision": arguments.precision or "amp-bf16", "recompute": "none"}
    asked |= {"batch": arguments.batch_sizes or "1", "sequence_length": ""}
    known = dict.fromkeys([*asked, "micro_batch", "memory", *parts])
    asked |= dict(pair.partition("=")[::2] for pair in arguments.option or ())
    for name, text in asked.items():
        look_up("core.unknown", known, name, where="plan --memory --option", names=tuple(known))
        if some := words.get(name):
            look_up("core.unknown", dict.fromkeys(some), text, where=f"plan --memory: {name}", names=some)
        elif not whole(text) or (parts.get(name) == "PP" and int(text) > len(model.windows)):
            raise EvalsuiteError.of("commands.memory_size", name=name, text=text or "–")
    numbers = {name: whole(text) or 0 for name, text in asked.items() if name not in words}
    laid = {part: numbers[name] for name, part in parts.items() if name in numbers}
    if model.both_ways or model.tower or "VP" in laid or ("EP" in laid and not model.routed):
        raise EvalsuiteError.of("commands.memory_experts", model=arguments.memory)
    job = memory.Job(
        model=model,
        layout=laid,
        sequence=numbers["sequence_length"],
        batch=numbers["batch"],
        micro_batch=numbers.get("micro_batch"),
        **{name: asked[name] for name in words},
    )
    copies, (heads, experts) = job.of("DP") * job.of("FSDP") * job.of("CP"), model.divided
    cut = 2 * job.of("CP") if job.of("CP") > 1 else 1
    scales = arguments.scales.split(",") if arguments.scales else ()
    divided = [
        *(("tp", job.of("TP"), "num_attention_heads", heads), ("ep", job.of("EP"), "num_experts", experts)),
        *(("ep", job.of("EP"), "dp × fsdp × cp", copies), ("2 × cp", cut, "sequence_length", job.sequence)),
        ("micro_batch", job.micro_batch or 1, "--batch-sizes", job.batch),
        *(("dp × fsdp × tp × pp × cp", job.devices, f"--scales {text}", math.prod(scale(text))) for text in scales),
    ]
    for name, parts, what, size in divided:
        if size % parts:
            raise EvalsuiteError.of("commands.memory_parts", name=name, parts=parts, what=what, size=size)
    return job, numbers.get("memory")


def _layout(job: "Job") -> str:
    parts = [f"{part} {job.layout[part]}" for part in layout.table()["order"] if job.of(part) > 1]
    return " · ".join([*parts, f"recompute {job.recompute}", f"batch {job.batch}", f"micro-batch {job.micro}"])


def print_table(request: Request) -> None:
    plan, place, options = request.plan, request.place, request.options
    flags, done = _flags(plan, i18n.finding), _count_done(plan, place.store)
    unfound = [largest.series(case) for case in plan.to_search]
    for case in (case for case in plan.cases if largest.series(case) in unfound):
        flags.setdefault(case.id, []).append(say("plan.batch_unfound", batch=case.batch_per_device))
    repeats = repeats_asked(plan.spec)
    rows = [(*_axes(case), f"{done[case.id]}/{repeats}", "; ".join(flags.get(case.id, ()))) for case in plan.cases]
    # models without a recipe of a framework, where the plan has others of both
    there = {name for case in plan.cases for name in (case.framework, case.model)}
    named = [(skip, (skip.case.framework, skip.case.model)) for skip in plan.skips]
    without = dict.fromkeys(names for skip, names in named if skip.case.recipe == NO_RECIPE and {*names} <= there)
    absent: Mapping[str, Sequence[str]] = by_key(without)
    others = [skip for skip, names in named if skip.case.recipe != NO_RECIPE or names not in without]
    alike = by_key(((*_axes(skip.case)[:3], skip.reason), skip.case) for skip in others)
    for (*_, reason), cases in alike.items():
        values = (", ".join(dict.fromkeys(column)) for column in zip(*map(_axes, cases), strict=True))
        rows.append((*values, say("plan.skip"), i18n.worded(reason)))
    sides = {"framework": "left", "recipe": "left", "model": "left", "scale": "left", "precision": "left",
             "batch": "right", "done": "right", "note": "left"}  # fmt: skip
    columns = [(say(f"columns.{name}"), side) for name, side in sides.items()]
    runs, device = len(plan.runs), place.machine.device.upper()
    table(say("plan.title", name=plan.spec.name, runs=runs, device=device), columns, rows)
    if absent:
        print(say("plan.no_recipes", models="; ".join(f"{who}: {', '.join(what)}" for who, what in absent.items())))
    if place.engine.name != "local" and (unready := find_unready(request)):
        print(say("plan.to_prepare", n=len(unready), first=min(unready)))
    if sentence := _apart(plan):
        print(sentence)
    left = missing_runs(plan, place.store, options.search_paths)
    if not left:
        why = next((i18n.worded(skip.reason) for skip in plan.skips), "[[exclude]]")
        print(say("plan.nothing_left", runs=runs) if runs else say("plan.nothing_can", why=why))
        return
    for sentence in prices.sentences(plan, place, options, left):
        print(sentence)


def _apart(plan: Plan) -> str | None:
    """Whose results will stand side by side without an order, and in what they differ: groups of frameworks, in which
    some case of each is a case of another in the same unit."""

    def setting(case: Case) -> tuple[str, ...]:
        unit = unit_of(case.model, plan.recipe(case).unit)
        unit = units.TOKENS if unit in units.SEQUENCES and case.option("sequence_length", "") else unit
        return case.model, case.scale, str(case.batch_policy or case.batch_per_device), case.precision, unit

    groups: list[tuple[set[str], set[tuple[str, ...]]]] = []
    for one, frameworks in by_key((setting(case), case.framework) for case in plan.cases).items():
        near = [each for each in groups if each[0].intersection(frameworks)]
        whole = {*frameworks}.union(*(names for names, _ in near)), {one}.union(*(held for _, held in near))
        groups = [*(each for each in groups if each not in near), whole]
    if len(groups) < 2:
        return None
    differences = []
    for number, name in enumerate(("model", "scale", "batch", "precision", "unit")):
        values = [{one[number] for one in held} for _, held in groups]
        if sum(map(len, values)) == len(set.union(*values)):
            differences.append(f"{say(f'columns.{name}')} {' ≠ '.join(', '.join(sorted(each)) for each in values)}")
    told = " | ".join(", ".join(sorted(each)) for each, _ in groups)
    return say("plan.apart", names=told, differences="; ".join(differences) or say("plan.apart_each"))


def find_unready(request: Request) -> set[str]:
    plan, check = request.plan, lacking(request.place.engine)
    return {i18n.worded(reason) for case in plan.cases for reason in check(case, plan.recipe(case))}


def _count_done(plan: Plan, store: Store) -> Mapping[str, int]:
    ended = store.ended()
    repeats = range(plan.spec.most_repeats or plan.spec.repeats)
    return {case.id: sum(ended(Run(case=case, repeat=repeat)) for repeat in repeats) for case in plan.cases}


def _axes(case: Case) -> tuple[str, ...]:
    precision = case.precision + ("+XLA" if case.xla else "")
    recipe = " ".join([case.recipe, *(f"{name}={value}" for name, value in case.options if name not in SIZES)])
    batch = str(case.batch_per_device)
    if case.strong_batch is not None:
        batch = say("plan.strong_batch", batch=batch, whole=case.strong_batch)
    return (case.framework, recipe, case.model, case.scale, precision, batch)


def _flags(plan: Plan, sentence: Callable[[Finding], str]) -> dict[str, list[str]]:
    return by_key((finding.where, sentence(finding)) for finding in plan.findings)


def _print_commands(request: Request) -> None:
    plan = request.plan
    for case in plan.cases:
        print(f"# {case.id} ({case.nodes} node{'s' if case.nodes > 1 else ''})")
        whole = _command_line(request, case)
        print(shlex.join(redaction.redact_words(whole.engine)))
        if NOT_MADE_YET in whole.training:
            of_recipe = Message("commands.python_of_recipe", recipe=case.recipe)
            why = Message("commands.python_made") if plan.recipe(case).pins(case.device) else of_recipe
            print(f"#   {i18n.worded(why)}")
    for skip in plan.skips:
        print(f"# skipped: {skip.case.id}: {i18n.worded(skip.reason)}")


def _command_line(request: Request, case: Case) -> CommandLine:
    plan, place, options = request.plan, request.place, request.options
    recipe = plan.recipe(case)
    made = virtualenvs.existing(recipe, device=case.device)
    return command_line(
        recipe,
        case,
        python=(None if recipe.environment else options.python) or (made.python if made else NOT_MADE_YET),
        folder=place.store.folder(Run(case=case, repeat=0)).path.resolve(),
        engine=place.engine.serving(recipe),
        timeout_s=plan.spec.timeout_s,
        agent_options=options.agent_options,
    )


def _facts(request: Request, *, with_commands: bool) -> dict[str, object]:
    plan, place, options = request.plan, request.place, request.options
    flags, done = _flags(plan, english), _count_done(plan, place.store)
    left = missing_runs(plan, place.store, options.search_paths)
    estimate = prices.estimate(plan, place.store, left)
    names = ["id", "framework", "model", "scale", "precision", "xla"]
    names += ["batch_per_device", "strong_batch", "batch_policy"]
    cases = []
    for case in plan.cases:
        facts = {name: getattr(case, name) for name in names}
        facts |= {"done": done[case.id], "notes": flags.get(case.id, [])}
        if with_commands:
            facts["command"] = list(redaction.redact_words(_command_line(request, case).engine))
        cases.append(facts)
    return {
        **{"profile": plan.spec.name, "repeats": plan.spec.repeats, "most_repeats": plan.spec.most_repeats},
        "estimated_seconds": estimate.total(left),
        "device_hours": sum(case.total_devices * seconds for case, seconds in estimate.priced(left)) / 3600,
        "cases": cases,
        "searches": [
            {"of": search.of.id, "batch": search.batch, "tried": [asdict(trial) for trial in search.tried]}
            for search in plan.spec.searched
        ],
        "to_search": [case.id for case in plan.to_search],
        "skips": [{"id": skip.case.id, "reason": skip.reason} for skip in plan.skips],
    }
