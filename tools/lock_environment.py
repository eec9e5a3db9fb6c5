"""Writes `requirements.lock`, evalsuite's environment with all hashes, `requirements-test.lock`, what its tests need in
addition, and `licences.csv` beside them.

python tools/lock_environment.py [--upgrade]

For new dependencies in pyproject.toml, or newer versions; for every Python that pyproject.toml allows. `make setup`
installs from the first, `make test` from both, and pip refuses other files. Licences are those that the distributions
of the first state.
"""

import csv
import functools
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import uv

ROOT = Path(__file__).resolve().parents[1]
LOCK, TEST_LOCK, LICENCES = ROOT / "requirements.lock", ROOT / "requirements-test.lock", ROOT / "licences.csv"
OLDEST_PYTHON = "3.11"
OF_SETUP = ("--extra=xlsx",)
NAME = re.compile(r"^([\w.-]+)==", re.MULTILINE)


def main() -> int:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    line = [uv.find_uv_bin(), "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-annotate",
            "--no-header", "--python-version", OLDEST_PYTHON, "pyproject.toml", "-", *OF_SETUP]  # fmt: skip
    compiled = functools.partial(subprocess.run, cwd=ROOT, check=True, text=True, input="\n".join(build))
    compiled([*line, "--output-file", str(LOCK), *sys.argv[1:]])
    extra = ("--extra", "test", "--constraint", str(LOCK), "--output-file", str(TEST_LOCK))
    compiled([*line, *extra, *sys.argv[1:]])
    here, every = (re.split(r"\n(?=\S)", file.read_text(encoding="utf-8").strip()) for file in (LOCK, TEST_LOCK))
    added = [block for block in every if block not in here]
    TEST_LOCK.write_text("\n".join((f"-r {LOCK.name}", *added, "")), encoding="utf-8")
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
