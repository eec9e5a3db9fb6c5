"""What a run was given beyond what its recipe gives for its case: words, variables, files, versions and scripts. Of
recipes of this version alone; a run of another version says so, and is like its own kind."""

import difflib
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from evalsuite import __version__
from evalsuite.contracts import registry
from evalsuite.contracts.adapter import Command, Recipe
from evalsuite.core import paths
from evalsuite.core.documents import HostEnvironment, RunCommand
from evalsuite.core.model import Case, Run
from evalsuite.results.measure import facts
from evalsuite.runs import equivalence

ENTERED = 5  # words by which a folder is entered first: sh -c LINE FOLDER PATH
PLACED = re.compile(r"\{(scratch|data|workloads|checkout|bin)\}")
_hashes = functools.cache(equivalence.hashes)


@functools.lru_cache(maxsize=1_000)
def _given(case: Case, name: str | None) -> tuple[Recipe, Command] | None:
    adapter = registry.discover().get(case.framework)
    recipe = next((each for each in adapter.recipes if each.name == name), None) if adapter else None
    return (recipe, recipe.command_of(case)) if recipe and not recipe.refusal(case) else None


def script(command: RunCommand) -> str:
    return next((word.rpartition("/")[2] for word in command.command if word.endswith(".py")), "")


def beyond(run: Run, command: RunCommand, environments: Mapping[str, HostEnvironment]) -> str | None:
    """None of a recipe that is not known here."""
    given = _given(run.case, command.recipe.name) if command.engine else None
    if given is None or (command.container and command.recipe.spawn == "once"):  # mpirun's daemons come between
        return None
    if command.evalsuite != __version__:
        return f"evalsuite {command.evalsuite}"
    return " · ".join(dict.fromkeys(_beyond(run, command, *given, environments.values())))


def _beyond(
    run: Run, command: RunCommand, recipe: Recipe, given: Command, hosts: Iterable[HostEnvironment]
) -> Iterator[str]:
    bare = functools.partial(_bare, str(run.repeat))
    ran = [bare(word) for word in command.command[ENTERED * bool(given.folder) :]]
    if words := _further([bare(word) for word in given.argv], ran):
        yield words
    wanted = {name: bare(value) for name, value in given.environment.items()}
    wanted |= {"PYTHONPATH": bare(command.environment.get("PYTHONPATH", ""))} if recipe.libraries else {}
    outside = {name: value for host in hosts for name, value in (host.environment_variables or {}).items()}
    known, unasked = command.environment, (*facts.rules().sets["communication"], *facts.rules().sets["ignored"])
    for name, value in sorted(({n: v for n, v in outside.items() if not n.startswith(unasked)} | {**known}).items()):
        if bare(value) != wanted.get(name):
            yield f"{name}={value}"
    for name, text in given.files.items():
        pattern = r"[^\n]*".join(map(re.escape, re.split(r"\{\w+\}", text)))
        if not re.fullmatch(pattern, (command.files or {}).get(name, "")):
            yield name
    yield from sorted({*(command.files or {})} - {*given.files})
    if command.lock_sha256:  # whose environments lie in one folder
        yield from (word for word in command.command if re.search(r"^(?!.*/environments/).*/bin/python[\d.]*$", word))
    for key, value in recipe.stated(run.case).items():
        if (said := (command.recipe.facts or {}).get(key, value)) != value:
            yield f"{key}={said}"
    if recipe.source and command.recipe.source not in (None, recipe.source):
        yield f"source={command.recipe.source}"
    version = (command.packages or {}).get(recipe.package or recipe.import_name, command.framework_version)
    if version != command.framework_version:
        yield f"version={version}"
    file = paths.ADAPTERS / "workloads" / script(command)
    if command.workload_sha256 and command.workload_sha256 != (_hashes(file) if file.is_file() else None):
        yield "other scripts"


def _bare(repeat: str, word: str) -> str:
    """Without the folders that differ from machine to machine, and what the plan fills in."""
    text = PLACED.sub(r"/\1", word).replace("{repeat}", repeat).replace("{python}", "python")
    return re.sub(r"\Apython[\d.]+\Z", "python", text.rpartition("/")[2])


def _further(wanted: Sequence[str], ran: Sequence[str]) -> str:
    """The words of *ran* that are not of *wanted*, each value behind its option; between a launcher and its script each
    has its own."""
    at = next((place for place, word in enumerate(wanted) if word.endswith(".py")), 0)
    found = list[str]()
    for kind, begin, end, first, last in difflib.SequenceMatcher(None, wanted, ran, autojunk=False).get_opcodes():
        if kind != "equal" and not (0 < begin < at and end <= at > 1):
            option = kind == "replace" and first > 0 and ran[first - 1].startswith("-")
            found += ran[first - option : last]
            found += [f"-{word}" for word in wanted[begin:end]] if kind == "delete" else []
    return " ".join(found)
