"""Every kind of file that evalsuite reads: a sound one, what reads it, and bad ones by a table and by a seed. A bad
file must be refused: a command ends with a documented exit code, few words that name the file, and nothing written; of
a run folder's record the report must tell, and the run counts for nothing."""

import csv
import functools
import io
import json
import os
import random
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path

from evalsuite import cli
from evalsuite.core.documents import HostEnvironment, RunCommand
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Protocol, Run
from evalsuite.results.evaluation import evaluate
from evalsuite.runs.endings import AgentOutcome, Outcome
from evalsuite.runs.planned import Planned
from evalsuite.runs.samples import Header
from evalsuite.runs.store import Store
from tests import reports, runfolders
from tests.sources import NIGHTLY
from tests.toys import CASE

SEED = int(os.environ.get("EVALSUITE_SEED", "15"))
TABLES = Path(__file__).resolve().parent / "attacks"
LONGEST_SENTENCE = 1500  # characters: a message that lists what is known is long, one that repeats the input is longer

# sound files

ASKED = replace(
    CASE,
    precision="amp",
    device="gpu",
    devices_per_node=2,
    xla=True,
    protocol=Protocol(warmup_steps=10, measured_steps=90),
    options=(("a", "b"),),
)  # nothing as it is by default: a key that is taken out makes another case
AGENT = AgentOutcome(
    exit_code=0, signal=None, timed_out=False, interrupted_by=None, error=None, cpu_s=0.5, duration_s=63.0, samples=70,
    samples_missed=0, left_behind=0, survivors=0, started_at="2026-11-20T10:00:00+08:00", group_cpu_s=50.0, beside=0,
    cores=((0, 1),), sha256={"log.n0.txt": "0" * 64},
)  # fmt: skip
SAMPLE = {"cpu_percent": 10.0, "memory_used_bytes": 100, "tree": {"cpu_s": 1.0, "memory_bytes": 5}}
LOG = "".join(f"Epoch: [0][{step:4d}/120]\tTime 0.5000 (0.5000)\tLoss 6.7e+00\n" for step in range(120))
ROW = {"framework": "pytorch", "model": "resnet50_v1.5", "nodes": "1", "gpus_per_node": "8", "batch_size_per_gpu": "64",
       "precision": "amp", "throughput": "1234.5", "unit": "images/s", "run": "0"}  # fmt: skip
SOUND = tomllib.loads((TABLES / "sound.toml").read_text(encoding="utf-8"))
WRITTEN = SOUND["written"]  # kind → lines of a TOML file that people write
RECORDS = {  # of a run and its plan
    "plan": Planned, "case": None, "command": RunCommand, "outcome": Outcome, "environment": HostEnvironment,
    "agent": AgentOutcome,
}  # fmt: skip
COMMANDS = SOUND["commands"]  # kind → what reads it, and what it may name instead of the file
OTHER_WORDS = {"command": ("no_such",), "outcome": ("log.n0.txt",)}  # that a finding may name instead of the record


@dataclass(frozen=True, kw_only=True)
class World:
    """Sound files of every kind below *root*; *chance* draws from a seed."""

    root: Path

    @classmethod
    def make(cls, root: Path) -> "World":
        store = Store(root / "runs")
        header = Header(hz=1.0, cpu_count=2.0, memory_total_bytes=1000)
        lines = [header.to_json(), *({**SAMPLE, "at_s": float(second)} for second in range(70))]
        with store.claim(Run(case=ASKED, repeat=0)) as folder:
            folder.samples_path("n0").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
            folder.pack_samples("n0")
            folder.write_agent("n0", AGENT)
            runfolders.fill(folder)
        store.write_plan(Planned(profile="quick", repeats=1, cases=(ASKED,), skips=()))
        for name in ("report", "altered"):
            reports.written(root / name, reports.evaluation(reports.summary()))
        for kind, lines_of in WRITTEN.items():
            (root / f"{kind}.toml").write_text(toml(lines_of), encoding="utf-8")
        (root / "a.log").write_text(LOG)
        (root / "csv.csv").write_text(csv_of(ROW))
        return cls(root=root)

    @property
    def folder(self) -> Path:
        return self.root / "runs" / ASKED.id / "r0"

    @property
    def outputs(self) -> Path:
        return self.root / "made"

    def file(self, kind: str) -> Path:
        if kind == "plan":
            return self.root / "runs" / "plan.json"
        if kind == "summary":
            return self.root / "altered" / "summary.json"
        if kind in WRITTEN:
            return self.root / f"{kind}.toml"
        if kind == "csv":
            return self.root / "csv.csv"
        return self.folder / {"environment": "environment.n0.json", "agent": "agent.n0.json"}.get(kind, f"{kind}.json")

    def words(self, kind: str) -> list[str]:
        """The command line that reads a file of this *kind*."""
        known = {"file": self.file(kind), "made": self.outputs, "runs": self.root / "runs", "root": self.root}
        return [word.format(**known) for word in COMMANDS[kind][0].split()]

    def how_taken(self, kind: str, content: bytes, said: Callable[[], tuple[str, str]]) -> str | None:
        """None if a file of this *kind* with this *content* is refused as it should be, else what happened."""
        file = self.file(kind)
        with replaced(file, content):
            return self._command(kind, file, said) if kind in COMMANDS else self.refuse_record(kind, file.name)

    def _command(self, kind: str, file: Path, said: Callable[[], tuple[str, str]]) -> str | None:
        said()
        words = self.words(kind)
        code = cli.main(words)
        out, err = said()
        text = out + err
        of_import = words[0] == "import"
        made = any(self.outputs.glob("*/r*")) if of_import else self.outputs.exists()
        refused = code in ((2, 3) if of_import else (2,)) and not made
        named = any(name in text for name in (file.name, *COMMANDS[kind][1]))
        brief = text.count("\n") <= 3 and len(text) < LONGEST_SENTENCE and text.replace("\n", "").isprintable()
        if not of_import:
            brief = brief and err.count("\n") == 1 and err.startswith(f"evalsuite {words[0]}: ") and len(err) > 30
        return None if refused and named and brief else f"{code}: {text[:300]}"

    def refuse_record(self, kind: str, name: str) -> str | None:
        """None if the report of the one run tells of its record *name*."""
        try:
            evaluation = evaluate(Store(self.root / "runs"))
        except EvalsuiteError as error:
            return None if name in str(error) else str(error)
        told = [str(finding) for finding in evaluation.findings if finding.severity in ("exclude", "reject")]
        told += [run.reason for summary in evaluation.summaries for run in summary.measurements if run.value is None]
        return None if any(word in text for word in (name, *OTHER_WORDS.get(kind, ())) for text in told) else str(told)


class replaced:
    """While this holds, *file* has another content."""

    def __init__(self, file: Path, content: bytes) -> None:
        self._file, self._content, self._sound = file, content, file.read_bytes()

    def __enter__(self) -> None:
        self._file.write_bytes(self._content)

    def __exit__(self, *error: object) -> None:
        self._file.write_bytes(self._sound)


# bad files by the tables in tests/attacks


def rows(kind: str) -> Iterator[tuple[str, str]]:
    """(key, bad value) of each attack in the table of a kind."""
    for line in (TABLES / f"{kind}.txt").read_text(encoding="utf-8").splitlines():
        key, *values = (part.strip() for part in line.split(" | "))
        yield from ((key, value) for value in values)


def by_row(kind: str, sound: bytes, key: str, bad: str) -> bytes:
    """A sound file with *bad* at *key*; `-` takes the key out."""
    if kind in WRITTEN:
        kept = {name: value for name, value in WRITTEN[kind].items() if name != key and not name.startswith(f"{key}.")}
        return toml(kept | ({} if bad == "-" else {key: bad})).encode()
    if kind == "csv":
        return csv_of(
            {**{name: value for name, value in ROW.items() if name != key}, **({} if bad == "-" else {key: bad})}
        ).encode()
    way = tuple(int(part) if part.isdigit() else part for part in key.split("."))
    return as_json(changed(json.loads(sound), way, None if bad == "-" else lambda value: json.loads(bad)))


def csv_of(row: dict[str, str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, row)
    writer.writeheader()
    writer.writerow(row)
    return text.getvalue()


def toml(lines: dict[str, str]) -> str:
    """A TOML file of (key with dots → value)."""
    tables: dict[str, list[str]] = {}
    for key, value in lines.items():
        table, _, name = key.rpartition(".") if not key.startswith('"') else ("", "", key)
        tables.setdefault(table, []).append(f"{name} = {value}\n")
    text = ""
    for table, inside in sorted(tables.items()):
        name, _, number = table.partition(".")
        text += (f"[[{name}]]\n" if number else f"[{name}]\n") if table else ""
        text += "".join(inside)
    return text


# bad files by a seed: what is changed can mean nothing good

WRONG_JSON = {
    "wrong type": lambda value: "x" if isinstance(value, dict) else {"a": {"b": []}},
    "list": lambda value: [None],
    "NaN": lambda value: float("nan"),
    "huge": lambda value: 10**400,
    "negative": lambda value: -1,
}
WRONG_TOML = ("{a = {b = [1]}}", "[[[1]]]", "nan", "-1", "1e400", "9" * 400, "true", '"\\u0000"')
MAY_BE_NEGATIVE = {  # a signal; of a criterion of one's own; a figure, as columns of one's own are
    **{"agent": ("exit_code",), "summary": ("threshold", "step_time_s")}
}


def wrong(kind: str, sound: bytes, chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """(what was done, content) of files of this *kind* with one thing wrong at each place."""
    if kind in WRITTEN:
        yield from _wrong_toml(kind, sound.decode().splitlines(), chance)
        return
    facts = json.loads(sound)
    for way in places(facts):
        number = isinstance(value_at(facts, way), int | float) and way[-1] not in MAY_BE_NEGATIVE.get(kind, ())
        kinds = [name for name in WRONG_JSON if number or name != "negative"]
        for name in kinds if NIGHTLY else [chance.choice(kinds)]:
            yield f"{name} at {way}", as_json(changed(facts, way, WRONG_JSON[name]))
    key = sound[sound.index(b'"') :].split(b":")[0]
    yield "cut", sound[: len(sound) // 2]
    yield "its last byte gone", sound.rstrip()[:-1]
    yield "empty", b""
    yield "a key twice", sound.rstrip()[:-1] + b", " + key + b": 1}"
    if kind == "case":  # that lacks a key, or has one more, it is another case; nodes are one where none are said
        yield from ((f"without {key}", as_json(changed(facts, (key,)))) for key in facts if key != "nodes")
        yield "a key more", as_json({**facts, "zzz": 1})
    elif kind in RECORDS:
        needed = [field.name for field in fields(RECORDS[kind]) if field.name in facts and _has_no_default(field)]
        yield from ((f"without {key}", as_json(changed(facts, (key,)))) for key in ("schema", *needed))


def _has_no_default(field) -> bool:
    return field.default is field.default_factory  # both MISSING


def _wrong_toml(kind: str, lines: list[str], chance: random.Random) -> Iterator[tuple[str, bytes]]:
    for at, line in enumerate(lines):
        before, key, after = lines[:at], line.partition(" = ")[0], lines[at + 1 :]
        if " = " not in line:
            continue
        changes = {
            f"{key} = {bad[:20]}": [f"{key} = {bad}"]
            for bad in (WRONG_TOML if NIGHTLY else chance.sample(WRONG_TOML, 2))
        }
        changes |= {f"{key} twice": [line, line], f"{key} cut": [f"{key} = "]}
        if kind != "facts":  # where a name more is an option of the case, by docs
            changes[f"a key beside {key}"] = [line, "zzz = 1"]
        for what, instead in changes.items():
            yield what, ("\n".join([*before, *instead, *after]) + "\n").encode()


def places(facts, way=()) -> Iterator[tuple]:
    """The way to each value inside *facts*, JSON."""
    for key in facts if isinstance(facts, dict) else range(len(facts)):
        yield (*way, key)
        if isinstance(facts[key], dict | list):
            yield from places(facts[key], (*way, key))


def value_at(facts, way):
    return functools.reduce(lambda inner, key: inner[key], way, facts)


def changed(facts, way, make=None):
    """A copy of *facts* with what *make* makes of the value at *way* in its place; without *make*, none."""
    copy = json.loads(json.dumps(facts))
    place = value_at(copy, way[:-1])
    if make:
        place[way[-1]] = make(place.get(way[-1]) if isinstance(place, dict) else place[way[-1]])
    else:
        del place[way[-1]]
    return copy


def as_json(facts) -> bytes:
    return json.dumps(facts).encode("utf-8", "surrogatepass")


# any change, by a seed: what comes of it may be good or bad, and is never a traceback

VALUES = [
    None, True, False, 0, -1, 1e308, -0.0, float("nan"), float("inf"), 10**400, "", "x", "\0", "\x1b[31m", "٣", "../..",
    "{node_rank}", "a" * 5000, "\ud800", [], [[]], {}, {"a": {"b": []}}, [None], "1e999", "=1+1", "<script>",
    "2026-13-01",
]  # fmt: skip


def torn(content: bytes, chance: random.Random) -> bytes:
    """*content* with one to three places cut, flipped, doubled, overwritten or filled with nonsense."""
    text = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(text) + 1)
        size = chance.choice((1, 2, 8, 300))
        nonsense = chance.choice((b"\0" * size, b"[" * size, b"9" * size, b"\xff\xfe", b'"', b"\n" * size))
        match chance.randrange(6):
            case 0:
                text = text[:at]
            case 1 if text:
                text[at % len(text)] ^= 1 << chance.randrange(8)
            case 2:
                text[at:at] = text[at : at + size]
            case 3:
                text[at : at + size] = chance.randbytes(size)
            case 4:
                text[at : at + size] = b""
            case _:
                text[at:at] = nonsense
    return bytes(text)


def altered(facts, chance: random.Random) -> bytes:
    """*facts*, JSON, with another value or none at one of its places, or one key more."""
    way = chance.choice(list(places(facts)))
    if chance.random() < 0.15:
        return as_json(changed(facts, way))
    if chance.random() < 0.15:
        return as_json({**facts, chance.choice(("x", "", "../x", "\0", "schema")): chance.choice(VALUES)})
    return as_json(changed(facts, way, lambda value: chance.choice(VALUES)))
