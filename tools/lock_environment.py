"""Writes `requirements.lock`, evalsuite's environment with all hashes, and `licences.csv` beside it.

python tools/lock_environment.py [--upgrade]

For new dependencies in pyproject.toml, or newer versions. `pip install --require-hashes -r requirements.lock` refuses
other files. Licences are those that the distributions state.
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
    """One that is not installed here is for another system."""
    for name in sorted(set(names)):
        try:
            facts = importlib.metadata.metadata(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        yield name, _licence(facts)


def _licence(facts: importlib.metadata.PackageMetadata) -> str:
    classified = [line.rpartition(" :: ")[2] for line in facts.get_all("Classifier", []) if line.startswith("License")]
    free = next(iter((facts.get("License") or "").strip().splitlines()), "")
    return facts.get("License-Expression") or " and ".join(classified) or free or "none stated"


if __name__ == "__main__":
    sys.exit(main())
