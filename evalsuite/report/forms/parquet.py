"""`tables/*.parquet`: the tables of raw values, with their types."""

from io import BytesIO
from pathlib import Path

from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.files import write_atomically
from evalsuite.report.data import tables
from evalsuite.report.forms.material import Material


def check() -> None:
    try:
        import pyarrow  # noqa: F401  # pandas writes by it
    except ImportError as error:
        raise EvalsuiteError.of("report.parquet_library") from error


def write(material: Material) -> list[Path]:
    import pandas

    written = []
    for name, rows in tables.rows(material.book).items():
        columns, values = tables.with_options(tables.COLUMNS[name], rows)
        frame = pandas.DataFrame(values, columns=list(columns)).convert_dtypes()
        mixed = [column for column in frame if frame[column].dtype == object]
        frame[mixed] = frame[mixed].astype("string")
        frame.to_parquet(into := BytesIO(), index=False)
        written.append(material.out / "tables" / f"{name}.parquet")
        write_atomically(written[-1], into.getvalue())
    return written
