"""The cases of every official recipe: each scale and each axis.

`python -m tools.recipe_cases 1x8 12 22`: twelve command lines on GPUs at 1x8, drawn by the seed 22, to be read.
"""

import random
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace

from evalsuite.contracts.adapter import Recipe
from evalsuite.contracts.registry import discover
from evalsuite.core.model import Case

SCALES = ((1, 1), (1, 8), (2, 8), (4, 8))
WRITTEN_INTO_THE_SCRIPT = {"arcface-torch": 512, "hugectr/wide-deep": 2048}  # batches


def base(framework: str, recipe: Recipe) -> Case:
    batch = WRITTEN_INTO_THE_SCRIPT.get(recipe.name) or WRITTEN_INTO_THE_SCRIPT.get(f"{framework}/{recipe.name}", 64)
    return Case(framework=framework, recipe=recipe.name, model=recipe.model, batch_per_device=batch, device="gpu")


def points(framework: str, recipe: Recipe) -> Iterator[tuple[str, Case]]:
    """(words, case): every scale plain; 1x8 and 2x8 with each other value of each axis."""
    for nodes, devices in SCALES:
        yield f"{nodes}x{devices}", base(framework, recipe).at_scale(nodes, devices)
    changes: list[tuple[str, dict]] = [("amp", {"precision": "amp"}), ("xla", {"xla": True})]
    for name, values in sorted((recipe.options or {}).items()):
        changes += [(f"{name}={value}", {"options": ((name, value),)}) for value in values[1:] or ("2",)]
    if not recipe.needs_gpu:
        changes.append(("cpu", {"device": "cpu"}))
    for words, change in changes:
        for scale in ((1, 1), (1, 8), (2, 8)) if words == "cpu" else ((1, 8), (2, 8)):
            yield f"{scale[0]}x{scale[1]} {words}", replace(base(framework, recipe).at_scale(*scale), **change)


def draw(scale: str, number: int, seed: str) -> Iterator[tuple[str, Recipe, str, Case]]:
    """(framework, recipe, words, case): *number* recipes that serve GPUs at *scale*, each with one of its cases."""
    recipes = [(name, recipe) for name, each in sorted(discover().items()) for recipe in each.recipes]
    pool = [(*pair, cases) for pair in recipes if pair[1].kind == "official" and (cases := _at(scale, *pair))]
    for name, recipe, cases in random.Random(f"{seed} {scale}").sample(pool, number):
        words, case = random.Random(f"{seed} {scale} {name}/{recipe.name}").choice(cases)
        yield name, recipe, words, case


def _at(scale: str, framework: str, recipe: Recipe) -> list[tuple[str, Case]]:
    chosen = [(words, case) for words, case in points(framework, recipe) if words.split()[0] == scale]
    return [(words, case) for words, case in chosen if case.device == "gpu" and recipe.refusal(case) is None]


if __name__ == "__main__":
    for framework, recipe, words, case in draw(sys.argv[1], int(sys.argv[2]), sys.argv[3]):
        command = recipe.command_of(case)
        variables = [f"{name}={value}" for name, value in command.environment.items()]
        print(f"{framework}/{recipe.name} {words}\n    {shlex.join([*variables, *command.argv])}\n")
