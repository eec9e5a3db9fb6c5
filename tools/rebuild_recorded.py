"""The evaluations of the recorded runs: what `make report` measures, all of them, and the shaped links.

The first, `data/recorded`, is four frameworks, ResNet-50 v1.5, on two cores; `data/recorded.zip` has these too. The
third holds the runs of `data/recorded-links.zip`, which `tools/measure_links.py` made over links of two rates.
`make_examples.py` writes the reports.
"""

import sys
from dataclasses import replace
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))  # this checkout's own code, whatever is installed

from evalsuite import paths
from evalsuite.model import Evaluation
from evalsuite.results import evaluation
from evalsuite.runs import archive
from evalsuite.runs.store import Store


def quick() -> Evaluation:
    return replace(evaluation.evaluate(Store(paths.DATA / "recorded")), profile="quick")


def recorded() -> Evaluation:
    return evaluation.evaluate(Store(archive.unpacked(paths.DATA / "recorded.zip")))


def links() -> Evaluation:
    return evaluation.evaluate(Store(archive.unpacked(paths.DATA / "recorded-links.zip")))
