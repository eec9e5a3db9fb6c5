"""`evalsuite models`: the official repositories that recipes run, at their pinned commits."""

import json

from evalsuite.errors import EvalsuiteError, Exit

HELP = "fetch the official training repositories at their pinned commits, or list them"
EXAMPLES = """  evalsuite models list
  evalsuite models get pytorch-examples tensorflow-benchmarks
  evalsuite models get horovod --mirror /srv/mirrors
  evalsuite models get --profile official-cpu
  evalsuite models get --mirror https://git.example.org/mirrors
"""


def add_arguments(parser) -> None:
    from pathlib import Path

    actions = parser.add_subparsers(title="what to do", metavar="get|list", dest="action", required=True)
    get = actions.add_parser("get", help="fetch repositories into the cache; all of them if none is named")
    get.add_argument("names", nargs="*", metavar="NAME", help="names of `evalsuite models list`")
    get.add_argument("--profile", metavar="NAME", help="those that a profile of `evalsuite compare` needs")
    get.add_argument("--mirror", metavar="DIR_OR_URL", help="a folder of clones, or another host")
    listing = actions.add_parser("list", help="what is known and what is here")
    listing.add_argument("--json", action="store_true", help="print JSON instead of a table")
    for action in (get, listing):
        action.add_argument("--adapters", metavar="DIR", type=Path, action="append", default=[], help="more adapters")


def run(arguments) -> int:
    from evalsuite import checkouts

    models = checkouts.known(arguments.adapters)
    if arguments.action == "list":
        return _list(models, arguments.json)
    wanted = [*arguments.names, *(_needed(arguments) if arguments.profile else ())]
    return _get(checkouts.chosen(wanted, models), arguments.mirror)


def _needed(arguments) -> list[str]:
    """The repositories of the recipes that the profile asks for, in its order."""
    from evalsuite import plan, spec
    from evalsuite.adapter import chosen, discover

    adapters = discover(arguments.adapters)
    recipes = [
        recipe
        for matrix in spec.profile(arguments.profile).matrices()
        for adapter in chosen(matrix.frameworks, adapters)
        for model in matrix.models
        for recipe in plan.recipes_for(adapter, model, matrix.recipes)
    ]
    names = list(dict.fromkeys(recipe.checkout for recipe in recipes if recipe.checkout))
    if not names:
        raise EvalsuiteError(
            f"--profile {arguments.profile}: its recipes are of no official repository; expected a profile such as "
            "official-cpu."
        )
    return names


def _get(chosen, mirror: str | None) -> int:
    """Fetches each; one that cannot be had does not stop the others."""
    from evalsuite import checkouts
    from evalsuite.terminal import note

    failed = 0
    for model in chosen:
        try:
            print(f"{model.name} {checkouts.get(model, mirror=mirror, progress=note)}")
        except checkouts.CannotFetch as error:
            failed += 1
            note(f"{model.name}: {error}")
    if failed == len(chosen):
        return Exit.USAGE
    return Exit.SOME_FAILED if failed else Exit.DONE


def _list(models, as_json: bool) -> int:
    from evalsuite import checkouts
    from evalsuite.terminal import table

    found = [(model, checkouts.state(model)) for model in models.values()]
    if as_json:
        print(json.dumps([_facts(*each) for each in found], indent=1))
        return Exit.DONE
    rows = [
        (model.name, "/".join(model.owner_and_name), model.commit[:10], model.licence, _words(state))
        for model, state in found
    ]
    columns = [("name", "left"), ("repository", "left"), ("commit", "left"), ("licence", "left"), ("here", "left")]
    table(f"{len(rows)} official repositories", columns, rows)
    return Exit.DONE


def _words(state) -> str:
    if not state.present:
        return "no"
    if state.changed:
        return f"changed: {', '.join(state.changed[:2])}"
    return f"yes, without {len(state.absent)} large files" if state.absent else "yes"


def _facts(model, state) -> dict:
    return {
        "name": model.name,
        "repository": model.repository,
        "commit": model.commit,
        "licence": model.licence,
        "folder": str(model.folder) if state.present else None,
        "commit_here": state.commit,
        "clean": state.clean if state.present else None,
        "absent": list(state.absent),
    }
