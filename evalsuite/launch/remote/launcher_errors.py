"""Why a launcher failed, in one line of its output."""

import re
from pathlib import Path

from evalsuite.core import files

LONGEST = 500
# "srun: error: …", "ssh: Could not resolve hostname b: …", "Host key verification failed.", "ORTE was unable to …"
_TELLING = re.compile(
    r"evalsuite sample:|error|\bssh: |\bunable\b|\bcannot\b|could not|not found|no such|refused|denied|failed|"
    r"unreachable|timed out|not enough slots",
    re.IGNORECASE,
)
# "plm:ssh: Warning: setpgid(2937,2937) failed in parent …" of Open MPI 5; "evalsuite sample: waiting: b takes its turn"
_ASIDE = re.compile(r"\bwarning\b|evalsuite sample: waiting:", re.IGNORECASE)
# what ssh(1) itself says before it ends with 255: "ssh: connect to host b port 22: No route to host",
# "Host key verification failed.", "me@b: Permission denied (publickey).", "Connection closed by 10.0.0.2 port 22"
_UNREACHED = re.compile(
    r"^ssh: |^Host key verification failed|: Permission denied \(|^kex_exchange_identification: |^Connection "
    r"(closed|reset) by "
)
# Open MPI 4 and 5, on lines of their own: "ORTE has lost communication with a remote daemon.", and below it
# "  Remote daemon: [[28067,0],2] on node c" or "  Remote daemon: [prterun-a-13220@0,1] on node b"
_LOST_DAEMON = re.compile(r"has lost communication with a remote daemon")
_ITS_NODE = re.compile(r"^\s*Remote daemon\s*: \[\S+\] on node (\S+)", re.MULTILINE)


def find_lost_nodes(text: str) -> list[str]:
    return sorted(set(_ITS_NODE.findall(text))) if _LOST_DAEMON.search(text) else []


def read_lost_nodes(log: Path) -> list[str]:
    return find_lost_nodes(files.read_text(log)) if files.is_file(log) else []


def is_unreached(line: str) -> bool:
    return _UNREACHED.search(line) is not None


def find_reason(text: str) -> str:
    """The first line that names a failure, since later ones follow from it; else the last line; "" if there is none.
    The loss of a node goes first: errors at the start did not end the run."""
    lines = [line.strip() for line in text.splitlines() if any(letter.isalnum() for letter in line)]
    if node := next(filter(_LOST_DAEMON.search, lines), None):
        return node
    telling = next((line for line in lines if _TELLING.search(line) and not _ASIDE.search(line)), None)
    return (telling or (lines[-1] if lines else ""))[:LONGEST]
