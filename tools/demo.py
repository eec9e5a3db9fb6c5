"""Writes the report of the recorded runs, and opens it where there is a display: nothing is trained.

python tools/demo.py [--out DIR]
"""

import argparse
import os
import sys
import webbrowser
from collections.abc import Mapping
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))  # whatever else is installed

from evalsuite.core import paths
from evalsuite.core.model import Evaluation
from evalsuite.results import evaluation
from evalsuite.runs import archive
from evalsuite.runs.store import Store


def recorded() -> Evaluation:
    """Runs of another machine, which the page says."""
    return evaluation.evaluate(Store(archive.unpack(paths.DATA / "recorded.zip")), recorded_elsewhere=True)


def has_display(variables: Mapping[str, str], system: str) -> bool:
    """Not in a plain terminal, a container or over ssh."""
    if variables.get("SSH_CONNECTION") and not variables.get("DISPLAY"):
        return False
    if system in ("darwin", "win32"):
        return True
    return bool(variables.get("DISPLAY") or variables.get("WAYLAND_DISPLAY"))


def main() -> None:
    from evalsuite import report

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HOUSE / "demo")
    out = parser.parse_args().out
    print("a report of runs recorded on another machine: nothing is trained; some seconds …", flush=True)
    page = report.build(recorded(), out)[0].resolve()
    opened = has_display(os.environ, sys.platform) and webbrowser.open(page.as_uri())
    print(f"{'opened' if opened else 'open this in a browser'}: {page.as_uri()}")


if __name__ == "__main__":
    main()
