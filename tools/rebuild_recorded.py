"""The evaluations of recorded runs, for `make_examples.py`.

`data/recorded` has four frameworks on two cores, ResNet-50 v1.5; `data/recorded.zip` has these and all others;
`data/recorded-links.zip` is from `tools/measure_links.py`; what `make llm` gives is kept beside it, by
`tools/keep_runs.py`.
"""

import sys
from dataclasses import replace
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))  # whatever else is installed

from evalsuite.core import paths
from evalsuite.core.model import Evaluation
from evalsuite.results import evaluation
from evalsuite.runs import archive
from evalsuite.runs.store import Store
from tools.shaped_links import pytorch_links

LLM = paths.DATA / "recorded-llm.zip"


def quick() -> Evaluation:
    return replace(evaluation.evaluate(Store(paths.DATA / "recorded")), profile="quick")


def recorded() -> Evaluation:
    return replace(evaluation.evaluate(Store(archive.unpack(paths.DATA / "recorded.zip"))), title="recorded")


def links() -> Evaluation:
    """The commands were recorded before recipes said what makes their condition."""
    kept = evaluation.evaluate(Store(archive.unpack(paths.DATA / "recorded-links.zip")))
    made_by = pytorch_links.ADAPTER.recipes[0].made_by
    told = {run: (of, of.recipe and replace(of.recipe, made_by=made_by)) for run, of in kept.commands.items()}
    return replace(kept, title="links", commands={run: replace(of, recipe=said) for run, (of, said) in told.items()})


def llm() -> Evaluation:
    return replace(evaluation.evaluate(Store(archive.unpack(LLM))), profile="llm")
