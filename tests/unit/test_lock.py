"""The lock file names all that evalsuite needs, each version once for each Python, each file by its hash."""

import csv
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.split(r"\n(?=\S)", (ROOT / "requirements.lock").read_text(encoding="utf-8").strip())
PINNED = [re.match(r"(?P<name>[\w.-]+)==(?P<version>[\w.!+]+)", block) for block in BLOCKS]
FREE = re.compile(r"MIT|BSD|Apache|Python Software Foundation|PSF|HPND|CC0|Zlib|ISC", re.IGNORECASE)


def test_every_line_pins_one_version_and_has_hashes_alone():
    assert len(BLOCKS) > 20
    for block, pinned in zip(BLOCKS, PINNED, strict=True):
        _, *hashes = block.split("--hash=")

        assert pinned is not None, block[:60]
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}[\s\\]*", one) for one in hashes)


def test_what_the_project_depends_on_is_locked_at_a_version_that_it_allows():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["xlsx"]]
    locked = {pinned["name"]: numbers(pinned["version"]) for pinned in PINNED}

    for line in wanted:
        name, least = re.match(r"([\w.-]+)>=([\d.]+)", line).groups()
        assert locked[name] >= numbers(least), line


def numbers(version):
    return tuple(int(part) for part in re.findall(r"\d+", version))


def test_every_locked_distribution_has_a_licence_that_lets_it_be_passed_on():
    with (ROOT / "licences.csv").open(encoding="utf-8", newline="") as file:
        stated = {row["distribution"]: row["licence"] for row in csv.DictReader(file)}

    assert {pinned["name"] for pinned in PINNED} - stated.keys() <= {"colorama"}  # for Windows alone
    assert [name for name, licence in stated.items() if not FREE.search(licence)] == []
