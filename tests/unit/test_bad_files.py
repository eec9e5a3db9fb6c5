"""Bad values in every file that evalsuite reads are refused, and any change of any file makes no traceback. Some of the
generated ones by day, all of them at night; EVALSUITE_SEED for others."""

import gzip
import json
import os
import random
import shutil
import socket
import stat
import time
import tomllib
import tracemalloc
import zipfile
from dataclasses import fields, replace
from itertools import product
from pathlib import Path

import pytest

from evalsuite import cli
from evalsuite.contracts.adapter import Recipe
from evalsuite.contracts.dialect import Dialect
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.finished import finished
from evalsuite.results.evaluation import evaluate
from evalsuite.runs import archive
from evalsuite.runs.store import RunFolder, Store
from tests import bad_files, reports, sources, synthetic
from tests.bad_files import COMMANDS, LOG, RECORDS, SEED, WRITTEN, World, torn
from tests.sources import NIGHTLY, leave

MANY = 120 if NIGHTLY else 6  # changes of each kind of file
KINDS = sorted({*WRITTEN, *RECORDS, "csv", "summary"})
RECORDINGS = ("log.n0.txt", "arrivals.n0.csv", "SAMPLES")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World.make(tmp_path_factory.mktemp("world"))


@pytest.fixture(autouse=True)
def nowhere_to_fetch_from(world, monkeypatch, request):
    of_repositories = "repositories" in request.node.name
    monkeypatch.setenv("EVALSUITE_CACHE", str(world.outputs if of_repositories else world.root / "cache"))
    monkeypatch.setenv("PATH", str(world.root))  # no git


@pytest.fixture
def chance(request):
    return random.Random(f"{SEED} {request.node.name}")


CALLS = {"tried": 0, "bad": 0}


@pytest.fixture(scope="module", autouse=True)
def _figures():
    yield
    leave("bad_inputs", "tests/unit/test_bad_files.py", **CALLS)


@pytest.fixture
def call(capsys, monkeypatch):
    """Calls a command, which may do or refuse it: with a documented exit code, and no traceback."""
    begun = lambda *_: pytest.fail("the agent has begun, which would fork the tests")  # noqa: E731
    monkeypatch.setattr("evalsuite.agent.watchdog.start_watchdog", begun)

    def called(*words):
        CALLS["tried"] += 1
        CALLS["bad"] += 1  # until it has ended as it should
        try:
            code = cli.main([str(word) for word in words])
        except SystemExit as error:  # argparse
            code = error.code
        out, said = capsys.readouterr()
        assert code in (0, 2, 3, 4, 5, 6), (code, said)
        assert "Traceback" not in said and "\x1b" not in said + out
        CALLS["bad"] -= 1
        return code, out + said

    return called


TOO_MUCH_TOML = {
    "digits": "seed = " + "9" * 5000,
    "hexadecimal digits": "seed = 0x" + "f" * 5000,
    "depth": "frameworks = " + "[" * 100_000,
    "dots": ".".join("a" * 50_000) + " = 1",
    "lines": "a = 1\n" * 60_000,
    "values": "a = [" + "1," * 1_900_000 + "]",
    "bytes": "#" * 5_000_000,
}


TOO_MUCH_JSON = {
    "digits": '{"a": ' + "9" * 5000 + "}",
    "depth": '{"a": ' + "[" * 100_000,
    "keys": "{" + ",".join(f'"k{number % 199_999}":1' for number in range(200_000)) + "}",  # one twice
    "values": '{"a": [' + "[]," * 3_000_000 + "1]}",
}


TOO_MUCH = {
    **{(kind, what): TOO_MUCH_TOML[what] for kind in WRITTEN if kind != "repositories" for what in TOO_MUCH_TOML},
    **{(kind, what): TOO_MUCH_JSON[what] for kind in (*sorted(RECORDS), "summary") for what in TOO_MUCH_JSON},
}


@pytest.mark.parametrize(("kind", "what"), TOO_MUCH)
def test_a_file_beyond_all_measure_is_refused_at_once(kind, what, world, capsys):
    begin = time.process_time()

    assert world.how_taken(kind, TOO_MUCH[kind, what].encode(), capsys.readouterr) is None
    assert time.process_time() - begin < 3


BLOCKS = {  # lines of packed samples that unpack to more than any run
    "readings": b'{"readings":4096,"quantities":{}}\n' * 10_000,
    "lines": b"\n" * 30_000_000,
}


@pytest.mark.parametrize("what", BLOCKS)
def test_packed_samples_beyond_all_measure_are_refused_at_once(what, world):
    file = recording(world, "SAMPLES")
    header = gzip.decompress(file.read_bytes()).split(b"\n")[0]
    begin = time.process_time()
    with bad_files.replaced(file, gzip.compress(header + b"\n" + BLOCKS[what])):
        assert world.refuse_record("log", file.name) is None
        with pytest.raises(EvalsuiteError, match=r"packed|readings|cut off"):
            RunFolder(world.folder).samples("n0")
    assert time.process_time() - begin < 3


# what is refused


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "repositories"])
def test_a_sound_file_is_taken(kind, world, capsys):
    how = world.how_taken(kind, world.file(kind).read_bytes(), capsys.readouterr)
    shutil.rmtree(world.outputs, ignore_errors=True)

    assert how is not None


def test_the_sound_run_counts_and_nothing_is_said_of_it(world):
    evaluation = evaluate(Store(world.root / "runs"))

    assert [summary.n for summary in evaluation.summaries] == [1]
    assert {finding.severity for finding in evaluation.findings} <= {"note", "flag"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_bad_value_of_the_table_is_refused(kind, world, capsys):
    sound = world.file(kind).read_bytes()
    taken = {
        (key, bad): how
        for key, bad in bad_files.rows(kind)
        if (how := world.how_taken(kind, bad_files.by_row(kind, sound, key, bad), capsys.readouterr))
    }

    assert not taken, "\n".join(f"{what}: {how}" for what, how in taken.items())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("csv", "summary")])
def test_no_file_with_a_wrong_value_anywhere_is_taken(kind, world, chance, capsys):
    tried = dict(bad_files.wrong(kind, world.file(kind).read_bytes(), chance))
    taken = {what: how for what, bad in tried.items() if (how := world.how_taken(kind, bad, capsys.readouterr))}

    assert not taken, "\n".join(f"{what}: {how}" for what, how in taken.items())


def test_no_summary_of_a_report_with_a_wrong_value_is_read(world, chance):
    file, taken = world.file("summary"), []
    tried = list(bad_files.wrong("summary", file.read_bytes(), chance))
    for what, bad in tried:
        with bad_files.replaced(file, bad):
            try:
                finished.read(file.parent)
                taken.append(what)
            except EvalsuiteError as error:
                assert str(file) in str(error)

    assert len(tried) > 200
    assert taken == []


def recording(world, name):
    """The file of a run's log, arrival times or packed samples."""
    folder = RunFolder(world.folder)
    return folder.packed_samples_path("n0") if name == "SAMPLES" else world.folder / name


@pytest.mark.parametrize("name", RECORDINGS)
def test_no_recording_is_taken_that_is_not_what_was_recorded(name, world, chance):
    file = recording(world, name)
    content = file.read_bytes()
    at = chance.randrange(len(content))
    flipped = bytes([*content[:at], content[at] ^ 1, *content[at + 1 :]])
    for bad in (content[: len(content) // 2], b"", content[:-1], flipped, content * 2):
        with bad_files.replaced(file, bad):
            assert world.refuse_record("log", file.name) is None


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_hash_that_is_taken_out_or_another_is_told(name, world):
    file, name = world.file("outcome"), recording(world, name).name
    facts = json.loads(file.read_bytes())
    for make in (None, lambda digest: digest[::-1]):
        with bad_files.replaced(file, bad_files.as_json(bad_files.changed(facts, ("sha256", name), make))):
            findings = evaluate(Store(world.root / "runs")).findings
        assert any(name in str(finding) for finding in findings if finding.severity == "exclude")


def test_a_report_of_devices_that_are_cores_is_read_back(tmp_path):
    of = replace(synthetic.case(protocol=synthetic.FULL), device="cpu", cores_per_device=4)
    folder = reports.written(tmp_path / "report", reports.evaluation(reports.summary(of=of)))

    assert [summary.case for summary in finished.read(folder).summaries] == [of]


def test_a_matrix_that_nobody_could_run_is_refused_before_it_is_unrolled(world, call):
    scales, batches = json.dumps([f"1x{devices}" for devices in range(1, 25)]), json.dumps([*range(1, 1001)])
    text = bad_files.toml({**WRITTEN["spec"], "scales": scales, "batch_per_device": batches})
    with bad_files.replaced(world.file("spec"), text.encode()):
        code, said = call(*world.words("spec"))

    assert (code, "the axes make 24000 cases" in said) == (Exit.USAGE, True)


def test_the_files_that_a_plan_reads_are_read_once_and_not_for_each_case(world, call, monkeypatch):
    read = []
    loads = tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text: read.append(text) or loads(text))
    text = bad_files.toml({**WRITTEN["spec"], "batch_per_device": json.dumps([*range(1, 201)])})
    with bad_files.replaced(world.file("spec"), text.encode()):
        code, out = call(*world.words("spec"), "--json")

    assert code == Exit.NOTHING_MEASURED
    assert len(json.loads(out)["skips"]) == 200
    assert len(read) < 20


# what makes no traceback, whatever comes of it


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_file_is_used_or_refused(kind, world, chance, call, tmp_path):
    file = world.file(kind)
    sound = file.read_bytes()
    values = [bad for table in bad_files.TABLES.glob("*.txt") for _, bad in bad_files.rows(table.stem)]
    for attempt in range(MANY):
        content = torn(sound, chance)
        if attempt % 2 and file.suffix == ".json":
            content = bad_files.altered(json.loads(sound), chance)
        elif attempt % 2 and kind in WRITTEN:
            key = chance.choice(list(WRITTEN[kind]))
            content = bad_files.toml({**WRITTEN[kind], key: chance.choice(values)}).encode()
        with bad_files.replaced(file, content):
            if kind in COMMANDS:
                made = str(tmp_path / str(attempt))
                call(*(word.replace(str(world.outputs), made) for word in world.words(kind)))
            else:
                evaluate_or_refuse(world)


def evaluate_or_refuse(world):
    try:
        evaluate(Store(world.root / "runs"))
    except EvalsuiteError as error:
        assert 20 < len(str(error)) < 3000


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_changed_recording_makes_a_report_or_a_reason(name, world, chance):
    file = recording(world, name)
    for _ in range(MANY):
        with bad_files.replaced(file, torn(file.read_bytes(), chance)):
            evaluate_or_refuse(world)


@pytest.mark.parametrize("kind", ["samples", "packed runs"])
def test_changed_packed_files_are_read_to_their_end_or_refused(kind, world, tmp_path, chance):
    packed = Path(shutil.make_archive(str(tmp_path / "runs"), "zip", world.root / "runs"))
    file = recording(world, "SAMPLES") if kind == "samples" else packed
    for _ in range(MANY * 5):
        archive._unpacked.cache_clear()
        with bad_files.replaced(file, torn(file.read_bytes(), chance)):
            try:
                if kind == "samples":
                    dict(RunFolder(world.folder).samples("n0").tables)
                else:
                    shutil.rmtree(archive.unpack(file))
            except EvalsuiteError as error:
                assert file.name in str(error)


PACKED = {"log": bytes, "gz": gzip.compress}


@pytest.mark.parametrize("kind", PACKED)
def test_a_changed_log_says_what_it_says(kind, tmp_path, chance, call):
    file = tmp_path / f"a.{kind}"
    for attempt in range(MANY):
        inside = torn(LOG.encode(), chance) if attempt % 2 else LOG.encode()
        file.write_bytes(torn(PACKED[kind](inside), chance))
        call("parse", file, "--devices", "8", "--batch-per-device", "32", "--json")


def test_a_bomb_of_a_log_is_read_in_little_memory(tmp_path, call):
    (tmp_path / "b.gz").write_bytes(gzip.compress(LOG.encode() + bytes(30_000_000)))
    tracemalloc.start()

    call("parse", tmp_path / "b.gz", "--devices", "1", "--batch-per-device", "32")

    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 25_000_000


SPECIAL = {
    "link": lambda file: file.symlink_to("/etc/passwd"),
    "loop": lambda file: file.symlink_to(file.name),
    "pipe": lambda file: os.mkfifo(file),
    "socket": lambda file: socket.socket(socket.AF_UNIX).bind(str(file)),
    "device": lambda file: os.mknod(file, stat.S_IFCHR | 0o600, os.makedev(1, 5)),  # /dev/zero; may need root
    "kernel": lambda file: file.symlink_to("/proc/self/pagemap"),  # hundreds of TB
    "hole": lambda file: os.truncate(os.open(file, os.O_CREAT | os.O_WRONLY), 1 << 40),
}


@pytest.fixture
def short(tmp_path_factory, monkeypatch):
    """A folder with a name short enough for a socket."""
    monkeypatch.chdir(tmp_path_factory.mktemp("s"))
    return Path()


@pytest.mark.parametrize("kind", SPECIAL)
def test_nothing_that_is_no_file_is_opened_for_a_file_of_a_run(kind, world, short):
    shutil.copytree(world.root / "runs", short / "runs")
    folder = RunFolder(next((short / "runs").glob("*/r0")))
    for file in sorted(folder.path.iterdir()):
        file.rename("aside")
        SPECIAL[kind](file)
        try:
            evaluate(Store(short / "runs"))
        except EvalsuiteError as error:
            assert file.name in str(error)
        file.unlink()
        Path("aside").rename(file)


def test_no_link_is_copied_for_others_as_a_log(world, short, call):
    shutil.copytree(world.root / "runs", short / "runs")
    log = RunFolder(next((short / "runs").glob("*/r0"))).logs()[0].path
    log.unlink()
    log.symlink_to("/etc/passwd")

    call("report", "--runs", "runs", "--out", "out", "--forms", "html,logs")

    with zipfile.ZipFile("out/report-logs.zip") as archive:
        assert not [name for name in archive.namelist() if b"root:" in archive.read(name)]


@pytest.mark.parametrize("kind", [kind for kind in SPECIAL if kind != "hole"])
def test_nothing_that_is_no_file_is_locked_or_published_or_imported(kind, world, short, call):
    shutil.copytree(world.root / "report", short / "report")
    (short / "site").mkdir()
    SPECIAL[kind](short / "site" / ".publish.lock")
    assert call("publish", "report", "--site", "site")[0] == Exit.USAGE
    SPECIAL[kind](short / "report" / "more.csv")
    assert call("publish", "report", "--site", "other")[0] == Exit.USAGE
    (short / "kept").mkdir()
    SPECIAL[kind](short / "kept" / "report.html")
    assert call("report", "--runs", world.root / "runs", "--out", "kept")[0] == Exit.USAGE
    assert not stat.S_ISREG(os.lstat("kept/report.html").st_mode)
    (short / "logs").mkdir()
    SPECIAL[kind](short / "logs" / "a.log")
    assert call("import", "logs", "--runs", "imported")[0] in (2, 3)
    assert kind == "link" or call("import", "logs/a.log", "--runs", "imported")[0] in (2, 3)


NAMED = sources.table("bad_files.toml")["named"]


@pytest.mark.parametrize("kind", ["loop", "pipe", "socket", "device", "kernel"])
def test_nothing_that_is_no_file_is_waited_for_where_a_person_names_it(kind, world, short, call, monkeypatch):
    monkeypatch.setenv("EVALSUITE_SENSORS", "")  # --sensors sets it
    shutil.copytree(world.root / "runs", short / "runs")
    shutil.copytree(world.root / "report", short / "report")
    Path("runs/plan.json").unlink()
    for name in ("named.py", "repositories.toml", "runs/plan.json"):
        SPECIAL[kind](short / name)

    for words in NAMED:
        code, said = call(*words.split())
        assert (code, len(said) < 1000) == (Exit.USAGE, True), (words, said)


@pytest.mark.parametrize(("ends", "cell"), [("\r", "x"), ("\r\n", "x"), ("\n", "x" * 300_000)])
def test_a_table_of_any_line_ends_is_read_and_one_with_a_cell_beyond_measure_is_refused(ends, cell, tmp_path, call):
    head, row = "framework,model,gpus,batch,throughput,unit,note", f"pytorch,resnet50_v1.5,1,64,1000,images/s,{cell}"
    (tmp_path / "t.csv").write_text(f"{head}{ends}{row}{ends}", newline="")

    code, said = call("import", tmp_path / "t.csv", "--runs", tmp_path / "runs")

    assert (code, "t.csv:2" in said) == (0 if cell == "x" else 2, True)


# modules of authors

MODULES = sources.table("bad_files.toml")["modules"]
ADAPTER = sources.text("bad_files_adapter.py.in")
DIALECT = sources.text("bad_files_dialect.py.in")
EXPRESSIONS = sources.table("bad_files.toml")["expressions"]


@pytest.mark.parametrize("kind", ["adapters", "dialects"])
def test_a_module_of_an_authors_is_used_or_refused(kind, tmp_path, chance, call):
    of, template = (Recipe, ADAPTER) if kind == "adapters" else (Dialect, DIALECT)
    changes = [(field.name, value) for field in fields(of) for value in EXPRESSIONS]
    chosen = changes if NIGHTLY else chance.sample(changes, 40)
    (tmp_path / "toynet.py").write_text(template % '"name": "good"')
    assert call("adapters", *(() if kind == "adapters" else (kind,)), f"--{kind}", tmp_path)[0] == 0
    for text in (*MODULES, *(template % f'"{name}": {value}' for name, value in chosen)):
        (tmp_path / "toynet.py").write_text(text)
        words = ("--device", "cpu", "--runs", tmp_path / "r", "--frameworks", "toynet") if kind == "adapters" else ()
        call(*(["plan"] if kind == "adapters" else ["adapters", "dialects"]), f"--{kind}", tmp_path, *words)


def test_a_command_that_no_process_takes_is_refused(tmp_path, call):
    (tmp_path / "toynet.py").write_text(ADAPTER.replace('"train.py"', r'"a\0b"') % '"name": "good"')
    words = "--frameworks toynet --models toy --recipe good --device cpu --environment current"

    code, said = call("plan", "--adapters", tmp_path, *words.split(), "--runs", tmp_path / "runs")
    assert (code, "NUL" in said) == (Exit.USAGE, True)


HARMFUL = {
    "unit": DIALECT % '"unit": "apples"',
    "it/s": DIALECT % '"unit": "it/s"',
    "yields_to": DIALECT % '"yields_to": ("no_such",)',
    "yields_to: no other": DIALECT % '"yields_to": ("mine",)',
    "twice": DIALECT % '"notes": ""' + "DIALECTS = (*DIALECTS, *DIALECTS)",
}


@pytest.mark.parametrize("what", HARMFUL)
def test_a_dialect_that_can_mean_nothing_is_refused(what, tmp_path, call):
    (tmp_path / "mine.py").write_text(HARMFUL[what])
    code, said = call("adapters", "dialects", "--dialects", tmp_path)

    assert (code, str(tmp_path / "mine.py") in said, what in said) == (Exit.USAGE, True, True)


# the command line

NUMBERS = ["٣", "９", "-1", "1e400", "nan", "inf", "", "0x10", "5_0", "½", "9" * 30, "1" * 5000, "²", "true", "{}"]
OPTIONS = sources.table("bad_files.toml")["options"]


LAUNCHED = {
    "SLURM_JOB_NODELIST": ("gpu[²]", "gpu[0-999999999999]", "a[0-9999]b[0-9999]", f"gpu[{'9' * 5000}]"),
    "SLURM_NODEID": ("²", "9" * 5000),
    "EVALSUITE_NODE_RANK": ("²", "9" * 5000),
    "OMPI_COMM_WORLD_RANK": ("²", "9" * 5000),
}


@pytest.mark.parametrize("name", LAUNCHED)
def test_a_launchers_variable_with_a_number_that_is_none_is_refused(name, monkeypatch, tmp_path, call):
    for variable in ("SLURM_NNODES", "SLURM_STEP_ID", "SLURM_NODEID") if "SLURM" in name else ("OMPI_COMM_WORLD_SIZE",):
        monkeypatch.setenv(variable, "2")
    for value in LAUNCHED[name]:
        monkeypatch.setenv(name, value)
        assert call("sample", "--share", "-o", tmp_path / "out", "--", "/nonexistent")[0] == Exit.USAGE, value[:20]


@pytest.mark.parametrize("command", OPTIONS)
def test_a_number_that_is_none_is_refused(command, short, call):
    (short / "a.log").write_text(LOG)
    rest, *options = OPTIONS[command]
    for option, number in product(options, NUMBERS if NIGHTLY else NUMBERS[::3]):
        code, said = call(command, f"{option}={number}", *rest.split())
        told = any(word in said for word in ("expected", "invalid", "unknown", "there is no", "proven", "too long"))
        assert (code, told) == (Exit.USAGE, True), (option, number, said)
    assert [path.name for path in short.iterdir()] == ["a.log"]


def test_a_report_is_not_written_among_runs(tmp_path, capsys):
    (tmp_path / "runs" / "case" / "r0").mkdir(parents=True)
    (tmp_path / "runs" / "case" / "r0" / "case.json").touch()
    places = ("runs", "runs/case", "runs/case/r0", "runs/case/r0/x")
    for command, of, out in product(("report", "compare"), ("runs", "others"), places):
        line = [command, "--runs", str(tmp_path / of), "--out", str(tmp_path / out)]
        assert (cli.main(line), "Try --out DIR" in capsys.readouterr().err) == (Exit.USAGE, True)
    assert [path.name for path in tmp_path.rglob("*")] == ["runs", "case", "r0", "case.json"]
