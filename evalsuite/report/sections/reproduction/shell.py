"""A command line as lines that a shell runs: nothing in braces is left, and what is a place has a variable above it."""

import re
import shlex

from evalsuite.core import placeholders
from evalsuite.core.documents import RunCommand
from evalsuite.core.model import Case
from evalsuite.core.placeholders import Node
from evalsuite.report.text import names

PLACES = {  # what recorded runs have in the place of a folder → where it may lie on another machine
    "python": "python3",
    "evalsuite": "$PWD",
    "cache": "$HOME/.cache/evalsuite",
    "data": "$HOME/.cache/evalsuite/data",
    "runs": "$PWD/runs-again",
}
_PLACE = re.compile(rf"<({'|'.join(PLACES)})>")
_IN_QUOTES = re.compile(r'(["\\$`])')
FREE_PORT = 29500  # as PyTorch and our own documents have it


def shell(command: RunCommand | None, case: Case, run_id: str, cores: float | None) -> str | None:
    """What was run for *case*, to be run again on a machine with so many *cores* per node; None if nothing was.

    Its results go to another folder than that of the run *run_id*, which is closed.
    """
    given = (command.argv or command.command) if command else ()
    if command is None or not given:
        return None
    threads = max(1, int(cores or 0) // case.devices_per_node)
    here = placeholders.of_node(Node(master_port=FREE_PORT), case.devices_per_node, threads)
    filled = here if case.nodes == 1 else {}  # of several nodes the node agent fills each one's own

    def placed(word: str) -> str:
        if run_id in word:
            word = re.sub(rf"(?:(?<==)|^)[^=]*/{re.escape(run_id)}(?=/|$)", lambda _: f"<runs>/{run_id}", word)
        return placeholders.fill(word, filled)

    words = [placed(word) for word in given]
    settings = [(name, placed(value)) for name, value in sorted(command.environment.items())]
    texts = (*words, *(value for _, value in settings))
    used = [name for name in PLACES if any(f"<{name}>" in text for text in texts)]
    above = [f'{name.upper()}="{PLACES[name]}"' for name in used]
    above += [f"export {names.visible(name)}={_quoted(value)}" for name, value in settings]
    return "\n".join((*above, " ".join(map(_quoted, words))))


def _quoted(word: str) -> str:
    if not _PLACE.search(word):
        return names.visible(shlex.quote(word))
    escaped = _IN_QUOTES.sub(r"\\\1", word)
    return names.visible('"' + _PLACE.sub(lambda match: f"${{{match[1].upper()}}}", escaped) + '"')
