"""`--group NAME` lets the members of a Unix group read a finished run.

Without it logs are their owner's alone (mode 0600), as they may hold passwords. Interrupted runs stay closed.
"""

import grp
import os
import stat
from pathlib import Path

from evalsuite.core.errors import EvalsuiteError, did_you_mean

READ, ENTER = stat.S_IRGRP, stat.S_IRGRP | stat.S_IXGRP


def number(name: str) -> int:
    """A group of the user. Raises EvalsuiteError with the user's groups."""
    ours = {group.gr_name: group.gr_gid for group in grp.getgrall() if group.gr_gid in (*os.getgroups(), os.getegid())}
    try:
        gid = grp.getgrnam(name).gr_gid
    except (KeyError, ValueError) as error:
        raise EvalsuiteError.of(
            "runs.group_unknown", name=name[:60], names=sorted(ours), near=did_you_mean(name, ours)
        ) from error
    if os.geteuid() != 0 and gid not in ours.values():
        raise EvalsuiteError.of("runs.group_not_yours", name=name, names=sorted(ours))
    return gid


def open_to(folder: Path, root: Path, gid: int) -> None:
    """Opens *folder* to the group, and the way to it from *root*. Raises OSError."""
    for way in (root, folder.parent):
        _give(way, gid, ENTER)
    for path in (folder, *(path for path in folder.rglob("*") if not path.is_symlink())):
        _give(path, gid, ENTER if path.is_dir() else READ)


def _give(path: Path, gid: int, rights: int) -> None:
    if path.lstat().st_gid != gid:
        os.chown(path, -1, gid, follow_symlinks=False)
    path.chmod(stat.S_IMODE(path.lstat().st_mode) | rights)
