"""Container images given on the command line."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path

from evalsuite.adapter import Adapter, Recipe
from evalsuite.errors import EvalsuiteError, did_you_mean

OF_ALL = ""  # in place of a name
PATHS = ("/", "./", "../", "~")


def with_images(adapters: Mapping[str, Adapter], given: Sequence[str]) -> dict[str, Adapter]:
    """*given*: `IMAGE` for all, `NAME=IMAGE` for a framework's, a recipe's or `FRAMEWORK/RECIPE`'s, which wins."""
    names = {*(name for adapter in adapters.values() for recipe in adapter.recipes for name in _names(adapter, recipe))}
    images = dict(pairs := [_named(text, names) for text in given])
    if len(images) < len(pairs):
        raise EvalsuiteError.of("plan.image_twice", texts=given)

    def placed(adapter: Adapter, recipe: Recipe) -> Recipe:
        image = next((images[name] for name in (*_names(adapter, recipe), OF_ALL) if name in images), None)
        return replace(recipe, image=image) if image else recipe

    return {
        name: replace(adapter, recipes=tuple(placed(adapter, recipe) for recipe in adapter.recipes))
        for name, adapter in adapters.items()
    }


def _names(adapter: Adapter, recipe: Recipe) -> tuple[str, ...]:
    return (f"{adapter.name}/{recipe.name}", recipe.name, adapter.name)


def _named(text: str, names: Set[str]) -> tuple[str, str]:
    name, equals, image = text.partition("=")
    if not equals or name.startswith(PATHS):  # the path of a file may hold a =
        name, image = OF_ALL, text
    elif name not in names:
        raise EvalsuiteError.of("plan.image_framework", text=text, name=name, near=did_you_mean(name, names))
    if not image or image.startswith("-"):
        raise EvalsuiteError.of("plan.image_no_image", text=text, image=image)
    path = image.startswith(PATHS)  # a run starts in a folder of its own
    return name, str(Path(image).expanduser().absolute()) if path else image
