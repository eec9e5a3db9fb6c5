"""Links of a given rate between the hosts of `tests.namespaces`, and the same share of the cores for each of them. A
link is shaped at both of its ends by a token bucket (tc-tbf(8)), so that it has the rate in each direction. The share
is a quota of control groups, version 1 or 2: a host that trains alone has no more of a core than one of three. Version
2 is written as docs.kernel.org/admin-guide/cgroup-v2.html says; no machine of ours has run it. Where the group of this
very process is the top one that can be seen (a container), version 2 refuses (EBUSY), and `missing` says so."""

import contextlib
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.namespaces import Host

PERIOD_US = 10_000  # short beside a step: no host waits a tenth of a second for its next turn
# Before other programs, which a quota alone would not hold off: the largest that the kernel takes.
WEIGHTS = {"cpu.shares": "262144", "cpu.weight": "10000"}
WAITING = "50ms"  # what may wait at a port before it is dropped
V1, V2 = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
SEGMENT_BYTES = 128_000  # what the kernel may send as one piece is up to 64 KiB


def missing() -> str | None:
    """Why links cannot be shaped and cores not be shared out here; None if they can."""
    if shutil.which("tc") is None:
        return "no tc; on Debian: apt-get install iproute2"
    line = ["unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", *_bucket(100)]
    made = subprocess.run(line, capture_output=True, text=True)
    if made.returncode:
        return f"tc cannot shape a link here: {made.stderr.strip()}"
    try:
        with _group(_hierarchy() / "evalsuite-probe", 0.5):
            return None
    except OSError as error:
        return f"no quota can be set here: {error}"


def shape(hosts: Iterable[Host], mbit: int) -> None:
    """The link of each of *hosts* has that rate in both directions from now on."""
    for host in hosts:
        host.at_both_ends(f'tc qdisc replace dev "$1" root {" ".join(_bucket(mbit))}')


def _bucket(mbit: int) -> list[str]:
    """What follows `tc qdisc add dev D root`. The bucket holds four milliseconds, so that timers need not be finer."""
    burst_bytes = max(SEGMENT_BYTES, mbit * 1_000_000 // 8 // 250)
    return ["tbf", "rate", f"{mbit}mbit", "burst", str(burst_bytes), "latency", WAITING]


@contextlib.contextmanager
def shares(hosts: Sequence[Host], cores: float) -> Iterator[dict[str, list[str]]]:
    """Host → what is to stand before a command that shall have no more than *cores* there, with all that it starts."""
    parent = _hierarchy() / f"evalsuite-{hosts[0].holder.pid}"
    with contextlib.ExitStack() as stack:
        stack.enter_context(_group(parent, None))
        found = {}
        for host in hosts:
            folder = stack.enter_context(_group(parent / host.name, cores))
            found[host.name] = ["sh", "-c", f'echo $$ > {folder}/cgroup.procs && exec "$@"', "sh"]
        yield found


def _hierarchy() -> Path:
    return V1 if (V1 / "cgroup.procs").exists() else V2


@contextlib.contextmanager
def _group(folder: Path, cores: float | None) -> Iterator[Path]:
    """A control group with that quota; None: none but its weight."""
    second = folder.is_relative_to(V2) and not folder.is_relative_to(V1)
    if second:
        (folder.parent / "cgroup.subtree_control").write_text("+cpu")
    folder.mkdir()
    try:
        weight = "cpu.weight" if second else "cpu.shares"
        (folder / weight).write_text(WEIGHTS[weight])
        if cores is not None and second:
            (folder / "cpu.max").write_text(f"{int(cores * PERIOD_US)} {PERIOD_US}")
        elif cores is not None:
            (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (folder / "cpu.cfs_quota_us").write_text(str(int(cores * PERIOD_US)))
        yield folder
    finally:
        _removed(folder)


def _removed(folder: Path) -> None:
    for _ in range(100):
        try:
            folder.rmdir()
        except OSError:
            time.sleep(0.05)
        else:
            return
