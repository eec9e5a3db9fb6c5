"""Tables as people keep them, by pandas: a column for each setting, several lines of heads, Parquet, SQLite."""

import csv
import io
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

from evalsuite.core import decode, files, paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.importing import user_facts

SQLITE = (".db", ".sqlite", ".sqlite3")
ENDINGS = (".parquet", *SQLITE)
MOST_HEADS = 3
_SHAPES = {  # what the head of a column says → the facts that its groups are
    re.compile(r"([1-9]\d{0,4})\s*[x×]\s*([1-9]\d{0,3})"): ("nodes", "gpus_per_node"),
    re.compile(r"([1-9]\d{0,5})\s*(?:gpus?|cards?|devices?|卡)", re.IGNORECASE): ("devices",),
    re.compile(r"(?:b|bsz?|batch(?: size)?)\s*=?\s*([1-9]\d{0,6})", re.IGNORECASE): ("batch",),
    re.compile(r"\(?([a-z]+/s(?:ec)?)\)?"): ("unit",),
}
_SETTING = {"nodes", "devices", "batch", "precision", "framework"}


def stored(file: Path, table: str | None, *, most_bytes: int, most_rows: int) -> str:
    """The table in a Parquet or SQLite file, as CSV. *table*: its name, where a database has several."""
    import pandas

    try:
        content = files.read_bytes(file, most=most_bytes, follow=True)
        if file.suffix.lower() == ".parquet":
            return str(pandas.read_parquet(io.BytesIO(content)).to_csv(index=False))
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(content)
            query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            names = [name for (name,) in database.execute(query)]
            chosen = [name for name in names if table in (None, name)]
            if len(chosen) != 1:
                raise EvalsuiteError.of("importing.which_table", path=file, names=names)
            name = chosen[0].replace('"', '""')
            frame = pandas.read_sql_query(f'SELECT * FROM "{name}" LIMIT {most_rows + 1}', database)
            return str(frame.to_csv(index=False))
    except ImportError as error:
        raise EvalsuiteError.of("importing.table_pyarrow", path=file) from error
    except (OSError, ValueError, sqlite3.Error, pandas.errors.DatabaseError) as error:
        raise EvalsuiteError.of("importing.table_stored", path=file, error=error) from error


def is_wide(head: str) -> bool:
    try:
        return any(_setting([cell]) for cell in next(csv.reader([head]), ()))
    except csv.Error:  # no line of CSV
        return False


def one_figure_a_row(text: str) -> tuple[str, tuple[str, ...]] | None:
    """*text* with what its columns' heads say as columns, and where each figure stood; None: no head is a setting."""
    import pandas

    lines = list(csv.reader(io.StringIO(text)))
    heads = _count_heads(lines)
    filled = pandas.DataFrame(lines[:heads]).replace("", None)
    filled.iloc[:-1] = filled.iloc[:-1].ffill(axis=1)
    labels = [tuple(str(each) for each in filled[column].dropna()) for column in filled]
    settings = {place: setting for place, each in enumerate(labels) if (setting := _setting(each))}
    names = {place: each[-1] for place, each in enumerate(labels) if place not in settings and each}
    facts = pandas.DataFrame.from_dict(settings, orient="index").fillna("")
    if not settings or set(facts) & {name.lower() for name in names.values()}:
        return None
    frame = pandas.DataFrame(lines[heads:]).reindex(columns=range(len(labels))).fillna("")
    long = frame.melt([*names], [*settings], "setting", "throughput", ignore_index=False)
    long = long[~long["throughput"].str.strip().isin(("", "-"))].sort_index(kind="stable")
    at = [f"{row + heads + 1} ({' / '.join(labels[place])})" for row, place in long["setting"].items()]
    return str(long.join(facts, on="setting").drop(columns="setting").rename(columns=names).to_csv(index=False)), (*at,)


def _count_heads(lines: Sequence[Sequence[str]]) -> int:
    """More than one where the cells of the first are merged, until a line has a figure."""
    merged = bool(lines) and "" in lines[0]
    under = (number for number, line in enumerate(lines[1:], 1) if not merged or any(map(decode.number, line)))
    return min(next(under, 1), MOST_HEADS)


def _setting(labels: Iterable[str]) -> Mapping[str, str] | None:
    settings: dict[str, str] = {}
    for label in labels:
        facts = _read_label(label.strip())
        if facts is None:
            return None
        settings |= facts
    return settings if settings.keys() & _SETTING else None


def _read_label(label: str) -> Mapping[str, str] | None:
    for shape, names in _SHAPES.items():
        if match := shape.fullmatch(label):
            return dict(zip(names, match.groups(), strict=True))
    if label.lower() == "throughput":
        return {}
    if framework := _frameworks().get(label.casefold()):
        return {"framework": framework}
    return {"precision": label} if user_facts.is_precision(label) else None


@cache
def _frameworks() -> Mapping[str, str]:
    known: Mapping[str, str] = paths.read_data("text/names.toml")["frameworks"]
    return {name.casefold(): framework for framework, title in known.items() for name in (framework, title)}
