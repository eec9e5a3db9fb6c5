"""What a rehearsal needs of this machine, and what it leaves: the log that is kept and the environment that goes."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from evalsuite.contracts.adapter import Recipe
from evalsuite.core import files, paths
from evalsuite.core.model import Case
from evalsuite.launch.provision import checkouts, made_data, readiness, virtualenvs
from evalsuite.launch.provision.virtualenvs import Environment
from evalsuite.plan import data_sets, repositories
from evalsuite.rehearsal import evidence
from evalsuite.rehearsal import tables as rehearsals
from evalsuite.rehearsal.evidence import Evidence, ScaleEvidence
from evalsuite.rehearsal.tables import Rehearsal
from evalsuite.runs import rehearsed
from evalsuite.runs.store import RunFolder

CACHE_OF_UV = "UV_CACHE_DIR"


def fetch(recipe: Recipe, rehearsal: Rehearsal, mirror: str | None, progress: Callable[[str], None]) -> None:
    known = repositories.of(recipe)
    for name in (*([recipe.checkout] if recipe.checkout else []), *rehearsal.libraries):
        checkouts.get(repositories.named(name, known), mirror=mirror, incomplete=True, progress=progress)


@contextmanager
def environment(recipe: Recipe, *, progress: Callable[[str], None]) -> Iterator[Environment]:
    """One made for *recipe* is removed afterwards with its downloads. Raises CannotInstall."""
    passing = virtualenvs.existing(recipe) is None
    downloads = paths.cache() / f"rehearsal-downloads-{os.getpid()}"
    if own := passing and CACHE_OF_UV not in os.environ:
        os.environ[CACHE_OF_UV] = str(downloads)
    try:
        virtualenvs.ensure(recipe, progress=progress)
        made = virtualenvs.existing(recipe)
        assert made  # `ensure` raises where it cannot be made
        yield made
    finally:
        if passing and (made := virtualenvs.existing(recipe)):
            shutil.rmtree(made.folder, ignore_errors=True)
        if own:
            del os.environ[CACHE_OF_UV]
            shutil.rmtree(downloads, ignore_errors=True)


def make_data(recipe: Recipe, case: Case, *, progress: Callable[[str], None]) -> None:
    for name in readiness.data_sets(case, recipe):
        beside = data_sets.data_set(name).beside
        for each in filter(None, (beside, name)):
            if not (paths.data_sets() / each).exists():
                with environment(made_data.environment_of(data_sets.data_set(each)), progress=progress):
                    made_data.make(each, progress=progress)


def keep_logs(folder: RunFolder, name: str, target: Path, recipe: Recipe, made: Environment) -> dict[str, str]:
    """Copies the logs of *folder* as *target*/*name*.log, with places of this machine by their names.

    Returns name → hash.
    """
    known = {
        **({str(repositories.folder(recipe)): "{checkout}"} if recipe.checkout else {}),
        str(folder.scratch.resolve()): "{scratch}",
        str(made.folder): "{environment}",
        str(paths.data_sets().resolve()): "{data}",
        str(rehearsals.STAND_INS): "{stand_ins}",
        str(paths.cache()): "{cache}",
        str(paths.ADAPTERS.parent): "{evalsuite}",
        str(Path.home()): "{home}",
    }
    target.mkdir(parents=True, exist_ok=True)
    for old in (*target.glob(f"{name}.log"), *target.glob(f"{name}.*.log")):
        old.unlink()
    logs, hashes = folder.logs(), {}
    for number, log in enumerate(logs):
        file = target / (f"{name}.log" if len(logs) == 1 else f"{name}.{number}.log")
        content = files.read_bytes(log.path)
        for place, placeholder in sorted(known.items(), key=lambda each: -len(each[0])):
            content = content.replace(place.encode(), placeholder.encode())
        files.write_atomically(file, rehearsed.MARK + content)
        hashes[file.name] = files.sha256(file)
    return hashes


def proof(case: Case, recipe: Recipe, rehearsal: Rehearsal, made: Environment, seen: ScaleEvidence) -> Evidence:
    known = repositories.of(recipe)
    return Evidence(
        framework=case.framework,
        recipe=recipe.name,
        model=case.model,
        origin=evidence.origin(recipe),
        device=rehearsal.device,
        python=recipe.python,
        pins=made.pins,
        packages=" ".join(f"{name}=={version}" for name, version in sorted(made.packages.items())),
        stand_ins=rehearsals.stand_in_hashes(rehearsal.stand_ins),
        libraries={name: repositories.named(name, known).commit for name in rehearsal.libraries},
        changes=rehearsal.changes,
        scales={case.scale: seen},
    )
