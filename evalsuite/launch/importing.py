"""Run folders out of what was run elsewhere: logs as *imported*, rows of a table as *cited*.

What a log does not say (which framework, how many devices, which repeat) comes from a pattern over its path or
from a small mapping file. What path and log both say and disagree on is a finding of the run.
"""

import csv
import io
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalsuite import __version__, files
from evalsuite.dialect import Dialect
from evalsuite.documents import PrintedBeside, RunCommand, Source, UsedRecipe
from evalsuite.errors import EvalsuiteError
from evalsuite.logs import catalogue, reading
from evalsuite.logs.dialects.cited import ITEMS
from evalsuite.logs.records import positive
from evalsuite.model import Case, Finding, Precision, Run
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import Store

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell, MergedCell
    from openpyxl.cell.read_only import EmptyCell, ReadOnlyCell

HOST = "imported"

FIELDS = {
    "framework": "the framework's name: pytorch",
    "model": "the model: resnet50_v1.5",
    "recipe": "which script was run; else the dialect's name",
    "nodes": "nodes of the job",
    "gpus": "devices on each node",
    "devices": "devices of the whole job, where the nodes are not said",
    "batch": "items on each device per step",
    "precision": "fp32, amp; fp16, bf16 and mixed mean amp",
    "xla": "on or off",
    "device": "gpu or cpu",
    "repeat": "number of the repeat",
    "rank": "whose log it is, where a run has one for each process",
    "dialect": "the log's dialect, where it cannot be found out",
    "any": "anything; it is ignored",
}
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_NUMBERS = ("nodes", "gpus", "devices", "batch", "repeat", "rank")
_AMP = ("amp", "fp16", "bf16", "mixed", "half", "purefp16", "float16", "bfloat16")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.+]+")

# Columns of a table by what they may be called (DLPerf's tables, and the report's own tidy data).
_COLUMNS = {
    "framework": ("framework",),
    "model": ("model",),
    "recipe": ("recipe",),
    "version": ("framework_version", "version"),
    "nodes": ("nodes",),
    "gpus": ("gpus_per_node", "devices_per_node"),
    "devices": ("total_gpus", "total_devices", "devices"),
    "batch": ("batch_size_per_gpu", "batch_size_per_device", "batch_per_device", "batch"),
    "precision": ("precision",),
    "xla": ("xla",),
    "repeat": ("run", "repeat"),
    "throughput": ("throughput", "items_per_s"),
    "unit": ("unit",),
    "features": ("features", "variant"),
    "speedup": ("speedup",),
}
_FIGURES = ("throughput", "unit", "speedup")  # what is said of a case, and is no part of it
_ABSENT = ("", "-", "n/a", "na", "none", "null")  # D28: not recorded


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What became of one log or one row: its run, or why there is none."""

    source: str
    run: str | None
    status: str  # of the reading; "skipped" or "already there" where none was made
    reason: str = ""
    findings: tuple[Finding, ...] = ()


def pattern(text: str) -> "re.Pattern[str]":
    """`{framework}/{nodes}n{gpus}g/b{batch}_{precision}_{repeat}.log` as a regular expression over paths.

    A placeholder takes no `/`; those of numbers take digits. A name that is not one of `FIELDS` becomes an
    option of the case. Raises EvalsuiteError if a placeholder stands there twice.
    """
    names = _PLACEHOLDER.findall(text)
    twice = sorted({name for name in names if names.count(name) > 1 and name != "any"})
    if not names or twice:
        raise EvalsuiteError(
            f'--pattern "{text}": {"it has no placeholder" if not names else f"{twice[0]} stands there twice"}; '
            f"the placeholders are {', '.join(f'{{{name}}}' for name in FIELDS)}. "
            "Try {framework}/{nodes}n{gpus}g/b{batch}_{precision}_{repeat}.log"
        )
    parts = _PLACEHOLDER.split(text)
    return re.compile("".join(_group(part) if number % 2 else re.escape(part) for number, part in enumerate(parts)))


def _group(name: str) -> str:
    if name == "any":
        return "[^/]*"
    text = r"\d+" if name in _NUMBERS else "[^/]+?"
    return f"(?P<{name}>{text})"


def mapping(file: Path) -> tuple[dict[str, str], list[dict[str, str]]]:
    """(`[defaults]`, `[[runs]]`) of a mapping file; each run has a `path` that may hold `*`."""
    try:
        facts = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EvalsuiteError(f"{file}: {error}; expected TOML with [defaults] and [[runs]].") from error
    defaults, runs = facts.get("defaults", {}), facts.get("runs", [])
    unknown = sorted(facts.keys() - {"defaults", "runs"})
    if unknown or not isinstance(defaults, dict) or not all(isinstance(run, dict) and "path" in run for run in runs):
        raise EvalsuiteError(
            f"{file}: {f'unknown table {unknown[0]}' if unknown else 'a run has no path'}; expected [defaults] and "
            '[[runs]], each run with path = "…" and what its log does not say.'
        )
    return _texts(defaults), [_texts(run) for run in runs]


def logs(
    root: Path,
    into: Store,
    *,
    found_by: "re.Pattern[str] | None",
    defaults: Mapping[str, str],
    runs: Sequence[Mapping[str, str]],
    dialects: Mapping[str, Dialect],
) -> Iterator[Imported]:
    """Makes a run folder of every log under *root* (or of *root* itself), one after the other."""
    groups: dict[tuple[object, ...], list[tuple[Path, dict[str, str]]]] = {}
    for path in _files(root):
        name = path.name if path == root else path.relative_to(root).as_posix()
        facts = _facts(name, found_by, defaults, runs)
        if isinstance(facts, str):
            yield Imported(source=str(path), run=None, status="skipped", reason=facts)
            continue
        key = tuple(sorted((k, v) for k, v in facts.items() if k != "rank")) if "rank" in facts else (name,)
        groups.setdefault(key, []).append((path, facts))
    repeats: dict[str, int] = {}
    for members in groups.values():
        yield _imported(members, into, dialects, repeats)


def cited(file: Path, into: Store, defaults: Mapping[str, str], dialects: Mapping[str, Dialect]) -> Iterator[Imported]:
    """Makes a run folder of every row of a table, its origin *cited*: never measured, never deciding."""
    repeats: dict[str, int] = {}
    for number, raw, row in _rows(file):
        where = f"{file}:{number}"
        try:
            case, value, items = _cited_case(row, defaults)
        except ValueError as error:
            yield Imported(source=where, run=None, status="skipped", reason=str(error))
            continue
        repeat = _repeat(row.get("repeat"), case, repeats)
        text = f"{raw}\nevalsuite cites {value:.10g} {items}/s of the whole job\n"
        yield _cited(Run(case=case, repeat=repeat), into, where, text, items, dialects, row.get("speedup"))


# facts of a log


def _files(root: Path) -> list[Path]:
    if root.is_dir():
        return sorted(path for path in root.rglob("*") if path.is_file())
    if not root.exists():
        raise EvalsuiteError(f"{root}: there is no such file or folder; expected logs or a table.")
    return [root]


def _facts(
    name: str, found_by: "re.Pattern[str] | None", defaults: Mapping[str, str], runs: Sequence[Mapping[str, str]]
) -> dict[str, str] | str:
    """What is known of the log called *name*, or why it is left out."""
    own = next((run for run in runs if Path(name).match(run["path"])), None)
    if runs and own is None and found_by is None:
        return "no [[runs]] of the mapping file has this path"
    match = found_by.fullmatch(name) if found_by else None
    if found_by and match is None and own is None:
        return "the path is not as --pattern says"
    said = {key: value for key, value in (own or {}).items() if key != "path"}
    return {**defaults, **(match.groupdict() if match else {}), **said}


def _texts(facts: Mapping[str, object]) -> dict[str, str]:
    return {
        name: ("on" if value else "off") if isinstance(value, bool) else str(value) for name, value in facts.items()
    }


def _imported(
    members: Sequence[tuple[Path, Mapping[str, str]]],
    into: Store,
    dialects: Mapping[str, Dialect],
    repeats: dict[str, int],
) -> Imported:
    path, facts = members[0]
    dialect = facts.get("dialect")
    known = reading.read_file(path, dialect=dialect, devices=_devices(facts), dialects=dialects)
    try:
        case = _case(facts, known)
    except ValueError as error:
        return Imported(source=str(path), run=None, status="skipped", reason=str(error))
    run = Run(case=case, repeat=_repeat(facts.get("repeat"), case, repeats))
    with into.claim(run) as folder:
        if folder is None:
            return Imported(source=str(path), run=run.id, status="already there")
        copies = []
        for source, own in members:
            rank = int(own["rank"]) if "rank" in own else None
            folder.log_path(HOST, rank).write_bytes(source.read_bytes())
            copies.append(Source(path=str(source), sha256=files.sha256(source)))
        folder.write_command(_command(dialects.get(known.dialect or ""), known.unit, copies, "imported"))
        read = reading.read_run(folder.logs(), case, known.dialect, dialects=dialects) if known.dialect else known
        folder.write_outcome(Outcome(status="completed", reason="", origin="imported"))
    findings = (*read.findings, *(read.throughput.findings if read.throughput else ()))
    return Imported(source=str(path), run=run.id, status=read.status, reason=read.reason, findings=findings)


def _case(facts: Mapping[str, str], known: reading.Reading) -> Case:
    """The case of a log. Raises ValueError if neither path nor log says what a case needs."""
    framework = facts.get("framework") or known.framework
    model = facts.get("model") or known.model
    devices = _devices(facts) or known.total_devices
    batch = _number(facts, "batch") or known.batch_per_device
    if not (framework and model and devices and batch):
        missing = {"framework": framework, "model": model, "devices": devices, "batch": batch}
        absent = [name for name, value in missing.items() if not value]
        raise ValueError(f"neither path nor log says {', '.join(absent)}; give it with --pattern, --map or --set")
    nodes = _number(facts, "nodes") or 1
    if devices % nodes:
        raise ValueError(f"{devices} devices do not spread evenly over {nodes} nodes")
    return Case(
        framework=_safe(framework),
        recipe=_safe(facts.get("recipe") or f"{known.dialect or 'cited'}-{model}"),  # a case's name holds no model
        model=_safe(model),
        nodes=nodes,
        devices_per_node=devices // nodes,
        batch_per_device=round(batch),
        precision=_precision(facts.get("precision", "fp32")),
        xla=_switch(facts.get("xla", "off")),
        device="cpu" if facts.get("device") == "cpu" else "gpu",
        options=tuple(sorted((_safe(k), _safe(v)) for k, v in facts.items() if k not in FIELDS)),
    )


def _devices(facts: Mapping[str, str]) -> int | None:
    each = _number(facts, "gpus")
    return each * (_number(facts, "nodes") or 1) if each else _number(facts, "devices")


def _number(facts: Mapping[str, str], name: str) -> int | None:
    text = str(facts.get(name, ""))
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else None


def _precision(text: str) -> Precision:
    text = text.lower()
    if text in _AMP:
        return "amp"
    if text in ("fp32", "float32", "tf32", "fp32_tf32"):
        return "fp32"
    raise ValueError(f'unknown precision "{text}"; expected fp32 or amp')


def _switch(text: str) -> bool:
    return text.lower() in ("on", "true", "yes", "1", "xla")


def _safe(text: str) -> str:
    """A value as it may stand in a folder's name."""
    return _UNSAFE.sub("_", str(text)).strip("_.") or "unknown"


def _repeat(text: str | None, case: Case, repeats: dict[str, int]) -> int:
    """The number said, or the next free one of this case."""
    if text is not None and str(text).isdigit():
        return int(text)
    repeats[case.id] = repeats.get(case.id, -1) + 1
    return repeats[case.id]


def _command(dialect: Dialect | None, unit: str | None, copies: Sequence[Source], kind: str) -> RunCommand:
    return RunCommand(
        argv=(),
        command=(),
        environment={},
        engine="replay",
        evalsuite=__version__,
        recipe=UsedRecipe(
            dialect=dialect.name if dialect else None,
            dialect_source=catalogue.source(dialect),
            unit=unit,
            kind=kind,
        ),
        imported=tuple(copies),
    )


# rows of a table


def _rows(file: Path) -> Iterator[tuple[int, str, dict[str, str]]]:
    """(line number, the row as it stands, column → text under our names)."""
    text = _spreadsheet(file) if file.suffix.lower() == ".xlsx" else _plain(file)
    lines = text.splitlines()
    reader = csv.reader(io.StringIO(text))
    header = next(reader, None)
    names = _column_names(header or [])
    if "throughput" not in names:
        raise EvalsuiteError(
            f"{file}: no column is called throughput; expected a table with framework, model, nodes, gpus_per_node, "
            "batch_size_per_gpu, precision, throughput, unit. Rename its columns."
        )
    for cells in reader:
        number = reader.line_num
        row = {name: cells[at].strip() for name, at in names.items() if at < len(cells)}
        yield number, f"{lines[0]}\n{lines[number - 1]}", {k: v for k, v in row.items() if v.lower() not in _ABSENT}


def _plain(file: Path) -> str:
    """CSV as it stands: in UTF-8, or in GB 18030, which is what a spreadsheet program saves in China."""
    try:
        content = file.read_bytes()
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return content.decode("gb18030")
    except (OSError, ValueError) as error:
        raise EvalsuiteError(f"{file}: {error}; expected a table as CSV in UTF-8 or GB 18030, or an .xlsx.") from error


def _spreadsheet(file: Path) -> str:
    """The first sheet of a workbook as CSV, row for row: a row keeps its number."""
    try:
        import openpyxl
    except ImportError as error:
        raise EvalsuiteError(
            f"{file}: reading a workbook needs the package openpyxl. Try: pip install 'evalsuite[xlsx]', or save it "
            "as CSV."
        ) from error
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
        rows = [[_cell_text(cell) for cell in row] for row in book.worksheets[0].iter_rows()]
    except Exception as error:  # a workbook is a zip of XML: its readers let the errors of both through
        raise EvalsuiteError(f"{file}: {error}; expected a workbook (.xlsx) or a table as CSV.") from error
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(_filled_part(rows))
    return text.getvalue()


def _filled_part(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The rows and columns up to the last that hold anything; a sheet may go on with cells that were only touched."""
    height = max((place for place, row in enumerate(rows, 1) if any(row)), default=0)
    width = max((place for row in rows for place, text in enumerate(row, 1) if text), default=0)
    return [[*row[:width], *[""] * (width - len(row))] for row in rows[:height]]


def _cell_text(cell: "Cell | ReadOnlyCell | EmptyCell | MergedCell") -> str:
    """What a cell shows, in one line: 8 where the file has 8.0, nothing where it has an error."""
    value = cell.value
    if value is None or getattr(cell, "data_type", None) == "e":
        return ""
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return " ".join(text.split())


def _column_names(header: Sequence[str]) -> dict[str, int]:
    at = {name.strip().lower(): number for number, name in enumerate(header)}
    found = {ours: next((at[name] for name in names if name in at), None) for ours, names in _COLUMNS.items()}
    return {name: number for name, number in found.items() if number is not None}


def _cited_case(row: Mapping[str, str], defaults: Mapping[str, str]) -> tuple[Case, float, str]:
    """The case of a row, its figure, and what it counts. Raises ValueError with what is missing."""
    value = positive(row.get("throughput", "").encode())
    if value is None:
        raise ValueError("no throughput is recorded")
    items = _items(row.get("unit", ""))
    facts = {**defaults, **{name: text for name, text in row.items() if name not in _FIGURES}}
    nothing = reading.Reading(
        dialect=None, framework=None, model=None, scope=None, status="unrecognised", total_devices=None
    )
    return _case(facts, nothing), value, items


def _items(unit: str) -> str:
    name = re.sub(r"/s(?:ec(?:ond)?)?$", "", unit.strip().lower())
    if name in ("sequence", "sentence", "image", "sample", "token", "word"):
        name += "s"
    if name not in ITEMS:
        raise ValueError(f'unknown unit "{unit}"; expected one of {", ".join(f"{items}/s" for items in ITEMS)}')
    return name


def _cited(
    run: Run,
    into: Store,
    where: str,
    text: str,
    items: str,
    dialects: Mapping[str, Dialect],
    speedup: str | None,
) -> Imported:
    """The run folder of a row: its log is the row as it stands in the table, and the figure.

    A *speedup* that the table prints is kept beside it as printed: ours is computed from the throughputs (D16).
    """
    with into.claim(run) as folder:
        if folder is None:
            return Imported(source=where, run=run.id, status="already there")
        path, dialect = folder.log_path(HOST), f"cited_{items}"
        path.write_bytes(text.encode())
        command = _command(dialects[dialect], f"{items}/s", [Source(path=where, sha256=files.sha256(path))], "cited")
        folder.write_command(replace(command, printed=PrintedBeside(speedup=speedup) if speedup else None))
        read = reading.read_run(folder.logs(), run.case, dialect, dialects=dialects)
        folder.write_outcome(Outcome(status="completed", reason="", origin="cited"))
    return Imported(source=where, run=run.id, status=read.status, reason=read.reason, findings=read.findings)
