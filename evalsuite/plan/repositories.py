"""The official repositories that recipes run, each at its pinned commit."""

import functools
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from evalsuite.contracts.adapter import Recipe
from evalsuite.core import decode, paths
from evalsuite.core.decode import Constraint, Word
from evalsuite.core.errors import look_up

FILE = "repositories.toml"
NAME = re.compile(r"\w[\w.+-]*", re.ASCII)
PLACE = re.compile(r"[\w.][\w.+ -]*(/[\w.][\w.+ -]*)*/?", re.ASCII)  # examples/chainermn
COMMIT = re.compile(r"[0-9a-f]{40}")  # a branch moves, a short hash may become ambiguous
# No helper program of git's (ext::); a local mirror is given by --mirror.
ADDRESS = re.compile(r"(https?|ssh|git)://[\w.@:\[\]-]+(/[\w.+~-]+){2,}/?(\.git)?", re.ASCII)
EXAMPLE = "evalsuite's own data/repositories.toml"


Name = Annotated[str, Constraint("folder_name", NAME.fullmatch)]
# below its folder, and no option of git's
Place = Annotated[str, Constraint("inside", lambda place: PLACE.fullmatch(place) and ".." not in place.split("/"))]


@dataclass(frozen=True, kw_only=True)
class _RepositoryTable:
    repository: Annotated[str, Constraint("repository", ADDRESS.fullmatch)]  # "https://github.com/pytorch/examples"
    commit: Annotated[str, Constraint("commit", COMMIT.fullmatch)]
    licence: Word  # as the repository states it
    paths: tuple[Place, ...] = ()  # checked-out folders; () = all
    submodules: tuple[Place, ...] = ()  # those that the script needs


@dataclass(frozen=True, kw_only=True)
class Repository(_RepositoryTable):
    name: str

    @property
    def address(self) -> str:
        return self.repository

    @property
    def owner_and_name(self) -> tuple[str, str]:
        owner, name = self.address.removesuffix(".git").rstrip("/").split("/")[-2:]
        return owner, name

    @property
    def folder(self) -> Path:
        return paths.cache() / "repositories" / f"{self.name}-{self.commit[:10]}"


def known(folders: Iterable[Path] = ()) -> dict[str, Repository]:
    files = [paths.DATA / FILE, *(Path(folder) / FILE for folder in folders)]
    return {repository.name: repository for file in files if os.path.lexists(file) for repository in _read(file)}


def of(recipe: Recipe) -> dict[str, Repository]:
    return known((recipe.brought_by,) if recipe.brought_by else ())


def folder(recipe: Recipe) -> Path:
    return named(recipe.checkout, of(recipe)).folder


def library_folders(recipe: Recipe) -> list[str]:
    return [str(named(name, of(recipe)).folder) for name in recipe.libraries]


def named(name: str, repositories: Mapping[str, Repository]) -> Repository:
    return look_up("plan.repository_unknown", repositories, name)


@functools.cache  # asked for each case of a plan
def _read(file: Path) -> tuple[Repository, ...]:
    tables = decode.decode(dict[Name, _RepositoryTable], decode.read_toml(file, EXAMPLE), file, strict=True)
    return tuple(Repository(name=name, **vars(table)) for name, table in tables.items())
