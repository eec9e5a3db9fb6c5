"""The cases of every official recipe: each scale and each axis."""

from collections.abc import Iterator
from dataclasses import replace

from evalsuite.contracts.adapter import Recipe
from evalsuite.core.model import Case

SCALES = ((1, 1), (1, 8), (2, 8), (4, 8))
WRITTEN_INTO_THE_SCRIPT = {"arcface-torch": 512, "hugectr/wide-deep": 2048}  # batches


def base(framework: str, recipe: Recipe) -> Case:
    batch = WRITTEN_INTO_THE_SCRIPT.get(recipe.name) or WRITTEN_INTO_THE_SCRIPT.get(f"{framework}/{recipe.name}", 64)
    device = "npu" if "npu" in recipe.devices else "gpu"
    return Case(framework=framework, recipe=recipe.name, model=recipe.model, batch_per_device=batch, device=device)


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
