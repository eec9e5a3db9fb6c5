"""Tables of logs: what a log prints, what is given beside it, and what is read of both."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evalsuite.logs.reading import Reading, read_file
from evalsuite.model import Protocol

LOGS = Path(__file__).resolve().parent / "logs"
SHORT = Protocol(warmup_steps=2, measured_steps=5)


class Row(NamedTuple):
    log: str | bytes | Path
    given: dict[str, Any]
    expected: dict[str, Any]


def row(
    log: str | bytes | Path, given: dict[str, Any] | None = None, expected: dict[str, Any] | None = None, **more: Any
) -> Row:
    """What is *expected* of a log, and *more* of it."""
    wanted = {**(expected or {}), **more}
    return Row(log, given or {}, {name: near(it) if isinstance(it, float) else it for name, it in wanted.items()})


def on(devices: int | None = None, batch: float | None = None, **more: Any) -> dict[str, Any]:
    """What is given beside a log."""
    known = {"devices": devices, "batch_per_device": batch, **more}
    return {name: value for name, value in known.items() if value is not None}


def short(devices: int | None = None, batch: float | None = None, **more: Any) -> dict[str, Any]:
    return on(devices, batch, protocol=SHORT, **more)


# lines of scripts of which more than one test reads logs


def example_line(step: int, seconds: float = 0.5, epoch: int = 0, of: int = 100, mean: float = 0.6) -> str:
    return f"Epoch: [{epoch}][{step:3d}/{of}]\tTime {seconds:6.3f} ({mean:6.3f})\tData  0.002 ( 0.001)\tLoss 6.7e+00"


def speed_line(step: int, rate: float = 10.0, prefix: str = "") -> str:
    return f"{prefix}INFO:root:Epoch[0] Batch [{step - 1}-{step}]\tSpeed: {rate:.2f} samples/sec\taccuracy=0.01"


def card_line(step: int, seconds: float = 0.5, ips: float = 16.0, scheduler: str = "lr(P)") -> str:
    return (
        f"[2026/11/20 23:40:38] ppcls INFO: [Train][Epoch 1/1][Iter: {step}/100]{scheduler}: 0.1, top1: 0.1, "
        f"loss: 39.6, batch_cost: {seconds:.5f}s, reader_cost: 0.00022, ips: {ips:.5f} samples/s, eta: 0:00:16"
    )


def each(numbers: Iterable[Any], line: str | Callable[..., str]) -> str:
    """A line for each number, or for each tuple of them: a text with `{}` in their places, or what makes it of them."""
    made = line.format if isinstance(line, str) else line
    return "".join(f"{made(*it) if isinstance(it, tuple) else made(it)}\n" for it in numbers)


def near(value: Any, rel: float = 1e-6) -> Any:
    return pytest.approx(value, rel=rel)


def table(rows: dict[str, Row]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", rows.values(), ids=rows)


def codes(found: Reading) -> set[str]:
    return {one.code for one in (*found.findings, *(found.throughput.findings if found.throughput else ()))}


def value(found: Reading) -> float | None:
    return found.throughput and found.throughput.items_per_s


def counted(found: Reading) -> float | None:
    """The value, where the status lets it count."""
    return value(found) if found.status in ("ok", "partial") else None


def read(folder: Path, log: str | bytes | Path, **given: Any) -> Reading:
    if not isinstance(log, Path):
        path = folder / "train.log"
        path.write_bytes(log if isinstance(log, bytes) else log.encode())
        log = path
    return read_file(log, **given)


def seen(folder: Path, row: Row) -> dict[str, Any]:
    """What is read of a log, of each name that its row expects; of a reason that holds the expected words, these."""
    found = read(folder, row.log, **row.given)
    got = {name: _seen(found, name) for name in row.expected}
    if row.expected.get("reason", "nothing") in found.reason:
        got["reason"] = row.expected["reason"]
    return got


def _seen(found: Reading, name: str) -> Any:
    """`index`, `seconds`, `covers`: of each step; `last_…`: of the last two; `paused`: which steps follow a pause."""
    known = {
        "index": lambda: [step.index for step in found.steps],
        "lines": lambda: [step.line for step in found.steps],
        "covers": lambda: [step.steps for step in found.steps],
        "seconds": lambda: [step.seconds for step in found.steps],
        "last_seconds": lambda: [step.seconds for step in found.steps[-2:]],
        "last_rates": lambda: [step.items_per_s for step in found.steps[-2:]],
        "paused": lambda: [step.index for step in found.steps if step.after_pause],
        "ends": lambda: (found.steps[0].index, found.steps[-1].index),
        "loss": lambda: found.steps[0].loss,
        "codes": lambda: codes(found),
    }
    if name in known:
        return known[name]()
    return getattr(found, name) if hasattr(found, name) else found.throughput and getattr(found.throughput, name)
