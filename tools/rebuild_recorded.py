"""The evaluations of the recorded runs: what `make report` measures, all of `data/recorded`, and the shaped links.

The first is four frameworks, ResNet-50 v1.5, on two cores. The third holds the runs of `data/recorded-links`, which
`tools/measure_links.py` made over links of two rates. `make_examples.py` writes the reports.
"""

import sys
from dataclasses import replace
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))  # this checkout's own code, whatever is installed

from evalsuite import paths
from evalsuite.model import Case, Evaluation
from evalsuite.results import evaluation
from evalsuite.runs.store import Store

QUICK = "reference-resnet50"  # the recipe of the quick profile


def quick() -> Evaluation:
    store = Store(paths.DATA / "recorded")
    return replace(evaluation.evaluate(store, only=_quick_cases(store)), profile="quick")


def recorded() -> Evaluation:
    return evaluation.evaluate(Store(paths.DATA / "recorded"))


def links() -> Evaluation:
    return evaluation.evaluate(Store(paths.DATA / "recorded-links"))


def _quick_cases(store: Store) -> list[Case]:
    return [case for folder in store.finished() if (case := folder.run().case).recipe == QUICK]
