"""What an exporter of Prometheus told of devices while an imported run trained, as samples of that run.

A file holds scrapes of DCGM's or another exporter one after the other, or the JSON of a range query. A scrape without
times of its own is dated by the line before it that is a time alone, as `date +%s` prints it.
"""

import itertools
import json
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evalsuite.core import decode, files, paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message, message_of
from evalsuite.importing.histories import EARLIEST_S, MOST_BYTES

KNOWN: Mapping[str, tuple[str, float]] = paths.read_data("table_columns.toml")["exported"]
HOSTS, DEVICES = ("Hostname", "hostname", "node", "instance"), ("gpu", "index", "UUID", "uuid")  # labels
IN_MS = 1e11  # a time above it counts milliseconds
_DATED = re.compile(r"#?\s*(\d{10}(?:\.\d+)?)\s*")
_SAMPLE = re.compile(r"([A-Za-z_:][\w:]*)\{(.*)\}\s+(\S+)(?:\s+([\d.]+))?\s*")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ZONE = re.compile(r"([+-])(\d\d):(\d\d)")
Values = tuple[str, Mapping[str, str], float, float]  # metric, labels, seconds since 1970, value
Told = Mapping[float, Mapping[str, float]]  # of a device: time → quantity → value


@dataclass(frozen=True, kw_only=True)
class Exported:
    file: Path
    devices: Mapping[tuple[str, str], Told]  # by host and label

    def samples(self, begin_s: float, end_s: float, devices: int, offset_s: float) -> dict[str, str]:
        """Host → the lines of its samples, on the clock of the log, whose zone is *offset_s* from UTC.

        Raises ValueError where no two scrapes lie between *begin_s* and *end_s* of the log, or of other devices.
        """
        begin_s, end_s = begin_s - offset_s, end_s - offset_s
        inside = {key: of for key, of in self.devices.items() if sum(begin_s <= at <= end_s for at in of) > 1}
        span = [at for of in self.devices.values() for at in of]
        if not inside:
            times = [
                f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}" for at in (min(span), max(span), begin_s, end_s)
            ]
            named = dict(zip(("first", "last", "begin", "end"), times, strict=True))
            raise ValueError(Message("importing.exported_apart", file=self.file.name, **named))
        if len(inside) != devices:
            hosts = sorted({host for host, _ in inside})
            values = {"file": self.file.name, "n": len(inside), "hosts": hosts, "devices": devices}
            raise ValueError(Message("importing.exported_devices", **values))
        return {
            host: "\n".join(_lines([of for (own, _), of in sorted(inside.items()) if own == host], offset_s)) + "\n"
            for host, _ in inside
        }


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
    found: dict[tuple[str, str], dict[float, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    try:
        text = files.read_bytes(file, most=MOST_BYTES, follow=True).decode("utf-8", "replace")
        for metric, labels, at_s, value in _of_query(text) if text.lstrip().startswith("{") else _of_scrapes(text):
            host, device = (next((labels[name] for name in names if name in labels), "") for names in (HOSTS, DEVICES))
            if metric in KNOWN and at_s > EARLIEST_S and value == value:
                quantity, factor = KNOWN[metric]
                found[re.sub(r"[^\w.-]", "_", host) or "exported", device][at_s][quantity] = value * factor
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EvalsuiteError.of("importing.exported_unread", path=file, error=message_of(error)) from error
    if not found:
        raise EvalsuiteError.of("importing.exported_none", path=file, names=tuple(KNOWN))
    return Exported(file=file, devices=found)


def _of_query(text: str) -> Iterator[Values]:
    for series in files.parse_json(text)["data"]["result"]:
        for at_s, value in series["values"]:
            yield series["metric"]["__name__"], series["metric"], float(at_s), float(value)


def _of_scrapes(text: str) -> Iterator[Values]:
    dated = 0.0
    for line in text.splitlines():
        if when := _DATED.fullmatch(line):
            dated = float(when[1])
        elif (sample := _SAMPLE.fullmatch(line)) and (value := decode.number(sample[3])) is not None:
            at_s = float(sample[4]) if sample[4] else dated
            yield sample[1], dict(_LABEL.findall(sample[2])), at_s / 1000 if at_s > IN_MS else at_s, value


def offset_s(zone: str) -> float:
    """Of "UTC", "+08:00". Raises ValueError."""
    if zone.upper() in ("UTC", "Z"):
        return 0.0
    if (match := _ZONE.fullmatch(zone)) is None:
        raise ValueError(Message("importing.zone", text=zone))
    return (-1 if match[1] == "-" else 1) * (3600.0 * int(match[2]) + 60.0 * int(match[3]))
