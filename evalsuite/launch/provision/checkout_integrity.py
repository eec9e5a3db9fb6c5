"""Is a checkout what its commit says? Proven by hashing, for git's own answer can be talked out of it.

`git status` believes its index, and an index can be told to pass over a file (`update-index --assume-unchanged`).
Here every file is hashed as git hashes it, the hashes are put together into trees up to the commit, whose own hash is
the pin: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

Git = Callable[..., bytes]  # git with these arguments, in the folder
LINK, SUBMODULE, FOLDER = "120000", "160000", "40000"  # kinds of entries; the rest are files
BYTECODE = "__pycache__"  # what importing a module leaves beside it; it is removed before a run
IMPORTED = (".py", ".pyc", ".pyd", ".so", ".pth")  # what Python takes before the module of that name that was meant
BUILT = "build"  # a folder into which scripts compile kernels of their own


@dataclass(frozen=True, kw_only=True)
class TreeEntry:
    """One path of a commit: what it is, and the hash of its content."""

    mode: str
    sha: str


@dataclass(frozen=True, kw_only=True)
class Differences:
    """What is not as the commit has it, as paths below the checkout."""

    changed: tuple[str, ...] = ()  # other content, or not in the commit at all
    gone: tuple[str, ...] = ()  # in the commit, wanted by the recipes, and not there
    forged: bool = False  # the repository's own objects do not add up to the commit's number


def differences(folder: Path, commit: str, wanted: tuple[str, ...], git: Git) -> Differences:
    """What in *folder* is not as *commit* has it; *wanted* are the folders that were checked out, () for all."""
    entries = _entries(git("ls-tree", "-r", "-z", "--full-tree", commit, "--"))
    if _commit_hash(git("cat-file", "commit", commit)) != commit or not _adds_up(entries, commit, git):
        return Differences(forged=True)
    expected = {path: one for path, one in entries.items() if one.mode != SUBMODULE and _is_wanted(path, wanted)}
    gone = tuple(path for path in expected if not os.path.lexists(folder / path))
    other = [path for path, one in entries.items() if path not in gone and _is_other(folder / path, one)]
    more = [path for path in _strange(git) if BYTECODE not in path.split("/")]
    return Differences(changed=tuple(sorted({*other, *more})), gone=gone)


def _entries(listing: bytes) -> dict[str, TreeEntry]:
    found = {}
    for line in listing.split(b"\0"):
        if line:
            facts, _, path = line.partition(b"\t")
            mode, _, sha = facts.decode("ascii").split(" ")
            found[os.fsdecode(path)] = TreeEntry(mode=mode, sha=sha)
    return found


def _is_wanted(path: str, wanted: tuple[str, ...]) -> bool:
    """As a sparse checkout by folders does it: those folders, and the files that lie on the way to them."""
    above = path.rpartition("/")[0]
    folders = [place.strip("/") for place in wanted]
    return (
        not wanted
        or not above
        or any(above == place or above.startswith(f"{place}/") or place.startswith(f"{above}/") for place in folders)
    )


def _is_other(file: Path, entry: TreeEntry) -> bool:
    """Whether *file* is there and is not what *entry* says. Line ends alone make no other file (`eol=crlf`)."""
    if entry.mode == SUBMODULE or not os.path.lexists(file):
        return False
    if file.is_symlink() or entry.mode == LINK:
        return not file.is_symlink() or entry.mode != LINK or _hashed(os.fsencode(os.readlink(file))) != entry.sha
    if not file.is_file():
        return True
    content = file.read_bytes()
    return entry.sha not in (_hashed(content), _hashed(content.replace(b"\r\n", b"\n")))


def _strange(git: Git) -> set[str]:
    """The files that are not in the commit, less those that the commit's own `.gitignore` expects (what scripts leave).

    A `.gitignore` that was added hides others, and a module beside the script is run in place of another.
    """
    shown = _listed(git("ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"))
    every = _listed(git("ls-files", "-z", "--others"))
    return shown | {path for path in every if path.endswith((".gitignore", *IMPORTED)) and not _is_built(path)}


def _listed(paths: bytes) -> set[str]:
    return {path for path in paths.decode(errors="replace").split("\0") if path}


def _is_built(path: str) -> bool:
    return BUILT in path.split("/")[:-1] and not path.endswith(".gitignore")


def _hashed(content: bytes, kind: str = "blob") -> str:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()


def _commit_hash(content: bytes) -> str:
    return _hashed(content, "commit")


def _adds_up(entries: Mapping[str, TreeEntry], commit: str, git: Git) -> bool:
    first = git("cat-file", "commit", commit).split(b"\n", 1)[0]
    return first == f"tree {_tree(entries.items())}".encode()


def _tree(entries: Iterable[tuple[str, TreeEntry]]) -> str:
    """The hash of the tree that holds *entries*, by their paths below it."""
    inside: dict[str, list[tuple[str, TreeEntry]]] = {}
    lines: list[tuple[bytes, bytes]] = []  # what git sorts by, the line
    for path, entry in entries:
        name, slash, rest = path.partition("/")
        if slash:
            inside.setdefault(name, []).append((rest, entry))
        else:
            lines.append((os.fsencode(name), _line(entry.mode, name, entry.sha)))
    lines += [(os.fsencode(f"{name}/"), _line(FOLDER, name, _tree(below))) for name, below in inside.items()]
    return _hashed(b"".join(line for _, line in sorted(lines)), "tree")


def _line(mode: str, name: str, sha: str) -> bytes:
    return f"{mode} ".encode() + os.fsencode(name) + b"\0" + bytes.fromhex(sha)
