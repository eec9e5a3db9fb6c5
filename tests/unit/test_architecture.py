"""The walls of the house: which room may import which, and what no room right of the wall does. `docs/architecture.md`
draws what stands here. A new arrow is a decision: write it down in `docs/decisions.md`."""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from evalsuite.core import paths
from tests import sources

GROUND = {"core"}
CONTRACT = {"contracts"}
TABLES = sources.table("architecture.toml")
MAY_IMPORT = {name: set(others) for name, others in TABLES["may_import"].items()}  # beside ground and contract
INSIDE = {package: {room: set(others) for room, others in rooms.items()} for package, rooms in TABLES["inside"].items()}
LAUNCH_READS_LOGS = {"batch_search", "runner", "campaign"}  # of launch/, as docs/architecture.md says
# right of the wall, and what is words alone
READ_ONLY = ["schedulers", "logs", "results", "finished", "report", "audit", "site"]
BROWSER = "evalsuite.report.forms.pdf"  # prints the page on paper, and starts a browser for it
# the same work on several cores
WORKERS = ("evalsuite.results.measure.measuring", "evalsuite.report")
FORKS = "evalsuite.core.processes"
PROGRAMS = {"subprocess", "pty", "pexpect"}
NETWORK = {"socket", "ssl", "http", "urllib.request", "ftplib", "smtplib", "asyncio", "requests"}
SEVERAL_CORES = {"multiprocessing", "concurrent", "threading"}
STARTS = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"}
ASKS_TIME = {
    ("time", name) for name in ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "sleep", "localtime")
} | {("datetime", "now"), ("datetime", "today"), ("datetime", "utcnow"), ("date", "today")}
ADAPTERS_MAY_IMPORT = {
    *("evalsuite.contracts.adapter", "evalsuite.core.decode", "evalsuite.core.messages", "evalsuite.core.model")
}
ADAPTERS_MAY_NOT = {"os", "subprocess", "pathlib", "socket", "shutil", "time"}
THIRD_PARTY = TABLES["third_party"]
PYTHONS_NUMBERS = {"isdigit", "isdecimal", "isnumeric", "fromisoformat", "strptime"}
READ_NUMBERS = (  # what the kernel and log lines print, in bytes; and what looks for digits and reads none
    *("evalsuite.core.decode", "evalsuite.machine", "evalsuite.agent.node_lock"),
    *("evalsuite.logs", "evalsuite.core.redaction", "evalsuite.report", "evalsuite.results.judge.stopping"),
    *("evalsuite.results.measure.facts",),
)
OPENED = ("runs", "logs", "importing", "audit", "site")  # a stranger's: core.files opens it
OUR_OWN = ("evalsuite.runs.equivalence", "evalsuite.site.publishing")  # our scripts; a page just found to be a file
PRINTS = ("evalsuite.commands", "evalsuite.cli", "evalsuite.__main__")
ECHOES = "evalsuite.agent.recording"  # passes on what the training itself prints

FILES = {
    ".".join(("evalsuite", *file.relative_to(paths.PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): file
    for file in sorted(paths.PACKAGE.rglob("*.py"))
}


def imports(room: str, nodes: Sequence[ast.AST], known: frozenset[str]) -> set[str]:
    """The modules that the *nodes* of *room*'s source import: ours by their whole name, of others the name asked for.
    `from evalsuite.plan import spec` is `evalsuite.plan.spec`."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{room}: imports are written whole"
            whole = {f"{node.module}.{name.name}" for name in node.names}
            found |= {name if name in known else str(node.module) for name in whole}
    return found


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def violations(room: str, nodes: Sequence[ast.AST], known: frozenset[str] = frozenset(FILES)) -> Iterator[str]:
    """What the module called *room* does that its place forbids, a sentence each."""
    imported = imports(room, nodes, known)
    yield from _wrong_arrows(room, {name for name in imported if within(name, "evalsuite")})
    yield from _wrong_packages(room, {name for name in imported if not within(name, "evalsuite")})
    if not any(within(room, place) for place in PRINTS) and (said := _prints(nodes)) and room != ECHOES:
        yield f"{room} writes to the terminal: {said}"
    if _place(room) in OPENED and room not in OUR_OWN:
        yield from (f"{room} opens files by {name}" for name in sorted(_opens(nodes)))
    if not any(within(room, place) for place in READ_NUMBERS):
        names = sorted({node.attr for node in nodes if isinstance(node, ast.Attribute)} & PYTHONS_NUMBERS)
        yield from (f"{room} reads numbers by {name}" for name in names)
    if any(within(room, f"evalsuite.{package}") for package in READ_ONLY):
        yield from _acts(room, imported, nodes)


def _opens(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """The calls that open a file to read it, other than those of `files`."""
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else _named(call.func)
        writes = any(isinstance(arg, ast.Constant) and arg.value in ("wb", "ab") for arg in call.args)
        method = isinstance(call.func, ast.Attribute)
        ours = method == (name == "open") or (method and _named(call.func.value) == "files")
        if name in ("open", "read_bytes", "read_text") and not writes and not ours:
            yield str(name)


def _place(module: str) -> str:
    """The package or ground module that *module* belongs to: `evalsuite.logs.steps.window` → `logs`."""
    return [*module.split("."), ""][1]


def _wrong_arrows(room: str, ours: set[str]) -> Iterator[str]:
    here = _place(room)
    if here in ("cli", "__main__", ""):
        return
    allowed = GROUND | (set() if here in GROUND else CONTRACT) | MAY_IMPORT.get(here, set()) | {here, ""}
    for module in sorted(ours):
        if _place(module) not in allowed:
            yield f"{room} imports {module}"
    rooms = INSIDE.get(here, {})
    inside = [*room.split("."), ""][2]
    if inside in rooms:
        for module in sorted(ours):
            parts = [*module.split("."), ""]
            if parts[1] == here and parts[2] and parts[2] not in rooms[inside] | {inside}:
                yield f"{room} imports {module}"


def _wrong_packages(room: str, others: set[str]) -> Iterator[str]:
    for module in sorted(others):
        package = module.partition(".")[0]
        if package in sys.stdlib_module_names:
            continue
        if not any(within(room, place) for place in THIRD_PARTY.get(package, ())):
            yield f"{room} imports {module}"


def _prints(nodes: Sequence[ast.AST]) -> str | None:
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            return "print"
        if isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr") and _named(node.value) == "sys":
            return f"sys.{node.attr}"
    return None


def _acts(room: str, imported: set[str], nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Starts a program, opens a connection, takes several cores, or asks the time."""
    for module in sorted(imported):
        root = module.partition(".")[0]
        if root in PROGRAMS and room != BROWSER:
            yield f"{room} starts programs: {module}"
        if root in NETWORK or module in NETWORK:
            yield f"{room} opens connections: {module}"
        if (root in SEVERAL_CORES or module == FORKS) and room not in WORKERS:
            yield f"{room} takes several cores: {module}"
    for node in nodes:
        if not isinstance(node, ast.Attribute):
            continue
        owner = _named(node.value)
        if owner == "os" and (node.attr in STARTS or node.attr.startswith(("exec", "spawn"))):
            yield f"{room} starts programs: os.{node.attr}"
        if (owner, node.attr) in ASKS_TIME:
            yield f"{room} asks the time: {owner}.{node.attr}"


def _named(node: ast.AST) -> str | None:
    """`datetime.datetime` and `datetime` are both `datetime`."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def test_every_room_keeps_its_walls():
    assert [text for room, file in FILES.items() for text in violations(room, sources.nodes(file))] == []


def test_every_package_of_the_house_is_drawn():
    packages = {file.parent.name for file in paths.PACKAGE.glob("*/__init__.py")}
    rooms = {file.stem for file in paths.PACKAGE.glob("*.py")} - {"__init__", "__main__", "cli"}
    inside = {each: {file.parent.name for file in (paths.PACKAGE / each).glob("*/__init__.py")} for each in INSIDE}

    assert packages == set(MAY_IMPORT) | GROUND | CONTRACT
    assert rooms == set()
    assert inside == {"results": set(INSIDE["results"]) - {"evaluation"}, "report": set(INSIDE["report"])}


def test_the_picture_has_the_arrows_of_the_code():
    picture = (paths.DATA.parent / "docs" / "architecture.svg").read_text(encoding="utf-8")
    every = ((room, to) for room, file in FILES.items() for to in imports(room, sources.nodes(file), frozenset(FILES)))
    arrows = {(_place(room), _place(to)) for room, to in every if within(to, "evalsuite")}
    rooms = set(re.findall(r'class="name"[^>]*>(\w+)<', picture))

    drawn = {(a, b) for a, b in arrows if {a, b} <= rooms and a not in ("commands", b)}
    assert set(re.findall(r"<title>(\w+) imports (\w+)</title>", picture)) == drawn
    assert rooms == set(MAY_IMPORT) - {"rehearsal"}


def test_only_the_modules_that_the_documentation_names_read_logs_across_the_wall():
    launch = {room.rpartition(".")[2] for room in FILES if within(room, "evalsuite.launch")}
    text = (paths.DATA.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    sentence = text[text.index("read logs across the wall") :].partition("`importing/`")[0]

    reading = {
        room.rpartition(".")[2]
        for room, file in FILES.items()
        if within(room, "evalsuite.launch")
        and any(within(name, "evalsuite.logs") for name in imports(room, sources.nodes(file), frozenset(FILES)))
    }

    assert reading == LAUNCH_READS_LOGS
    assert {name for name in launch if f"`{name}`" in sentence} == LAUNCH_READS_LOGS


def test_the_arrows_between_packages_make_no_circle():
    order = list(MAY_IMPORT)
    reached = {package: MAY_IMPORT[package] for package in order}
    for _ in order:
        reached = {package: found.union(*(reached[each] for each in found)) for package, found in reached.items()}

    assert [package for package in order if package in reached[package]] == []


def test_no_two_modules_import_each_other_however_far_round():
    arrows = {
        room: imports(room, sources.nodes(file), frozenset(FILES)) & FILES.keys() - {room, "evalsuite"}  # its version
        for room, file in FILES.items()
    }
    free = True
    while free:  # take away what imports nothing that is left; a circle stays
        free = {room for room, arrow in arrows.items() if not arrow & arrows.keys()}
        arrows = {room: arrow for room, arrow in arrows.items() if room not in free}

    assert sorted(arrows) == []


@pytest.mark.parametrize(("room", "source", "said"), TABLES["wrong_steps"])
def test_a_wrong_step_is_found(room, source, said):
    assert [text for text in violations(room, tuple(ast.walk(ast.parse(source)))) if said in text] == [f"{room} {said}"]


@pytest.mark.parametrize(
    "file", [*paths.ADAPTERS.glob("*.py"), *paths.ADAPTERS.glob("common/*.py")], ids=lambda file: file.stem
)
def test_an_adapter_imports_only_the_contract(file: Path):
    imported = imports(file.stem, sources.nodes(file), frozenset(FILES))
    ours = {name for name in imported if within(name, "evalsuite") or within(name, "adapters")}

    assert {name for name in ours if not within(name, "adapters.common")} <= ADAPTERS_MAY_IMPORT
    assert {name.partition(".")[0] for name in imported - ours} <= set(sys.stdlib_module_names) - ADAPTERS_MAY_NOT


def test_the_command_lines_are_loaded_only_when_their_command_is_asked_for():
    imported = imports("evalsuite.cli", sources.nodes(FILES["evalsuite.cli"]), frozenset(FILES))

    assert {name for name in imported if within(name, "evalsuite")} <= {
        "evalsuite",
        "evalsuite.core.errors",
        "evalsuite.core.paths",
    }


def test_no_class_name_means_two_things_in_a_package():
    classes = [
        (".".join(room.split(".")[:2]), node.name)
        for room, file in FILES.items()
        for node in sources.nodes(file)
        if isinstance(node, ast.ClassDef)
    ]

    assert sorted({each for each in classes if classes.count(each) > 1}) == []


def test_no_function_has_a_name_that_could_mean_anything():
    names = {
        (room, node.name)
        for room, file in FILES.items()
        for node in sources.nodes(file)
        if isinstance(node, ast.FunctionDef)
    }

    assert [name for name in sorted(names) if name[1].strip("_") in {"told", "said", "drawn", "kept", "made"}] == []
