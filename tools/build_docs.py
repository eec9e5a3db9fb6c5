"""Builds the documentation as a site in two languages: `docs/`, the README as its front page, and reference pages.

    python tools/build_docs.py [--out build/docs]

Files of the repository that a page links to and the site does not have are named instead.
"""

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout, suppress
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))

from evalsuite import cli

LINK = re.compile(r"\[([^\[\]]*)\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?\)")
PICTURE_LINK = re.compile(r"\[(!\[[^\]]*\]\([^)]*\))\]\([^)]*\)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HOUSE / "build" / "docs", metavar="DIR")
    out = parser.parse_args().out.resolve()
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "docs"
        gather(pages)
        shutil.copy(HOUSE / "mkdocs.yml", folder)
        line = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)]
        code = subprocess.run(line, cwd=folder, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}).returncode
    print(out / "index.html" if code == 0 else "the site is not built")
    return code


def gather(pages: Path) -> None:
    shutil.copytree(HOUSE / "docs", pages, ignore=shutil.ignore_patterns("site", "*.xlsx", "*.csv", "summary.json"))
    for name, suffix in (("README.md", ""), ("README.zh.md", ".zh")):
        text = (
            (HOUSE / name)
            .read_text(encoding="utf-8")
            .replace("](docs/", "](")
            .replace('="docs/page.', f'="{"../" * bool(suffix)}page.')
        )
        (pages / f"index{suffix}.md").write_text(text, encoding="utf-8")
        listed = pages / name  # the pages by task: the site's navigation, and llms.txt
        if not suffix:
            text = re.sub(r"^\[中文\].*\n\n", "", listed.read_text("utf-8"), flags=re.MULTILINE)
            text = text.replace("# Documentation by task", "# evalsuite", 1)
            (pages / "llms.txt").write_text(
                re.sub(r"\]\(([\w/-]+?/?)(README)?\.md\)", r"](\1/)", text).replace("//)", "/)"), "utf-8"
            )
        listed.unlink()
    (pages / "reference").mkdir()
    (pages / "reference" / "commands.md").write_text(commands(), encoding="utf-8")
    for page in pages.rglob("*.md"):
        page.write_text(with_links(page.read_text(encoding="utf-8"), page, pages), encoding="utf-8")


def with_links(text: str, page: Path, pages: Path) -> str:
    """*text* with links to pages of the site alone; the language of a page is the site's to change."""

    def linked(match: re.Match[str]) -> str:
        words, target, part = match[1], match[2], match[3] or ""
        if re.fullmatch(r"(\.\./)*README(\.zh)?\.md", target) and (page.parent == pages or target.startswith("..")):
            target = "index.md"
        if (page.parent / target.replace(".zh.md", ".md")).is_file():
            target = target.replace(".zh.md", ".md")
        there = (page.parent / target).resolve()
        if there == page.with_name(page.name.replace(".zh.md", ".md")).resolve() and not part:
            return words
        if there.is_relative_to(pages) and there.is_file():
            return f"[{words}]({target}{part})"
        return (
            words
            if words.strip("`") in (target, target.replace("../", ""), there.name)
            else f"{words} (`{target.replace('../', '')}`)"
        )

    return LINK.sub(linked, PICTURE_LINK.sub(r"\1", text))


def commands() -> str:
    os.environ["COLUMNS"] = "100"
    lines = ["# Commands"]
    for name in cli.COMMANDS:
        printed = usage(name)
        lines += ["", f"## {name}", "", "```text", printed, "```"]
        for parts in re.findall(r"^usage: evalsuite [\w-]+ \[-h \[all\]\] ([a-z|]+) \.\.\.", printed):
            lines += [line for part in parts.split("|") for line in ("", "```text", usage(name, part), "```")]
    return "\n".join([*lines, ""])


def usage(*words: str) -> str:
    printed = io.StringIO()
    with redirect_stdout(printed), suppress(SystemExit):
        cli.main([*words, "--help", *(["all"] if len(words) == 1 else [])])
    return printed.getvalue().rstrip()


if __name__ == "__main__":
    sys.exit(main())
