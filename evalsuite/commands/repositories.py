"""`evalsuite repositories`: the official repositories that recipes run, at their pinned commits."""

import argparse
from collections.abc import Mapping, Sequence

from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.terminal import note, print_json, table
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.launch.provision import checkouts
from evalsuite.launch.provision.checkouts import State
from evalsuite.launch.provision.git import CannotFetch
from evalsuite.plan import plan, spec
from evalsuite.plan.repositories import Repository, chosen, known


def run(arguments: argparse.Namespace) -> int:
    repositories = known(arguments.adapters)
    if arguments.action == "list":
        return _list(repositories, arguments.json)
    wanted = [*arguments.names, *(_needed(arguments) if arguments.profile else ())]
    return _get(chosen(wanted, repositories), arguments.mirror, arguments.incomplete)


def _needed(arguments: argparse.Namespace) -> list[str]:
    from evalsuite.contracts.registry import choose_adapters, discover

    adapters = discover(arguments.adapters)
    recipes = [
        recipe
        for matrix in spec.profile(arguments.profile).matrices()
        for adapter in choose_adapters(matrix.frameworks, adapters)
        for model in matrix.models
        for recipe in plan.recipes_for(adapter, model, matrix.recipes)
    ]
    wanted = (name for recipe in recipes for name in (recipe.checkout, *recipe.libraries) if name)
    names = list(dict.fromkeys(wanted))
    if not names:
        raise EvalsuiteError.of("commands.profile_not_official", name=arguments.profile)
    return names


def _get(chosen: Sequence[Repository], mirror: str | None, incomplete: bool) -> int:
    failed = 0
    for repository in chosen:
        try:
            folder = checkouts.get(repository, mirror=mirror, incomplete=incomplete, progress=note)
            print(f"{repository.name} {folder}")
        except CannotFetch as error:
            failed += 1
            note(f"{repository.name}: {i18n.worded(error.message)}")
    if failed == len(chosen):
        return Exit.USAGE
    return Exit.SOME_FAILED if failed else Exit.DONE


def _list(repositories: Mapping[str, Repository], as_json: bool) -> int:
    states = [(repository, checkouts.state(repository)) for repository in repositories.values()]
    if as_json:
        print_json([_facts(*each) for each in states])
        return Exit.DONE
    rows = [
        (
            repository.name,
            "/".join(repository.owner_and_name),
            repository.commit[:10],
            repository.licence,
            _words(state),
        )
        for repository, state in states
    ]
    keys = ("columns.name", "repositories.repository", "repositories.commit", "repositories.licence", "env.here")
    table(i18n.say("repositories.title", n=len(rows)), [(i18n.say(key), "left") for key in keys], rows)
    return Exit.DONE


def _words(state: State) -> str:
    if not state.present:
        return i18n.say("env.absent")
    if state.changed:
        return i18n.say("repositories.changed", files=", ".join(state.changed[:2]))
    return i18n.say("repositories.without", n=len(state.absent)) if state.absent else i18n.say("repositories.whole")


def _facts(repository: Repository, state: State) -> dict[str, object]:
    return {
        "name": repository.name,
        "repository": repository.address,
        "commit": repository.commit,
        "licence": repository.licence,
        "folder": str(repository.folder) if state.present else None,
        "commit_here": state.commit,
        "clean": state.clean if state.present else None,
        "absent": list(state.absent),
    }
