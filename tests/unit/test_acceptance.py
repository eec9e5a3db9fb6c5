"""Acceptance on the page: every framework, model and precision in one matrix, with what would decide the open ones."""

import json
import re
import shlex

import accepted
import jsonschema
import pages
import pytest

from evalsuite import cli, report
from evalsuite.commands.launching import axis_values
from evalsuite.contracts.registry import discover
from evalsuite.core import findings, paths
from evalsuite.core.model import Summary
from evalsuite.plan import variants
from evalsuite.plan.plan import Machine, plan
from evalsuite.report.book import answers, board, identity
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from evalsuite.report.forms import markdown
from evalsuite.report.sections.common.section import Subject
from evalsuite.report.sections.fairness import fairness
from evalsuite.report.sections.reproduction import reproduction
from evalsuite.report.sections.verdict import verdict
from evalsuite.report.text import words
from evalsuite.results.compare import significance
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure import convergence, facts
from evalsuite.runs import archive
from evalsuite.runs.store import Store
from tests import goldens
from tools import make_examples

SPOKEN = words.read()


@pytest.fixture(scope="module")
def subject():
    book = Book(evaluation=accepted.accepted())
    return Subject(book=book, words=SPOKEN)


@pytest.fixture(scope="module")
def cards(subject):
    return {card.verdict.criterion: card for card in verdict.facts(subject)["cards"]}


def cell(cards, criterion, *named):
    (found,) = (each for each in cards[criterion].cells if all(name in each["name"] for name in named))
    return found


def test_measured_runs_at_32_nodes_pass_fail_and_stay_open_each_with_its_reason(cards):
    passed, failed = cell(cards, "C1", "PyTorch", "ResNet-50", "FP32"), cell(cards, "C1", "MXNet", "ResNet-50", "FP32")
    broken = cell(cards, "C1", "PaddlePaddle", "ResNet-50", "AMP")
    open_ = cell(cards, "C1", "TensorFlow", "ResNet-50", "AMP")

    assert (passed["cell"].outcome, passed["value"].text) == ("pass", "93.1%")
    assert (failed["cell"].outcome, failed["value"].text) == ("fail", "63.7%")
    assert (broken["cell"].outcome, broken["value"]) == ("fail", None)
    of = open_["cell"]
    assert (of.outcome, of.reason, of.notes[0]) == (
        "undetermined",
        "not_decided",
        "spans",
    )  # its interval holds the threshold


def test_a_criterion_is_a_row_of_the_page_and_of_markdown_with_what_it_says_of_each(subject, tmp_path):
    report.build(subject.book.evaluation, tmp_path)
    page = pages.read((tmp_path / "report.html").read_text(encoding="utf-8"))
    (table,) = page.all("table", class_="acceptance")
    rows = pages.rows(table)

    assert [row[0][:3].strip() for row in rows] == ["C1", "C2a", "C2b"]
    assert "Fail MXNet · ResNet-50 v1.5 · FP32 63.7%" in rows[0][-1]
    facts = verdict.in_every_form(subject)
    parts = markdown.make_writer("en").fill("verdict/verdict.md.j2", **facts, every_scale=False)
    (shown,) = [part for part in parts if "MXNet · ResNet-50 v1.5 · FP32 Fail 63.7%" in part]
    assert "资源" not in shown and "GPU、CPU、内存、网络" in page.one("section", id="verdict").text("zh-CN")


# the examples of `docs/examples` show what their data give today, and are what `make examples` writes


HOUSE = paths.DATA.parent
SCHEMA = json.loads((paths.DATA / "schema" / "summary.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=make_examples.EXAMPLES)
def example(request):
    return request.param, make_examples.EXAMPLES[request.param]()


def figures(evaluation):
    """A line for each case: throughput, speed-up and efficiency; nothing beside a case without a value."""
    lines = ["case,throughput,speedup,efficiency"]
    for summary in evaluation.summaries:
        measured = isinstance(summary, Summary)
        values = (summary.items_per_s, summary.speedup, summary.efficiency) if measured else (None, None, None)
        printed = ("" if value is None else f"{value.value:.10g}" for value in values)
        lines.append(",".join((f'"{summary.case.id}"', *printed)))
    return "\n".join(lines) + "\n"


def test_the_figures_of_an_example_are_those_that_it_had_and_its_summary_keeps_to_the_published_schema(example):
    name, evaluation = example

    found = figures(evaluation)
    assert found == goldens.expected(f"examples/{name}.csv", found)
    assert len(evaluation.summaries) >= 8
    document = json.loads(json.dumps(summary_json.document(Book(evaluation=identity.ordered(evaluation)), "0" * 64)))
    jsonschema.validate(document, SCHEMA)
    assert len(document["summaries"]) == len(evaluation.summaries)


def started(line):
    """What this program reads in *line*, and in what that starts; raises SystemExit for what it does not take."""
    words = shlex.split(line)
    for at, word in enumerate(words[:-1]):
        if word == "evalsuite":
            yield cli.parser_of(words[at + 1]).parse_known(words[at + 2 :])
        if word.startswith("${EVALSUITE}/") and ":" not in word and "/.venv/" not in word:
            assert (HOUSE / word.partition("/")[2]).is_file()


def test_this_program_takes_every_command_that_an_example_prints(example):
    name, evaluation = example
    facts = reproduction._facts(Book(evaluation=evaluation), SPOKEN)
    lines = [line for each in facts["series"] for line in (each["again"] or "").splitlines()]
    for shell in [place["shell"] for each in facts["series"] for place in each["cases"] if place["shell"]]:
        lines.append(shell.splitlines()[-1])
        assert {*re.findall(r"\$\{(\w+)\}", shell)} == {*re.findall(r'^([A-Z]+)="', shell, re.MULTILINE)}
    if evaluation.profile in ("quick", "llm"):  # a rule of the Makefile that names a profile makes its data as well
        rules = re.findall(r"^(\w+):.*\n((?:\t.*\n)+)", (HOUSE / "Makefile").read_text("utf-8"), re.MULTILINE)
        own = next((rule for rule, does in rules if f"--profile {evaluation.profile} " in does), None)
        assert facts["again"] == (f"make {own}" if own else f"make report PROFILE={evaluation.profile}")
    elif facts["again"] and name != "links":
        lines.append(facts["again"])
        assert facts["scripts"]["n"].raw + len(facts["left"]) == facts["scripts"]["all"].raw
        left = [each.plain("en") for each in facts["left"]]  # the newer script, and why the older cannot be run
        older = [each for each in left if "gpt2: in its place libai-gpt2" in each and "OneFlow 0.5" in each]
        assert (name == "dlperf-v1") is (not older) is (not left)
        assert (name == "dlperf-v1") is bool(facts["images"] and "oneflow:0.3.5" in facts["images"].plain("en"))
    asked = [each for line in lines for each in started(line) if hasattr(each, "frameworks")]
    for each in asked:
        spec = axis_values.spec_from(each)
        adapters = variants.with_participants(discover(each.adapters), spec.participants)
        made = plan(spec, adapters, Machine(cores=None, accelerators=None, device=each.device.replace("auto", "gpu")))
        assert made.cases and (spec.participants or not made.skips)
    assert facts["made_by"] == [facts["again"]] * (name == "links")
    assert {"links": 0, "dlperf-v1": 1, "tianshu": 1}.get(name, len(facts["series"])) == len(asked)
    assert [series for series in facts["series"] if series["refused"]] == (facts["series"] if name == "links" else [])


def test_the_board_of_an_example_leaves_nothing_unsaid(example):
    name, evaluation = example
    shown = board.board(Book(evaluation=evaluation), SPOKEN)
    rows = [row for sheet in shown.sheets for row in sheet.chosen.rows]
    assert not [s for s in shown.sheets if s.lead.plain("en") == "only OneFlow" or s.tab.plain("en") == "224"]
    chips = " · ".join(chip.text.plain("en") for chip in shown.chips)
    assert "same work" in chips and (name == "links") is ("any of 36 runs: no whole-CPU readings" in chips)
    told = [(row.name.plain("en"), row.cells(SPOKEN)[-1].plain("en").replace("\u00a0", " ")) for row in rows]
    if name == "tianshu":
        alike = [sheet for sheet in shown.sheets if sheet.model == "wide_and_deep"]
        assert {sheet.chosen.scale for sheet in alike} == {"4×8"} and ("HugeCTR", "no valid run: OOM") in told
        assert any(who == "MXNet" and "conditions: 4,019, of which this is 91.3%" in notes for who, notes in told)
        assert "none was measured on the platform" in shown.beside.plain("en")
        assert "The settings differ by scale" in shown.sentences_of(alike[0].chosen)[-1].plain("en")
    if name == "llm":
        searches = Book(evaluation=evaluation).layout_searches
        assert {"trl", "ms-swift"} <= set.intersection(*({*each.apart} for each in searches))
        assert ("JAX", "not ranked · uneven speed over the window, data: synthetic, gradient clipping: off") in told
        assert "÷ 3 in 17 of 17 cases: 2 earlier evaluations of this plan" in chips and "same work not proven" in chips
        assert re.match("A new plan.* at the 5% level.* losses are not compared", shown.beside.plain("en"))
    every = [row for sheet in shown.sheets for table in sheet.tables for row in table.rows]
    if name == "dlperf-v1":
        assert "OneFlow is the highest ranked in 3" in shown.finding.plain("en")
        assert "bsz 196 with DALI" in repr(evaluation.author_notes)  # a footnote of the source
        beside = [notes for row in every if row.why and "placed with" in (notes := row.cells(SPOKEN)[-1].plain("en"))]
        assert "not ranked · gradient clipping: off; placed with 3,399 below" in beside
        assert ("NGC TensorFlow", "18.0% lost, 6.1 points within a node") in told  # beside "9.7% lost", of all
        passed = [answers.passed(each.chosen.answer, SPOKEN).plain("en") for each in shown.sheets]
        assert any("(FP16); NGC TensorFlow 29,172 (" in each for each in passed)
    if name == "cpu-quick":
        assert "55.0% lost within a node, slower than 1×1; loss not printed" in dict(told)["TensorFlow"]
        assert "A new plan, of 5 runs of each framework with 20 + 100 steps, is" in shown.beside.plain("en")
    if name == "recorded":
        counts = re.search(r"20–300 .*loss falls in (\d+) of (\d+) .*? in (\d+), .*? in (\d+), .*? in (\d+)", chips)
        assert sum(map(int, counts.groups())) == 2 * int(counts[2])  # they add up
        assert "runs too short, conditions unstated in 2." in shown.finding.plain("en")
        assert any(who == "ChainerMN" and "guessing: ln 10 = 2.303" in notes for who, notes in told)
        unstated = [each.chosen for each in shown.sheets if "no source says" in each.chosen.sentence.plain("en")]
        assert unstated and all("state these conditions" in each.beside.plain("en") for each in unstated)
        (fair,) = fairness.sections(Subject(book=Book(evaluation=evaluation), words=SPOKEN))
        said = [
            of["standing"].plain("en") for of in fair.facts()["matrices"] if "timed it." in of["standing"].plain("en")
        ]
        assert said and all("Not stated for all: " in each for each in said)
        shares = {row.cells(SPOKEN)[4].plain("en") for row in every if row.printed}
        assert "20.4%§⚠" in shares and {share[-1] for share in shares} <= {"§", "⚠", "—"}
        sheet = next(sheet for sheet in shown.sheets if "224" in sheet.tab.plain("en"))
        chart = verdict._chart(sheet, Subject(book=Book(evaluation=evaluation), words=SPOKEN))
        assert chart.title.key == "board.chart" and "Horovod§" in [line.line.name.plain("en") for line in chart.lines]
        assert any(
            "machine not watched; script tf-cnn-resnet50, fastest of 3; loss not seen" in notes for _, notes in told
        )
        assert any("fastest of 2; efficiency from its own 60.82 at 1×1" in notes for _, notes in told)


def test_the_method_counts_what_the_recorded_runs_are_called():
    kept = ("recorded", "recorded-links", "recorded-convergence", "recorded-llm")
    stores = [Store(archive.unpack(paths.DATA / f"{name}.zip")) for name in kept]
    made = [[run for row in evaluate(store).summaries for run in row.measurements] for store in stores]
    *honest, models = [[{f.name: f.question for f in run.findings if not f.noted} for run in runs] for runs in made]
    honest = [called for runs in honest for called in runs]
    said = {q: (sum(q in each.values() for each in honest), len(honest)) for q in (1, 3, 4, 5, 6, 7)}
    resumed = sum("several_runs" in each for each in honest)
    uneven = [sum("steep_drift" in each for each in of) for of in (honest, models)]
    said[2] = uneven[0], len(honest), resumed, sum(2 in each.values() for each in models), len(models)
    assert sum(2 in each.values() for each in honest) == uneven[0] + resumed - 1  # one is both
    for page in ("method.md", "method.zh.md"):
        text = (HOUSE / "docs" / page).read_text("utf-8")
        cells = {int(q): last for q, last in re.findall(r"^\| (\d+) \|.*\| ([^|]+) \|$", text, re.MULTILINE)}
        assert [q for q, numbers in said.items() if {*map(str, numbers)} - {*re.findall(r"\d+", cells[q])}] == []


@pytest.mark.parametrize(("page", "language"), [("method.md", "en"), ("method.zh.md", "zh")])
def test_the_limits_of_the_method_are_those_that_the_code_asks(page, language):
    def numbers_in(said: str) -> list[float]:
        return [float(n) for n in re.findall(r"\d+(?:\.\d+)?", said)]

    text = (HOUSE / "docs" / page).read_text("utf-8")
    questions, _, work, learnt, *_ = (
        [row.split("|")[1:-1] for row in table.splitlines()[2:]] for table in re.findall(r"(?:^\|.*\n)+", text, re.M)
    )
    tail, two, clocks = findings.StepsUnfinished, findings.TwoKindsOfSteps, findings.ClocksFarApart
    assert [numbers_in(row[0] + row[1]) for row in work] == [
        *([findings.WorkInWarmup.work_limit], [100 * findings.SlowWarmup.most, findings.SlowWarmup.limit]),
        [tail.steps, 100 * tail.share, tail.least_s, tail.lag_s],
        *([100 * findings.ProcessesLeft.limit], [findings.SteepDrift.factor], [100 * two.fewest, 100 * two.most], []),
        *([100 * findings.CoresIdle.limit], [100 * clocks.clocks, clocks.limit]),
    ]
    still, zero, skipped = findings.LossConstant, findings.GradientsZero, findings.UpdatesSkipped
    signs = [[still.digits, still.values_limit], [still.fewest], [100 * zero.share, zero.digits]]
    signs.append([100 * skipped.limit, 100 * skipped.in_words])
    assert [numbers_in(row[1]) for row in (*learnt[:3], learnt[5])] == signs
    noise = 100 * findings.UnstableRepeats.limit, 100 * findings.NoisyRepeats.limit
    checked = {
        **{0: [100 * findings.PrintedOnly.limit], 5: [100 * findings.BusyMachine.limit, findings.ProbeMoved.factor]},
        **{3: [findings.AboveCores.each, findings.OtherDevices.most, findings.NothingSent.least_bytes / 1e3], 7: noise},
    }
    assert [q for q, limits in checked.items() if {*limits} - {*numbers_in(questions[q][3])}] == []
    said = {q: of for q, of in re.findall(r"\*\*(?:Question|问题) (\d)(.*?)(?=\n\*\*[QDA问受]|\n\*\*重)", text, re.S)}
    apart, kept = findings.LossesApart, findings.FiguresConstant
    limits = {"3": [*convergence.GUESSED.values()]} | {
        "7": [apart.limit, apart.level, findings.ItemsApart.items_limit],
        "8": [significance.LEVEL, significance.LATER_LEVEL, significance.LEAST_GAP, significance.EQUAL_WITHIN],
        "9": [findings.ClockDisagrees.limit, kept.share, findings.FigureDenies.limit, findings.SuperLinear.limit],
    }
    assert [q for q, of in limits.items() if {round(100 * n, 6) for n in of} - {*numbers_in(said[q])}] == []
    asked = [SPOKEN(f"values.fact.{rule.key}") for rule in facts.rules().fact if rule.unknown != "ranked"]
    assert [name for name in asked if name.plain(language) not in said["7"]] == []
