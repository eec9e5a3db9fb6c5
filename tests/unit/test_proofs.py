"""A number's receipt in place: what a value is counted from, the lines of its log, and a command that runs."""

import json
import os
import re
import shlex
import zipfile
from dataclasses import replace

import pages
import pytest
import synthetic

from evalsuite import report
from evalsuite.contracts.dialect import Dialect, Line
from evalsuite.core import paths
from evalsuite.core.documents import ReadData
from evalsuite.logs import excerpt, reading
from evalsuite.report import forms
from evalsuite.report.book.book import Book
from evalsuite.report.sections.reproduction import provenance
from evalsuite.report.text import numbers
from evalsuite.results import evaluation
from evalsuite.results.measure.summary import median_run
from evalsuite.runs import archive
from evalsuite.runs.store import Store

DIALECT = Dialect(
    name="toy",
    title="toy",
    framework="pytorch",
    unit="images/s",
    step=(Line(pattern=rb"step (?P<step>\d+) took (?P<seconds>[\d.]+) s", sample=b"step 1 took 0.1 s", source="none"),),
    scope="global",
    averaging="step",
)


@pytest.fixture(scope="module")
def recorded():
    return evaluation.evaluate(Store(archive.unpack(paths.DATA / "recorded.zip")))


def quotient(items: str, passed: str) -> float:
    """As `templates/script/recount.js` has it."""
    each, ends = list(map(float, items.split())), list(map(float, passed.split()))
    return sum(each if len(each) > 1 else each * len(ends)) / ends[-1]


def test_the_value_of_every_recorded_run_is_counted_again_to_its_digits(recorded):
    runs = [run for summary in recorded.summaries for run in summary.measurements if run.counts]

    again = {run.run.id: numbers.throughput(quotient(*provenance.total(run).split("/"))).text for run in runs}
    assert len(again) > 100
    assert again == {run.run.id: numbers.throughput(run.value).text for run in runs}


def test_the_lines_shown_are_those_of_the_log(recorded):
    for summary in Book(evaluation=recorded).valid:
        run = median_run(summary)
        log = (archive.unpack(paths.DATA / "recorded.zip") / run.log).read_bytes().split(b"\n")

        assert 2 <= len(run.lines) <= 3 or b"\r" in log[run.lines[0].number - 1]  # a bar is one line
        for line in run.lines:
            plain = re.sub(r"\x1b\[[0-9;]*[A-Z]", "", log[line.number - 1].decode())
            assert line.text.split("\n")[0] in plain  # of a bar, its last state
            assert line.read and all(line.text[begin:end].strip() for begin, end in line.read)


@pytest.mark.parametrize("before", ["时间", "x" * 900, "--password=hunter2x"])
def test_what_was_read_of_a_line_is_marked_a_long_one_cut_there_and_a_secret_taken_out(tmp_path, before):
    log = tmp_path / "log.txt"
    log.write_text("".join(f"{before} step {n} took 0.{n % 7 + 1} s\n" for n in range(1, 140)), "utf-8")
    found = reading.read_file(log, dialect="toy", devices=1, batch_per_device=8, dialects={"toy": DIALECT})
    lines = excerpt.excerpt([log], found, DIALECT)

    assert [line.number for line in lines] == [21, 71, 120]
    assert [[line.text[a:b] for a, b in line.read] for line in lines] == [["21", "0.1"], ["71", "0.2"], ["120", "0.2"]]
    assert all(len(line.text) <= excerpt.LONGEST and "hunter2x" not in line.text for line in lines)


@pytest.mark.parametrize(("rates", "kept"), [(("20",), True), (("2",), False), (("20", "5"), False)])
def test_the_samples_per_second_of_all_runs_are_asked_for_again(rates, kept):
    quick = synthetic.quick()
    said = {
        name: replace(each, argv=("sample", "--hz", rates[number % len(rates)]))
        for number, (name, each) in enumerate(quick.commands.items())
    }

    again = [row["again"] for row in provenance.series(Book(evaluation=replace(quick, commands=said)))]

    assert again and all(("--hz 20" in each) is kept for each in again)


def test_what_the_runs_read_is_made_first_and_the_names_of_their_nodes_are_said_to_be_theirs():
    quick, read = synthetic.quick(), (ReadData(name="llama-tiny", size="tiny"),)
    changes = {"data_sets": read, "argv": ("doctor", "--hosts", "a,b")}
    said = {name: replace(each, **changes) for name, each in quick.commands.items()}

    rows = provenance.series(Book(evaluation=replace(quick, commands=said)))

    assert {row["again"].splitlines()[0] for row in rows} == {"python -m evalsuite data make llama-tiny"}
    assert {place["hosts"] for row in rows for place in row["cases"]} == {"a, b"}


def command(*words: str):
    return replace(next(iter(synthetic.quick().commands.values())), argv=words, environment={})


def test_what_a_shell_would_take_for_its_own_is_quoted_and_no_command_writes_to_the_folder_of_the_run():
    words = ("<python>", "a b", "$HOME", '<data>/$x"`y`', "{threads}", '{"k": 1}')

    script = provenance.shell(command(*words), synthetic.case(scale=(1, 2)), "case/r0", cores=8)

    *_, line = script.split("\n")
    words = shlex.split(line)
    plain = [words[place] for place in (0, 1, 2, 4, 5)]
    assert plain == ["${PYTHON}", "a b", "$HOME", "4", '{"k": 1}']
    assert ' "${DATA}/\\$x\\"\\`y\\`" ' in line

    words = ("agent", "-o", "/data/runs/case/r0", "--log_dir=/data/runs/case/r0/scratch")

    script = provenance.shell(command(*words), synthetic.case(), "case/r0", cores=None)
    several = provenance.shell(command("x", "{node_rank}"), synthetic.case(scale=(2, 8)), "case/r0", cores=8)

    assert script.endswith(' "${RUNS}/case/r0" "--log_dir=${RUNS}/case/r0/scratch"')
    assert several.endswith("x '{node_rank}'")


def test_a_clock_that_is_the_value_does_not_confirm_it(tmp_path):
    made = synthetic.quick()
    same = replace(made.summaries[0].measurements[0].throughput, method="arrival times")
    runs = tuple(replace(run, throughput=same) for run in made.summaries[0].measurements)
    first = replace(made.summaries[0], measurements=runs)

    page = pages.read(
        report.build(replace(made, summaries=(first, *made.summaries[1:])), tmp_path)[0].read_text("utf-8")
    )

    said = [row.text("en") for row in page.one(id="reproduction").all("tr") if "same source" in row.text("en")]
    assert len(said) == len(runs)


def test_a_page_holds_the_sums_of_each_run(built):
    page = built("quick").page

    assert len([cell for cell in page.all("td") if cell["data-sum"]]) == 24


def test_the_bundle_holds_the_lines_of_every_run(tmp_path):
    made = synthetic.quick()

    path = forms.write(("zip",), made, tmp_path, ("zh", "en"))[0]

    by_run = {load["run_id"]: load for load in json.loads(zipfile.ZipFile(path).read("evidence.json"))}
    for run in (run for summary in made.summaries for run in summary.measurements if run.value is not None):
        entry = by_run[run.run.id]
        assert entry["lines"][0]["text"] == run.lines[0].text
        assert sum(entry["items"]) / sum(entry["seconds"]) == pytest.approx(run.value)


def test_the_last_line_of_a_log_is_that_of_a_file(tmp_path):
    (tmp_path / "log.txt").write_bytes(b"one\ntwo \n\n")
    os.mkfifo(tmp_path / "pipe")

    assert [excerpt.last_line(tmp_path / name) for name in ("log.txt", "pipe", "absent")] == ["two", "", ""]
