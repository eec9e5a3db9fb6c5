"""What a command costs: wall time, CPU time and peak memory."""

import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass

from evalsuite.core import paths


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Of a command with all processes that it waited for."""

    wall_s: float
    cpu_s: float
    peak_mib: float  # of the largest process; at least that of the benchmark itself, from which it is forked


def measure(argv: list[str], *, may_end_with: tuple[int, ...] = (0,), **environment: str) -> Cost:
    """Runs *argv* once, its output into a file: grep stops at the first match when it sees /dev/null."""
    with tempfile.TemporaryFile() as sink:
        began = time.perf_counter()
        process = subprocess.Popen(argv, stdout=sink, stderr=subprocess.DEVNULL, env={**os.environ, **environment})
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - began
    if os.waitstatus_to_exitcode(status) not in may_end_with:
        raise SystemExit(f"{' '.join(argv[:4])} … ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(wall_s=wall_s, cpu_s=used.ru_utime + used.ru_stime, peak_mib=used.ru_maxrss / 1024)


def compile_sources() -> None:
    """As pip does when it installs them, and uv does not: a checkout may be told to keep no compiled files."""
    folders = [str(paths.PACKAGE), str(paths.ADAPTERS), sysconfig.get_path("purelib")]
    subprocess.run([sys.executable, "-m", "compileall", "-qq", *folders])  # a template in Python's name is none
