"""The samples of a run as a table: a row a reading, a column a quantity."""

from collections.abc import Iterator

from evalsuite.core.errors import EvalsuiteError
from evalsuite.runs.samples import Samples
from evalsuite.runs.store import RunFolder

Cell = str | float | None  # None: not read


def rows(folder: RunFolder) -> Iterator[list[Cell]]:
    """A head, then the readings of one host after the other.

    Columns: `disks.read_bytes[sda]`. Raises EvalsuiteError where there is nothing to read.
    """
    hosts = folder.sampled_hosts()
    if not hosts:
        raise EvalsuiteError.of("runs.samples_none", path=folder.path)
    known: dict[str, dict[str, list[float | None]]] = {}
    for host in hosts:
        tables = _samples(folder, host).tables
        named = ((name, device, row) for name, rows in tables.items() for device, row in rows.items())
        known[host] = {f"{name}[{device}]" if device else name: row for name, device, row in named}
    names = list(dict.fromkeys(name for columns in known.values() for name in columns))
    yield ["host", *names]
    for host, columns in known.items():
        for place in range(len(columns["at_s"])):
            yield [host, *(columns[name][place] if name in columns else None for name in names)]


def _samples(folder: RunFolder, host: str) -> Samples:
    samples = folder.samples(host)
    if samples is None or not samples.tables:
        raise EvalsuiteError.of("runs.samples_empty", path=folder.samples_path(host))
    return samples
