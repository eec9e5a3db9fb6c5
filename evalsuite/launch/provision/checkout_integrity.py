"""Whether a checkout is what its commit says.

Its own index and settings can be made to hide files (`update-index --assume-unchanged`) or to start programs. So git is
given a fresh repository without settings, with the checkout's objects and files. It hashes every file, the tree and the
commit again: the last hash must be the pin.
"""

import contextlib
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evalsuite import files
from evalsuite.launch.provision.git import CannotFetch, run_git

BYTECODE = "__pycache__"
IMPORTED = (".py", ".pyc", ".pyd", ".so", ".pth")  # what Python may import in place of a module
BUILT = "build"  # where scripts compile kernels


@dataclass(frozen=True, kw_only=True)
class Differences:
    """What is not as the commit has it, as paths below the checkout."""

    changed: tuple[str, ...] = ()  # other content, or not in the commit at all
    gone: tuple[str, ...] = ()  # in the commit, wanted by the recipes, and not there
    forged: bool = False  # the repository's own objects do not add up to the commit's number


def find_differences(folder: Path, commit: str, wanted: tuple[str, ...]) -> Differences:
    """What in *folder* is not as *commit* has it; *wanted*: the folders that were checked out, () for all.

    Raises CannotFetch where git cannot read the commit.
    """
    with files.scratch("checkout") as fresh:
        run_git("init", "--quiet", "--bare", folder=fresh, variables=_without_git())
        (fresh / "objects" / "info" / "alternates").write_text(f"{folder.absolute()}/.git/objects\n")
        git = partial(run_git, folder=folder, variables=_of_fresh(fresh))
        git("update-index", "-z", "--index-info", stdin=git("ls-tree", "-r", "-z", "--full-tree", commit, "--"))
        content = git("cat-file", "commit", commit)
        tree = content.split(b"\n", 1)[0].removeprefix(b"tree ")
        written = git("hash-object", "-t", "commit", "--stdin", stdin=content).decode().strip()
        if written != commit or git("write-tree", "--missing-ok").strip() != tree:
            return Differences(forged=True)
        with contextlib.suppress(CannotFetch):  # where files differ; diff-files says which
            git("update-index", "-q", "--refresh")
        listed = _split(git("diff-files", "-z", "--name-status", "--ignore-submodules"))
        strange = _split(git("ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"))
        every = _split(git("ls-files", "-z", "--others"))
    states = dict(zip(listed[1::2], listed[::2], strict=True))
    # an ignored module is run in place of another, and a .gitignore that was added hides others
    strange += [path for path in every if path.endswith((".gitignore", *IMPORTED)) and not _is_built(path)]
    changed = {path for path, state in states.items() if state != "D"}
    changed |= {path for path in strange if BYTECODE not in path.split("/")}
    gone = tuple(path for path, state in states.items() if state == "D" and _is_wanted(path, wanted))
    return Differences(changed=tuple(sorted(changed)), gone=gone)


def _of_fresh(fresh: Path) -> dict[str, str]:
    return _without_git() | {
        "GIT_DIR": str(fresh),
        "GIT_WORK_TREE": ".",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
    }


def _without_git() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def _is_wanted(path: str, wanted: tuple[str, ...]) -> bool:
    """As a sparse checkout by folders: those folders, and the files on the way to them."""
    above = path.rpartition("/")[0]
    folders = [place.strip("/") for place in wanted]
    return (
        not wanted
        or not above
        or any(above == place or above.startswith(f"{place}/") or place.startswith(f"{above}/") for place in folders)
    )


def _split(paths: bytes) -> list[str]:
    return [os.fsdecode(path) for path in paths.split(b"\0") if path]


def _is_built(path: str) -> bool:
    return BUILT in path.split("/")[:-1] and not path.endswith(".gitignore")
