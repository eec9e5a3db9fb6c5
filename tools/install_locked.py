"""Installs a lock into the environment of this interpreter, and evalsuite itself beside it; used by the Makefile.

python tools/install_locked.py requirements.lock

By uv, as the lock has it: it takes a third of pip's time. pip is what there is at first, and without an index.
"""

import re
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

PIP = (sys.executable, "-m", "pip")
UV = Path(sys.executable).parent / "uv"
LOCKED = ("install", "--quiet", "--require-hashes", "--requirement")
EDITABLE = (*PIP, "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--editable", ".")
ANSWER_WITHIN_S = 3.0
PYTHONS = "3.11 to 3.14"


def main() -> int:
    lock = sys.argv[1]
    print(f"installing what {lock} lists into {sys.prefix}: a minute or so", flush=True)
    reason = index_unreachable()
    without_index = ("--no-index",) if reason else ()  # all of it may be here
    if not reason and installed_by_uv(lock):
        return subprocess.run(EDITABLE).returncode
    if subprocess.run([*PIP, *LOCKED, lock, *without_index], capture_output=bool(reason)).returncode != 0:
        print(f"{lock}: {why(reason)}", file=sys.stderr)
        return 1
    return subprocess.run(EDITABLE).returncode


def installed_by_uv(lock: str) -> bool:
    own = re.search(r"^uv==.*\n(?: .*\n?)*", Path(lock).read_text("utf-8"), re.MULTILINE)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as uv:
        uv.write(own[0] if own and not UV.exists() else "")
        uv.flush()
        subprocess.run([*PIP, *LOCKED, uv.name], capture_output=True)
    if not UV.exists():
        return False
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from evalsuite.launch.provision.installer import uv_variables  # pip's settings; the standard library alone

    line = [str(UV), "pip", LOCKED[0], "--python", sys.executable, *LOCKED[1:], lock]
    return subprocess.run(line, env=uv_variables(), capture_output=True).returncode == 0  # else pip says why


def why(index_unreachable: str | None) -> str:
    if index_unreachable:
        return (
            f"no package index: {index_unreachable}. The first set-up needs a connection to one. Behind a proxy set "
            "https_proxy; for an index of your own PIP_INDEX_URL; for wheels in a folder PIP_NO_INDEX=1 and "
            "PIP_FIND_LINKS=FOLDER."
        )
    have = ".".join(map(str, sys.version_info[:2]))
    return (
        f"it could not be installed with Python {have}; it is for Python {PYTHONS}. For another Python: make "
        "PYTHON=python3.11. Where hashes differ, the index serves other files than were locked: do not go on before "
        "you know why. `python tools/lock_environment.py` writes a lock from your own index."
    )


def index_unreachable() -> str | None:
    """Why pip's package index gives no answer within seconds; None if it does."""
    settings = pip_settings()
    address = settings.get("index-url") or default_index()
    host = urllib.parse.urlsplit(address).hostname
    if not host or settings.get("no-index") in ("1", "true", "yes", "on"):
        return None
    said = [f"{host}: no answer within {ANSWER_WITHIN_S:g} s"]
    asking = threading.Thread(target=lambda: said.append(trouble(f"{address.rstrip('/')}/pip/", host)), daemon=True)
    asking.start()  # beside, since looking up a name knows no limit
    asking.join(ANSWER_WITHIN_S)
    return said[-1]


def pip_settings() -> dict[str, str]:
    listing = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True).stdout.splitlines()
    lines = [line.partition("=") for line in listing]
    return {name.rpartition(".")[2]: value.strip("'\"") for name, _, value in lines}


def trouble(address: str, host: str) -> str:
    try:
        urllib.request.urlopen(address, timeout=ANSWER_WITHIN_S).close()
    except urllib.error.HTTPError:
        return ""  # it answers
    except (urllib.error.URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        return "" if isinstance(reason, ssl.SSLError) else f"{host}: {reason}"  # pip may know its certificate
    return ""


def default_index() -> str:
    try:
        from pip._internal.models.index import PyPI
    except ImportError:
        return ""
    return str(PyPI.simple_url)


if __name__ == "__main__":
    sys.exit(main())
