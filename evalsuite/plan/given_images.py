"""Container images given on the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evalsuite.adapter import Adapter, listed
from evalsuite.errors import EvalsuiteError

OF_ALL = ""  # in place of a framework's name


def with_images(adapters: Mapping[str, Adapter], given: Sequence[str]) -> dict[str, Adapter]:
    """*given*: `IMAGE` for all, `FRAMEWORK=IMAGE` for one, which wins. Raises EvalsuiteError."""
    images = dict(_named(text, adapters) for text in given)
    return {name: _in(adapter, images.get(name, images.get(OF_ALL))) for name, adapter in adapters.items()}


def _in(adapter: Adapter, image: str | None) -> Adapter:
    if image is None:
        return adapter
    return replace(adapter, recipes=tuple(replace(recipe, image=image) for recipe in adapter.recipes))


def _named(text: str, adapters: Mapping[str, Adapter]) -> tuple[str, str]:
    name, equals, image = text.partition("=")
    if not equals or "/" in name:  # the path of a file may hold a =
        name, image = OF_ALL, text
    elif name not in adapters:
        raise EvalsuiteError.of(
            "plan.image_framework", text=text, name=name, known=listed("frameworks", name, adapters)
        )
    if not image or image.startswith("-"):
        raise EvalsuiteError.of("plan.image_no_image", text=text, image=image)
    path = image.startswith(("./", "../", "~"))  # a run starts in a folder of its own
    return name, str(Path(image).expanduser().absolute()) if path else image
