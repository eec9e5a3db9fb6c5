"""The forms of a report other than `report.html`: each is a function of the material that gives the files it wrote."""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Evaluation
from evalsuite.finished import manifest
from evalsuite.report.book import identity
from evalsuite.report.forms.material import Material, material_of
from evalsuite.results.publish.log_copies import Logs

FILES = {  # what each form writes
    **{"single": "report.??.html", "md": "report.??.md", "xlsx": "report.xlsx"},
    **{"parquet": "tables/*.parquet", "pdf": "report.??.pdf", "zip": "report-data.zip", "logs": "report-logs.zip"},
}
LIBRARIES = {"xlsx": "xlsxwriter", "parquet": "pyarrow"}  # what pandas writes by
DRAWN = "report.??.svg"  # of the Markdown
NAMES = ("html", *FILES)

Writer = Callable[[Material], list[Path]]


def parse_names(text: str) -> tuple[str, ...]:
    """The forms in *text* ("html,md"). Raises EvalsuiteError for an unknown one, or where its tool is missing."""
    asked = [*map(str.strip, text.split(","))]
    if not {*asked} <= {*NAMES}:
        raise EvalsuiteError.of("report.forms", text=text, names=NAMES)
    for name in set(asked) & set(LIBRARIES):
        if find_spec(LIBRARIES[name]) is None:
            raise EvalsuiteError.of("report.library", name=name, library=LIBRARIES[name])
    if "pdf" in asked:
        from evalsuite.report.forms import pdf

        pdf.browser()
    return tuple(name for name in NAMES if name in asked)


def write(
    names: Sequence[str], evaluation: Evaluation, out: Path, languages: Sequence[str], logs: Logs | None = None
) -> list[Path]:
    """*out* has the page already. *logs*: gives copies of those that were measured."""
    asked = [_writers()[name] for name in names if name in _writers()]
    if not asked:
        return []
    material = material_of(evaluation, out, languages, logs)
    written = [path for write_form in asked for path in write_form(material)]
    manifest.add(material.out, material.build_hash, written, languages)
    return written


def outdated(evaluation: Evaluation, out: Path, languages: Sequence[str]) -> list[Path]:
    """The forms in *out* of other data or languages than the page, or changed since."""
    paths = sorted(path for pattern in (*FILES.values(), DRAWN) for path in Path(out).glob(pattern) if path.is_file())
    sealed = manifest.sealed(Path(out), identity.build_hash(evaluation), languages) if paths else {}
    return [path for path in paths if path.relative_to(out).as_posix() not in sealed]


def _writers() -> Mapping[str, Writer]:
    """`html` is missing: page, `summary.json` and CSV tables are always written."""
    from evalsuite.report.forms import bundle, markdown, pdf, spreadsheet

    tables = {"xlsx": spreadsheet.write, "parquet": spreadsheet.write_parquet}
    zips = {"zip": bundle.write, "logs": bundle.write_logs}
    return {"single": pdf.write_pages, "md": markdown.write, **tables, "pdf": pdf.write, **zips}
