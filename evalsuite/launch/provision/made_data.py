"""Makes up a data set: the writer of its format, in the environment of the format's own library, then its manifest."""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from evalsuite import __version__
from evalsuite.contracts.adapter import Command, Recipe
from evalsuite.core import files, locks, paths
from evalsuite.core.decode import encode
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.launch.provision import data_manifest, virtualenvs
from evalsuite.launch.provision.data_manifest import Manifest
from evalsuite.launch.provision.installer import LAST_LINES, Progress
from evalsuite.plan import data_sets
from evalsuite.plan.data_sets import DataSet, Size, Split

SEED = 1
PROGRAM = "write.py"


def make(
    name: str,
    *,
    size: Size = data_sets.TINY,
    seed: int = SEED,
    again: bool = False,
    progress: Progress = lambda line: None,
) -> Path:
    """The folder of the data set *name*, made if it is not there as asked; *again*: made anew where it is another.
    Raises EvalsuiteError for what evalsuite did not make, and CannotInstall."""
    declared, folder = data_sets.data_set(name), paths.data_sets() / name
    if declared.beside:
        make(declared.beside, size=size, seed=seed, again=again, progress=progress)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locks.hold_lock(folder.with_name(f".{name}.lock")):
        if not _there(name, declared, size, seed, again):
            needed, free = data_sets.needed_bytes(declared, size), shutil.disk_usage(folder.parent).free
            if free < needed:
                gigabytes = {"free": f"{free / 1e9:.1f}", "needed": f"{needed / 1e9:.1f}"}
                raise EvalsuiteError.of("launch.data_room", path=folder.parent, size=str(size), **gigabytes)
            _make(name, declared, folder, size, seed, progress)
    return folder


def _there(name: str, declared: DataSet, size: Size, seed: int, again: bool) -> bool:
    folder = paths.data_sets() / name
    if not folder.exists() and not folder.is_symlink():
        return False
    manifest = data_manifest.read(name)
    if manifest is None:
        raise EvalsuiteError.of("launch.data_not_ours", name=name, folder=folder)
    wanted = data_sets.shards(declared, size)
    enough = size.files is None or all(manifest.shards[split] >= files for split, files in wanted.items())
    if (manifest.seed, manifest.size) == (seed, str(size)) and enough:
        return manifest.writer_sha256 == _writer_sha256(declared) and data_manifest.problem(name) is None
    if not again:
        raise EvalsuiteError.of("launch.data_other", name=name, seed=manifest.seed, size=manifest.size, folder=folder)
    return False


def _make(name: str, declared: DataSet, folder: Path, size: Size, seed: int, progress: Progress) -> None:
    recipe = environment_of(declared)
    python = virtualenvs.ensure(recipe, progress=progress)
    making = folder.with_name(f".{name}.making")
    shutil.rmtree(making, ignore_errors=True)
    progress(Message("launch.data_making", name=name, size=str(size), seed=seed, library=declared.environment))
    answer = _write(python, name, declared, making, size, seed)
    manifest = Manifest(
        name=name,
        source=declared.source,
        seed=seed,
        size=str(size),
        items={
            split: n * (size.times if split == "train" else 1) for split, n in data_sets.counts(declared, size).items()
        },
        decoded_sha256=answer,
        format=declared.format,
        shards=data_sets.shards(declared, size),
        files=data_manifest.files_of(making),
        writer=declared.writer,
        writer_sha256=_writer_sha256(declared),
        packages=virtualenvs.packages(recipe, "managed", "cpu"),
        evalsuite=__version__,
    )
    files.write_json(making / data_manifest.NAME, encode(manifest))
    shutil.rmtree(folder, ignore_errors=True)
    making.rename(folder)


def environment_of(declared: DataSet) -> Recipe:
    wanted = data_sets.environment(declared)
    return Recipe(
        name=f"data-{declared.environment}",
        model="",
        dialect="",
        command=lambda case: Command(argv=()),
        requirements=wanted.pins,
        python=wanted.python,
        import_name=wanted.import_name,
    )


def _write(python: Path, name: str, declared: DataSet, making: Path, size: Size, seed: int) -> Mapping[Split, str]:
    """Split → hash of the decoded items. Raises EvalsuiteError."""
    order = {
        "writer": declared.writer,
        "format": declared.format,
        "folder": str(making),
        "source": declared.source,
        "seed": seed,
        "items": data_sets.counts(declared, size),
        "shards": data_sets.shards(declared, size),
        "shape": data_sets.shape(declared, size),
        "times": size.times,
        "beside": str(paths.data_sets() / declared.beside) if declared.beside else "",
    }
    making.mkdir(parents=True)
    done = subprocess.run(
        [python, "-B", data_sets.WRITERS / PROGRAM],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, "PYTHONPATH": "", "CUDA_VISIBLE_DEVICES": ""},
    )
    if done.returncode != 0:
        shutil.rmtree(making, ignore_errors=True)
        lines = "".join(f"\n  {line}" for line in done.stderr.splitlines()[-LAST_LINES:])
        raise EvalsuiteError.of("launch.data_writer", name=name, code=done.returncode, lines=lines)
    printed = json.loads(done.stdout.splitlines()[-1])
    return {split: printed["decoded_sha256"][split] for split in data_sets.counts(declared, size)}


def _writer_sha256(declared: DataSet) -> str:
    digest = hashlib.sha256()
    for name in (f"{declared.writer}.py", PROGRAM, "sources.py"):
        digest.update((data_sets.WRITERS / name).read_bytes())
    order = (data_sets.environment(declared), replace(declared, holds="-", from_original="-", original_size="-"))
    digest.update(json.dumps([encode(each) for each in order], sort_keys=True).encode())
    return digest.hexdigest()
