"""Trains the reference workloads of one model from one start, each framework in its own environment. See
`adapters/workloads/equivalence.py`: the first makes the start, all answer from it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evalsuite.contracts.adapter import Adapter, Recipe, listed
from evalsuite.contracts.registry import choose_adapters
from evalsuite.core import files, paths, redaction
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.core.workload import WorkloadAnswer
from evalsuite.launch.programs import run_joined
from evalsuite.launch.provision import virtualenvs
from evalsuite.runs.equivalence import hashes

TIMEOUT_S = 900.0  # float64 on one thread; ResNet-50 takes half a minute
START = "start.npz"
ENVIRONMENT = {"OMP_WAIT_POLICY": "PASSIVE", "TF_CPP_MIN_LOG_LEVEL": "1"}


def workloads(adapters: Mapping[str, Adapter], frameworks: Sequence[str] | None, model: str) -> dict[str, Recipe]:
    """By framework. Raises EvalsuiteError for a name that is not known."""
    known = models(adapters)
    if model not in known:
        raise EvalsuiteError.of("launch.model_unproven", name=model, known=listed("models", model, known))
    asked = choose_adapters(frameworks, adapters) if frameworks is not None else adapters.values()
    every = ((adapter.name, recipe) for adapter in asked for recipe in adapter.recipes)
    return {name: recipe for name, recipe in every if recipe.equivalence and recipe.model == model}


def models(adapters: Mapping[str, Adapter]) -> tuple[str, ...]:
    names = (recipe.model for adapter in adapters.values() for recipe in adapter.recipes if recipe.equivalence)
    return tuple(dict.fromkeys(names))


def answer(framework: str, recipe: Recipe, folder: Path, progress: Callable[[str], None]) -> WorkloadAnswer:
    """After training from the start in *folder*, which it makes if there is none. Raises EvalsuiteError."""
    python = virtualenvs.ensure(recipe, progress=progress)
    file = folder / f"{framework}.json"
    program = (recipe.brought_by or paths.ADAPTERS) / "workloads" / recipe.equivalence
    argv = (*(python, program, "--model", recipe.model), *("--start", folder / START, "--answer", file))
    ended = run_joined(argv, folder, TIMEOUT_S, ENVIRONMENT)
    if ended is None:
        raise EvalsuiteError.of("launch.answer_late", seconds=TIMEOUT_S)
    if ended.returncode or not file.is_file():
        said = redaction.redact(" · ".join(line.strip() for line in ended.stdout.strip().splitlines()[-3:]))
        raise EvalsuiteError.of("launch.program_ended", name=program.name, code=ended.returncode, text=said)
    try:
        answer = WorkloadAnswer.from_json(files.read_json(file), file)
        if not all(setting.losses for setting in answer.settings) or not answer.elements:
            raise ValueError(Message("launch.answer_empty"))
        return replace(answer, files=hashes(program.parent / answer.script))
    except (EvalsuiteError, OSError, ValueError) as error:
        raise EvalsuiteError.of("launch.answer_unreadable", name=program.name, error=error) from error
