"""The official repositories that recipes run, each at its pinned commit."""

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evalsuite import paths
from evalsuite.adapter import Recipe
from evalsuite.errors import EvalsuiteError, did_you_mean

FILE, OLD_FILE = "repositories.toml", "models.toml"
FIELDS = {"repository", "commit", "licence"}
OPTIONAL = {"paths", "submodules"}
NAME = re.compile(r"\w[\w.+-]*", re.ASCII)
PLACE = re.compile(r"[\w.][\w.+ -]*(/[\w.][\w.+ -]*)*/?", re.ASCII)  # examples/chainermn
COMMIT = re.compile(r"[0-9a-f]{40}")  # a branch moves, a short number may come to mean another commit
# Over the network alone, and no helper of git's that is a program (ext::); a local mirror is named with --mirror.
ADDRESS = re.compile(r"(https?|ssh|git)://[\w.@:\[\]-]+(/[\w.+~-]+){2,}/?(\.git)?", re.ASCII)
SHAPES = {
    "repository": (ADDRESS, "an address such as https://github.com/pytorch/examples"),
    "commit": (COMMIT, "the 40 hexadecimal digits of a commit, as `git rev-parse HEAD` prints them"),
    "licence": (re.compile(r".*\S.*"), 'what the repository states, such as "MIT", or "none stated"'),
}


@dataclass(frozen=True, kw_only=True)
class Repository:
    """One official repository at one commit."""

    name: str
    address: str  # "https://github.com/pytorch/examples"
    commit: str  # 40 hexadecimal digits
    licence: str
    paths: tuple[str, ...] = ()  # the folders that are checked out, beside the files at the root; () = all
    submodules: tuple[str, ...] = ()  # those that the script needs, of the commits that the repository names

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
    if old := next((file for folder in folders if (file := Path(folder) / OLD_FILE).is_file()), None):
        raise EvalsuiteError(f"{old}: this file is called {FILE} now; expected that name. Rename it.")
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
    raise EvalsuiteError(
        f'repositories: unknown name "{name}"; `evalsuite repositories list` shows the known ones.{hint}'
    )


def _read(file: Path) -> tuple[Repository, ...]:
    """The repositories in *file*, which is asked for once for each case of a plan and read once."""
    try:
        written = file.stat()
    except OSError as error:
        raise EvalsuiteError(f"{file}: {error.strerror}; expected TOML, as in evalsuite's own data/{FILE}.") from error
    return _as_written(file, written.st_mtime_ns, written.st_size)


@functools.lru_cache(maxsize=64)
def _as_written(file: Path, mtime_ns: int, size: int) -> tuple[Repository, ...]:
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EvalsuiteError(f"{file}: {error}; expected TOML, as in evalsuite's own data/{FILE}.") from error
    return tuple(_repository(file, name, table) for name, table in tables.items())


def _repository(file: Path, name: str, table: object) -> Repository:
    """What a table says. It becomes words of git's command line and names of folders: each is checked for both."""
    if not isinstance(table, dict) or not FIELDS <= set(table) <= FIELDS | OPTIONAL:
        raise EvalsuiteError(
            f"{file}: [{name}] must hold {', '.join(sorted(FIELDS))}, and may hold {', '.join(sorted(OPTIONAL))}."
        )
    if not NAME.fullmatch(name):
        raise EvalsuiteError(f"{file}: [{name!r}] is the name of a folder; expected letters, digits and . _ - alone.")
    for key, (pattern, expected) in SHAPES.items():
        if not (isinstance(table[key], str) and pattern.fullmatch(table[key])):
            raise EvalsuiteError(f"{file}: [{name}] {key} = {table[key]!r}; expected {expected}.")
    for key in sorted(OPTIONAL & set(table)):
        if not (isinstance(table[key], list) and all(_is_inside(place) for place in table[key])):
            raise EvalsuiteError(
                f"{file}: [{name}] {key} = {table[key]!r}; expected a list of folders inside the repository, "
                f'such as {key} = ["examples"].'
            )
    return Repository(
        name=name,
        address=table["repository"],
        commit=table["commit"],
        licence=table["licence"],
        **{key: tuple(table.get(key, ())) for key in OPTIONAL},
    )


def _is_inside(place: object) -> bool:
    """Whether *place* is a path that stays below the folder it is taken from, and no option of git's."""
    return isinstance(place, str) and bool(PLACE.fullmatch(place)) and ".." not in place.split("/")
