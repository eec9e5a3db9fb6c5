"""The whole must fit in a head: a ceiling of lines for each package, and of modules for a folder.

A feature pays for itself by what it makes needless. Who raises a ceiling says in the commit what the lines are for.
"""

import ast
from collections import Counter

import pytest

from evalsuite.core import paths
from tests import sources

FILES = sorted(paths.PACKAGE.rglob("*.py"))
CEILINGS = {  # package → lines at most; "" are the modules beside the packages
    "": 300,
    "agent": 1800,
    "audit": 800,
    "contracts": 1200,
    "core": 3900,
    "commands": 6810,
    "importing": 1495,
    "launch": 4350,
    "logs": 9250,
    "machine": 1875,
    "plan": 2740,
    "report": 15125,
    "results": 8775,
    "runs": 1900,
    "schedulers": 330,
    "site": 1075,
}
WHOLE = 61_000
LONGEST_FUNCTION = 60
FULLEST_FOLDER = 24


def package(file):
    inside = file.relative_to(paths.PACKAGE).parts
    return inside[0] if len(inside) > 1 else ""


def lines(file):
    return len(file.read_text(encoding="utf-8").splitlines())


LINES = Counter()
for file in FILES:
    LINES[package(file)] += lines(file)


@pytest.mark.parametrize("name", sorted(LINES))
def test_a_package_stays_below_its_ceiling(name):
    assert name in CEILINGS, f"evalsuite/{name} has no ceiling here"
    assert LINES[name] <= CEILINGS[name], f"evalsuite/{name} has grown; what has the new code made needless?"


def test_the_engine_stays_below_its_ceiling_and_no_folder_has_more_modules_than_a_reader_can_tell_apart():
    assert sum(LINES.values()) <= WHOLE

    modules = Counter(file.parent.relative_to(paths.PACKAGE) for file in FILES if file.name != "__init__.py")
    assert {str(folder): number for folder, number in modules.items() if number > FULLEST_FOLDER} == {}


def test_no_function_is_too_long_to_be_read_in_one_glance():
    long = [
        f"{file.relative_to(paths.PACKAGE)}:{node.lineno} {node.name}"
        for file in FILES
        for node in sources.nodes(file)
        if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno + 1 > LONGEST_FUNCTION
    ]

    assert long == []
