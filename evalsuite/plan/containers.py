"""Container runtimes: from a command line to the one that runs it in an image. The node agent starts the container, so
it samples from outside; what it fills in (ranks, addresses) is passed on by name. `data/containers.toml` has the
runtimes."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evalsuite.contracts.adapter import Adapter, Recipe
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError, did_you_mean, look_up
from evalsuite.core.paths import SCRATCH
from evalsuite.core.placeholders import GPUS, INTERFACE_OF_OPEN_MPI, OF_EVERY_RANK, OF_RANK, VISIBLE, fill

OF_ALL = ""  # in place of a name
PATHS = ("/", "./", "../", "~")
Argv = tuple[str, ...]
ON_ITS_NODE = "--nodelist={host}"  # filled by the node agent
INFINIBAND = Path("/dev/infiniband")
# What the node agent sets, and what users set for NCCL.
PASSED_ON = (
    *(*OF_RANK, *OF_EVERY_RANK, *INTERFACE_OF_OPEN_MPI),
    *(name for names in VISIBLE.values() for name in names),
    *("NCCL_DEBUG", "NCCL_IB_HCA", "NCCL_IB_DISABLE"),
)


@dataclass(frozen=True, kw_only=True)
class Wish:
    image: str  # "nvcr.io/nvidia/pytorch:20.03-py3", or a file made of it
    folder: str  # the run's own, mounted for writing
    workdir: str
    readable: tuple[str, ...] = ()  # mounted for reading
    environment: tuple[str, ...] = ()
    gpus: bool = False
    infiniband: bool = False
    user: str = ""  # "1000:1000": who owns what is written

    def words(self, line: Sequence[str]) -> Iterator[str]:
        mounts = (f"{self.folder}:{self.folder}", *(f"{path}:{path}:ro" for path in self.readable))
        variables = tuple(dict.fromkeys((*PASSED_ON, *self.environment)))
        lists = {"*mounts": mounts, "*variables": variables, "*paths": (self.folder, *self.readable)}
        squashed = self.image.endswith((".sqfs", ".squashfs"))
        states = {
            **{"?gpus": self.gpus, "?no_gpus": not self.gpus, "?infiniband": self.infiniband, "?user": self.user},
            **{"?rootless": not self.user.startswith("0:"), "?squashed": squashed, "?unpacked": not squashed},
        }
        registry, slash, rest = self.image.partition(
            "/"
        )  # enroot parts them by a #: "nvcr.io#nvidia/pytorch:20.03-py3"
        of_registry = slash and "." in registry and not self.image.startswith("/")
        texts = {
            **{"{image}": self.image, "{workdir}": self.workdir, "{user}": self.user, "{names}": " ".join(variables)},
            **{"{mounts}": ",".join(mounts), "{variables}": ",".join(variables)},
            "{workdir_quoted}": shlex.quote(self.workdir),
            "{image_or_uri}": self.image if self.image.endswith(".sif") else f"docker://{self.image}",
            "{image_of_enroot}": f"{registry}#{rest}" if of_registry else self.image,
        }
        mark = line[0] if line[0][0] in "?*" else ""
        for each in lists.get(mark, ("",) if states.get(mark, True) else ()):
            yield from (fill(word, {**texts, "{each}": each}) for word in line[bool(mark) :])


@dataclass(frozen=True, kw_only=True, eq=False)
class Runtime:
    name: str
    program: str
    argv: Sequence[Sequence[str]]
    complaint: str
    pull: Sequence[str] = ()  # brings an image to a node before the first run; (): its file is given
    digest: Sequence[str] = ()  # prints the digest of a present image; (): none does

    def wrap(self, wish: Wish, command: Argv) -> Argv:
        return (*(word for line in self.argv for word in wish.words(line)), *command)

    def alone(self, argv: Argv) -> Argv:
        """*argv* of `wrap` without the words that the node agent fills."""
        return tuple(fill(word, {GPUS: "all"}) for word in argv if word != ON_ITS_NODE)


@dataclass(frozen=True, kw_only=True)
class Container:
    runtime: Runtime
    infiniband: bool
    user: str

    def argv(self, command: Argv, *, folder: str, **asked: Any) -> Argv:
        """*asked*: image, and what else `Wish` has of a run."""
        own: dict[str, Any] = {"infiniband": self.infiniband, "user": self.user}
        return self.runtime.wrap(Wish(folder=folder, workdir=f"{folder}/{SCRATCH}", **own, **asked), command)


RUNTIMES = {name: Runtime(name=name, **facts) for name, facts in paths.read_data("containers.toml").items()}


def here(name: str) -> Container:
    runtime = look_up("core.unknown", RUNTIMES, name, where="--container", names=sorted(RUNTIMES))
    return Container(runtime=runtime, infiniband=INFINIBAND.exists(), user=f"{os.getuid()}:{os.getgid()}")


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
