"""Completions for shells and the man page, made of the parser when a wheel is built (pyproject.toml)."""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPLETIONS = {
    "bash": "share/bash-completion/completions/evalsuite",
    "fish": "share/fish/vendor_completions.d/evalsuite.fish",
    "zsh": "share/zsh/site-functions/_evalsuite",
}
MAN_PAGE = "share/man/man1/evalsuite.1"


class PagesHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # they would grow old
            return
        self._folder = tempfile.mkdtemp(prefix="evalsuite-build-")
        for number, (place, text) in enumerate(pages(self.root).items()):
            file = Path(self._folder, str(number))
            file.write_text(text, encoding="utf-8")
            file.chmod(0o644)
            build_data["shared_data"][str(file)] = place

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            shutil.rmtree(self._folder)


def pages(root: str) -> dict[str, str]:
    """Place below the prefix → text."""
    import shtab
    from argparse_manpage.manpage import Manpage

    os.environ |= {"COLUMNS": "80", "NO_COLOR": "1"}  # the same bytes on any terminal
    sys.path.insert(0, root)
    from evalsuite import __version__, cli

    parser = cli.whole_parser()
    for action in actions(parser):
        if action.type is Path:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    scripts = {place: shtab.complete(parser, shell=shell) for shell, place in COMPLETIONS.items()}
    page = Manpage(parser)
    page.manual, page.source = "User Commands", f"evalsuite {__version__}"
    page.description = "measure, compare and report training with deep-learning frameworks"
    return {**scripts, MAN_PAGE: str(page)}


def actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        for each in action.choices.values() if isinstance(action, argparse._SubParsersAction) else ():
            yield from actions(each)
