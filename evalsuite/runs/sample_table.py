"""The samples of a run as a table, for other programs: a row for each reading, a column for each thing read."""

from collections.abc import Iterator

from evalsuite.errors import EvalsuiteError
from evalsuite.runs.columns import Recorded
from evalsuite.runs.samples import flat
from evalsuite.runs.store import RunFolder

Cell = str | float | None  # None: not read


def rows(folder: RunFolder) -> Iterator[list[Cell]]:
    """A head and the readings of each host after the other, in order of time.

    A column is called by its quantity, and where there are several of a thing by its name or number too:
    `disks.read_bytes[sda]`. Raises EvalsuiteError where there is nothing or what lies there cannot be read.
    """
    hosts = folder.sampled_hosts()
    if not hosts:
        raise EvalsuiteError(
            f"{folder.path}: no samples stand there; expected a run folder with a samples.<host>.columns. Try "
            "the folder of one run, <runs>/<case>/r0."
        )
    names = list(dict.fromkeys(name for host in hosts for name in _names(_known(folder, host))))
    yield ["host", *names]
    for host in hosts:
        for sample in _known(folder, host).readings:
            read = {_label(name, device): number for name, device, number in flat(sample)}
            yield [host, *(read.get(name) for name in names)]


def _known(folder: RunFolder, host: str) -> Recorded:
    found = folder.samples(host)
    if found is None:
        raise EvalsuiteError(
            f"{folder.samples_path(host)}: no sample stands there; expected a header and lines of samples. The agent "
            "may have been killed before the first: run the case again."
        )
    return found


def _names(samples: Recorded) -> Iterator[str]:
    for sample in samples.readings:
        yield from (_label(name, device) for name, device, _ in flat(sample))


def _label(name: str, device: str) -> str:
    return f"{name}[{device}]" if device else name
