"""Writes `requirements.lock`, evalsuite's own environment with the hash of every file, and `licences.csv` beside it.

Run it when pyproject.toml has other dependencies, or to take newer versions with --upgrade:

    python tools/lock_environment.py [--upgrade]

What it wrote is installed with `pip install --require-hashes -r requirements.lock`: a file that is not the one that
was looked at is refused. The licences are those that the installed distributions state.
"""

import csv
import importlib.metadata
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK, LICENCES = ROOT / "requirements.lock", ROOT / "licences.csv"
OLDEST_PYTHON = "3.11"
NAME = re.compile(r"^([\w.-]+)==", re.MULTILINE)


def main() -> int:
    beside = Path(sysconfig.get_path("scripts")) / "uv"
    uv = str(beside) if beside.is_file() else shutil.which("uv")
    if uv is None:
        print("lock_environment: there is no uv, which evalsuite depends on. Try: pip install -e .", file=sys.stderr)
        return 2
    line = [uv, "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-annotate", "--no-header",
            "--python-version", OLDEST_PYTHON, "--extra", "xlsx", "--output-file", str(LOCK)]  # fmt: skip
    subprocess.run([*line, *sys.argv[1:], "pyproject.toml"], cwd=ROOT, check=True)
    with LICENCES.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("distribution", "licence"))
        writer.writerows(licences(NAME.findall(LOCK.read_text(encoding="utf-8"))))
    return 0


def licences(names: list[str]) -> Iterator[tuple[str, str]]:
    """Each distribution with the licence that it states; one that is not installed here is for another system."""
    for name in sorted(set(names)):
        try:
            facts = importlib.metadata.metadata(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        yield name, _licence(facts)


def _licence(facts: importlib.metadata.PackageMetadata) -> str:
    """The expression, else the classifiers, else the first line of the free text."""
    classified = [line.rpartition(" :: ")[2] for line in facts.get_all("Classifier", []) if line.startswith("License")]
    free = next(iter((facts.get("License") or "").strip().splitlines()), "")
    return facts.get("License-Expression") or " and ".join(classified) or free or "none stated"


if __name__ == "__main__":
    sys.exit(main())
