"""Writes the example reports: `python tools/make_examples.py [NAME …] [--out DIR] [--forms html,md] [--pictures]`.

Git ignores the tables and `summary.json`. Write the pages once a change is whole, not with every commit.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HOUSE), str(HOUSE / "tools")]  # whatever else is installed

import rebuild_dlperf
import rebuild_document
import rebuild_recorded

from evalsuite import report
from evalsuite.core.messages import LANGUAGES
from evalsuite.core.model import Evaluation
from evalsuite.report import forms

OUT = HOUSE / "docs" / "examples"
EXAMPLES: Mapping[str, Callable[[], Evaluation]] = {
    "dlperf-v1": rebuild_dlperf.evaluation,
    "tianshu": rebuild_document.evaluation,
    "cpu-quick": rebuild_recorded.quick,
    "recorded": rebuild_recorded.recorded,
    "links": rebuild_recorded.links,
    **({"llm": rebuild_recorded.llm} if rebuild_recorded.LLM.is_file() else {}),
}


def write_example(name: str, out: Path, names: tuple[str, ...]) -> list[Path]:
    evaluation = EXAMPLES[name]()
    return [*report.build(evaluation, out, LANGUAGES), *forms.write(names, evaluation, out, LANGUAGES)]


def take_pictures(report: Path) -> None:
    """Of the first screen of *report*, for the README: docs/page.<language>.<theme>.png."""
    for theme, scheme in (("dark", 0), ("light", 1)):
        for language in LANGUAGES:
            flags = ("--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,860")
            page = f"{report.resolve().as_uri()}#lang={language}"
            shot = f"--screenshot={OUT.parent / f'page.{language}.{theme}.png'}"
            line = ["chromium", *flags, f"--blink-settings=preferredColorScheme={scheme}", shot, page]
            subprocess.run(line, check=True, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*EXAMPLES, []], metavar="NAME", help=", ".join(EXAMPLES))
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--forms", default="html,md")
    parser.add_argument("--pictures", action="store_true", help="take those of the README as well, by Chromium")
    arguments = parser.parse_args()
    for name in arguments.names or EXAMPLES:
        for path in write_example(name, arguments.out / name, forms.parse_names(arguments.forms)):
            print(f"{path} ({path.stat().st_size:,} bytes)")
    if arguments.pictures:
        take_pictures(arguments.out / "cpu-quick" / "report.html")


if __name__ == "__main__":
    main()
