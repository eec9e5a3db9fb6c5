"""What an engine's output says of why it failed: one line of it, without the frames that launchers draw."""

import re

LONGEST = 500
# "srun: error: …", "ssh: Could not resolve hostname b: …", "Host key verification failed.", "ORTE was unable to …"
_TELLING = re.compile(
    r"evalsuite sample:|error|\bssh: |\bunable\b|\bcannot\b|could not|not found|no such|refused|denied|failed|"
    r"unreachable|timed out|not enough slots",
    re.IGNORECASE,
)
# "plm:ssh: Warning: setpgid(2937,2937) failed in parent …" of Open MPI 5; "evalsuite sample: waiting: b takes its turn"
_ASIDE = re.compile(r"\bwarning\b|evalsuite sample: waiting:", re.IGNORECASE)


def reason(text: str) -> str:
    """The line of *text* that says why: the first that names a failure, for what follows it follows from it (srun tells
    of each task that it then ends); else the last with a word in it. "" if there is none."""
    lines = [line.strip() for line in text.splitlines() if any(letter.isalnum() for letter in line)]
    telling = next((line for line in lines if _TELLING.search(line) and not _ASIDE.search(line)), None)
    return (telling or (lines[-1] if lines else ""))[:LONGEST]
