"""Run folders for a lab: `--group NAME` lets the members of a Unix group read what one of them has run.

Without it what a script printed is for its owner alone (mode 0600), for it may hold a password. A run is opened once
it has ended, as a whole; what is interrupted or set aside stays closed.
"""

import grp
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from evalsuite.errors import EvalsuiteError, did_you_mean

READ, ENTER = stat.S_IRGRP, stat.S_IRGRP | stat.S_IXGRP


def number(name: str) -> int:
    """The group called *name*, which one must belong to. Raises EvalsuiteError with those that one belongs to."""
    ours = {group.gr_name: group.gr_gid for group in grp.getgrall() if group.gr_gid in (*os.getgroups(), os.getegid())}
    try:
        found = grp.getgrnam(name).gr_gid
    except (KeyError, ValueError) as error:
        raise EvalsuiteError.of(
            "runs.group_unknown", name=name[:60], names=sorted(ours), near=did_you_mean(name, ours)
        ) from error
    if os.geteuid() != 0 and found not in ours.values():
        raise EvalsuiteError.of("runs.group_not_yours", name=name, names=sorted(ours))
    return found


def open_to(folder: Path, root: Path, gid: int) -> None:
    """Lets the group *gid* read the run *folder*, and enter what leads to it from *root*. Raises OSError."""
    for way in (root, folder.parent):
        _give(way, gid, ENTER)
    for path in _within(folder):
        _give(path, gid, ENTER if path.is_dir() else READ)


def _within(folder: Path) -> Iterator[Path]:
    """*folder* and all in it but links, which lead elsewhere."""
    yield folder
    yield from (path for path in folder.rglob("*") if not path.is_symlink())


def _give(path: Path, gid: int, rights: int) -> None:
    if path.lstat().st_gid != gid:
        os.chown(path, -1, gid, follow_symlinks=False)
    path.chmod(stat.S_IMODE(path.lstat().st_mode) | rights)
