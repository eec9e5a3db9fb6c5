"""`evalsuite submit --engine kubernetes`: pods for a whole evaluation, as manifests to read; with --go applied."""

import argparse
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from evalsuite.commands.launching.engine_choice import KUBERNETES
from evalsuite.commands.launching.request import cases_asked
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line
from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.launch.remote import allocations
from evalsuite.plan import kubernetes
from evalsuite.plan.kubernetes import HOSTFILE, Values
from evalsuite.report.page import templates

Evaluation = Callable[[argparse.Namespace, Sequence[str]], list[str]]


def submit(arguments: argparse.Namespace, evaluation: Evaluation) -> int:
    """Writes the manifests that *arguments* of `submit` ask for; with --go it applies them. *evaluation* gives the
    line that does in the launcher's pod what they ask for."""
    if arguments.values is None:
        raise EvalsuiteError.of("commands.kubernetes_values")
    values = kubernetes.read(arguments.values)
    cases = cases_asked(arguments, KUBERNETES)
    file = arguments.script or arguments.runs / "evaluation.yaml"
    text = manifests(
        values,
        _in_the_pods(arguments, values, evaluation),
        nodes=max(case.nodes for case in cases),
        devices_per_node=max(case.devices_per_node for case in cases),
        device=cases[0].device,
        file=file,
    )
    files.write_named(file, text.encode())
    line(say("submit.manifests", file=file, pods=max(case.nodes for case in cases) + 1))
    if not arguments.go:
        line(say("submit.apply", file=shlex.quote(str(file))))
        return Exit.DONE
    line(allocations.apply_manifests(file))
    return Exit.DONE


def _in_the_pods(arguments: argparse.Namespace, values: Values, evaluation: Evaluation) -> Sequence[str]:
    mount = Path(values.mount)
    if arguments.container:
        raise EvalsuiteError.of("commands.kubernetes_container", name=arguments.container)
    for path in filter(None, (arguments.runs, arguments.out)):
        if path.is_absolute() and not path.is_relative_to(mount):
            raise EvalsuiteError.of("commands.kubernetes_mount", path=path, mount=mount)
    placed = {"runs": mount / arguments.runs, "out": mount / (arguments.out or "report")}
    there = argparse.Namespace(**{**vars(arguments), **placed})
    _, *words = evaluation(there, ("--engine", "hosts", "--hosts", HOSTFILE))
    return ["python3", *words]


def manifests(values: Values, command: Sequence[str], **facts: object) -> str:
    environment = templates.environment([paths.TEMPLATES / "kubernetes"], markup=False)
    environment.filters["word"] = kubernetes.word
    text = environment.get_template("evaluation.yaml.j2").render(values=values, command=[*command], **facts)
    return f"{text}\n"
