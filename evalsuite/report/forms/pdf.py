"""One page per language, and the same on paper: a PDF, printed by a headless Chromium without network.

The one room of forms that starts a process (docs/decisions.md, 4).
"""

import os
import re
import shutil
import subprocess
from datetime import UTC
from pathlib import Path

from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.files import scratch, write_atomically
from evalsuite.report.forms.material import Material
from evalsuite.report.page import render
from evalsuite.report.text import words

DECLARED = paths.read_data("pdf.toml")
VARIABLE = "EVALSUITE_CHROMIUM"  # names another browser
TIME_LIMIT_S = 300
NO_DATE = "19800101000000"  # of a PDF whose data has no date
# Skia, Chromium's PDF writer, embeds TrueType outlines as they are, but CFF ones (Noto CJK, Source Han) only as
# Type 3, one font for every 255 glyphs: without a name, larger, and unevenly drawn. Where both kinds are installed
# the print uses the first.
TRUETYPE_CHINESE = ("fc-list", ":lang=zh-cn:fontformat=TrueType", "file")
# Paper runs nothing; and once a script has touched a page, Chromium no longer repeats the head of a table that goes on
# overleaf. What is long is open in print without it (templates/style/print.css).
SCRIPT = re.compile(rb"<script\b.*?</script>", re.DOTALL)
# Skia prints both dates uncompressed: /CreationDate (D:20261121010203+00'00')
DATE = re.compile(rb"(/(?:CreationDate|ModDate) \(D:)\d{14}(\+00'00'\))")


def write_pages(material: Material) -> list[Path]:
    paths = {language: material.out / f"report.{language}.html" for language in material.languages}
    for language, path in paths.items():
        write_atomically(path, page(material, language))
    return list(paths.values())


def page(material: Material, language: str) -> bytes:
    spoken = words.read((language,), on_cpu=material.book.on_cpu)
    text = render.page(material.book, spoken, material.build_hash, material.seal)
    return text.encode("utf-8", "backslashreplace")


def write(material: Material) -> list[Path]:
    period, written = material.book.period, []
    # both dates become that of the data: the same data gives the same bytes
    stamp = f"{period.last.astimezone(UTC):%Y%m%d%H%M}00" if period else NO_DATE
    for language in material.languages:
        printed = _print(SCRIPT.sub(b"", page(material, language)), browser())
        written.append(material.out / f"report.{language}.pdf")
        write_atomically(written[-1], DATE.sub(rb"\g<1>" + stamp.encode() + rb"\g<2>", printed))
    return written


def browser() -> str:
    asked = os.environ.get(VARIABLE)
    browser = next(filter(None, map(shutil.which, [asked] if asked else DECLARED["browsers"])), None)
    if browser is None and asked:
        raise EvalsuiteError.of("report.chromium_named", variable=VARIABLE, name=asked)
    if browser is None:
        raise EvalsuiteError.of("report.no_chromium", names=tuple(DECLARED["browsers"]), variable=VARIABLE)
    return browser


def _print(page: bytes, program: str) -> bytes:
    with scratch("pdf") as folder:
        source, target = folder / "report.html", folder / "report.pdf"
        source.write_bytes(page)
        given = [each.format(target=target, profile=folder / "profile") for each in DECLARED["options"]]
        root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses to sandbox root
        errors = _run([program, *given, *root, source.as_uri()], _fonts(folder))
        if not target.is_file():
            raise EvalsuiteError.of("report.pdf_none", path=program, text=errors.strip()[-300:] or "none")
        return target.read_bytes()


def _fonts(folder: Path) -> dict[str, str]:
    """Leads the browser past CFF fonts, where there is a TrueType one for Chinese."""
    if shutil.which(TRUETYPE_CHINESE[0]) is None or os.environ.get("FONTCONFIG_FILE"):
        return {}
    fonts = subprocess.run(TRUETYPE_CHINESE, capture_output=True, text=True, errors="replace").stdout
    if not fonts.strip():
        return {}
    file = folder / "fonts.conf"
    file.write_text(DECLARED["fonts_without_cff_chinese"], encoding="utf-8")
    return {"FONTCONFIG_FILE": str(file)}


def _run(argv: list[str], variables: dict[str, str]) -> str:
    variables = {**os.environ, **variables}
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT_S, env=variables
        )
    except subprocess.TimeoutExpired as error:
        raise EvalsuiteError.of("report.pdf_slow", path=argv[0], seconds=TIME_LIMIT_S) from error
    return done.stderr
