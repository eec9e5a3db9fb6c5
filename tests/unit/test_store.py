import os
import re
from dataclasses import replace

import pytest

from evalsuite.errors import EvalsuiteError
from evalsuite.model import Run
from evalsuite.runs.endings import Outcome
from evalsuite.runs.planned import Planned
from evalsuite.runs.samples import Header, Samples
from evalsuite.runs.store import RunFolder, Store
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


def test_logs_are_given_by_host_and_rank(tmp_path):
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
    with pytest.raises(EvalsuiteError, match="must be writable"):
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
    assert [found.run() for found in store.finished()] == [run]
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_two_cases_whose_names_are_alike_at_the_beginning_have_two_folders(tmp_path):
    cases = [replace(CASE, options=(("words", f"{'x' * 500}{end}"),)) for end in "ab"]

    assert len({Store(tmp_path).folder(Run(case=case, repeat=0)).path for case in cases}) == 2


def test_a_run_that_was_made_again_is_no_run_any_more(tmp_path):
    store = Store(tmp_path)
    with store.claim(Run(case=CASE, repeat=0)) as folder:
        folder.write_outcome(Outcome(status="completed", reason=""))

    assert store.set_aside(folder, "redone").name == "redone-r0-1"
    assert store.finished() == store.unfinished() == []


def test_a_folder_that_was_renamed_is_refused_with_both_names(tmp_path):
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
