"""Ways to make a run say something wrong, and what is said now: what it trained, its window, its utilisation."""

import json
import math
from dataclasses import replace
from itertools import accumulate

import pytest

from evalsuite import cli
from evalsuite.commands.printing import terminal
from evalsuite.core import messages
from evalsuite.core.documents import UsedRecipe
from evalsuite.core.errors import Exit
from evalsuite.core.findings import ArrivalsBursty, ArrivalsInTicks, FailedAtExit
from evalsuite.core.model import Protocol
from evalsuite.logs.scan import scan
from evalsuite.report.text import words
from evalsuite.report.text.findings import english, sentence
from evalsuite.results.compare import fairness
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure.measurement import measurement
from evalsuite.results.measure.summary import summary
from evalsuite.runs.store import Store
from tests import runfolders, sources
from tests.toys import CASE

BATCH = CASE.batch_per_device


def codes(found):
    return [finding.code for finding in found.findings]


def says(found, code):
    """The one sentence that the finding with that *code* is."""
    (one,) = (finding for finding in found.findings if finding.code == code)
    return english(one)


def printed(*lines, **changes):
    """What a script prints, a line every half second."""
    return runfolders.Host(printed=[replace(runfolders.steps(count=len(lines)), lines=lines, **changes)])


def epochs(seconds, says=None, together=False):
    """Steps that took *seconds* each, printed as *says*; *together*: they arrive at once."""
    at_s = list(accumulate(seconds, initial=runfolders.BEGAN_S))[1:]
    texts = says or [f"{each:.4f}" for each in seconds]
    lines = [f"Epoch: [0][{n:4d}/{len(texts)}]\tTime {text} ({text})\tLoss 6.7e+00" for n, text in enumerate(texts)]
    return printed(*lines, arrivals_s=[at_s[-1]] * len(at_s) if together else at_s)


FOUR = replace(CASE, devices_per_node=4)
SPEEDS = [
    f"INFO:root:Epoch[0] Batch [{n}-{n + 1}]\tSpeed: {BATCH / 0.5:.2f} samples/sec\taccuracy=0.01" for n in range(120)
]
# each device prints its own rate here, so that no clock can tell
OF_ONE = [
    *("Number of GPUs: 1", *(f"Iter #{n}: {BATCH / 0.5:.1f} img/sec per GPU" for n in range(11))),
    "Total img/sec on 1 GPU(s): 64.0 +-0.0",
]
SILENT = runfolders.Printed(lines=["starting"], arrivals_s=[1.0], rank=3)
DOUBTS = {  # what a run left (its hosts, its case, what more) → the code, the sentence, whether it counts
    "a good run": ({}, "", "", True),
    "one process may speak for all": ({"case": FOUR}, "", "", True),
    "a node left no records": (
        *({"case": replace(CASE, nodes=2)}, "devices_unused"),
        *("nodes that left records (is --runs on a file system they share?): 1; planned: 2; there is no value", False),
    ),
    "a log of another number of devices": (
        {"hosts": printed(*OF_ONE, arrivals_s=runfolders.steps(13, 5.0).arrivals_s), "case": FOUR}
        | {"recipe": UsedRecipe(dialect="horovod_synthetic")},
        *("devices_unused", "devices that trained, by the log: 1; planned: 4; there is no value", False),
    ),
    "three of four processes": (
        {"hosts": runfolders.Host(printed=[*(runfolders.steps(rank=rank) for rank in range(3)), SILENT]), "case": FOUR},
        *("devices_unused", "processes that printed steps: 3; planned: 4; there is no value", False),
    ),
    "eight processes where four were planned": (
        {"hosts": runfolders.Host(printed=[runfolders.steps(rank=rank) for rank in range(8)]), "case": FOUR},
        *("devices_unused", "processes that printed steps: 8; planned: 4; there is no value", False),
    ),
    "a checkpoint in the window": (
        {"hosts": epochs([10.5 if step == 60 else 0.5 for step in range(120)])},
        "D10",
        "one report took 10.00\u202fs longer than its steps usually do: 16.7% of the measured window",
        True,
    ),
    "a window unlike the rest": (
        {"hosts": epochs([0.5 if step < 120 else 0.6 for step in range(4000)])},
        *("D10", "277 steps read after the window differ from it by −16.7%", True),
    ),
    "a window like the rest": ({"hosts": epochs([0.5] * 400)}, "", "", True),
}


class TestWhatWasTrained:
    """A run counts only if it trained what its case says."""

    @pytest.mark.parametrize(("left", "code", "told", "counts"), DOUBTS.values(), ids=DOUBTS)
    def test_what_a_run_leaves_is_told_in_one_sentence_and_decides_whether_it_counts(
        self, left, code, told, counts, tmp_path
    ):
        measured = measurement(runfolders.finished(tmp_path, **left))

        said = [english(found) for found in measured.findings if found.code == code]
        assert told in said if code else codes(measured) == []
        assert measured.counts is counts

    @pytest.mark.parametrize(
        ("factor", "has_value", "ranked"), [(1.1, True, True), (1.3, True, False), (1.7, False, False)]
    )
    def test_two_clocks_that_are_far_apart_are_shown_unranked_and_farther_not_at_all(
        self, tmp_path, factor, has_value, ranked
    ):
        host = runfolders.Host(printed=[runfolders.steps(seconds=0.5, says=0.5 / factor)])
        case = replace(CASE, framework="slow")
        doubted = [measurement(runfolders.finished(tmp_path, host, CASE, repeat)) for repeat in range(5)]
        sound = [measurement(runfolders.finished(tmp_path, case=case, repeat=repeat)) for repeat in range(5)]

        assert (doubted[0].value is not None) is has_value
        assert ("clocks_far_apart" in codes(doubted[0])) is (has_value and not ranked)
        if has_value:
            both = [summary(CASE, doubted), summary(case, sound)]
            assert len(fairness.groups(both, fairness.FRAMEWORKS)) == (1 if ranked else 2)
            assert both[0].items_per_s.value == pytest.approx(BATCH / 0.5)

    def test_a_value_that_two_clocks_leave_in_doubt_has_no_speedup_and_is_no_base(self, tmp_path):
        runfolders.finished(tmp_path)
        host = runfolders.Host(printed=[runfolders.steps(seconds=0.5, says=0.5 / 1.3)])
        runfolders.finished(tmp_path, host, replace(CASE, devices_per_node=2))

        evaluation = evaluate(Store(tmp_path))

        assert [summary.speedup and summary.speedup.value for summary in evaluation.summaries] == [1.0, None]
        assert "D11" not in [each.code for each in evaluation.findings]

    @pytest.mark.parametrize("name", ["log.n0.txt", "arrivals.n0.csv", "samples.n0.jsonl", "removed"])
    def test_a_run_whose_files_were_edited_or_removed_afterwards_does_not_count(self, tmp_path, name):
        folder = runfolders.finished(tmp_path, runfolders.Host(samples='{"header": true, "hz": 2.0}\n'))
        file = folder.path / name.replace("removed", "arrivals.n0.csv")
        file.write_bytes(file.read_bytes().replace(b"2", b"1"))
        if name == "removed":
            file.unlink()

        found = measurement(folder)

        assert not found.counts
        assert says(found, "changed_since_run") == f"changed since the run ended: {file.name}; it counts for no order"


def sampled(count=140, period_s=0.5, gpus=(), others=(), **each):
    """A samples file: *gpus* holds a function for each device, from time to its utilisation (None: not read), *others*
    for each that is not the job's."""
    header = {
        "header": True,
        "hz": 1 / period_s,
        "started_at_unix_s": 1000.0,
        "memory_total_bytes": 100,
        "gpus": [{"index": index, "of_job": index < len(gpus)} for index in range(len(gpus) + len(others))],
    }
    lines = [header]
    gpus = (*gpus, *others)
    for place in range(count):
        at_s = place * period_s
        read = [{"index": index, "utilisation_percent": busy(at_s)} for index, busy in enumerate(gpus)]
        lines.append({"at_s": at_s, "cpu_percent": 50.0, "gpus": read, **each})
    return "".join(json.dumps(line) + "\n" for line in lines)


GPUS = replace(CASE, device="gpu", devices_per_node=2)


def used(folder):
    measured = measurement(folder)
    return measured, {used.resource: used for used in measured.utilisation}


class TestUtilisation:
    """A mean over what happened to be read is not that of the job."""

    @pytest.mark.parametrize(("gpus", "figure", "code", "told"), sources.cases("runs.toml")["devices"])
    def test_a_device_counts_as_much_as_the_others_and_one_that_was_not_read_leaves_no_figure(
        self, gpus, figure, code, told, tmp_path
    ):
        busy = [(lambda at_s: 0.5 if at_s < 45 else None) if of == "half" else (lambda at_s, of=of: of) for of in gpus]

        found, figures = used(runfolders.finished(tmp_path, runfolders.Host(samples=sampled(gpus=busy)), GPUS))

        gpu = figures.get("gpu")
        assert (gpu and {name: getattr(gpu, name) for name in figure}) == pytest.approx(figure, abs=0.01)
        assert codes(found) == ([code] if code else [])
        assert found.counts is (code != "devices_unused")
        assert not told or says(found, code) == told

    @pytest.mark.parametrize(("others", "busy"), [((0, 90), 1), ((90, 90), 0), ((0, 0), 0), ((0, None), 0)])
    def test_a_run_that_takes_devices_beyond_its_own_does_not_count_and_a_neighbour_s_are_none(
        self, others, busy, tmp_path
    ):
        first, then = others
        beside = [lambda at_s: then if at_s > 1 else first] * 3
        samples = sampled(gpus=[lambda at_s: 90] * 2, others=beside)

        found, _ = used(runfolders.finished(tmp_path, runfolders.Host(samples=samples), GPUS))

        assert codes(found) == (["devices_unused"] if busy else [])
        assert not busy or says(found, "devices_unused").startswith("devices beside those planned, idle")
        assert found.counts is not bool(busy)

    def test_a_host_without_samples_leaves_no_figure(self, tmp_path):
        hosts = {
            "a": runfolders.Host(samples=sampled(memory_used_bytes=50)),
            "b": runfolders.Host(printed=[runfolders.Printed(lines=[], arrivals_s=[])]),
        }

        found, figures = used(runfolders.finished(tmp_path, hosts, replace(CASE, nodes=2)))

        assert figures == {}
        assert "cover only 50.0%" in says(found, "D18")


class TestTheClock:
    def test_a_colour_code_that_begins_a_line_does_not_give_the_line_before_it_a_later_arrival(self, tmp_path):
        steady = runfolders.steps(seconds=0.5)
        coloured = [f"\x1b[32m{line}" for line in steady.lines]
        paused = [at_s + (30.0 if step >= 119 else 0.0) for step, at_s in enumerate(steady.arrivals_s)]
        host = runfolders.Host(printed=[replace(steady, lines=coloured, arrivals_s=paused)])

        measured = measurement(
            runfolders.finished(tmp_path, host, replace(CASE, protocol=Protocol(warmup_steps=19, measured_steps=100)))
        )

        assert measured.value == pytest.approx(BATCH / 0.5)
        assert measured.throughput.window.end_s == pytest.approx(runfolders.BEGAN_S + 119 * 0.5)

    def test_two_reports_are_not_said_to_arrive_together(self, tmp_path):
        few = runfolders.steps(count=2)

        measured = measurement(runfolders.finished(tmp_path, runfolders.Host(printed=[few])))

        assert measured.throughput.clock_items_per_s is None
        assert not any(isinstance(found, ArrivalsBursty) for found in measured.findings)

    @pytest.mark.parametrize(("seconds", "every", "denied"), [(2.4, 2, True), (1.5, 2, True), (2.4, 0.05, False)])
    def test_lines_passed_on_in_ticks_are_no_clock_of_a_window_of_few(self, seconds, every, denied, tmp_path):
        printed = runfolders.steps(count=22, seconds=seconds)  # as of paddle.distributed.launch
        ticks = [math.ceil(at_s / every) * every + at_s % 1 / 500 for at_s in printed.arrivals_s]
        case = replace(CASE, protocol=Protocol(warmup_steps=2, measured_steps=19))
        host = runfolders.Host(printed=[replace(printed, arrivals_s=ticks)])

        measured = measurement(runfolders.finished(tmp_path, host, case))

        assert measured.throughput.method == ("step times" if denied else "arrival times")
        assert (ArrivalsInTicks in map(type, measured.findings)) is denied


class TestTheWindow:
    """What in its window makes a value less sure is one sentence each."""

    def test_a_step_in_whole_milliseconds_carries_its_error_unless_the_arrival_of_the_lines_is_the_clock(
        self, tmp_path
    ):
        seconds = [0.0044 + 0.0002 * (step % 3) for step in range(120)]
        whole = [f"{each:.3f}" for each in seconds]

        measured = measurement(runfolders.finished(tmp_path, epochs(seconds, whole, together=True)))

        assert (measured.throughput.method, measured.grounds) == ("step times", "printed")
        said = [english(found) for found in measured.findings if found.code == "printed_only"]
        assert any("what the script prints (step times); the value is printed only" in each for each in said)
        assert any(each.startswith("the digits that the script prints allow an error of 1") for each in said)
        assert "printed_only" not in codes(measurement(runfolders.finished(tmp_path, epochs(seconds, whole), repeat=1)))

    def test_what_all_repeats_of_a_case_have_alike_is_told_once_with_the_gravest(self, tmp_path):
        for repeat, stall_s in enumerate((10.0, 20.0, 15.0)):
            stalled = epochs([stall_s if step == 60 else 0.5 for step in range(120)])
            runfolders.finished(tmp_path, stalled, repeat=repeat)

        findings = [each for each in evaluate(Store(tmp_path)).findings if each.code == "D10"]

        assert [(round(each.seconds, 1), each.where[-2:]) for each in findings] == [(19.5, "r1")]
        assert [place[-2:] for place in findings[0].also] == ["r0", "r2"]


ADAPTER = sources.text("runs_adapter.py.in")


class TestWhatIsAsked:
    """What can be known before the first run is said before it, and what did not count is never "ok"."""

    def asked(self, tmp_path, *words, command="plan", kind="reference", more=""):
        adapters = tmp_path / "adapters"
        adapters.mkdir(exist_ok=True)
        (adapters / "minenet.py").write_text(ADAPTER.format(kind=kind, more=more))
        line = [command, "--adapters", str(adapters), "--frameworks", "minenet", "--scales", "1x1"]
        return cli.main([*line, "--runs", str(tmp_path / "runs"), *words])

    def test_too_few_steps_to_count_are_said_in_the_plan(self, tmp_path, capsys):
        self.asked(tmp_path, "--steps", "2+8", "--environment", "current", "--json")

        cases = json.loads(capsys.readouterr().out)["cases"]
        assert {note for case in cases for note in case["notes"]} == {
            "2 steps discarded and 8 measured, fewer than 20; it counts for no order"
        }

    HERE = ("--environment", "current", "--json")

    @pytest.mark.parametrize(
        ("words", "changes", "told"),
        [
            (("--json",), {}, "names no requirements"),  # no environment can be made for it
            (HERE, {"more": 'import_name="no_such_module",'}, "no_such_module is not installed in "),
            (HERE, {"kind": "official"}, "minenet has no such recipe for resnet50_v1.5; it has --recipe toy"),
        ],
    )
    def test_the_plan_skips_what_cannot_be_run_here_with_the_reason(self, words, changes, told, tmp_path, capsys):
        code = self.asked(tmp_path, *words, **changes)

        assert code == Exit.NOTHING_MEASURED
        (reason,) = {skip["reason"] for skip in json.loads(capsys.readouterr().out)["skips"]}
        assert told in reason

    def test_where_nothing_can_be_run_no_report_of_other_frameworks_is_made(self, tmp_path, capsys):
        code = self.asked(tmp_path, "--out", str(tmp_path / "report"), command="compare")

        assert code == Exit.NOTHING_MEASURED
        assert "nothing was run, for the reasons above" in capsys.readouterr().err
        assert not (tmp_path / "report").exists()

    def report(self, tmp_path, capsys):
        cli.main(["report", "--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "report"), "--lang", "en"])
        return capsys.readouterr().out

    def test_a_run_that_does_not_count_says_so_in_the_terminals_table_and_why_when_it_ends(self, tmp_path, capsys):
        few = runfolders.Host(printed=[runfolders.steps(count=10)])
        case = replace(CASE, protocol=Protocol(warmup_steps=2, measured_steps=8))
        folder = runfolders.finished(tmp_path / "runs", few, case)

        assert "no valid run" in self.report(tmp_path, capsys)
        assert terminal.result(measurement(folder)) == (
            "excluded: 2 steps discarded and 8 measured, fewer than 20; it counts for no order"
        )

    def test_a_lone_scale_prints_no_efficiency(self, tmp_path, capsys):
        runfolders.finished(tmp_path / "runs", case=replace(CASE, devices_per_node=32))

        printed = self.report(tmp_path, capsys)
        assert printed.startswith("Only toynet was run here")
        assert "1.00x" not in printed and "100.0%" not in printed


class TestWhatIsSaidInBothLanguages:
    """The page quoted our own English in the middle of a Chinese sentence."""

    CHINESE = words.read(("zh",))

    def chinese(self, found, code):
        (one,) = (finding for finding in found.findings if finding.code == code)
        return sentence(one, self.CHINESE).plain("zh")

    @pytest.mark.parametrize("ended", [{}, {"exit_code": 1, "status": "failed"}, {"exit_code": None}])
    def test_a_log_that_is_cut_under_a_good_exit_code_is_rejected(self, ended, tmp_path):
        folder = runfolders.finished(tmp_path, **ended)
        (log,) = folder.logs()
        log.path.write_bytes(log.path.read_bytes()[:-30])

        measured = measurement(folder)

        assert ("D25" in codes(measured)) is (ended == {})  # a process that did not report success did not lie
        if not ended:
            assert not measured.counts
            assert (
                says(measured, "D25")
                == "the process reported success, but its log ends in the middle of line 120; it counts for no order"
            )
            assert self.chinese(measured, "D25") == "进程报告成功，但日志在第 120 行中途截断；不作排序依据"

    def test_what_failed_after_the_end_is_named_in_the_readers_language_and_the_log_quoted(self):
        one = FailedAtExit(failure="out of memory", line=7, text="CUDA out of memory")

        assert english(one) == "an error after the end of training (out of memory, line 7): CUDA out of memory"
        assert (
            sentence(one, self.CHINESE).plain("zh") == "训练结束之后报错（内存或显存不足，第 7 行）：CUDA out of memory"
        )

    def test_every_kind_of_failure_has_a_name_in_both_languages(self):
        kinds = {kind for rank in scan._ranks() for kind in rank} | {"interrupted", "Python exception"}

        assert all(messages.named("logs", f"failure_{kind.replace(' ', '_')}") for kind in kinds)

    def test_a_folder_that_cannot_be_read_names_the_file_apart_from_what_the_program_says(self, tmp_path):
        runfolders.finished(tmp_path)
        folder = runfolders.finished(tmp_path, repeat=1)
        (folder.path / "case.json").write_text('{"repeat": 1, "fram')

        (found,) = (finding for finding in evaluate(Store(tmp_path)).findings if finding.code == "D25")

        assert found.file.endswith("case.json") and found.said
        said = sentence(found, self.CHINESE).plain("zh")
        assert said.startswith(f"无法读取：{found.file}：") and "应为 JSON 对象。文件可能只写了一半" in said
