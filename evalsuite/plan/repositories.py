"""The official repositories that recipes run, each at its pinned commit."""

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from evalsuite import decode, paths
from evalsuite.adapter import Recipe
from evalsuite.decode import Constraint, Word
from evalsuite.errors import EvalsuiteError, did_you_mean

FILE = "repositories.toml"
NAME = re.compile(r"\w[\w.+-]*", re.ASCII)
PLACE = re.compile(r"[\w.][\w.+ -]*(/[\w.][\w.+ -]*)*/?", re.ASCII)  # examples/chainermn
COMMIT = re.compile(r"[0-9a-f]{40}")  # a branch moves, a short number may come to mean another commit
# Over the network alone, and no helper of git's that is a program (ext::); a local mirror is named with --mirror.
ADDRESS = re.compile(r"(https?|ssh|git)://[\w.@:\[\]-]+(/[\w.+~-]+){2,}/?(\.git)?", re.ASCII)
EXAMPLE = "evalsuite's own data/repositories.toml"


def _is_inside(place: str) -> bool:
    """Whether *place* is a path that stays below the folder it is taken from, and no option of git's."""
    return bool(PLACE.fullmatch(place)) and ".." not in place.split("/")


Place = Annotated[str, Constraint("inside", _is_inside)]


@dataclass(frozen=True, kw_only=True)
class _RepositoryTable:
    """What a file says of a repository. It becomes words of git's command line, and its name that of a folder."""

    repository: Annotated[str, Constraint("repository", ADDRESS.fullmatch)]  # "https://github.com/pytorch/examples"
    commit: Annotated[str, Constraint("commit", COMMIT.fullmatch)]
    licence: Word  # as the repository states it
    paths: tuple[Place, ...] = ()  # the folders that are checked out, beside the files at the root; () = all
    submodules: tuple[Place, ...] = ()  # those that the script needs, of the commits that the repository names


@dataclass(frozen=True, kw_only=True)
class _RepositoryFile:
    repositories: Mapping[Annotated[str, Constraint("folder_name", NAME.fullmatch)], _RepositoryTable]


@dataclass(frozen=True, kw_only=True)
class Repository(_RepositoryTable):
    """One official repository at one commit."""

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
    """The repositories by name: those of the house and those of *folders* that hold a `repositories.toml`."""
    files = [paths.DATA / FILE, *(Path(folder) / FILE for folder in folders)]
    return {repository.name: repository for file in files if file.is_file() for repository in _read(file)}


def of(recipe: Recipe) -> dict[str, Repository]:
    """The repositories that *recipe* may name: those of the house and those that came with its adapter."""
    return known((recipe.brought_by,) if recipe.brought_by else ())


def chosen(names: Iterable[str], repositories: Mapping[str, Repository]) -> list[Repository]:
    """The repositories of *names*; all of them if none is named. Raises EvalsuiteError with the nearest known one."""
    return [named(name, repositories) for name in names] or list(repositories.values())


def folder(recipe: Recipe) -> Path:
    """Where the checkout of *recipe* lies, or will lie."""
    return named(recipe.checkout, of(recipe)).folder


def named(name: str, repositories: Mapping[str, Repository]) -> Repository:
    if name in repositories:
        return repositories[name]
    hint = did_you_mean(name, repositories, cutoff=0.4)
    raise EvalsuiteError.of("plan.repository_unknown", name=name, near=hint)


def _read(file: Path) -> tuple[Repository, ...]:
    """The repositories in *file*, which is asked for once for each case of a plan and read once."""
    try:
        written = file.stat()
    except OSError as error:
        raise EvalsuiteError.of("plan.repository_toml", path=file, error=error, file=FILE) from error
    return _as_written(file, written.st_mtime_ns, written.st_size)


@functools.lru_cache(maxsize=64)
def _as_written(file: Path, mtime_ns: int, size: int) -> tuple[Repository, ...]:
    tables = decode.decode(_RepositoryFile, {"repositories": decode.read_toml(file, EXAMPLE)}, file, strict=True)
    return tuple(Repository(name=name, **vars(table)) for name, table in tables.repositories.items())
