"""The plan: which runs the matrix asks for, in which order, which cases are skipped and why."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from evalsuite.contracts.adapter import Adapter, Recipe
from evalsuite.contracts.registry import choose_adapters
from evalsuite.core import layout
from evalsuite.core.errors import EvalsuiteError, look_up
from evalsuite.core.findings import Oversubscribed, TooShortWindow
from evalsuite.core.messages import Message
from evalsuite.core.model import Case, Device, Finding, Run, Skip
from evalsuite.plan import largest, variants
from evalsuite.plan.spec import KINDS, MOST_CASES, MOST_RUNS, Spec
from evalsuite.plan.variants import Rule

NO_RECIPE = "none"


@dataclass(frozen=True, kw_only=True)
class Machine:
    cores: int | None  # None: another machine's, not known here
    accelerators: int | None  # likewise
    device: Device
    binds: bool = False  # whether CPU devices are bound to cores by default


@dataclass(frozen=True, kw_only=True)
class Plan:
    spec: Spec
    adapters: Mapping[str, Adapter]
    cases: tuple[Case, ...]
    runs: tuple[Run, ...]
    skips: tuple[Skip, ...]
    findings: tuple[Finding, ...] = ()
    to_search: tuple[Case, ...] = ()  # a case of each series whose batch is not found yet

    def without(self, skips: Sequence[Skip]) -> "Plan":
        gone = {skip.case.id for skip in skips}
        return replace(
            self,
            cases=tuple(case for case in self.cases if case.id not in gone),
            runs=tuple(run for run in self.runs if run.case.id not in gone),
            skips=(*self.skips, *skips),
            to_search=tuple(case for case in self.to_search if case.id not in gone),
        )

    def recipe(self, case: Case) -> Recipe:
        return self.adapters[case.framework].recipe(case.recipe)


Refusal = Callable[[Case, Recipe], str | None]


def plan(spec: Spec, adapters: Mapping[str, Adapter], machine: Machine, refusals: Iterable[Refusal] = ()) -> Plan:
    """*refusals* say for others (engine, environments) why a case cannot be run. Repeats are interleaved, so that a
    machine which slows down does so for all (D10)."""
    for matrix in spec.matrices():
        _check_models(matrix, adapters)
        if matrix.find_batch and matrix.scaling == "strong":
            raise EvalsuiteError.of("plan.max_and_strong", name=matrix.name)
    sizes = (len(matrix.frameworks) * math.prod(map(len, matrix.axes())) for matrix in spec.matrices())
    if (size := sum(sizes) * (1 + len(spec.variants))) > MOST_CASES:
        raise EvalsuiteError.of("plan.axes_cases", name=spec.name, cases=size, most=MOST_CASES)
    asked, unfound = _asked(spec, adapters, machine)
    checks = (largest.refusal(spec.searched), _without_room(spec, machine), *refusals)
    skips = [skip for case, recipe in asked if (skip := _skip(case, recipe, adapters, checks))]
    skipped = {skip.case.id for skip in skips}
    cases = tuple(case for case, _ in asked if case.id not in skipped)
    repeats = spec.most_repeats or spec.repeats
    if len(cases) * repeats > MOST_RUNS:
        raise EvalsuiteError.of(
            "plan.too_many_runs",
            name=spec.name,
            cases=len(cases),
            repeats=repeats,
            runs=len(cases) * repeats,
            most=MOST_RUNS,
        )
    return Plan(
        spec=spec,
        adapters=adapters,
        cases=cases,
        runs=tuple(in_blocks(cases, spec)),
        skips=tuple(skips),
        findings=tuple(finding for case in cases for finding in _findings(case, machine)),
        to_search=largest.to_search(case for case in cases if case.id in unfound),
    )


def in_blocks(cases: Sequence[Case], spec: Spec, repeats: Iterable[int] | None = None) -> Iterable[Run]:
    """Repeat by repeat and, within one, scale by scale, so that each block holds all that are compared. Within a block
    the order is random by the spec's seed: no framework always runs first."""
    scales = dict.fromkeys(case.scale for case in cases)
    for repeat in range(spec.most_repeats or spec.repeats) if repeats is None else repeats:
        for scale in scales:
            block = [case for case in cases if case.scale == scale]
            random.Random(f"{spec.seed} {repeat} {scale}").shuffle(block)
            yield from (Run(case=case, repeat=repeat) for case in block)


def _asked(
    spec: Spec, adapters: Mapping[str, Adapter], machine: Machine
) -> tuple[list[tuple[Case, Recipe | None]], set[str]]:
    unfound: set[str] = set()
    as_said: set[str] = set()
    chosen_from: dict[tuple[Rule, ...], list[Case]] = {}
    planned: dict[str, tuple[Case, Recipe | None]] = {}
    cores = cores_per_device(spec, machine)
    for matrix in spec.matrices():
        unrolled = list(of_matrix(matrix, adapters, machine, cores))
        if matrix.find_batch:
            unfound |= {case.id for case, _ in unrolled if largest.find_search(case, spec.searched) is None}
            unrolled = [(largest.with_batch(case, spec.searched), recipe) for case, recipe in unrolled]
        else:
            as_said |= {case.id for case, _ in unrolled}
        chosen_from.setdefault((*matrix.include, *matrix.exclude), []).extend(case for case, _ in unrolled)
        for case, recipe in unrolled:
            kept = not matrix.include or any(rule.holds(case) for rule in matrix.include)
            if kept and not any(rule.holds(case) for rule in matrix.exclude):
                planned.setdefault(case.id, (case, recipe))
    if both := unfound & as_said:
        raise EvalsuiteError.of("plan.max_start", case=min(both))
    for rules, cases in chosen_from.items():
        variants.check_rules(rules, cases, spec.stated, spec.name)
    return list(planned.values()), unfound


def of_matrix(
    spec: Spec, adapters: Mapping[str, Adapter], machine: Machine, cores: int | None
) -> Iterable[tuple[Case, Recipe | None]]:
    frameworks = choose_adapters(spec.frameworks, adapters)
    for (nodes, devices), model, batch, precision, xla in spec.points():
        for adapter, chosen in itertools.product(frameworks, spec.options_at((nodes, devices))):
            absent = () if spec.entered else (None,)
            ours = [
                each for each in adapter.recipes if each.model == model and {each.name, each.kind} & {*spec.recipes}
            ]
            recipes: Sequence[Recipe | None] = ours or absent
            for recipe in recipes:
                case = Case(
                    framework=adapter.name,
                    recipe=recipe.name if recipe else NO_RECIPE,
                    model=model,
                    nodes=nodes,
                    devices_per_node=devices,
                    batch_per_device=batch,
                    batch_policy="max" if spec.find_batch else spec.batch_policy,
                    precision=precision,
                    strong_batch=batch * spec.base_devices if spec.scaling == "strong" else None,
                    xla=xla,
                    device=machine.device,
                    cores_per_device=cores,
                    protocol=spec.protocol,
                    options=recipe.meant(chosen, spec.preset) if recipe else chosen,
                )
                there = case.at_scale(nodes, devices)
                yield there, recipe
                for variant in variants.of_framework(adapter.name, spec.variants) if recipe else ():
                    options = tuple(sorted((*there.options, (variants.AXIS, variant.name))))
                    yield replace(there, options=options), recipe


def every_case(spec: Spec, adapters: Mapping[str, Adapter]) -> Iterable[tuple[Case, Recipe]]:
    """With a recipe, on any kind of device: what a spec wants to lie ready."""
    known = variants.with_participants(adapters, spec.participants)
    for matrix, device in itertools.product(spec.matrices(), get_args(Device)):
        machine = Machine(cores=None, accelerators=None, device=device)
        yield from ((case, recipe) for case, recipe in of_matrix(matrix, known, machine, None) if recipe)


def cores_per_device(spec: Spec, machine: Machine) -> int | None:
    """The same in every case; None: devices are not bound to cores."""
    if machine.device != "cpu" or machine.cores is None or not machine.binds:
        return spec.cores_per_device if machine.device == "cpu" else None
    fitting = (devices for matrix in spec.matrices() for _, devices in matrix.scales if devices <= machine.cores)
    return spec.cores_per_device or machine.cores // max(fitting, default=machine.cores)


def _skip(case: Case, recipe: Recipe | None, adapters: Mapping[str, Adapter], checks: Iterable[Refusal]) -> Skip | None:
    if recipe is None:
        known = adapters[case.framework].recipes
        others = ",".join(each.name for each in known if each.model == case.model)
        there = f"--recipe {others}" if others else f"--models {','.join(sorted({each.model for each in known}))}"
        none = Message("plan.no_recipe", framework=case.framework, model=case.model, there=there)
        return Skip(case=case, reason=none, kind="unsupported")
    if reason := recipe.refusal(case):
        return Skip(case=case, reason=reason, kind="unsupported")
    reason = next((reason for check in checks if (reason := check(case, recipe))), None)
    return Skip(case=case, reason=reason) if reason else None


def _without_room(spec: Spec, machine: Machine) -> Refusal:
    cores, accelerators = machine.cores, machine.accelerators

    def refusal(case: Case, recipe: Recipe) -> str | None:
        if wrong := layout.contradiction(layout.of_case(case), case, f"{case.framework} {case.recipe}"):
            return wrong
        asked, each, here = case.devices_per_node, case.cores_per_device or 0, case.nodes == 1
        if case.strong_batch is not None and case.strong_batch % case.total_devices:
            return Message("plan.undivided", batch=case.strong_batch, devices=case.total_devices)
        if here and case.device != "cpu" and accelerators is not None and asked > accelerators:
            return Message("plan.too_few_gpus", asked=asked, kind=case.device.upper(), there=accelerators)
        if here and not spec.oversubscribe and cores is not None and each * asked > cores:
            return Message("plan.too_few_cores", devices=asked, cores=Message("plan.cores_each", n=each), there=cores)
        return None

    return refusal


def _findings(case: Case, machine: Machine) -> Iterator[Finding]:
    devices, steps = case.devices_per_node, case.protocol
    if case.device == "cpu" and machine.cores is not None and devices * (case.cores_per_device or 1) > machine.cores:
        yield Oversubscribed(processes=devices, cores=machine.cores, where=case.id)
    if steps.measured_steps < TooShortWindow.least_steps:  # it would be measured and not count (D07)
        yield TooShortWindow(skipped_steps=steps.warmup_steps, measured_steps=steps.measured_steps, where=case.id)


def _check_models(spec: Spec, adapters: Mapping[str, Adapter]) -> None:
    if not spec.frameworks:
        raise EvalsuiteError.of("plan.no_framework", names=sorted(adapters))
    recipes = [recipe for adapter in adapters.values() for recipe in adapter.recipes]
    usual = Counter(recipe.model for recipe in recipes).most_common()  # is what a short name means
    models, names = dict(usual), {recipe.name: recipe for recipe in recipes}
    for model in spec.models:
        look_up("core.unknown", models, model, where="--models", names=sorted(models))
    for wanted in spec.recipes:
        look_up("plan.recipe", {**names, **dict.fromkeys(KINDS)}, wanted)
