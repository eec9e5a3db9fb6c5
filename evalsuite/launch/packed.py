"""The node agent as one file: what it imports of evalsuite, run by Python 3.11 or newer and nothing else.

psutil and nvidia-ml-py are used where the node has them. Without the one the kernel's own files are read, without the
other NVIDIA's devices are not.
"""

import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

from evalsuite import files, paths
from evalsuite.errors import EvalsuiteError

PACKAGES = ("machine", "agent", "runs")  # whole; of the doors the one that starts it
MODULES = (
    "cli",
    "placeholders",
    *("documents", "errors", "files", "locks", "model", "paths", "redaction", "lab", "workload"),
)
DOORS = ("__init__", "amounts", "sample", "speech")
DATA = ("text/terminal/en.toml", "text/terminal/zh.toml")
SHEBANG = b"#!/usr/bin/env python3\n"
MADE = (1980, 1, 1, 0, 0, 0)  # the same code gives the same bytes
MAIN = """\
import sys

if sys.version_info < (3, 11):
    sys.exit("this agent wants Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try another python3.")
if sys.argv[1:2] not in (["sample"], ["--version"]):
    sys.exit("this is the node agent alone; expected: sample -o DIR -- COMMAND")
from evalsuite.cli import main

sys.exit(main())
"""


def write(file: Path) -> int:
    """Writes the agent to *file*, whole or not at all; gives its size. Raises EvalsuiteError if it cannot."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        _put(archive, "__main__.py", MAIN.encode())
        for name, source in contents():
            _put(archive, name, source.read_bytes())
    content = SHEBANG + held.getvalue()
    try:
        files.write_atomically(file, content)
        os.chmod(file, 0o755)
    except OSError as error:
        raise EvalsuiteError(
            f"{file}: {error.strerror}; expected a place for the packed agent. Try another one, such as ./agent.pyz"
        ) from error
    return len(content)


def contents() -> Iterator[tuple[str, Path]]:
    """Name in the archive, and file, of each part."""
    yield "evalsuite/__init__.py", paths.PACKAGE / "__init__.py"
    for module in MODULES:
        yield f"evalsuite/{module}.py", paths.PACKAGE / f"{module}.py"
    for package in PACKAGES:
        for source in sorted((paths.PACKAGE / package).rglob("*.py")):
            yield f"evalsuite/{source.relative_to(paths.PACKAGE)}", source
    for door in DOORS:
        yield f"evalsuite/commands/{door}.py", paths.PACKAGE / "commands" / f"{door}.py"
    for name in DATA:
        yield f"data/{name}", paths.DATA / name


def _put(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    facts = zipfile.ZipInfo(name, MADE)
    facts.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(facts, content)
