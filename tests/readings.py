"""Tables of logs (`tests/logs/tables`): what a log prints, what is given beside it, and what is read of both. A log
stands in its row, with templates where its lines follow a rule, or in a file (by default of the row's name), or it is
that of another row. A number may be the arithmetic that makes it: "8 * 64 / 0.5"."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import pytest

from evalsuite.core.model import Protocol
from evalsuite.logs.reading import Reading, read_file

LOGS = Path(__file__).resolve().parent / "logs"
SHORT = Protocol(warmup_steps=2, measured_steps=5)
ARITHMETIC = re.compile(r"[\d.*/() +-]*\d[\d.*/() +-]*")
TEMPLATES = jinja2.Environment(keep_trailing_newline=True, trim_blocks=True)


class Row(NamedTuple):
    log: bytes
    given: dict[str, Any]
    expected: dict[str, Any]


@cache
def rows(table: str) -> dict[str, Row]:
    written = tomllib.loads((LOGS / "tables" / f"{table}.toml").read_text(encoding="utf-8"))
    logs: dict[str, bytes] = {}
    for name, row in sorted(written.items(), key=lambda pair: "log_of" in pair[1]):
        logs[name] = _log({"file": f"{name}.log", **row}, logs)
    return {
        name: Row(logs[name], _given(row.get("given", {})), _expected(row["expected"])) for name, row in written.items()
    }


def _log(row: dict[str, Any], others: dict[str, bytes]) -> bytes:
    if "each" in row:  # one line, again and again
        line = TEMPLATES.from_string(row["line"])
        log = "".join(f"{line.render(n=n)}\n" for n in range(*row["each"])).encode()
        log = row.get("head", "").encode() + log
    elif "log_of" in row:
        log = others[row["log_of"]]
    elif "log" not in row:
        log = row.get("head", "").encode() + (LOGS / row["file"]).read_bytes()
    else:
        log = TEMPLATES.from_string(row["log"]).render(cr="\r").encode() if "{%" in row["log"] else row["log"].encode()
    return log.replace(*map(str.encode, row["replace"])) if "replace" in row else log


def _given(known: dict[str, Any]) -> dict[str, Any]:
    if "steps" not in known:
        return known
    warmup, measured = map(int, known["steps"].split("+"))
    others = {name: value for name, value in known.items() if name != "steps"}
    return others | {"protocol": Protocol(warmup_steps=warmup, measured_steps=measured)}


def _expected(value: Any) -> Any:
    match value:
        case float():
            return pytest.approx(value)
        case str() if ARITHMETIC.fullmatch(value):
            return pytest.approx(eval(value))
        case {"near": str(near), "within": within}:
            return pytest.approx(eval(near), rel=within)
        case {"near": near, "within": within}:
            return pytest.approx(near, rel=within)
        case dict():
            return {name: _expected(inner) for name, inner in value.items()}
        case list():
            return [_expected(inner) for inner in value]
        case "none":
            return None
        case _:
            return value


# lines of scripts of which more than one test reads logs


def example_line(step: int, seconds: float = 0.5, of: int = 100) -> str:
    return f"Epoch: [0][{step:3d}/{of}]\tTime {seconds:6.3f} ( 0.600)\tData  0.002 ( 0.001)\tLoss 6.7e+00"


def speed_line(step: int, rate: float = 10.0) -> str:
    return f"INFO:root:Epoch[0] Batch [{step - 1}-{step}]\tSpeed: {rate:.2f} samples/sec\taccuracy=0.01"


def codes(found: Reading) -> set[str]:
    return {finding.code for finding in (*found.findings, *(found.throughput.findings if found.throughput else ()))}


def value(found: Reading) -> float | None:
    return found.throughput and found.throughput.items_per_s


def counted(found: Reading) -> float | None:
    return value(found) if found.status in ("ok", "partial") else None


def read(folder: Path, log: str | bytes, **given: Any) -> Reading:
    path = folder / "train.log"
    path.write_bytes(log if isinstance(log, bytes) else log.encode())
    return read_file(path, **given)


def seen(folder: Path, row: Row) -> dict[str, Any]:
    """What is read of a log, of each name that its row expects; of a reason that holds the expected words, these."""
    reading = read(folder, row.log, **row.given)
    got = {name: _seen(reading, name) for name in row.expected}
    if row.expected.get("reason", "\0") in reading.reason:
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
        "ends": lambda: [found.steps[0].index, found.steps[-1].index],
        "loss": lambda: found.steps[0].loss,
        "codes": lambda: sorted(codes(found)),
        "scores": lambda: [[score.epoch, score.split, score.metric, score.value] for score in found.scores],
        "scores_at_s": lambda: [score.at_s for score in found.scores],
        "scores_line": lambda: [score.line for score in found.scores],
    }
    if name in known:
        return known[name]()
    got = getattr(found, name) if hasattr(found, name) else found.throughput and getattr(found.throughput, name)
    return list(got) if isinstance(got, tuple) else got
