"""Runs git, and nothing else that a repository could have it start; whether a checkout is what its commit says.

Its own index and settings can be made to hide files (`update-index --assume-unchanged`) or to start programs. So git is
given a fresh repository without settings, with the checkout's objects and files. It hashes every file again, and we the
commit and its trees, which git believes.
"""

import contextlib
import hashlib
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError

BYTECODE = "__pycache__"
IMPORTED = (".py", ".pyc", ".pyd", ".so", ".pth")  # what Python may import in place of a module
BUILT = "build"  # where scripts compile kernels
LAST_LINES = 6
# no hook, no watcher of files, no transport helper that is a shell
SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.ext.allow=never", "core.quotePath=off",
    "core.autocrlf=false", "submodule.recurse=false", "core.fileMode=false",
)  # fmt: skip
# no filter for large files, no question to the user, no object in the place of another
VARIABLES = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C",
}  # fmt: skip


class CannotFetch(EvalsuiteError):
    """git failed, or the repository cannot be had from there."""


def run_git(*arguments: str, folder: Path, stdin: bytes = b"", variables: Mapping[str, str] | None = None) -> bytes:
    """What git prints; *variables* None: those of this process. Raises CannotFetch with git's last lines."""
    settings = [word for setting in SETTINGS for word in ("-c", setting)]
    try:
        answer = subprocess.run(
            ["git", *settings, "-C", str(folder), *arguments],
            capture_output=True,
            input=stdin,
            env={**(os.environ if variables is None else variables), **VARIABLES},
        )
    except FileNotFoundError as error:
        raise CannotFetch.of("launch.git_absent") from error
    if answer.returncode != 0:
        last_lines = "\n  ".join(answer.stderr.decode(errors="replace").strip().splitlines()[-LAST_LINES:])
        raise CannotFetch.of(
            "launch.git_failed", command=arguments[0], code=answer.returncode, folder=folder.name, text=last_lines
        )
    return answer.stdout


def read_git(*arguments: str, folder: Path) -> str:
    return run_git(*arguments, folder=folder).decode(errors="replace").strip()


@dataclass(frozen=True, kw_only=True)
class Differences:
    """What is not as the commit has it, as paths below the checkout."""

    changed: tuple[str, ...] = ()  # other content, or not in the commit at all
    gone: tuple[str, ...] = ()  # in the commit, wanted by the recipes, and not there
    forged: tuple[str, ...] = ()  # commit and trees whose content is not what their number says


def find_differences(folder: Path, commit: str, wanted: tuple[str, ...]) -> Differences:
    """What in *folder* is not as *commit* has it; *wanted*: the folders that were checked out, () for all. Raises
    CannotFetch where git cannot read the commit."""
    with files.scratch("checkout") as fresh:
        run_git("init", "--quiet", "--bare", folder=fresh, variables=_without_git())
        (fresh / "objects" / "info" / "alternates").write_text(f"{folder.absolute()}/.git/objects\n")
        alone = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1"}
        of_fresh = {**_without_git(), **alone, "GIT_DIR": str(fresh), "GIT_WORK_TREE": "."}
        git = partial(run_git, folder=folder, variables=of_fresh)
        if forged := _find_forged(commit, git):
            return Differences(forged=forged)
        git("update-index", "-z", "--index-info", stdin=git("ls-tree", "-r", "-z", "--full-tree", commit, "--"))
        with contextlib.suppress(CannotFetch):  # where files differ; diff-files says which
            git("update-index", "-q", "--refresh")
        listed = _split(git("diff-files", "-z", "--name-status", "--ignore-submodules"))
        strange = _split(git("ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"))
        every = _split(git("ls-files", "-z", "--others"))
    states = dict(zip(listed[1::2], listed[::2], strict=True))
    # an ignored module is run in place of another, and a .gitignore that was added hides others
    strange += [path for path in every if path.endswith(".gitignore")]
    strange += [path for path in every if path.endswith(IMPORTED) and BUILT not in path.split("/")[:-1]]
    changed = {path for path, state in states.items() if state != "D"}
    changed |= {path for path in strange if BYTECODE not in path.split("/")}
    gone = tuple(path for path, state in states.items() if state == "D" and _is_wanted(path, wanted))
    return Differences(changed=tuple(sorted(changed)), gone=gone)


def _find_forged(commit: str, git: Callable[..., bytes]) -> tuple[str, ...]:
    tree = git("cat-file", "commit", commit).split(b"\n", 1)[0].removeprefix(b"tree ")
    git("cat-file", "tree", tree.decode())  # names it where it is missing, as ls-tree does not
    below = git("ls-tree", "-r", "-d", "-z", "--full-tree", tree.decode(), "--").split(b"\0")
    ids = [commit.encode(), tree, *(line.split()[2] for line in below if b" tree " in line)]
    answer, forged = memoryview(git("cat-file", "--batch", stdin=b"\n".join(ids))), []
    for wanted in ids:  # git answers: number, kind and size, a line end, the content, a line end
        head = bytes(answer[:80]).split(b"\n", 1)[0]
        kind, size = head.split()[1], int(head.split()[2])
        start = len(head) + 1
        content = b"%s %d\0" % (kind, size) + answer[start : start + size]
        if hashlib.sha1(content, usedforsecurity=False).hexdigest().encode() != wanted:
            forged.append(f"{kind.decode()} {wanted.decode()}")
        answer = answer[start + size + 1 :]
    return tuple(forged)


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
