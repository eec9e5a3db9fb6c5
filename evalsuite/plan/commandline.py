"""The exact command line of a run: recipe, container, agent and engine. `plan --commands` shows it."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalsuite.contracts.adapter import Command, Recipe
from evalsuite.core import paths, placeholders
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Case
from evalsuite.core.paths import ENTER, FIRST_ENDED, SCRATCH
from evalsuite.core.placeholders import fill
from evalsuite.plan import data_sets, repositories
from evalsuite.plan.engines import Argv, Engine

IN_IMAGE = {"{python}": "python3", "{bin}/": ""}  # on the PATH
PYTHONPATH = "PYTHONPATH"
CHECKOUT = "checkout"  # a run's own copy of a repository, in its scratch folder
# `--node RANK HOST PROGRAM …` in the container of each node: the first starts mpirun, which calls HOST LINE in place of
# ssh; the line, which starts its daemon, is left for that host's container. Open MPI cuts names at the first dot. A
# daemon that fails leaves the first node time to say why.
ENTERING = f"""\
if [ "$1" != --node ]; then
    host=$1; shift
    printf '%s\\n' "$*" >"daemon.$host.new" && exec mv "daemon.$host.new" "daemon.$host"
fi
rank=$2 host=$3; shift 3
[ "$rank" != 0 ] || exec "$@"
while [ ! -e ../{FIRST_ENDED} ]; do
    for line in "daemon.$host" "daemon.${{host%%.*}}"; do
        [ ! -e "$line" ] || {{ sh "$line" || {{ code=$?; sleep 5; exit "$code"; }}; exit; }}
    done
    sleep 0.5
done
"""
WITHOUT_SSH = ("-mca", "plm_rsh_agent", f"sh {ENTER}", "-mca", "plm_rsh_no_tree_spawn", "1", "--leave-session-attached")
IN_FOLDER = 'cd "$0" && PATH="$1$PATH" && shift && exec "$@"'  # a folder, and what comes first on the PATH
NOT_MADE_YET = "{python}"  # while the environment is not made yet


@dataclass(frozen=True, kw_only=True)
class CommandLine:
    """What starts one run; each layer holds the one after it."""

    engine: Argv  # what the launcher starts
    agent: Argv  # what the engine starts on every node
    container: Argv | None  # what the agent starts; None: the training itself
    training: Argv
    environment: Mapping[str, str]
    files: Mapping[str, str]  # name → text, written into the run's scratch folder before the start
    links: Mapping[str, str]  # name there → what it leads to
    copies: Mapping[str, str]  # name there → the folder that it is a copy of


def command_line(
    recipe: Recipe,
    case: Case,
    *,
    python: Path | str,
    folder: Path,
    engine: Engine,
    timeout_s: float,
    agent_options: Argv = (),
) -> CommandLine:
    """What starts *case* in *folder*."""
    command = recipe.command_of(case)
    if recipe.libraries:
        path = filter(None, (command.environment.get(PYTHONPATH), *repositories.library_folders(recipe)))
        command = replace(command, environment={**command.environment, PYTHONPATH: os.pathsep.join(path)})
    if engine.container and recipe.spawn == "once" and case.nodes > 1:
        program, *rest = command.argv
        where = ("-wdir", command.folder) if command.folder else ()
        start = ("sh", ENTER, "--node", "{node_rank}", "{host}", program, *WITHOUT_SSH, *where, *rest)
        command = replace(command, argv=start, files={**command.files, ENTER: ENTERING})
    elif command.folder:
        bin = "" if engine.container else "{bin}:"
        command = replace(command, argv=("sh", "-c", IN_FOLDER, command.folder, bin, *command.argv))
    scratch, repository = str(folder / SCRATCH), str(repositories.folder(recipe)) if recipe.checkout else ""
    copies = {CHECKOUT: repository} if recipe.builds_in_checkout else {}
    made = {} if str(python) == NOT_MADE_YET else {"{python}": str(python), "{bin}": str(Path(python).parent)}
    known = {
        **(IN_IMAGE if engine.container else made),
        "{workloads}": str(paths.ADAPTERS / "workloads"),
        "{scratch}": scratch,
        "{repeat}": folder.name.removeprefix("r"),
        "{data}": str(paths.data_sets()),
        **({"{checkout}": f"{scratch}/{CHECKOUT}" if copies else repository} if recipe.checkout else {}),
    }
    for value in known.values():  # the agent would replace its own placeholders
        if held := next((name for name in placeholders.BY_AGENT if name in value), None):
            raise EvalsuiteError.of("plan.placeholder_in_path", path=value, held=held)
    training = tuple(fill(token, known) for token in command.argv)
    environment = _filled(command.environment, known)
    container = _in_image(training, recipe, command, case, folder, engine) if engine.container else None
    agent = agent_argv(sys.executable, str(folder), case, recipe.spawn, timeout_s, container or training, agent_options)
    return CommandLine(
        engine=engine.command_on_nodes(case.nodes, str(folder), agent, environment),
        agent=agent,
        container=container,
        training=training,
        environment=environment,
        files=_filled(command.files, known),
        links=_filled(command.links, known),
        copies=copies,
    )


def _filled(texts: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    return {name: fill(text, known) for name, text in texts.items()}


def _in_image(training: Argv, recipe: Recipe, command: Command, case: Case, folder: Path, engine: Engine) -> Argv:
    assert engine.container
    # mpirun asks for the name of a user whom the image may not know
    users = ["/etc/passwd"] if ENTER in command.files and not engine.container.user.startswith("0:") else []
    checkout = [*([str(repositories.folder(recipe))] if recipe.checkout else []), *repositories.library_folders(recipe)]
    author = [str(recipe.brought_by.absolute())] if recipe.brought_by not in (None, paths.ADAPTERS) else []
    author += [command.folder] if command.folder.startswith("/") and command.folder not in author else []
    workloads = str(paths.ADAPTERS / "workloads")
    return engine.container.argv(
        training,
        image=recipe.image,
        folder=str(folder),
        # a runtime mounts no folder that does not exist
        readable=(*checkout, workloads, *author, *data_sets.folders(command), *users),
        environment=tuple(sorted(command.environment)),
        gpus=case.device == "gpu",
    )


def agent_argv(
    python: str, folder: str, case: Case, spawn: str, timeout_s: float, command: Sequence[str], options: Argv = ()
) -> Argv:
    processes = ("--processes", str(case.devices_per_node)) if spawn == "per_device" else ()
    device = () if case.device == "cpu" else ("--device", "npu" if case.device == "npu" else "gpu")
    cores = ("--cores-per-device", str(case.cores_per_device)) if case.cores_per_device else ()
    starts = "first" if spawn == "once" and case.nodes > 1 else "all"
    return (
        *(python, "-m", "evalsuite", "sample", "-o", folder, "--for-run", starts),
        *(*processes, *device, *cores, *options),
        *("--devices-per-node", str(case.devices_per_node), "--timeout", f"{timeout_s:g}"),
        *("--", *command),
    )
