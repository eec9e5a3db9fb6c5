"""All-reduce of several sizes and storage at each scale, outside the training."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evalsuite.core.documents import COLLECTIVES, NetworkMeasurement
from evalsuite.core.model import by_key
from evalsuite.report import figures
from evalsuite.report.book.blocks import Model
from evalsuite.report.book.book import Book
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, label
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.measure import network

BETTER_IN_US = 1e-3


@dataclass(frozen=True, kw_only=True)
class NetworkRow:
    measurement: NetworkMeasurement
    times: tuple[Number | None, ...]
    bandwidth: Number | None
    storage: Number | None
    among_libraries: bool = False

    @property
    def scale(self) -> str:
        return self.measurement.scale.replace("x", "×")

    @property
    def link(self) -> Number | None:
        mbit = self.measurement.link_mbit
        return None if mbit is None else Number(text=f"{numbers.count(mbit).text}\u202fMbit/s", raw=mbit)

    def name(self, words: Words) -> Rendered:
        library = [self.library] if self.among_libraries and self.library else []
        return options.apart([self.scale, *([str(self.link)] if self.link else []), *library], words)

    @property
    def library(self) -> str | None:
        name = self.measurement.backend
        return names.visible(COLLECTIVES.get(name, name)) if name else None

    @property
    def error(self) -> str | None:
        error = self.measurement.error
        return names.visible(error) if error else None

    @property
    def with_what(self) -> str:
        tool = self.measurement.tool
        return ", ".join(filter(None, (self.library, names.visible(tool) if tool else None)))


@dataclass(frozen=True, kw_only=True)
class NetworkTable:
    sizes: tuple[Number, ...]
    rows: tuple[NetworkRow, ...]

    @property
    def with_what(self) -> str | None:
        values = {row.with_what for row in self.rows}
        return values.pop() or None if len(values) == 1 and not any(row.error for row in self.rows) else None

    @property
    def links(self) -> bool:
        return any(row.link for row in self.rows)


def of_model(book: Book, model: Model) -> NetworkTable | None:
    planned = [case for case in book.planned if case.model == model.name]
    cases = {(case.nodes, case.devices_per_node, case.device) for case in planned}
    networks = [link for link in book.evaluation.networks if (link.nodes, link.devices_per_node, link.device) in cases]
    if not networks:
        return None
    sizes = sorted({size for measured in networks for size in network.times_s(measured)})
    libraries = by_key((network.scale, network.backend) for network in networks)
    rows = tuple(_row(network, sizes, len({*libraries[network.scale]}) > 1) for network in networks)
    round_sizes = (Number(text=numbers.memory(size).text.replace(".0", ""), raw=size) for size in sizes)
    return NetworkTable(sizes=tuple(round_sizes), rows=rows)


def _row(link: NetworkMeasurement, sizes: Iterable[int], among_libraries: bool) -> NetworkRow:
    times, bandwidth, storage = network.times_s(link), network.bus_bytes_per_s(link), network.read_bytes_per_s(link)
    return NetworkRow(
        measurement=link,
        times=tuple(_time(times[size]) if size in times else None for size in sizes),
        bandwidth=None if bandwidth is None else numbers.rate(bandwidth),
        storage=None if storage is None else numbers.rate(storage),
        among_libraries=among_libraries,
    )


def _time(seconds: float) -> Number:
    if seconds >= BETTER_IN_US:
        return numbers.milliseconds(seconds)
    return Number(text=numbers.quantity(round(seconds * 1e6), "µs").text, raw=seconds)


def draw_network(model: Model, table: NetworkTable | None, words: Words) -> CaptionedFigure | None:
    shown = [(row, curve) for row in (table.rows if table else ()) if (curve := network.bus_curve(row.measurement))]
    lines = tuple(
        figures.BandwidthLine(name=label(row.name(words)), key=f"network{place}", points=tuple(sorted(curve.items())))
        for place, (row, curve) in enumerate(shown)
    )
    figure = figures.bandwidth(lines, figures.look([line.key for line in lines]), id=names.anchor("f-n", model.name))
    if figure.svg is None:
        return None
    return CaptionedFigure(figure=figure, title=_title([row for row, _ in shown], words), help=words("network.see"))


def _title(rows: Sequence[NetworkRow], words: Words) -> Text:
    rates = sorted(((row.bandwidth.raw, row) for row in rows if row.bandwidth), key=lambda each: each[0])
    if not rates:
        return words("network.figure")
    (_, low), (_, high) = rates[0], rates[-1]
    if str(low.bandwidth) == str(high.bandwidth):
        return words("network.figure_alike", bandwidth=low.bandwidth)
    return words(
        "network.figure_found",
        low=low.bandwidth,
        low_name=low.name(words),
        high=high.bandwidth,
        high_name=high.name(words),
    )
