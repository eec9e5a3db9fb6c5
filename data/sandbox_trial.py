"""What a program in the sandbox could do: tried by `evalsuite doctor`, inside it."""

import json
import os
import pathlib
import socket
import sys


def can(act):
    try:
        return bool(act())
    except Exception:
        return False


def writes(*paths):
    return any(os.access(path, os.W_OK) for path in paths)


status = pathlib.Path("/proc/self/status").read_text().split()
found = {
    "files": writes(os.path.expanduser("~"), "/etc", "/usr"),
    "network": len(socket.if_nameindex()) > 1,
    "processes": sum(name.isdigit() for name in os.listdir("/proc")) > 3,
    "name": can(lambda: socket.sethostname(socket.gethostname()) is None),
    "kernel": writes("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/panic", "/proc/sysrq-trigger"),
    "rights": int(status[status.index("CapEff:") + 1], 16) > 0 or status[status.index("NoNewPrivs:") + 1] != "1",
}
readable = [path for path in sys.argv[1:] if os.access(path, os.R_OK)]
print(json.dumps([[name for name in found if found[name]], readable]))
