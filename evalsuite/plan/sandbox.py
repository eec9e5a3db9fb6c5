"""A script in a sandbox: it reads what it needs, writes into its scratch folder, and reaches no other machine.

bubblewrap (bwrap(1)) gives it its own name spaces: the file system read-only, /tmp and /run empty, no network, no other
processes in sight.
"""

from collections.abc import Sequence
from pathlib import Path

from evalsuite.contracts.adapter import Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case
from evalsuite.plan.engines import Argv
from evalsuite.runs.store import SCRATCH

PROGRAM = "bwrap"
PACKAGE = "bubblewrap"
EMPTY = ("/tmp", "/run", "/var/tmp")  # with sockets (docker.sock) and files of other users
# that user 0 could set, even without capabilities
KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
GPUS = (
    *(f"/dev/nvidia{number}" for number in range(16)),
    *("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-caps", "/dev/infiniband"),
)


def argv(command: Argv, *, folder: str, readable: Sequence[str], gpus: bool) -> Argv:
    scratch = f"{folder}/{SCRATCH}"
    hidden = [path for path in dict.fromkeys(readable) if path.startswith(tuple(f"{place}/" for place in EMPTY))]
    # bwrap cannot bind again below a read-only bind
    within = [path for path in hidden if not any(path.startswith(f"{other}/") for other in hidden)]
    return (
        *(PROGRAM, "--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
        *("--cap-drop", "ALL"),
        *("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"),
        *(word for path in KERNEL for word in ("--ro-bind-try", path, path)),
        *(word for path in (GPUS if gpus else ()) for word in ("--dev-bind-try", path, path)),
        *(word for place in EMPTY for word in ("--tmpfs", place)),
        *(word for path in within for word in ("--ro-bind-try", path, path)),
        *("--bind", scratch, scratch, "--chdir", scratch),
        *("--setenv", "TMPDIR", scratch, "--setenv", "XDG_CACHE_HOME", f"{scratch}/.cache"),
        *("--", *command),
    )


def prefix(python: Path | str) -> str:
    return str(Path(python).absolute().parent.parent)


def refusal(case: Case, recipe: Recipe) -> str | None:
    """Without a network no process can meet another."""
    if case.nodes > 1:
        return Message("plan.sandbox_network", nodes=case.nodes)
    if recipe.spawn == "per_device" and case.devices_per_node > 1:
        return Message("plan.sandbox_processes", processes=case.devices_per_node, recipe=recipe.name)
    return None
