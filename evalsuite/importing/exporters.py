"""What an exporter of Prometheus told of devices while an imported run trained, as samples of that run. A file holds
scrapes of DCGM's or another exporter one after the other, or the JSON of a range query. A scrape without times of its
own is dated by the line before it that is a time alone, as `date +%s` prints it."""

import itertools
import json
import math
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evalsuite.core import decode, files, paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message, message_of
from evalsuite.importing.histories import EARLIEST_S, MOST_BYTES

KNOWN: Mapping[str, tuple[str, float]] = paths.read_data("table_columns.toml")["exported"]
HOSTS, DEVICES = ("Hostname", "hostname", "node", "instance"), ("UUID", "uuid", "gpu", "index")  # labels
FEWEST_APART = 4  # scrapes, of idle or full devices all are alike
IN_MS = 1e11  # a time above it counts milliseconds
PART = re.compile(r"GPU_I_\w+|quantile|percentile|le|window|stat(?:istic)?|agg(?:regat\w+)?|func(?:tion)?", re.I)
_DATED = re.compile(r"#?\s*(\d{10}(?:\.\d+)?)\s*")
_SAMPLE = re.compile(r"([A-Za-z_:][\w:]*)\{(.*)\}\s+(\S+)(?:\s+([\d.]+))?\s*")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
Values = tuple[str, Mapping[str, str], float, float | None]  # metric, labels, seconds since 1970, value
Told = Mapping[float, Mapping[str, float]]  # of a device: time → quantity → value


@dataclass(frozen=True, kw_only=True)
class Exported:
    file: Path
    hosts: Mapping[str, Mapping[str, Told]]  # host → device, by its label

    def samples(self, begin_s: float, end_s: float, devices: int, offset_s: float) -> dict[str, str]:
        """Host → the lines of its samples, on the clock of the log, whose zone is *offset_s* from UTC. Raises
        ValueError where no two scrapes lie between *begin_s* and *end_s* of the log, or of other devices."""
        begin_s, end_s = begin_s - offset_s, end_s - offset_s
        read = {host: [told for _, told in sorted(of.items())] for host, of in self.hosts.items()}
        inside = {host: [o for o in of if sum(begin_s <= at <= end_s for at in o) > 1] for host, of in read.items()}
        if not (n := sum(map(len, inside.values()))):
            told = [at for of in read.values() for device in of for at in device]
            span = {"first": min(told), "last": max(told), "begin": begin_s, "end": end_s}
            days = {name: f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}" for name, at in span.items()}
            raise ValueError(Message("importing.exported_apart", file=self.file.name, **days))
        for host, of in inside.items():
            if period := _repeated([tuple(str(each.get(at)) for each in of) for at in sorted(of[0] if of else ())]):
                raise ValueError(Message("importing.exported_repeated", file=self.file.name, host=host, n=period))
            joules = ([told[at]["energy_j"] for at in sorted(told) if "energy_j" in told[at]] for told in of)
            if any(each != sorted(each) or each[0] == each[-1] for each in joules if each):
                raise ValueError(Message("importing.exported_still", file=self.file.name, host=host))
        hosts = sorted(host for host, of in inside.items() if of)
        if n != devices:
            values = {"file": self.file.name, "n": n, "hosts": hosts, "devices": devices}
            raise ValueError(Message("importing.exported_devices", **values))
        return {host: "\n".join([*_lines(inside[host], offset_s), ""]) for host in hosts}


def _repeated(told: Sequence[tuple[str, ...]]) -> int | None:
    """After how many scrapes all that the devices tell comes again, to the digit, twice at least."""
    periods = (n for n in range(FEWEST_APART, len(told) // 3 + 1) if told[n:] == told[:-n])
    return next((n for n in periods if len({*told[:n]}) >= FEWEST_APART), None)


def _lines(devices: Sequence[Told], offset_s: float) -> Iterator[str]:
    times = sorted({at for of in devices for at in of})
    gap_s = statistics.median([after - before for before, after in itertools.pairwise(times)])
    gpus = [{"index": place} for place in range(len(devices))]
    yield json.dumps({"header": True, "hz": 1 / gap_s, "started_at_unix_s": -offset_s, "gpus": gpus})
    for at in times:
        told = [{"index": place, **of[at]} for place, of in enumerate(devices) if at in of]
        yield json.dumps({"at_s": at + offset_s, "gpus": told})


def read(file: Path) -> Exported:
    """Raises EvalsuiteError for a file that tells nothing of devices, or not when."""
    found: dict[str, dict[str, dict[float, dict[str, float]]]] = {}
    try:
        text = files.read_bytes(file, most=MOST_BYTES, follow=True).decode("utf-8", "replace")
        for metric, labels, at_s, value in _read_values(text):
            host, device = (next((labels[name] for name in names if name in labels), "") for names in (HOSTS, DEVICES))
            if metric in KNOWN and (
                label := next((each for each in labels if PART.fullmatch(each) and labels[each]), "")
            ):
                raise ValueError(Message("importing.exported_part", label=f'{label}="{labels[label]}"'))
            if metric in KNOWN and EARLIEST_S < at_s < IN_MS and value is not None:
                quantity, factor = KNOWN[metric]
                of_host = found.setdefault(re.sub(r"[^A-Za-z0-9.-]", "_", host) or "exported", {})
                told = of_host.setdefault(device, {}).setdefault(at_s, {})
                told[quantity] = min(value * factor, told.get(quantity, math.inf))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EvalsuiteError.of("importing.exported_unread", path=file, error=message_of(error)) from error
    if not found:
        raise EvalsuiteError.of("importing.exported_none", path=file, names=tuple(KNOWN))
    return Exported(file=file, hosts=found)


def _read_values(text: str) -> Iterator[Values]:
    """Of the answer to a range query, or of scrapes."""
    of_query = text.lstrip().startswith("{")
    for series in files.parse_json(text)["data"]["result"] if of_query else ():
        for at_s, value in series["values"]:
            yield series["metric"]["__name__"], series["metric"], float(at_s), decode.number(value)
    dated = 0.0
    for line in () if of_query else text.splitlines():
        if when := _DATED.fullmatch(line):
            dated = float(when[1])
        elif sample := _SAMPLE.fullmatch(line):
            at_s = float(sample[4]) if sample[4] else dated
            at_s = at_s / 1000 if at_s > IN_MS else at_s
            yield sample[1], dict(_LABEL.findall(sample[2])), at_s, decode.number(sample[3])
