"""Official repositories at their pinned commit: fetched into the cache, checked before every use, never patched.

What is fetched is one commit, and of it only the folders that the recipes need, from the public address or
from a mirror of the user's. A recipe names an entry of `data/models.toml`; a folder given with `--adapters` may
bring a `models.toml` of its own.
"""

import os
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evalsuite import paths
from evalsuite.adapter import Recipe
from evalsuite.errors import EvalsuiteError, did_you_mean

LAST_LINES = 6
FIELDS = {"repository", "commit", "licence"}
OPTIONAL = {"paths", "submodules"}
BRANCHES_ALONE = (  # what git says of a server that gives no single commit
    "does not allow request for unadvertised object",  # protocol 0 without uploadpack.allowReachableSHA1InWant
    "does not support shallow capabilities",  # files behind a plain web server
)
BYTECODE = ("__pycache__/", ".pyc")  # what importing a module leaves beside it


class CannotFetch(EvalsuiteError):
    """The repository cannot be had from there."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """One official repository at one commit."""

    name: str
    repository: str  # "https://github.com/pytorch/examples"
    commit: str  # 40 hexadecimal digits
    licence: str
    paths: tuple[str, ...] = ()  # the folders that are checked out, beside the files at the root; () = all
    submodules: tuple[str, ...] = ()  # those that the script needs, of the commits that the repository names

    @property
    def owner_and_name(self) -> tuple[str, str]:
        owner, name = self.repository.removesuffix(".git").rstrip("/").split("/")[-2:]
        return owner, name

    @property
    def folder(self) -> Path:
        return paths.cache() / "models" / f"{self.name}-{self.commit[:10]}"


@dataclass(frozen=True, kw_only=True)
class State:
    """What stands in the cache for a model."""

    present: bool
    commit: str | None = None
    changed: tuple[str, ...] = ()  # files that are not as the commit has them
    absent: tuple[str, ...] = ()  # files of the commit whose content the mirror does not hold

    @property
    def clean(self) -> bool:
        return self.present and not self.changed


def known(folders: Iterable[Path] = ()) -> dict[str, Model]:
    """The models by name: those of the house and those of *folders* that hold a `models.toml`."""
    files = [paths.DATA / "models.toml", *(Path(folder) / "models.toml" for folder in folders)]
    return {model.name: model for file in files if file.is_file() for model in _read(file)}


def of(recipe: Recipe) -> dict[str, Model]:
    """The models that *recipe* may name: those of the house and those that came with its adapter."""
    return known((recipe.brought_by,) if recipe.brought_by else ())


def chosen(names: Iterable[str], models: Mapping[str, Model]) -> list[Model]:
    """The models of *names*; all of them if none is named. Raises EvalsuiteError with the nearest known one."""
    return [_chosen(name, models) for name in names] or list(models.values())


def state(model: Model) -> State:
    """What stands in the cache; nothing is changed."""
    if not (model.folder / ".git").exists():
        return State(present=False)
    commit = _git("rev-parse", "HEAD", folder=model.folder).strip()
    lines = _git("status", "--porcelain", "--ignored=no", folder=model.folder).splitlines()
    absent = tuple(line[3:] for line in lines if line.startswith(" D") and not _has_content(model, commit, line[3:]))
    changed = tuple(line[3:] for line in lines if not line.endswith(BYTECODE) and line[3:] not in absent)
    return State(present=True, commit=commit, changed=changed, absent=absent)


def folder(recipe: Recipe) -> Path:
    """Where the checkout of *recipe* lies, or will lie."""
    return _chosen(recipe.checkout, of(recipe)).folder


def refusal(recipe: Recipe, models: Mapping[str, Model]) -> str | None:
    """Why *recipe* cannot be run from the cache as it stands, or None if it can."""
    if not recipe.checkout:
        return None
    model = _chosen(recipe.checkout, models)
    found = state(model)
    if not found.present:
        return f"the repository {model.repository} is not here; run `evalsuite models get {model.name}`"
    if found.commit != model.commit:
        return (
            f"{model.folder} stands at {found.commit[:10]} and the recipe is for {model.commit[:10]}; remove the "
            f"folder and run `evalsuite models get {model.name}`"
        )
    if found.changed:
        return (
            f"{model.folder} has changes ({', '.join(found.changed[:3])}), so it is no longer the official script; "
            f"remove the folder and run `evalsuite models get {model.name}`"
        )
    if missing := _submodules_missing(model):
        return f"{model.folder} lacks its submodule {missing[0]}; run `evalsuite models get {model.name}`"
    return None


def facts(recipe: Recipe, models: Mapping[str, Model]) -> dict | None:
    """What a run records of its official repository; None for a recipe without one."""
    if not recipe.checkout:
        return None
    model = _chosen(recipe.checkout, models)
    found = state(model)
    return {
        "name": model.name,
        "repository": model.repository,
        "commit": found.commit,
        "clean": found.clean,
        "absent": list(found.absent),
        "licence": model.licence,
    }


def get(model: Model, *, mirror: str | None = None, progress: Callable[[str], None] = lambda line: None) -> Path:
    """The checkout of *model*, which is fetched now if it is not there yet. Raises CannotFetch."""
    found = state(model)
    if found.present and found.commit == model.commit and found.clean:
        for place in _submodules_missing(model):
            _fetch_submodule(model.folder, place, mirror, progress)
        return model.folder
    if found.present:
        raise CannotFetch(
            f"{model.folder}: {_difference(found)} stands there; expected a clean checkout of {model.commit[:10]}. "
            "Remove the folder and try again: evalsuite does not undo changes that may be yours."
        )
    address = source(model, mirror)
    progress(f"fetching {model.name} at {model.commit[:10]} from {address}")
    making = model.folder.with_name(f"{model.folder.name}.making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    try:
        _fetch(model, address, making)
        for place in model.submodules:
            _fetch_submodule(making, place, mirror, progress)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise
    making.rename(model.folder)
    return model.folder


def source(model: Model, mirror: str | None) -> str:
    """Where *model* is fetched from: its public address, or its place in *mirror*.

    A mirror is another host (`https://git.example.org/mirrors`, then `/owner/name` follows) or a folder of
    clones named `owner+name` or `owner/name`, bare or not, with or without `.git`.
    """
    if not mirror:
        return model.repository
    owner, name = model.owner_and_name
    if "://" in mirror or (":" in mirror and not Path(mirror).exists()):
        return f"{mirror.rstrip('/')}/{owner}/{name}"
    for place in (f"{owner}+{name}", f"{owner}/{name}"):
        for ending in ("", ".git", "/.git"):
            folder = Path(mirror).resolve() / f"{place}{ending}"
            if (folder / "HEAD").is_file():
                return str(folder)
    raise CannotFetch(
        f"{mirror}: there is no clone of {owner}/{name}; expected {owner}+{name} or {owner}/{name}.git in it. "
        f"Try: git clone --bare {model.repository} {mirror}/{owner}+{name}"
    )


def _fetch(model: Model, address: str, folder: Path) -> None:
    """From another host by the network; a folder's objects are used where they lie, so it has to stay.

    Using them in place also works with mirrors that hold no large files, from which git refuses to copy.
    """
    _git("init", "--quiet", folder=folder)
    if Path(address).is_dir():
        _git("remote", "add", "origin", address, folder=folder)
        (folder / ".git" / "objects" / "info" / "alternates").write_text(f"{address}/objects\n")
    else:
        _fetch_commit(model.commit, address, folder)
    if model.paths:
        _git("sparse-checkout", "set", "--cone", *model.paths, folder=folder)
    _git("checkout", "--quiet", "--detach", model.commit, folder=folder)
    standing = _git("rev-parse", "HEAD", folder=folder).strip()
    if standing != model.commit:
        raise CannotFetch(f"{address}: it gave {standing}; expected {model.commit}. Try the public address.")


def _fetch_commit(commit: str, address: str, folder: Path) -> None:
    """One commit, its files only as they are checked out; from a server that gives branches alone, all of them."""
    _git("remote", "add", "origin", address, folder=folder)
    try:
        _git("fetch", "--quiet", "--depth", "1", "--no-tags", "--filter=blob:none", "origin", commit, folder=folder)
    except CannotFetch as error:
        if not any(words in str(error) for words in BRANCHES_ALONE):
            raise
        _git("remote", "remove", "origin", folder=folder)  # it is noted by now as one that is asked for single files
        _git("remote", "add", "origin", address, folder=folder)
        _git("fetch", "--quiet", "--tags", "origin", "+refs/heads/*:refs/remotes/origin/*", folder=folder)


def _submodules_missing(model: Model) -> list[str]:
    return [place for place in model.submodules if not (model.folder / place / ".git").exists()]


def _fetch_submodule(folder: Path, place: str, mirror: str | None, progress: Callable[[str], None]) -> None:
    """Puts the submodule at *place* where the checkout in *folder* wants it, at the commit that it names."""
    kind, commit = _git("ls-tree", "HEAD", place, folder=folder).split()[1:3]
    if kind != "commit":
        raise CannotFetch(f"{place}: it is no submodule of {folder.name}; expected one that `.gitmodules` names.")
    address = _git("config", "--file", ".gitmodules", f"submodule.{place}.url", folder=folder).strip()
    part = Model(name=place, repository=address, commit=commit, licence="")
    progress(f"fetching its submodule {place} at {commit[:10]} from {source(part, mirror)}")
    (folder / place).mkdir(parents=True, exist_ok=True)
    _fetch(part, source(part, mirror), folder / place)


def _has_content(model: Model, commit: str, path: str) -> bool:
    try:
        _git("cat-file", "-e", f"{commit}:{path}", folder=model.folder)
    except CannotFetch:
        return False
    return True


def _git(*arguments: str, folder: Path) -> str:
    """What git prints. No hook, no filter for large files, no question to the user."""
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}
    try:
        answer = subprocess.run(
            ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=off", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            env={**os.environ, **quiet},
        )
    except FileNotFoundError as error:
        raise CannotFetch(
            "git: there is no such program; official repositories need it. Try: apt install git"
        ) from error
    if answer.returncode != 0:
        said = "\n  ".join(answer.stderr.strip().splitlines()[-LAST_LINES:])
        raise CannotFetch(
            f"git {arguments[0]}: it ended with {answer.returncode} in {folder.name}. Where this machine reaches no "
            f"code host, try --mirror with a folder of clones. Its last lines:\n  {said}"
        )
    return answer.stdout


def _difference(found: State) -> str:
    return f"a tree with changes in {', '.join(found.changed[:3])}" if found.changed else f"commit {found.commit[:10]}"


def _chosen(name: str, models: Mapping[str, Model]) -> Model:
    if name in models:
        return models[name]
    hint = did_you_mean(name, models, cutoff=0.4)
    raise EvalsuiteError(f'models: unknown name "{name}"; `evalsuite models list` shows the known ones.{hint}')


def _read(file: Path) -> list[Model]:
    try:
        tables = tomllib.loads(file.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EvalsuiteError(f"{file}: {error}; expected TOML, as in evalsuite's own data/models.toml.") from error
    for name, table in tables.items():
        if not isinstance(table, dict) or not FIELDS <= set(table) <= FIELDS | OPTIONAL:
            raise EvalsuiteError(
                f"{file}: [{name}] must hold {', '.join(sorted(FIELDS))}, and may hold {', '.join(sorted(OPTIONAL))}."
            )
    return [
        Model(name=name, **{**table, **{key: tuple(table.get(key, ())) for key in OPTIONAL}})
        for name, table in tables.items()
    ]
