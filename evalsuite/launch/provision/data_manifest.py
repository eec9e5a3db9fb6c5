"""The manifest of a made-up data set, and whether the files of a folder serve."""

import contextlib
import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evalsuite.core import decode, files, paths
from evalsuite.core.documents import ReadData
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message, message_of
from evalsuite.plan import data_sets
from evalsuite.plan.data_sets import DataSet, Split

NAME = "MANIFEST.json"


@dataclass(frozen=True, kw_only=True)
class FolderFacts:
    """Of the files that lie right in a folder."""

    bytes: int
    sha256: str  # of their names and contents


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Written last: its presence means that the data set is whole."""

    name: str
    source: str
    seed: int
    size: str
    items: Mapping[Split, int]  # split → how many
    decoded_sha256: Mapping[Split, str]  # split → hash of its decoded items in any order
    format: str
    shards: Mapping[Split, int]
    files: Mapping[str, FolderFacts]  # folder → facts
    writer: str  # "mxnet_recordio"
    writer_sha256: str
    packages: Mapping[str, str]  # of the writer's environment
    evalsuite: str

    @property
    def facts(self) -> ReadData:
        return decode.decode(ReadData, decode.encode(self), self.name)


def read(name: str) -> Manifest | None:
    """None where evalsuite did not make what lies there. Raises EvalsuiteError."""
    file = paths.data_sets() / name / NAME
    return decode.decode(Manifest, files.read_json(file), file) if file.is_file() else None


def training_items(name: str) -> int | None:
    """None where its files do not tell, or it is not there, or broken, which `problem` says."""
    listed, folder = data_sets.data_set(name).listed, paths.data_sets() / name
    with contextlib.suppress(EvalsuiteError, OSError):
        if manifest := read(name):
            return manifest.items.get("train")
        if listed.endswith("/*"):
            return sum(len(os.listdir(place)) for place in folder.glob(listed.removesuffix("/*"))) or None
        return (folder / listed).read_bytes().count(b"\n") if listed else None
    return None


def problem(name: str, ranks: int = 1, named: int | None = None, *, thorough: bool = False) -> str | None:
    """Why the data set *name* does not serve so many *ranks*; None if it does. *named*: how many of its files the
    script is told of; None: as many as the recipe has built in. A folder that evalsuite did not make is held against
    its declaration alone. *thorough*: every file is hashed."""
    folder = paths.data_sets() / name
    declared = data_sets.declared().data_sets.get(name)  # an author's own has no declaration
    elsewhere = Path(name).is_absolute() or ".." in Path(name).parts
    if elsewhere or not (folder.is_dir() or folder.is_file()):
        made = Message("launch.data_can_be_made", name=name) if declared else ""
        return Message("launch.data_set_absent", name=name, folder=paths.data_sets(), made=made)
    try:
        if declared and (wrong := _layout_problem(name, declared, folder, ranks, named)):
            return wrong
        manifest = read(name)
        for place, facts in (manifest.files if manifest else {}).items():
            there = _inside(folder / place)
            if sum(file.lstat().st_size for file in there) != facts.bytes or (thorough and _facts_of(there) != facts):
                return Message("launch.data_file_changed", name=name, file=folder / place)
    except EvalsuiteError as error:
        return message_of(error)
    return None


def _layout_problem(name: str, declared: DataSet, folder: Path, ranks: int, named: int | None) -> str | None:
    for pattern in declared.layout:
        if next(folder.glob(pattern), None) is None:
            return Message("launch.data_lacks", name=name, folder=folder, pattern=pattern, holds=declared.holds)
    for pattern, start in declared.magic.items():
        with open(first := min(folder.glob(pattern)), "rb") as stream:
            if stream.read(len(start) // 2) != bytes.fromhex(start):
                return Message("launch.data_format", name=name, file=first, holds=declared.holds)
    if declared.counted:
        there, wanted = sum(1 for _ in folder.glob(declared.counted)), max(ranks, named or declared.fewest)
        if there < wanted:
            return Message("launch.data_few_shards", name=name, there=there, wanted=wanted, pattern=declared.counted)
        if declared.loaders and there % (parts := ranks * declared.loaders):
            return Message("launch.data_uneven", name=name, there=there, ranks=ranks, parts=parts)
    return None


def files_of(folder: Path) -> dict[str, FolderFacts]:
    places = sorted({file.parent for file in folder.rglob("*") if file.is_file()})
    return {place.relative_to(folder).as_posix(): _facts_of(_inside(place)) for place in places}


def _inside(place: Path) -> list[Path]:
    every = place.iterdir() if place.is_dir() else ()
    return sorted(file for file in every if file.is_file() and file.name != NAME)


def _facts_of(inside: list[Path]) -> FolderFacts:
    listed = "".join(f"{file.name} {file.readlink() if file.is_symlink() else files.sha256(file)}\n" for file in inside)
    size = sum(file.lstat().st_size for file in inside)
    return FolderFacts(bytes=size, sha256=hashlib.sha256(listed.encode()).hexdigest())


def differing(names: Iterable[str], first: dict[tuple[str, str], Manifest] | None = None) -> str | None:
    """Why they do not hold the same items; None if they do. *first*: what they are compared with."""
    first = {} if first is None else first
    for name in names:
        manifest = read(name)
        for split, digest in (manifest.decoded_sha256 if manifest else {}).items():
            assert manifest
            other = first.setdefault((manifest.source, split), manifest)
            if other.decoded_sha256[split] != digest:
                return Message(
                    "launch.data_differ",
                    name=name,
                    seed=manifest.seed,
                    size=manifest.size,
                    other=other.name,
                    other_seed=other.seed,
                    other_size=other.size,
                    source=manifest.source,
                )
    return None
