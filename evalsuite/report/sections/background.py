"""Section 2: environments side by side, topology, test matrix, rules and methods, as rows for the page."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evalsuite.model import Case
from evalsuite.report.book.blocks import Block, Model
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import Cell, throughput_cell
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Listed, Words

ANSI = re.compile(r"\x1b\[[0-9;]*m")
MATRIX_HEADER = re.compile(r"^\s+(GPU|NIC)\d+\b")
MATRIX_ROW = re.compile(r"^(GPU|NIC)\d+\t")
RULES = "rules-table"  # the anchor of the table of rules, which sentences with their limits lead to


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One line of the environment table: the key of its name, and a value for each environment."""

    key: str
    values: tuple[str | None, ...]  # None: not recorded

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


@dataclass(frozen=True, kw_only=True)
class Topology:
    """`nvidia-smi topo -m` as a table."""

    devices: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]  # device → its links
    legend: tuple[tuple[str, str], ...]  # sign → meaning, in NVIDIA's words


@dataclass(frozen=True, kw_only=True)
class Environments:
    """All machines that runs were made on."""

    labels: tuple[str, ...]  # A, B, …
    hosts: tuple[str, ...]
    facts: tuple[Fact, ...]
    topologies: tuple[tuple[str, Topology], ...]  # label → topology

    @property
    def unrecorded(self) -> int:
        return sum(value is None for fact in self.facts for value in fact.values)


@dataclass(frozen=True, kw_only=True)
class MatrixRow:
    """One series of the test matrix over all scales."""

    column_id: str
    title: str
    block: Block
    cells: tuple[tuple[Case, Cell], ...]


@dataclass(frozen=True, kw_only=True)
class Method:
    """How one framework's log was turned into numbers."""

    framework: str
    method: str | None
    warmup_steps: int
    steps: tuple[int, ...]  # measured steps, as found in the runs
    runs: int

    @property
    def title(self) -> str:
        return names.framework(self.framework)


def environments(book: Book) -> Environments:
    found = sorted(book.evaluation.environments.items())
    machines = [facts for _, facts in found]
    labels = tuple(_letter(place) for place in range(len(found)))
    facts = (Fact(key=key, values=tuple(_safely(read, one) for one in machines)) for key, read in FIELDS.items())
    topologies = ((label, topology(one.get("topology"))) for label, one in zip(labels, machines, strict=True))
    return Environments(
        labels=labels,
        hosts=tuple(names.visible(one.get("host") or "") for one in machines),
        facts=tuple(fact for fact in facts if any(fact.values) or fact.key not in OPTIONAL),
        topologies=tuple((label, found) for label, found in topologies if found),
    )


def one_line(book: Book, words: Words) -> Listed | None:
    """The machines in one line: accelerators, processor, cores, memory."""
    machines = [facts for _, facts in sorted(book.evaluation.environments.items())]
    if not machines:
        return None
    parts = list(_short(machines[0], words))
    if len(machines) > 1:
        parts.append(words("background.more_machines", n=numbers.count(len(machines) - 1)))
    return words.listed(parts) if parts else None


def _short(facts: Mapping, words: Words):
    for key in ("accelerator", "cpu"):
        if (found := _safely(FIELDS[key], facts)) is not None:
            yield found
    cores = facts.get("cpu_count_usable") or facts.get("cpu_count")
    if isinstance(cores, int | float):
        yield words("background.cores", n=numbers.plain(cores))
    if (memory := _safely(_memory, facts)) is not None:
        yield memory


def usable_cores(book: Book) -> float | None:
    """Cores of the machine with the fewest, as the job may use them."""
    found = [facts.get("cpu_count_usable") or facts.get("cpu_count") for facts in book.evaluation.environments.values()]
    known = [cores for cores in found if isinstance(cores, int | float)]
    return min(known) if known else None


def _text(key: str) -> Callable[[Mapping], str | None]:
    return lambda facts: names.visible(facts[key]) if facts.get(key) not in (None, "", [], {}) else None


def _cores(facts: Mapping) -> str | None:
    total, usable = facts.get("cpu_count"), facts.get("cpu_count_usable")
    known = [f"{cores:g}" for cores in (usable, total) if cores is not None]
    return " / ".join(known) or None


def _memory(facts: Mapping) -> str | None:
    total = facts.get("memory_total_bytes")
    return numbers.memory(total).text if total else None


def _gpus(facts: Mapping) -> list[Mapping]:
    return [gpu for gpu in facts.get("gpus") or [] if isinstance(gpu, Mapping)]


def _accelerator(facts: Mapping) -> str | None:
    found = [names.visible(gpu.get("name") or "GPU") for gpu in _gpus(facts)]
    return ", ".join(f"{found.count(name)} × {name}" for name in dict.fromkeys(found)) or None


def _gpu_memory(facts: Mapping) -> str | None:
    found = {gpu.get("memory_total_bytes") for gpu in _gpus(facts)} - {None}
    return ", ".join(numbers.memory(total).text for total in sorted(found)) or None


def _interfaces(facts: Mapping) -> str | None:
    found = facts.get("interfaces") or {}
    if not isinstance(found, Mapping):
        return names.visible(found)
    return ", ".join(_interface(name, about) for name, about in sorted(found.items())) or None


def _interface(name: str, about: Any) -> str:
    speed = about.get("speed_mbit_s") if isinstance(about, Mapping) else None
    return f"{names.visible(name)} ({speed:,} Mbit/s)" if speed else names.visible(name)


def _list(key: str) -> Callable[[Mapping], str | None]:
    return lambda facts: ", ".join(names.visible(item) for item in facts.get(key) or ()) or None


def _pairs(key: str) -> Callable[[Mapping], str | None]:
    def read(facts: Mapping) -> str | None:
        found = facts.get(key)
        if not isinstance(found, Mapping):
            return names.visible(found) if found else None
        return (
            ", ".join(f"{names.visible(name)}={names.visible(value)}" for name, value in sorted(found.items())) or None
        )

    return read


FIELDS: Mapping[str, Callable[[Mapping], str | None]] = {
    "accelerator": _accelerator,
    "gpu_memory": _gpu_memory,
    "driver": _text("driver"),
    "cuda": _text("cuda_driver"),
    "cpu": _text("cpu_model"),
    "cores": _cores,
    "memory": _memory,
    "disks": _list("disks"),
    "interfaces": _interfaces,
    "os": _text("os"),
    "kernel": _text("kernel"),
    "container": _pairs("container"),
    "python": _text("python"),
    "evalsuite": _text("evalsuite"),
    "variables": _pairs("environment_variables"),
}
OPTIONAL = ("gpu_memory", "driver", "cuda", "container", "variables", "accelerator")  # no line where no machine has it


def _safely(read: Callable[[Mapping], str | None], facts: Mapping) -> str | None:
    """What *read* finds, or None: facts come from a file, and one of a strange form is not recorded."""
    try:
        return read(facts)
    except (TypeError, ValueError, AttributeError, KeyError):
        return None


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"A{place}"


def topology(text: Any) -> Topology | None:
    """The matrix and the legend in the output of `nvidia-smi topo -m`; None if there is no matrix in it.

    Its header is "\\tGPU0\\tGPU1\\tNIC0\\tCPU Affinity" (underlined with ANSI codes), a row "GPU0\\t X \\tNV12".
    """
    if not isinstance(text, str):
        return None
    lines = [ANSI.sub("", line).rstrip() for line in text.splitlines()]
    header = next((line for line in lines if MATRIX_HEADER.match(line)), None)
    if header is None:
        return None
    devices = tuple(title.strip() for title in header.split("\t")[1:] if title.strip())
    found = [line for line in lines if MATRIX_ROW.match(line)]
    rows = tuple(_links(line, len(devices)) for line in found)
    return Topology(devices=devices, rows=rows, legend=tuple(_legend(lines)))


def _links(line: str, columns: int) -> tuple[str, tuple[str, ...]]:
    name, *links = [part.strip() for part in line.split("\t")]
    while len(links) > columns and "" in links:  # some drivers put two tabs before the last column
        links.remove("")
    return name, tuple((links + [""] * columns)[:columns])


def _legend(lines: list[str]):
    for line in lines:
        sign, equals, meaning = line.strip().partition(" = ")
        if equals and len(sign.strip()) <= 5:
            yield sign.strip(), meaning.strip()
        elif re.match(r"^NIC\d+: ", line.strip()):
            yield tuple(line.strip().split(": ", 1))


def matrix(models: tuple[Model, ...]) -> tuple[tuple[tuple[int, int], ...], tuple[MatrixRow, ...]]:
    """All scales, and for each series what became of each of its cases."""
    blocks = [block for model in models for block in model.blocks]
    scales = sorted({scale for block in blocks for scale in block.scales}, key=lambda s: (s[0] * s[1], s[0]))
    rows = tuple(
        MatrixRow(
            column_id=column.id,
            title=column.label,
            block=block,
            cells=tuple(_matrix_cell(block.book, block.case(column, *scale)) for scale in scales),
        )
        for block in blocks
        for column in block.columns
    )
    return tuple(scales), rows


def _matrix_cell(book: Book, case: Case) -> tuple[Case, Cell]:
    return case, throughput_cell(book, case)


def methods(book: Book) -> tuple[Method, ...]:
    """The window method of each framework, as its runs were read."""
    found: dict[tuple, list] = {}
    for run in book.measurements:
        if run.throughput is not None:
            key = (run.run.case.framework, run.throughput.method, run.run.case.protocol.warmup_steps)
            found.setdefault(key, []).append(run.throughput.window)
    return tuple(
        Method(
            framework=framework,
            method=method,
            warmup_steps=warmup,
            steps=tuple(sorted({window.steps for window in windows if window is not None})),
            runs=len(windows),
        )
        for (framework, method, warmup), windows in sorted(found.items(), key=lambda item: str(item[0]).casefold())
    )
