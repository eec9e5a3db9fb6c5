"""A machine that lacks something: every command says it in one sentence, and loses nothing. A small file system in
memory is the full disk; where none can be mounted, a limit on the size of a file is. By day some commands are tried, at
night all of them."""

import os
import resource
import subprocess
import sys

import pytest

from tests import runfolders
from tests.sources import NIGHTLY
from tests.toys import TOYNET

SMALL = ("--scales", "1x1", "--repeats", "1", "--steps", "5+60")
FACTS = tuple(f"--set={name}" for name in ("framework=pytorch", "model=m", "devices=1", "batch=32"))
TABLE = """\
framework,model,nodes,gpus_per_node,batch_size_per_gpu,precision,throughput,unit,run
pytorch,resnet50_v1.5,1,8,64,amp,1234.5,images/s,0
"""
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}


def evalsuite(*words, limit=None, under=(), **variables):
    """What the command gave and said, having checked that it is no defect of ours."""
    line = [*under, sys.executable, "-m", "evalsuite", *map(str, words)]
    variables = {**os.environ, **variables}
    done = subprocess.run(line, capture_output=True, text=True, timeout=400, env=variables, preexec_fn=limit)
    said = done.stderr + done.stdout
    assert done.returncode not in (1, -9) and "Traceback" not in said, said
    return done


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    """Run folders, a report, a log and a table on a disk with room."""
    folder = tmp_path_factory.mktemp("made")
    runfolders.finished(folder / "runs")
    (folder / "a.log").write_text("\n".join(runfolders.steps().lines) + "\n")
    (folder / "t.csv").write_text(TABLE)
    assert evalsuite("report", "--runs", folder / "runs", "--out", folder / "report").returncode == 0
    return folder


def commands(material, into, few=("import", "report", "publish")):
    """The commands that write, into the folder *into*: the *few*, or in the long series each of them."""
    every = {
        "import": ("import", material / "a.log", *FACTS, "--runs", into / "imported"),
        "table": ("import", material / "t.csv", "--runs", into / "cited"),
        "report": ("report", "--runs", material / "runs", "--out", into / "out", "--forms", "html,md,xlsx,zip,logs"),
        "publish": ("publish", material / "report", "--site", into / "site"),
        "sample": ("sample", "-o", into / "sample", "--", "/bin/echo", "hello"),
        "plan": ("plan", *TOYNET, *SMALL, "--runs", into / "runs"),
        "doctor": ("doctor", "--runs", into / "runs"),
        "run": ("run", *TOYNET, *SMALL, "--runs", into / "runs"),
    }
    return every if NIGHTLY else {name: every[name] for name in few}


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a file system of 160 MB of its own."""
    (tmp_path / "small").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", str(tmp_path / "small")]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("no mount here")
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    yield tmp_path / "small"
    subprocess.run(["umount", "--lazy", str(tmp_path / "small")], check=True)


@pytest.mark.parametrize("left_kb", [0, 12, 40] if NIGHTLY else [40])
def test_a_full_disk_is_one_sentence_and_with_room_again_all_goes_on(left_kb, material, small_disk):
    for name, words in commands(material, small_disk, ("report", "sample", "run")).items():
        free = os.statvfs(small_disk)
        (small_disk / "fill").write_bytes(bytes(max(0, free.f_bavail * free.f_frsize - left_kb * 1024)))

        full = evalsuite(*words)

        if full.returncode:
            assert full.returncode in (2, 125), name
            assert "No space left" in full.stderr or "free" in full.stderr, (name, full.stderr)
            assert str(small_disk) in full.stderr.splitlines()[-1], (name, full.stderr)
        assert [path for path in small_disk.rglob(".*.*") if path.is_file() and ".lock" not in path.name] == [], name
        (small_disk / "fill").unlink()
        assert name == "sample" or evalsuite(*words).returncode == 0, name


def test_a_limit_on_the_size_of_files_is_one_sentence(material, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    for name, words in commands(material, tmp_path).items():
        ended = evalsuite(*words, limit=limit)

        assert name in ("table", "sample", "plan", "doctor") or ended.returncode in (2, 4), name
        assert ended.stderr.count("\n") < 8


@pytest.mark.parametrize("files", [8, 32] if NIGHTLY else [32])
def test_few_files_are_enough_or_it_is_said(files, material, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    for name, words in commands(material, tmp_path, ("report", "sample")).items():
        ended = evalsuite(*words, limit=limit)

        assert ended.returncode == 0 or "oo many" in ended.stderr, (name, ended.stderr)
        assert files < 32 or ended.returncode == 0, (name, ended.stderr)


@pytest.mark.parametrize("megabytes", [40, 60, 100, 150, 250, 330, 400, 500, 600] if NIGHTLY else [120])
def test_an_evaluation_with_little_memory_ends_with_its_report_or_in_one_sentence(megabytes, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    ended = evalsuite(
        "compare", *TOYNET, *SMALL, "--share", "--runs", tmp_path / "runs", "--out", tmp_path / "out", limit=limit
    )

    assert (ended.returncode == 0) == (tmp_path / "out" / "report.html").is_file()
    assert ended.returncode == 0 or "memory" in ended.stderr.splitlines()[-1], ended.stderr


@pytest.mark.parametrize("language", ["zh", "en"] if NIGHTLY else ["zh"])
def test_a_terminal_without_unicode_stops_nothing(language, material, tmp_path):
    (tmp_path / "报告").mkdir()
    for name, words in commands(material, tmp_path / "报告").items():
        asked = ("--lang", language) if name in ("plan", "report", "run") else ()

        assert evalsuite(*words[:1], *asked, *words[1:], **ASCII).returncode == 0, name


@pytest.mark.parametrize("name", ["/".join(["y" * 200] * 12), os.fsdecode(b"caf\xe9\n"), "{rank}"])
def test_a_folder_of_any_name_is_written_to(name, material, tmp_path):
    place = tmp_path / name
    place.mkdir(parents=True)
    for command, words in commands(material, place, ("import",)).items():
        assert evalsuite(*words).returncode == 0, command


def test_a_name_that_no_file_system_takes_is_one_sentence(material, tmp_path):
    for name, words in commands(material, tmp_path / ("z" * 300)).items():
        ended = evalsuite(*words)

        assert ended.returncode in (0, 2), name
        assert ended.returncode == 0 or ended.stderr.count("\n") < 4


def test_with_a_cache_and_a_home_that_are_read_only_only_time_is_lost(material, tmp_path):
    under = ("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", tmp_path, tmp_path)
    try:
        works = subprocess.run([*map(str, under), "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        works = False
    if not works:
        pytest.skip("bubblewrap, which makes them so, cannot run here")
    for name, words in commands(material, tmp_path, ("import", "report", "publish", "run")).items():
        assert evalsuite(*words, under=[*map(str, under)], TMPDIR=str(tmp_path)).returncode == 0, name
    nowhere = evalsuite("run", *TOYNET, *SMALL, "--runs", tmp_path / "other", under=[*map(str, under)])
    assert nowhere.returncode == 2 and "TMPDIR=DIR" in nowhere.stderr.splitlines()[-1], nowhere.stderr


@pytest.mark.parametrize("outputs", [">&-", ">/dev/full 2>/dev/full", ">&- 2>&-"])
def test_an_evaluation_goes_on_where_nothing_can_be_printed(outputs, tmp_path):
    words = " ".join(
        map(str, [sys.executable, "-m evalsuite run", *TOYNET, *SMALL, "--share", "--runs", tmp_path / "runs"])
    )
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {words} {outputs}"], capture_output=True, timeout=400)

    assert (done.returncode, b"Traceback" in done.stderr) == (1, False)
    assert len(list(tmp_path.glob("runs/*/r0/outcome.json"))) == 1


@pytest.mark.parametrize("outputs", [">&-", "2>/dev/full", "| true"])
@pytest.mark.parametrize("name", ["report", "plan", "sample"])
def test_an_output_that_takes_nothing_stops_no_command(name, outputs, material, tmp_path):
    words = " ".join(map(str, commands(material, tmp_path, ("report", "plan", "sample"))[name]))
    line = f"{sys.executable} -m evalsuite {words} {outputs}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, timeout=400)

    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
