"""Golden files: what is made of text, held against a file that a person has read. `EVALSUITE_GOLDEN=write python -m
pytest tests/unit/test_recipes.py` (or any other file of tests) writes the golden files of these tests anew from what is
found now. Read the difference before you commit it: it is meant, or it is a defect."""

import difflib
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from evalsuite.contracts.adapter import Recipe
from evalsuite.core.model import Case

FOLDER = Path(__file__).parent / "golden"
WRITE = os.environ.get("EVALSUITE_GOLDEN") == "write"
LONG = 100  # from here on a word is broken at the commas and braces of its JSON
PLAIN = re.compile(r"[\w@%+=:,./{}-]+")  # a word that a person reads without quotes


def expected(name: str, found: str) -> str:
    """The text of the golden file *name*; where golden files are written, that is *found*."""
    file = FOLDER / name
    if WRITE:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(found, encoding="utf-8")
    return file.read_text(encoding="utf-8")


def commands(points: Iterable[tuple[str, Recipe, Case]]) -> str:
    """The commands of one recipe: the first whole, each further one by what differs from one above it. Each point is
    (words, recipe, case). A case is held against the one whose words are the longest beginning of its own, as `1x8 amp`
    against `1x8`, else against the first."""
    whole: dict[str, list[str]] = {}
    text = []
    for words, recipe, case in points:
        reason = recipe.refusal(case)
        if reason:
            text.append(f"== {words}\nrefused: {reason}\n")
            continue
        lines = command_lines(recipe, case)
        near = max((known for known in whole if words.startswith(f"{known} ")), key=len, default=next(iter(whole), ""))
        head, shown = f"== {words}", lines
        if near:
            head, shown = f"== {words}, beside {near}", differences(whole[near], lines) or ["the same"]
        text.append("\n".join((head, *shown, "")))
        whole[words] = lines
    return "\n".join(text)


def command_lines(recipe: Recipe, case: Case) -> list[str]:
    """One argument a line, a flag with its value; variables before them, files after them."""
    command = recipe.command(case)
    lines = [f"{name}={_quoted(value)}" for name, value in sorted(command.environment.items())]
    flag = False
    for token in command.argv:
        begins = token.startswith("-")
        if flag and not begins:
            lines[-1] += f" {_quoted(token)}"
        else:
            lines.append(_quoted(token))
        flag = begins
    for name, content in sorted(command.files.items()):
        lines += [f"# file {name}:", *(f"    {line}" for line in content.strip().splitlines())]
    lines += [f"# link {name}: {target}" for name, target in sorted(command.links.items())]
    return [part for line in lines for part in _broken(line)]


def _broken(line: str) -> list[str]:
    first, *rest = re.split(r'(?<=,)(?= )|(?<=\{)(?=")', line) if len(line) > LONG else [line]
    return [first, *(f"    {part}" for part in rest)]


def differences(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """What makes *after* of *before*: the lines that go and those that come, each after the number of its line."""
    found = []
    for kind, start, end, new, newer in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            found += [f"{number + 1:3} - {before[number]}" for number in range(start, end)]
            found += [f"{start + 1:3} + {line}" for line in after[new:newer]]
    return found


def _quoted(word: str) -> str:
    """As a shell would take it, but placeholders as they stand."""
    return word if PLAIN.fullmatch(word) else shlex.quote(word)
