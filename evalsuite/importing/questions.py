"""What a table leaves open and only its reader knows. Nothing of it is guessed: the import asks."""

import re
from collections.abc import Container, Iterable, Sequence

from evalsuite.core.errors import EvalsuiteError
from evalsuite.importing.published_tables import CitedTable

SINGLE_RUN = re.compile(r"\b(single|individual) run|one of the repeats")  # "single run, not the median"
_VERSION = re.compile(r"\b(?:v|version )\d+(?:\.\d+)+|\b\d+\.\d+\.\d+", re.IGNORECASE)  # "v1.8", "1.15.2"
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(\.[0-9]{3})+")  # 6.012 in German
_OF_DEVICES = ("nodes", "gpus", "devices")


def check_columns(table: CitedTable, mapped: Container[str]) -> None:
    """Raises EvalsuiteError with the option that answers. *mapped*: our names that the user has given."""
    notes = {row.number: row.cells.get("note", "") for row in table.rows}
    single = [number for number, note in notes.items() if SINGLE_RUN.search(note.lower())]
    if single and "kind" not in table.columns:
        raise EvalsuiteError.of(
            "importing.ask_kind", path=table.file, line=single[0], n=len(single), column=table.columns["note"]
        )
    versions = dict.fromkeys(said[0] for note in notes.values() if (said := _VERSION.search(note)))
    if len(versions) > 1 and "version" not in table.columns:
        raise EvalsuiteError.of(
            "importing.ask_version", path=table.file, versions=[*versions][:3], column=table.columns["note"]
        )
    for name in ("framework", "model"):
        spellings: dict[str, dict[str, None]] = {}
        for text in (row.cells.get(name, "") for row in table.rows):
            spellings.setdefault(re.sub(r"[\W_]", "", text).casefold(), {})[text] = None
        if alike := next((tuple(each) for key, each in spellings.items() if key and len(each) > 1), None):
            raise EvalsuiteError.of("importing.ask_spelling", path=table.file, names=alike, column=table.columns[name])
    several = any(row.cells.get(name, "1") != "1" for row in table.rows for name in _OF_DEVICES)
    if several and "batch" not in mapped and table.columns.get("batch", "").lower() == "batch":
        raise EvalsuiteError.of("importing.ask_batch", path=table.file, column=table.columns["batch"])


def thousands(figures: Iterable[str]) -> tuple[str, str] | None:
    """A figure whose point may part thousands, and one without a point beside it: 6.012 and 5990.

    None where the point of any figure cannot: 6.01.
    """
    every: Sequence[str] = [*figures]
    pointed, plain = ([figure for figure in every if ("." in figure) is with_point] for with_point in (True, False))
    if not pointed or not plain or not all(map(_THOUSANDS.fullmatch, pointed)):
        return None
    return pointed[0], plain[0]
