"""What a rehearsal needs of this machine, and what it leaves: the log that is kept and the environment that goes."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from evalsuite.contracts.adapter import Recipe
from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Case
from evalsuite.launch.provision import checkouts, made_data, readiness, virtualenvs
from evalsuite.launch.provision.virtualenvs import Environment
from evalsuite.plan import data_sets, repositories
from evalsuite.rehearsal import tables as rehearsals
from evalsuite.rehearsal.tables import Rehearsal
from evalsuite.runs import rehearsed
from evalsuite.runs.store import RunFolder

ENVIRONMENT_BYTES = 2_500_000_000  # the largest environments with what is downloaded for them
RUN_BYTES = 200_000_000  # checkout, data and what a script writes in 25 steps
CACHE_OF_UV = "UV_CACHE_DIR"


def check_disk(recipe: Recipe, runs: Path) -> None:
    made = virtualenvs.existing(recipe) is not None
    for place, needed in ((paths.cache(), RUN_BYTES if made else ENVIRONMENT_BYTES), (runs, RUN_BYTES)):
        standing = next(folder for folder in (place.resolve(), *place.resolve().parents) if folder.exists())
        if (free := shutil.disk_usage(standing).free) < needed:
            sizes = {"free": f"{free / 1e9:.1f}", "needed": f"{needed / 1e9:.1f}"}
            raise EvalsuiteError.of("launch.rehearsal_disk", path=place, **sizes)


def fetch(recipe: Recipe, rehearsal: Rehearsal, mirror: str | None, progress: Callable[[str], None]) -> None:
    known = repositories.of(recipe)
    for name in (*([recipe.checkout] if recipe.checkout else []), *rehearsal.libraries):
        checkouts.get(repositories.named(name, known), mirror=mirror, incomplete=True, progress=progress)


@contextmanager
def environment(recipe: Recipe, *, keep: bool, progress: Callable[[str], None]) -> Iterator[Environment]:
    """One made for *recipe* is removed afterwards with its downloads, unless *keep*. Raises CannotInstall."""
    before = virtualenvs.existing(recipe)
    with _downloads_of_its_own(keep or before is not None):
        virtualenvs.ensure(recipe, progress=progress)
        made = virtualenvs.existing(recipe)
        assert made  # `ensure` raises where it cannot be made
        try:
            yield made
        finally:
            if before is None and not keep:
                shutil.rmtree(made.folder, ignore_errors=True)


def make_data(recipe: Recipe, case: Case, *, keep: bool, progress: Callable[[str], None]) -> None:
    for name in readiness.data_sets(case, recipe):
        if not (paths.data_sets() / name).exists():
            _make_data_set(name, keep, progress)


def _make_data_set(name: str, keep: bool, progress: Callable[[str], None]) -> None:
    declared = data_sets.data_set(name)
    if declared.beside and not (paths.data_sets() / declared.beside).exists():
        _make_data_set(declared.beside, keep, progress)
    with environment(made_data.environment_of(declared), keep=keep, progress=progress):
        made_data.make(name, progress=progress)


@contextmanager
def _downloads_of_its_own(shared: bool) -> Iterator[None]:
    if shared or CACHE_OF_UV in os.environ:
        yield
        return
    folder = paths.cache() / f"rehearsal-downloads-{os.getpid()}"
    os.environ[CACHE_OF_UV] = str(folder)
    try:
        yield
    finally:
        del os.environ[CACHE_OF_UV]
        shutil.rmtree(folder, ignore_errors=True)


def keep_logs(folder: RunFolder, name: str, target: Path, known: Mapping[str, str]) -> dict[str, str]:
    """Copies the logs of *folder* as *target*/*name*.log, with *known* places by their names. Returns name → hash."""
    target.mkdir(parents=True, exist_ok=True)
    for old in (*target.glob(f"{name}.log"), *target.glob(f"{name}.*.log")):
        old.unlink()
    logs = folder.logs()
    hashes = {}
    for number, log in enumerate(logs):
        file = target / (f"{name}.log" if len(logs) == 1 else f"{name}.{number}.log")
        content = files.read_bytes(log.path)
        for place, placeholder in sorted(known.items(), key=lambda each: -len(each[0])):
            content = content.replace(place.encode(), placeholder.encode())
        files.write_atomically(file, rehearsed.MARK + content)
        hashes[file.name] = files.sha256(file)
    return hashes


def places(recipe: Recipe, made: Environment, folder: RunFolder) -> dict[str, str]:
    checkout = {str(repositories.folder(recipe)): "{checkout}"} if recipe.checkout else {}
    return {
        **checkout,
        str(folder.scratch.resolve()): "{scratch}",
        str(made.folder): "{environment}",
        str(paths.data_sets().resolve()): "{data}",
        str(rehearsals.STAND_INS): "{stand_ins}",
        str(paths.cache()): "{cache}",
        str(paths.ADAPTERS.parent): "{evalsuite}",
        str(Path.home()): "{home}",
    }
