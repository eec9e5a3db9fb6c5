"""Types what pages of the documentation tell to type, each in a folder of its own: `tools/type_pages.py PAGE…`

tests/files/docs.toml has what pages take for granted, and which commands end otherwise than with 0. Ends with 1 where
a command does, and where a block is neither typed nor read.
"""

import os
import re
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
TABLE = tomllib.loads((HOUSE / "tests" / "files" / "docs.toml").read_text(encoding="utf-8"))
FENCE = re.compile(r'^ *```(\w*)(?: title="([^"]+)")?\n(.*?)^ *```$', re.MULTILINE | re.DOTALL)
NEEDS = re.compile(rf"# needs ({'|'.join(TABLE['needs'])})\b")
UNTIL_CTRL_C, SECONDS, MOST_SECONDS = 124, 20, 900


def main() -> int:
    wrong = 0
    for page in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            problems, typed, left = type_page(page, Path(folder))
        print(f"{page}: {typed} commands typed, {left} need what is not here", *problems, sep="\n  ")
        wrong += len(problems)
    return bool(wrong)


def type_page(page: Path, folder: Path) -> tuple[list[str], int, int]:
    """What is wrong; how many commands were typed; how many need what is not here."""
    text = re.sub("|".join(TABLE["places"]), lambda place: f"{folder}{place[0]}", page.read_text(encoding="utf-8"))
    fences, problems, exported, left = FENCE.findall(text), [], "", 0
    if 2 * len(fences) != len(re.findall(r"^ *```", text, re.MULTILINE)):
        problems.append("a block has no language")
    problems += run(folder, TABLE["before"]["all"] + TABLE["before"].get(page.name, ""), (0,), "-ec")
    for language, title, block in fences:
        problems += read_block(folder, language, title, textwrap.dedent(block))
    asked = [each for language, _, block in fences if language == "sh" for each in commands(textwrap.dedent(block))]
    for command, needed in asked:
        left += needed
        exported += command if command.startswith("export ") and not needed else ""
        codes = [0, *(code for words, codes in TABLE["ends"].items() if words in command for code in codes)]
        problems += [] if needed else run(folder, exported + command, codes)
    return problems, len(asked) - left, left


def read_block(folder: Path, language: str, title: str, block: str) -> list[str]:
    """A block with a title is the file of that name."""
    if title:
        (folder / title).parent.mkdir(exist_ok=True)
        (folder / title).write_text(block, encoding="utf-8")
    elif language == "python":
        return run(folder, f"python - <<'END-OF-BLOCK'\n{block}\nEND-OF-BLOCK\n", (0,))
    elif language == "toml":
        tomllib.loads(block)
    elif language not in ("sh", *TABLE["shown"]):
        return [f"a block is neither typed nor read: {block}"]
    return []


def commands(block: str) -> Iterator[tuple[str, bool]]:
    """Each command, and whether it needs what is not here: `# needs …` stands behind it, or alone above it."""
    command, needed = "", False
    for line in block.splitlines():
        needed |= bool(NEEDS.match(line))
        command += "" if line.startswith("#") else f"{line}\n"
        read = subprocess.run(["bash", "-n"], input=command, capture_output=True, text=True)
        if command.strip() and not (read.returncode or read.stderr or line.endswith("\\")):
            yield command, needed or bool(NEEDS.search(command))
            command = ""


def run(folder: Path, command: str, codes: tuple[int, ...] | list[int], option: str = "-c") -> list[str]:
    environment = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}", "HOUSE": str(HOUSE)}
    environment |= {"PYTHONPATH": f"{HOUSE}:{folder}", "HOME": str(folder)}
    environment |= {name: str(folder / place) for name, place in TABLE["variables"].items()}
    seconds = SECONDS if UNTIL_CTRL_C in codes else MOST_SECONDS
    line = ["timeout", "--signal=INT", str(seconds), "bash", option, command]
    ran = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True)
    return [] if ran.returncode in codes else [f"{command}: {ran.returncode} {ran.stdout[-2000:]}{ran.stderr[-2000:]}"]


if __name__ == "__main__":
    sys.exit(main())
