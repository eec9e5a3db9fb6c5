"""Attacks that nobody has thought of: good files changed at random places, by a seed. No traceback may come of any.

Each file that evalsuite reads is cut, flipped, doubled and filled with strange values some times here, and hundreds of
times by `make test-attacks` (EVALSUITE_ATTACKS=1; EVALSUITE_SEED chooses others).
"""

import bz2
import gzip
import json
import lzma
import os
import random
import shutil
from dataclasses import fields

import pytest
import reports
import runfolders
from test_attacks import AUTHOR, CRITERIA, LOG, MAPPING, ROW, SPEC, TABLES, _toml, attacks

from evalsuite import cli
from evalsuite.adapter import Recipe
from evalsuite.dialect import Dialect
from evalsuite.errors import EvalsuiteError
from evalsuite.results.evaluation import evaluate
from evalsuite.runs import columns, samples
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import RunFolder, Store
from tests.toys import CASE

MANY = 120 if os.environ.get("EVALSUITE_ATTACKS") else 6  # of each kind of file
SEED = int(os.environ.get("EVALSUITE_SEED", "15"))
VALUES = [
    None, True, False, 0, -1, 1e308, -0.0, float("nan"), float("inf"), 10**400, "", "x", "\0", "\x1b[31m", "٣", "../..",
    "{node_rank}", "a" * 5000, "\ud800", [], [[]], {}, {"a": {"b": []}}, [None], "1e999", "=1+1", "<script>",
    "2026-13-01",
]  # fmt: skip
SAMPLE = {
    "at_s": 1.0, "cpu_percent": 10.0, "memory_used_bytes": 100, "disks": {},
    "interfaces": {}, "tree": {"cpu_s": 1.0, "memory_bytes": 5, "processes": 2}, "gpus": [],
}  # fmt: skip


@pytest.fixture
def chance(request):
    return random.Random(f"{SEED} {request.node.name}")


def without_defect(capsys, *words):
    """Calls the command, which may do or refuse it: with a documented exit code, and few words."""
    code = cli.main([str(word) for word in words])
    out, said = capsys.readouterr()
    assert code in (0, 2, 3, 4, 5, 6), (code, said)
    assert "Traceback" not in said and "\x1b" not in said + out
    return code


# how a file is changed


def torn(content: bytes, chance: random.Random) -> bytes:
    """*content* with one to three places cut, flipped, doubled, overwritten or filled with nonsense."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(changed) + 1)
        size = chance.choice((1, 2, 8, 300))
        match chance.randrange(6):
            case 0:
                changed = changed[:at]
            case 1 if changed:
                changed[at % len(changed)] ^= 1 << chance.randrange(8)
            case 2:
                changed[at:at] = changed[at : at + size]
            case 3:
                changed[at : at + size] = chance.randbytes(size)
            case 4:
                changed[at : at + size] = b""
            case _:
                changed[at:at] = chance.choice(
                    (b"\0" * size, b"[" * size, b"9" * size, b"\xff\xfe", b'"', b"\n" * size)
                )
    return bytes(changed)


def altered(facts, chance: random.Random):
    """A copy of *facts*, JSON, with another value or no value at one of its places, or one key more."""
    copy = json.loads(json.dumps(facts))
    place = copy
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return copy
        key = chance.choice(keys)
        inner = place[key]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.8:
            place = inner
            continue
        if chance.random() < 0.15:
            del place[key]
        elif isinstance(place, dict) and chance.random() < 0.15:
            place[chance.choice(("x", "", "../x", "\0", "schema"))] = chance.choice(VALUES)
        else:
            place[key] = chance.choice(VALUES)
        return copy


def json_bytes(facts) -> bytes:
    return json.dumps(facts).encode("utf-8", "surrogatepass")


# run folders


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A store with a plan, a journal and a run of one host, its samples packed."""
    runs = tmp_path_factory.mktemp("good")
    lines = "".join(f"{json.dumps({**SAMPLE, 'at_s': float(second)})}\n" for second in range(70))
    header = samples.Header(hz=1.0, cpu_count=2.0, memory_total_bytes=1000)
    folder = runfolders.finished(runs, runfolders.Host(samples=json.dumps(header.to_json()) + "\n" + lines))
    columns.pack(folder.samples_path("n0"), folder.packed_samples_path("n0"))
    Store(runs).write_plan(Planned(profile="quick", repeats=1, cases=(CASE,), skips=()))
    return runs


KINDS = ("case.json", "command.json", "outcome.json", "environment.n0.json", "log.n0.txt", "arrivals.n0.csv",
         "samples.n0.jsonl", "samples.n0.columns")  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_changed_file_of_a_run_folder_makes_a_report_or_a_reason(name, good, tmp_path, chance):
    for attempt in range(MANY):
        runs = tmp_path / str(attempt)
        shutil.copytree(good, runs)
        file = runs / CASE.id / "r0" / name
        content = file.read_bytes()
        by_value = name.endswith(".json") and chance.random() < 0.6
        file.write_bytes(json_bytes(altered(json.loads(content), chance)) if by_value else torn(content, chance))
        try:
            evaluate(Store(runs))
        except EvalsuiteError as error:
            assert 20 < len(str(error)) < 3000


def test_changed_samples_are_read_to_their_end_or_refused(good, tmp_path, chance):
    packed = (good / CASE.id / "r0" / "samples.n0.columns").read_bytes()
    folder = RunFolder(tmp_path)
    for _ in range(MANY * 5):
        folder.packed_samples_path("n0").write_bytes(torn(packed, chance))
        try:
            found = folder.samples("n0")
            assert found is not None
            dict(found.tables)
        except EvalsuiteError as error:
            assert "samples.n0.columns" in str(error)


@pytest.mark.parametrize("name", ["plan.json", "summary.json"])
def test_a_changed_record_of_an_evaluation_is_used_or_refused(name, good, tmp_path, chance, capsys):
    report = reports.written(tmp_path / "report", reports.evaluation(reports.summary()))
    runs = tmp_path / "runs"
    shutil.copytree(good, runs)
    file = (runs if name == "plan.json" else report) / name
    facts = json.loads(file.read_text())
    for attempt in range(MANY):
        file.write_bytes(json_bytes(altered(facts, chance)) if attempt % 2 else torn(json_bytes(facts), chance))
        if name == "plan.json":
            words = ("report", "--runs", runs, "--out", tmp_path / "out")
        else:
            words = (
                ("publish", report, "--site", tmp_path / "site") if attempt % 3 else ("compare-reports", report, report)
            )
        without_defect(capsys, *words)


# files that people write


def written(name: str) -> str:
    return "".join(_toml({"spec": SPEC, "criteria": CRITERIA, "author": AUTHOR, "mapping": MAPPING}[name]))


@pytest.mark.parametrize("name", ["spec", "criteria", "author", "mapping"])
def test_a_changed_file_of_a_persons_is_used_or_refused(name, good, tmp_path, chance, capsys):
    file, log = tmp_path / f"{name}.toml", tmp_path / "a.log"
    log.write_text(LOG)
    words = {
        "spec": ("plan", "--spec", file, "--device", "cpu", "--runs", tmp_path / "none"),
        "criteria": ("report", "--runs", good, "--criteria", file, "--out", tmp_path / "out"),
        "author": ("report", "--runs", good, "--author", file, "--out", tmp_path / "out"),
        "mapping": ("import", log, "--map", file, "--runs", tmp_path / "imported"),
    }[name]
    values = [bad for table in TABLES.glob("*.txt") for _, bad in attacks(table.stem)]
    for attempt in range(MANY):
        lines = written(name).splitlines()
        place = chance.randrange(len(lines))
        if attempt % 2 and "=" in lines[place]:
            lines[place] = f"{lines[place].partition('=')[0]}= {chance.choice(values)}"
            file.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogatepass")
        else:
            file.write_bytes(torn(written(name).encode(), chance))
        without_defect(capsys, *words)


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_changed_table_is_imported_or_refused(kind, tmp_path, chance, capsys):
    file = tmp_path / f"t.{kind}"
    rows = ",".join(ROW) + "\n" + (",".join(ROW.values()) + "\n") * 3
    content = rows.encode() if kind == "csv" else workbook(file)
    for attempt in range(MANY):
        file.write_bytes(torn(content, chance))
        without_defect(capsys, "import", file, "--runs", tmp_path / f"runs{attempt}")


def workbook(file) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(list(ROW))
    book.active.append(list(ROW.values()))
    book.save(file)
    return file.read_bytes()


@pytest.mark.parametrize("kind", ["log", "gz", "xz", "bz2"])
def test_a_changed_log_says_what_it_says(kind, tmp_path, chance, capsys):
    file = tmp_path / f"a.{kind}"
    pack = {"log": bytes, "gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}[kind]
    for attempt in range(MANY):
        inside = torn(LOG.encode(), chance) if attempt % 2 else LOG.encode()
        file.write_bytes(torn(pack(inside), chance))
        without_defect(capsys, "parse", file, "--devices", "8", "--batch-per-device", "32", "--json")


@pytest.mark.parametrize("kind", ["gz", "xz"])
def test_a_bomb_of_a_log_is_read_in_little_memory(kind, tmp_path, capsys):
    import tracemalloc

    pack = {"gz": gzip.compress, "xz": lzma.compress}[kind]
    (tmp_path / f"b.{kind}").write_bytes(pack(LOG.encode() + bytes(30_000_000)))
    tracemalloc.start()

    without_defect(capsys, "parse", tmp_path / f"b.{kind}", "--devices", "1", "--batch-per-device", "32")

    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 25_000_000


# modules of authors

MODULES = [
    "", "ADAPTER = DIALECT = 3", "ADAPTER = DIALECT = None", "import sys; sys.exit(0)", "raise SystemExit", "1/0",
    "def", "import nonexistent_module", "\0", "raise BaseException('x')", "raise MemoryError",
    "raise OSError(28, 'no')",
    "def f(): return f()\nf()", "class E(Exception):\n  def __str__(self): raise ValueError\nraise E", "x = 1",
]  # fmt: skip
ADAPTER = """
from evalsuite.adapter import Adapter, Command, Recipe
def command(case): return Command(argv=("{python}", "train.py"))
FACTS = dict(name="toy", model="toy", dialect="pytorch_examples", command=command)
ADAPTER = Adapter(name="toynet", title="T", recipes=(Recipe(**{**FACTS, %s}),))
"""
DIALECT = """
from evalsuite.dialect import Dialect, Line
LINE = dict(pattern=rb"Time (?P<seconds>[\\d.]+)", sample=b"Time 1.0", source="a/b@0123456:train.py")
FACTS = dict(name="mine", title="T", framework="x", unit="images/s", scope="global", averaging="step")
FACTS["step"] = (Line(**LINE),)
DIALECTS = (Dialect(**{**FACTS, %s}),)
"""
EXPRESSIONS = [
    "None", "3", "-1", "1.5", "True", '""', '"globl"', '"../x"', '"\\x00"', "()", '("a",)', "(1,)", "{}", '{"a": 1}',
    "[]", "object()", "lambda *given: 1", "lambda *given: exit(0)", 'float("nan")', "1/0",
    '(Line(**{**LINE, "pattern": rb"("}),)',
    '(Line(**{**LINE, "pattern": "x"}),)', '(Line(**{**LINE, "pattern": rb"(?P<nonsense>x)"}),)', "range(10**9)",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["adapters", "dialects"])
def test_a_module_of_an_authors_is_used_or_refused(kind, tmp_path, chance, capsys):
    of, template = (Recipe, ADAPTER) if kind == "adapters" else (Dialect, DIALECT)
    changes = [(field.name, value) for field in fields(of) for value in EXPRESSIONS]
    chosen = changes if MANY > 6 else chance.sample(changes, 40)
    (tmp_path / "toynet.py").write_text(template % '"name": "good"')
    assert without_defect(capsys, kind, f"--{kind}", tmp_path) == 0
    for text in (*MODULES, *(template % f'"{name}": {value}' for name, value in chosen)):
        (tmp_path / "toynet.py").write_text(text)
        words = ("--device", "cpu", "--runs", tmp_path / "r", "--frameworks", "toynet") if kind == "adapters" else ()
        without_defect(capsys, "plan" if kind == "adapters" else "dialects", f"--{kind}", tmp_path, *words)


# the command line

NUMBERS = ["٣", "９", "-1", "1e400", "nan", "inf", "", "0x10", "5_0", "½", "9" * 30, "1" * 5000, "true", "{}"]
OPTIONS = {
    "plan": ("--repeats", "--steps", "--scales", "--batch-sizes", "--cores-per-device", "--retries",
             "--max-device-hours", "--seed", "--precision", "--xla"),
    "parse": ("--devices", "--batch-per-device", "--steps"),
    "sample": ("--hz", "--processes", "--devices-per-node", "--timeout", "--max-log-mb", "--threads"),  # none forks
}  # fmt: skip


@pytest.mark.parametrize("command", OPTIONS)
def test_a_number_that_is_none_is_refused(command, tmp_path, capsys):
    (tmp_path / "a.log").write_text(LOG)
    rest = {
        "plan": ["--frameworks", "pytorch", "--device", "cpu", "--runs", str(tmp_path / "runs")],
        "parse": [str(tmp_path / "a.log")],
        "sample": ["-o", str(tmp_path / "out"), "--", "/nonexistent"],
    }[command]
    for option in OPTIONS[command]:
        for number in NUMBERS if MANY > 6 else NUMBERS[::3]:
            try:
                code = cli.main([command, f"{option}={number}", *rest])
            except SystemExit as error:
                code = error.code
            out, said = capsys.readouterr()
            assert (code == 2 and "expected" in said + out) or "invalid" in said, (option, number, code, out, said)
    assert not (tmp_path / "runs").exists() and not (tmp_path / "out").exists()
