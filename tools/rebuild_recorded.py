"""Writes the reports of the recorded runs: `docs/examples/cpu-quick/`, `docs/examples/recorded/` and
`docs/examples/links/`.

    python tools/rebuild_recorded.py [--out DIR] [--forms html,md,…]

The first is what `make report` measures: four frameworks, ResNet-50 v1.5, on two cores. The second holds every run
folder of `data/recorded`, the official scripts among them. The third holds those of `data/recorded-links`, which
`tools/measure_links.py` made over links of two rates.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))  # this checkout's own code, whatever is installed

from evalsuite import paths
from evalsuite.model import LANGUAGES, Case, Evaluation
from evalsuite.results import evaluation
from evalsuite.runs.store import Store

OUT = paths.DATA.parent / "docs" / "examples"
QUICK = "reference-resnet50"  # the recipe of the quick profile


def evaluations() -> dict[str, Evaluation]:
    """Folder name → what stands in it."""
    store = Store(paths.DATA / "recorded")
    return {
        "cpu-quick": replace(evaluation.evaluate(store, only=_quick(store)), profile="quick"),
        "recorded": evaluation.evaluate(store),
        "links": evaluation.evaluate(Store(paths.DATA / "recorded-links")),
    }


def _quick(store: Store) -> list[Case]:
    return [case for folder in store.finished() if (case := folder.run().case).recipe == QUICK]


def main() -> None:
    from evalsuite import report
    from evalsuite.report import forms

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--forms", default="html,md")
    arguments = parser.parse_args()
    names, languages = forms.named(arguments.forms), LANGUAGES
    for name, of in evaluations().items():
        out = arguments.out / name
        for path in report.build(of, out, languages) + forms.write(names, of, out, languages):
            print(f"{path} ({path.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
