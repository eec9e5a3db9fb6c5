import os
import random
import re
import stat
import zipfile
from dataclasses import replace
from itertools import accumulate

import pytest

from evalsuite.agent.sampling import interval_s
from evalsuite.cli import main
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import Run, Window
from evalsuite.results.evaluation import evaluate
from evalsuite.results.samples import utilisation
from evalsuite.runs import archive
from evalsuite.runs.endings import Outcome
from evalsuite.runs.planned import Planned
from evalsuite.runs.samples import GpuReading, Header, Sample, Samples
from evalsuite.runs.store import RunFolder, Store
from tests import runfolders
from tests.toys import CASE

STEP_1_SHA256 = "b7126ac71c7f87a2146297b1bd0f53a934b2a189fd3d2995e1ff1358715560c4"  # of "step 1\n", by sha256sum
RUN = Run(case=replace(CASE, xla=True, options=(("image_size", "64"),)), repeat=2)


def test_a_run_comes_back_as_it_was_asked_with_the_hash_of_each_log(tmp_path):
    with Store(tmp_path).claim(RUN) as folder:
        assert folder.run() == RUN

    with Store(tmp_path).claim(RUN) as folder:
        folder.log_path("node0").write_bytes(b"step 1\n")
        folder.write_outcome(Outcome(status="completed", reason=""))
    assert folder.outcome().sha256 == {"log.node0.txt": STEP_1_SHA256}


def test_a_file_that_a_killed_agent_left_is_packed_while_the_run_ends(tmp_path, monkeypatch):
    with Store(tmp_path).claim(RUN) as folder:
        folder.log_path("node0").write_bytes(b"step 1\n")
        gone = iter([folder.path / "samples.node0.jsonl"])
        monkeypatch.setattr(RunFolder, "_recorded", lambda self: [folder.log_path("node0"), *gone])
        folder.write_outcome(Outcome(status="completed", reason=""))
    assert folder.outcome().sha256 == {"log.node0.txt": STEP_1_SHA256}


def test_logs_are_by_host_and_rank(tmp_path):
    folder = RunFolder(tmp_path)
    for host, rank in (("b", None), ("a", 10), ("a", 2)):
        folder.log_path(host, rank).write_bytes(b"")

    assert [(log.host, log.rank) for log in folder.logs()] == [("a", 2), ("a", 10), ("b", None)]


HEADER = '{"header": true, "hz": 2}\n'


@pytest.mark.parametrize(
    ("content", "tables"),
    [
        (HEADER + '{"at_s": 0.5}\n{"at_s": 1.0, "cpu_pe', {"at_s": {"": [0.5]}}),  # a half-written one is left out
        *((content, None) for content in (None, "", '{"header": tr')),
    ],
)
def test_samples_are_the_whole_lines_of_a_host(content, tables, tmp_path):
    folder = RunFolder(tmp_path)
    if content is not None:
        folder.samples_path("a").write_text(content)

    assert folder.samples("a") == (tables and Samples(header=Header(hz=2), tables=tables))


def test_a_runs_folder_that_is_no_folder_is_an_error(tmp_path):
    (tmp_path / "runs").write_text("")
    store = Store(tmp_path / "runs")

    with pytest.raises(EvalsuiteError, match="it is a file, and a folder is needed"), store.claim(RUN):
        pass
    with pytest.raises(EvalsuiteError, match="a folder is needed"):
        store.write_plan(Planned(profile="quick", repeats=1, cases=(), skips=()))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("../../x", "1"), ("image_size", "../../../x"), ("data", "a/b"), ("data", "a\0b")),
        *(("words", value) for value in ("$(touch hit); rm -rf ~", "字" * 60, "x" * 5000, "two\nlines")),
    ],
)
def test_a_case_of_any_name_has_one_folder_directly_below_the_root(name, value, tmp_path):
    case = replace(CASE, options=((name, value),))
    store, run = Store(tmp_path / "runs"), Run(case=case, repeat=0)

    with store.claim(run) as folder:
        folder.write_outcome(Outcome(status="completed", reason=""))

    (made,) = [path for path in (tmp_path / "runs").iterdir() if path.is_dir()]
    assert len(made.name) <= 180 and re.fullmatch(r"[\w.+,=@-]+", made.name, re.ASCII)
    assert [each.run() for each in store.finished()] == [run]
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_a_run_from_elsewhere_stands_in_its_place_whole_or_not_at_all(tmp_path):
    store, run, whole = Store(tmp_path), Run(case=CASE, repeat=0), Outcome(status="completed", reason="")

    with pytest.raises(KeyError):
        store.add(run, lambda folder: folder.write_outcome(whole) or {}["the script ended here"])
    assert not list(tmp_path.glob("*/*"))

    assert store.add(run, lambda folder: store.add(run, lambda late: late.write_outcome(whole))) is None
    assert store.add(run, lambda folder: None) is None and len(store.finished()) == 1


def test_two_cases_whose_names_are_alike_at_the_beginning_have_two_folders(tmp_path):
    cases = [replace(CASE, options=(("words", f"{'x' * 500}{end}"),)) for end in "ab"]

    assert len({Store(tmp_path).folder(Run(case=case, repeat=0)).path for case in cases}) == 2


def test_a_run_that_was_made_again_is_none_any_more_and_a_renamed_folder_is_refused_with_both_names(tmp_path):
    store = Store(tmp_path)
    with store.claim(Run(case=CASE, repeat=0)) as folder:
        folder.write_outcome(Outcome(status="completed", reason=""))

    assert store.set_aside(folder, "redone").name == "redone-r0-1"
    assert store.finished() == []

    with Store(tmp_path).claim(Run(case=CASE, repeat=0)) as folder:
        folder.write_outcome(Outcome(status="completed", reason=""))
    folder.path.rename(folder.path.with_name("r7"))

    with pytest.raises(EvalsuiteError, match=r"r0, and the folder is called .*/r7; expected the same"):
        Store(tmp_path).finished()[0].check_name(Run(case=CASE, repeat=0))


def test_files_that_a_killed_process_was_writing_are_swept_and_none_that_is_being_written(tmp_path):
    old, new = tmp_path / ".plan.json.abcdefgh", tmp_path / ".plan.json.hgfedcba"
    for file in (old, new):
        file.write_text("{")
    os.utime(old, (1, 1))

    Store(tmp_path).write_plan(Planned(profile="p", repeats=1, cases=(CASE,), skips=()))

    assert not old.exists() and new.exists()


# run folders in one ZIP: the same evaluation, and nothing outside its folder


RECORDED = paths.DATA / "recorded"


@pytest.mark.parametrize("prefix", ["", "runs/"])
def test_an_archive_gives_the_evaluation_of_its_folder(prefix, tmp_path):
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as file:
        for path in sorted(RECORDED.rglob("*")):
            file.write(path, prefix + path.relative_to(RECORDED).as_posix())

    assert evaluate(Store(archive.unpack(tmp_path / "runs.zip"))) == evaluate(Store(RECORDED))
    assert archive.unpack(RECORDED) == RECORDED  # a folder stays where it is


LINK = zipfile.ZipInfo("a")
LINK.external_attr = (stat.S_IFLNK | 0o777) << 16


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/x", "./plan.json", LINK], ids=str)
def test_an_archive_that_leaves_its_folder_or_has_a_name_twice_is_refused(name, tmp_path):
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as file:
        for each in ("plan.json", name):
            file.writestr(each, "x")

    with pytest.raises(EvalsuiteError, match="expected files below its folder, each once, and no links"):
        archive.unpack(tmp_path / "runs.zip")


def test_an_archive_that_is_too_large_or_none_is_refused(tmp_path, monkeypatch, capsys):
    (tmp_path / "none.zip").write_bytes(b"none")
    with zipfile.ZipFile(tmp_path / "large.zip", "w") as file:
        file.writestr("a", "x" * 11)
    monkeypatch.setattr(archive, "MOST_BYTES", 10)

    assert main(["report", "--runs", str(tmp_path / "none.zip"), "--out", str(tmp_path / "out")]) == 2
    assert "expected a ZIP of run folders" in capsys.readouterr().err
    with pytest.raises(EvalsuiteError, match="got 1 files"):
        archive.unpack(tmp_path / "large.zip")


# readings at varied intervals: a load that goes in step with the sensors is seen as it is


HZ = 2.0
SECONDS = 200


def busy_share(intervals, period_s, phase):
    """What is read of a device that works half of each *period_s*, at times apart by *intervals*."""
    times = [at_s for at_s in accumulate(intervals, initial=0.0) if at_s <= SECONDS]
    gpu = [GpuReading(index=0, utilisation_percent=100.0 * ((at_s / period_s + phase) % 1 < 0.5)) for at_s in times]
    header = Header.from_json({"header": True, "hz": HZ, "gpus": [{"index": 0}]}, "file")
    samples = runfolders.sampled(header, (Sample(at_s=at, gpus=(of,)) for at, of in zip(times, gpu, strict=True)))
    window = Window(first_step=1, last_step=2, steps=2, begin_s=1.0, end_s=SECONDS - 1.0)
    (figure,), findings = utilisation.of_job({"a": samples}, window)
    assert not findings and figure.coverage > 0.99
    return figure.mean


def draw_intervals(seed):
    random.seed(seed)
    return [interval_s(1 / HZ, random.uniform(-1, 1)) for _ in range(round(1.2 * HZ * SECONDS))]


@pytest.mark.parametrize("phase", [0.0, 0.2, 0.5, 0.7])
def test_a_load_in_step_with_the_readings_is_neither_all_nor_nothing(phase):
    even = [1 / HZ] * round(HZ * SECONDS)

    assert busy_share(even, 1 / HZ, phase) in (0.0, 100.0)  # what a strict grid made of it
    assert all(30 < busy_share(draw_intervals(seed), 1 / HZ, phase) < 70 for seed in range(10))


def test_an_imported_log_is_for_its_owner_alone(tmp_path):
    (tmp_path / "a.log").write_text("\n".join(runfolders.steps().lines))
    facts = [f"--set={name}" for name in ("framework=pytorch", "model=m", "devices=1", "batch=32")]

    assert main(["import", str(tmp_path / "a.log"), *facts, "--runs", str(tmp_path / "runs")]) == Exit.DONE

    assert [stat.S_IMODE(log.stat().st_mode) for log in tmp_path.glob("runs/*/r0/log.*.txt")] == [0o600]


@pytest.mark.parametrize(("lost", "cure"), [(False, "import LOGS --runs NEW"), (True, "--redo failed")])
def test_a_report_without_a_value_names_the_next_step_that_there_is_and_ends_so_with_a_damaged_run(
    lost, cure, tmp_path, capsys
):
    (tmp_path / "a.log").write_text("loss 3\n")
    facts = [f"--set={name}" for name in ("framework=pytorch", "model=m", "devices=1", "batch=32", "precision=fp32")]
    runs = ["--runs", str(tmp_path / "runs")]
    main(["import", str(tmp_path / "a.log"), *facts, *runs])
    for file in tmp_path.glob("runs/*/r0/command.json") if lost else ():
        file.unlink()

    assert main(["report", *runs, "--out", str(tmp_path / "out")]) == Exit.NOTHING_MEASURED
    assert cure in capsys.readouterr().err
