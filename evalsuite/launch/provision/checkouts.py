"""Official repositories at their pinned commit: fetched into the cache, checked before every use, never patched."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evalsuite.contracts.adapter import Recipe
from evalsuite.core.documents import Checkout
from evalsuite.core.messages import Message
from evalsuite.core.redaction import redact
from evalsuite.launch.provision.git import BYTECODE, CannotFetch, Differences, find_differences, read_git, run_git
from evalsuite.plan.repositories import ADDRESS, COMMIT, Repository, named

# of a server with protocol 0 and without uploadpack.allowReachableSHA1InWant, which gives no single commit, git says
BRANCHES_ALONE = "does not allow request for unadvertised object"


@dataclass(frozen=True, kw_only=True)
class State:
    present: bool
    commit: str | None = None
    changed: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()  # files whose content the mirror lacks

    @property
    def short_commit(self) -> str:
        return (self.commit or "")[:10]

    @property
    def clean(self) -> bool:
        return self.present and not self.changed


def state(repository: Repository) -> State:
    if not (repository.folder / ".git").exists():
        return State(present=False)
    commit = read_git("rev-parse", "--verify", "HEAD", folder=repository.folder)
    differences = find_differences(repository.folder, commit, repository.paths)
    parts = [_of_submodule(repository.folder, place, commit) for place in repository.submodules]
    absent = tuple(path for path in differences.gone if not _has_content(repository, commit, path))
    changed = (*differences.changed, *(path for path in differences.gone if path not in absent), *filter(None, parts))
    return State(present=True, commit=commit, changed=differences.forged or changed, absent=absent)


def _of_submodule(folder: Path, place: str, commit: str) -> str | None:
    if not (folder / place / ".git").exists():
        return None  # it is fetched when it is missing
    pinned = _pinned(folder, place, commit)
    standing = read_git("rev-parse", "--verify", "HEAD", folder=folder / place)
    differences = find_differences(folder / place, standing, ())
    return None if standing == pinned and differences == Differences(gone=differences.gone) else place


def refusal(recipe: Recipe, repositories: Mapping[str, Repository]) -> str | None:
    if not recipe.checkout:
        return None
    repository = named(recipe.checkout, repositories)
    current, get_it = state(repository), f"evalsuite env repositories {repository.name}"
    if not current.present:
        return Message("launch.repository_absent", address=repository.address, command=get_it)
    if current.commit != repository.commit:
        return Message(
            "launch.repository_other_commit",
            folder=repository.folder,
            found=current.short_commit,
            wanted=repository.commit[:10],
            command=get_it,
        )
    if current.changed:
        return Message("launch.repository_changed", folder=repository.folder, names=current.changed[:3], command=get_it)
    if missing := _submodules_missing(repository):
        return Message("launch.submodule_absent", folder=repository.folder, name=missing[0], command=get_it)
    return None


def without_bytecode(recipe: Recipe, repositories: Mapping[str, Repository]) -> None:
    """Python may run bytecode in place of the files, and no commit covers it."""
    if recipe.checkout:
        for folder in list(named(recipe.checkout, repositories).folder.rglob(BYTECODE)):
            if folder.is_dir() and not folder.is_symlink():
                shutil.rmtree(folder, ignore_errors=True)


def facts(recipe: Recipe, repositories: Mapping[str, Repository]) -> Checkout | None:
    if not recipe.checkout:
        return None
    repository = named(recipe.checkout, repositories)
    current = state(repository)
    return Checkout(
        name=repository.name,
        repository=repository.address,
        commit=current.commit,
        clean=current.clean,
        absent=current.absent,
        licence=repository.licence,
    )


def get(
    repository: Repository,
    *,
    mirror: str | None = None,
    incomplete: bool = False,
    progress: Callable[[str], None] = lambda line: None,
) -> Path:
    """Fetched and hashed if it is not there; *incomplete*: also from a mirror that lacks files. Raises CannotFetch."""
    current = state(repository)
    if current.present and current.commit == repository.commit and current.clean:
        for place in _submodules_missing(repository):
            _fetch_submodule(repository.folder, place, mirror, incomplete, progress)
        return repository.folder
    if current.present:
        changed = Message("launch.tree_changed", names=current.changed[:3])
        facts = {"folder": repository.folder, "commit": repository.commit[:10]}
        found = changed if current.changed else f"commit {current.short_commit}"
        raise CannotFetch.of("launch.checkout_expected", **facts, found=found)
    address = source(repository, mirror)
    progress(redact(Message("launch.fetching", name=repository.name, commit=repository.commit[:10], address=address)))
    making = repository.folder.with_name(f"{repository.folder.name}.making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    try:
        _fetch(repository, address, making, incomplete)
        for place in repository.submodules:
            _fetch_submodule(making, place, mirror, incomplete, progress)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise
    making.rename(repository.folder)
    return repository.folder


def _verify(folder: Path, repository: Repository, address: str, incomplete: bool) -> None:
    differences = find_differences(folder, repository.commit, repository.paths)
    wrong = (*differences.forged, *differences.changed, *(() if incomplete else differences.gone))
    if wrong:
        names = []
        for path in wrong[:3]:
            listed = read_git("ls-tree", repository.commit, "--", path, folder=folder).split()
            names.append(f"{path} ({listed[1]} {listed[2]})" if listed else path)
        raise CannotFetch.of("launch.fetched_damaged", address=redact(address), names=names, n=len(wrong))


def source(repository: Repository, mirror: str | None) -> str:
    """Where *repository* is fetched from: its public address, or its place in *mirror*. A mirror is another host
    (`https://git.example.org/mirrors`, then `/owner/name` follows) or a folder of clones named `owner+name` or
    `owner/name`, bare or not."""
    if not mirror:
        return repository.address
    owner, name = repository.owner_and_name
    if "://" in mirror or (":" in mirror and not Path(mirror).exists()):
        return f"{mirror.rstrip('/')}/{owner}/{name}"
    for place in (f"{owner}+{name}", f"{owner}/{name}"):
        for ending in ("", ".git", "/.git"):
            folder = Path(mirror).resolve() / f"{place}{ending}"
            if (folder / "HEAD").is_file():
                return str(folder)
    raise CannotFetch.of("launch.mirror_no_clone", mirror=mirror, owner=owner, name=name, address=repository.address)


def _fetch(repository: Repository, address: str, folder: Path, incomplete: bool) -> None:
    """By the network; from a folder by its objects where they lie, which works also for mirrors without large files."""
    run_git("init", "--quiet", folder=folder)
    if Path(address).is_dir():
        places = (Path(inner, name) for inner, _, names in os.walk(f"{address}/objects") for name in names)
        if wrong := next((place for place in places if not place.is_file()), None):  # git would wait for a pipe
            raise CannotFetch.of("launch.fetched_damaged", address=redact(address), names=wrong, n=1)
        run_git("remote", "add", "--", "origin", address, folder=folder)
        (folder / ".git" / "objects" / "info" / "alternates").write_text(f"{address}/objects\n")
    else:
        _fetch_commit(repository.commit, address, folder)
    if repository.paths:
        run_git("sparse-checkout", "set", "--cone", *repository.paths, folder=folder)
    run_git("checkout", "--quiet", "--detach", repository.commit, "--", folder=folder)
    standing = read_git("rev-parse", "--verify", "HEAD", folder=folder)
    if standing != repository.commit:
        raise CannotFetch.of("launch.fetched_other", address=address, found=standing, wanted=repository.commit)
    _verify(folder, repository, address, incomplete)


def _fetch_commit(commit: str, address: str, folder: Path) -> None:
    """One commit, with files only as they are checked out; all branches from a server that gives only these."""
    run_git("remote", "add", "--", "origin", address, folder=folder)
    single = ("--depth", "1", "--no-tags", "--filter=blob:none", "--no-recurse-submodules")
    try:
        run_git("fetch", "--quiet", *single, "--", "origin", commit, folder=folder)
    except CannotFetch as error:
        if BRANCHES_ALONE not in str(error):
            raise
        run_git("remote", "remove", "origin", folder=folder)  # noted by now as one that is asked for single files
        run_git("remote", "add", "--", "origin", address, folder=folder)
        run_git("fetch", "--quiet", "--tags", "--", "origin", "+refs/heads/*:refs/remotes/origin/*", folder=folder)


def _submodules_missing(repository: Repository) -> list[str]:
    return [place for place in repository.submodules if not (repository.folder / place / ".git").exists()]


def _fetch_submodule(
    folder: Path, place: str, mirror: str | None, incomplete: bool, progress: Callable[[str], None]
) -> None:
    commit = _pinned(folder, place, "HEAD")
    address = read_git("config", "--file", ".gitmodules", "--get", f"submodule.{place}.url", folder=folder)
    if not ADDRESS.fullmatch(address):
        raise CannotFetch.of("launch.submodule_address", path=place, address=repr(address))
    part = Repository(name=place, repository=address, commit=commit, licence="")
    progress(redact(Message("launch.fetching_submodule", name=place, commit=commit[:10], address=source(part, mirror))))
    (folder / place).mkdir(parents=True, exist_ok=True)
    try:
        _fetch(part, source(part, mirror), folder / place, incomplete)
    except BaseException:
        shutil.rmtree(folder / place, ignore_errors=True)
        raise


def _pinned(folder: Path, place: str, commit: str) -> str:
    facts = read_git("ls-tree", commit, "--", place, folder=folder).split()
    if facts[1:2] != ["commit"] or not COMMIT.fullmatch(facts[2]):
        raise CannotFetch.of("launch.submodule_none", path=place, name=folder.name)
    return facts[2]


def _has_content(repository: Repository, commit: str, path: str) -> bool:
    try:
        run_git("cat-file", "-e", f"{commit}:{path}", folder=repository.folder)
    except CannotFetch:
        return False
    return True
