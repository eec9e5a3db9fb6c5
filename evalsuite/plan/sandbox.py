"""A script in a sandbox: it reads what it needs, writes into its scratch folder, and reaches no other machine.

bubblewrap (bwrap(1)) starts it in name spaces of its own: the whole file system read-only, the run folder with it, /tmp
and /run empty, no network but the loop of its own, no process of others in sight. Pure, as a container is.
"""

from collections.abc import Sequence
from pathlib import Path

from evalsuite.adapter import Recipe
from evalsuite.messages import Message
from evalsuite.model import Case
from evalsuite.plan.engines import Argv
from evalsuite.runs.store import SCRATCH

PROGRAM = "bwrap"
PACKAGE = "bubblewrap"
EMPTY = ("/tmp", "/run", "/var/tmp")  # sockets of other programs (docker.sock) lie there, and files of other users
GPUS = (
    *(f"/dev/nvidia{number}" for number in range(16)),
    *("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-caps", "/dev/infiniband"),
)


def argv(command: Argv, *, folder: str, readable: Sequence[str], gpus: bool) -> Argv:
    """*command* in a sandbox, with its run *folder* as it lies outside and what is *readable* though it lies in an
    empty place."""
    scratch = f"{folder}/{SCRATCH}"
    hidden = [path for path in dict.fromkeys(readable) if path.startswith(tuple(f"{place}/" for place in EMPTY))]
    # what lies in another of them is there with it: bwrap cannot put it once more on what may only be read
    within = [path for path in hidden if not any(path.startswith(f"{other}/") for other in hidden)]
    return (
        *(PROGRAM, "--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL"),
        *("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"),
        *(word for path in (GPUS if gpus else ()) for word in ("--dev-bind-try", path, path)),
        *(word for place in EMPTY for word in ("--tmpfs", place)),
        *(word for path in within for word in ("--ro-bind-try", path, path)),
        *("--bind", scratch, scratch, "--chdir", scratch),
        *("--setenv", "TMPDIR", scratch, "--setenv", "XDG_CACHE_HOME", f"{scratch}/.cache"),
        *("--", *command),
    )


def prefix(python: Path | str) -> str:
    """The environment that the interpreter *python* belongs to, from which its modules are read."""
    return str(Path(python).absolute().parent.parent)


def refusal(case: Case, recipe: Recipe) -> str | None:
    """Why a case cannot be run in a sandbox: what has no network cannot meet others."""
    if case.nodes > 1:
        return Message("plan.sandbox_network", nodes=case.nodes)
    if recipe.spawn == "per_device" and case.devices_per_node > 1:
        return Message("plan.sandbox_processes", processes=case.devices_per_node, recipe=recipe.name)
    return None
