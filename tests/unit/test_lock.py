"""The lock files name all that is wanted, each version once for each Python, each file by its hash."""

import csv
import re
import tomllib
from pathlib import Path

import pytest

from evalsuite import registry
from evalsuite.commands import env
from evalsuite.launch.provision.recipe_locks import find_mistakes

ROOT = Path(__file__).resolve().parents[2]


def blocks(name):
    text = (ROOT / name).read_text(encoding="utf-8").removeprefix("-r requirements.lock\n")
    return re.split(r"\n(?=\S)", text.strip())


LOCKS = {name: blocks(name) for name in ("requirements.lock", "requirements-test.lock")}
PINNED = {
    name: [re.match(r"(?P<name>[\w.-]+)==(?P<version>[\w.!+]+)", block) for block in found]
    for name, found in LOCKS.items()
}
UNLOCKED = {  # and why
    "torch-py3.8-c791a79526": "the source of DeepSpeed 0.3.1 imports torch to say what it needs; on a GPU too:",
    "torch-py3.8-ec8c733f0a": "",
    "paddlepaddle-py3.10-73f31c3c7d": "no index has PaddlePaddle 2.4.2 for Python 3.10 any more",
    "torch-py3.11-0cf2798a08": "PyTorch 2.4.1 for a CPU lies on PyTorch's own index",
    "torch-py3.11-9e5d700e8a": "PyTorch 2.14.1 likewise",
}
RECIPE_LOCKS = sorted((ROOT / "data" / "locks").glob("*.txt"))
FREE = re.compile(r"MIT|BSD|Apache|Python Software Foundation|PSF|HPND|CC0|Zlib|ISC|Mozilla", re.IGNORECASE)


@pytest.mark.parametrize("name", LOCKS)
def test_every_line_pins_one_version_and_has_hashes_alone(name):
    assert len(LOCKS[name]) > 20
    for block, pinned in zip(LOCKS[name], PINNED[name], strict=True):
        _, *hashes = block.split("--hash=")

        assert pinned is not None, block[:60]
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}[\s\\]*", one) for one in hashes)


def test_what_the_project_its_build_and_its_tests_depend_on_is_locked_at_a_version_that_it_allows():
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = whole["project"]["optional-dependencies"]
    of_setup = [
        *whole["project"]["dependencies"],
        *whole["build-system"]["requires"],
        *extras["uv"],
        *extras["xlsx"],
        *extras["zstd"],
    ]
    locked = {name: {one["name"]: numbers(one["version"]) for one in found} for name, found in PINNED.items()}
    with_tests = locked["requirements.lock"] | locked["requirements-test.lock"]

    assert not locked["requirements.lock"].keys() & locked["requirements-test.lock"].keys() - {"colorama"}
    for lines, there in ((of_setup, locked["requirements.lock"]), (extras["test"], with_tests)):
        for line in lines:
            name, least = re.match(r"([\w.-]+)>=([\d.]+)", line).groups()
            assert there[name] >= numbers(least), line


def test_each_lock_of_a_recipe_is_of_pins_that_are_and_names_every_file_by_its_hash_and_no_place():
    recipes = [(f"{name}/{one.name}", one) for name, each in registry.discover().items() for one in each.recipes]
    known = env.environments(recipes, with_data=True).values()
    line = re.compile(r"#[^/]*|[\w.-]+==[\w.!+]+( --hash=sha256:[0-9a-f]{64})+(  # built here, from this source)?")

    assert {file.stem for file in RECIPE_LOCKS} <= {each.name for each in known}
    assert {each.name for each in known if not each.file.is_file()} == UNLOCKED.keys()
    assert {each.name: mistakes for each in known if each.file.is_file() and (mistakes := find_mistakes(each))} == {}
    for file in RECIPE_LOCKS:
        assert [text for text in file.read_text().splitlines() if not line.fullmatch(text)] == []


def numbers(version):
    return tuple(int(part) for part in re.findall(r"\d+", version))


def test_every_locked_distribution_has_a_licence_that_lets_it_be_passed_on():
    with (ROOT / "licences.csv").open(encoding="utf-8", newline="") as file:
        stated = {row["distribution"]: row["licence"] for row in csv.DictReader(file)}

    assert {pinned["name"] for pinned in PINNED["requirements.lock"]} - stated.keys() <= {
        "colorama"
    }  # for Windows alone
    assert [name for name, licence in stated.items() if not FREE.search(licence)] == []
