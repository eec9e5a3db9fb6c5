"""What is known of two results is decided once: no two places of a report say different things of a pair."""

import functools
import io
import json
import re
from dataclasses import replace

import openpyxl
import pytest

from evalsuite import report
from evalsuite.core.findings import PrintedOnly
from evalsuite.core.messages import Message
from evalsuite.finished import finished
from evalsuite.report import forms
from evalsuite.report.book import answers as said
from evalsuite.report.book import board, changes
from evalsuite.report.book.book import Book
from evalsuite.report.sections.verdict import cards, verdict
from evalsuite.report.text import names, numbers, words
from evalsuite.results.compare import decisions
from evalsuite.results.compare.scaling import with_scaling
from tests import pages, reports, sources, synthetic

SPOKEN = words.read(("en",))
FIVE = (1.0, 1.001, 0.999, 1.002, 0.998)
NAMES = ("oneflow", "pytorch", "mxnet", "mindspore", "tensorflow")


def of(framework, speed, around=FIVE, scale=(1, 1), **changes):
    case = synthetic.case(framework, scale, protocol=synthetic.FULL, **changes)
    return reports.summary([speed * each for each in around], of=case)


def scene(*speeds):
    """A result of each framework, and twice that on two devices."""
    rows = [speed if isinstance(speed, tuple) else (speed, FIVE) for speed in speeds]
    return reports.evaluation(
        *(of(name, k * v, w, (1, k)) for name, (v, w) in zip(NAMES, rows, strict=False) for k in (1, 2))
    )


SCENES = {
    "ahead": lambda: scene(100.0, 92.0, 80.0),
    "few": lambda: scene(100.0, 92.0, (60.0, (1.0, 1.2, 0.8))),  # GPT-2: the third took the verdict from the first
    "tie": lambda: scene(100.0, 99.9, 80.0),
    "scatter": lambda: scene((100.0, (1.0, 1.05, 0.95, 1.02, 0.97)), (99.0, (1.03, 0.95, 1.0, 0.98, 1.05)), 60.0),
    "consistent": lambda: scene((100.0, (1.0, 1.05, 0.98)), (90.0, (1.0, 1.02, 0.94))),
    "single": lambda: scene((100.0, (1.0,)), (90.0, (1.0,))),
    "passed": lambda: reports.evaluation(
        *(of(name, speed) for name, speed in zip(NAMES, (100.0, 68.0, 60.0), strict=False)),
        of("tensorflow", 93.0, options=(("gradient_clipping", "off"), ("image_size", "64"))),
        of("mindspore", 92.0, xla=True),
    ),
    "passed_cited": lambda: reports.evaluation(*(replace(row, origin="cited") for row in SCENES["passed"]().summaries)),
    "quick": synthetic.quick,
    "asked": synthetic.asked,
    "variants": synthetic.variants,
}


WORDS, SAID = (sources.table("one_voice.toml")[name] for name in ("words", "said"))


@pytest.fixture(scope="module")
def report_of(tmp_path_factory):
    """Of a scene: its evaluation, the folder of its report, and the page; built once."""

    @functools.cache
    def of_scene(name):
        evaluation, folder = SCENES[name](), tmp_path_factory.mktemp("scene")
        return evaluation, folder, pages.read(report.build(evaluation, folder)[0].read_text(encoding="utf-8"))

    return of_scene


def statements(evaluation, folder, page):
    """(place, the two, what is known of them) as each place of the report says it."""
    book = Book(evaluation=evaluation)
    case_of = {names.case_anchor(case): case.id for case in book.planned}
    for cell in page.all("tr"):
        if "data-pair" in cell.attributes:
            pair = frozenset(case_of[ref] for ref in cell["data-pair"].split())
            yield "board", pair, cell["data-outcome"]
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    for answer in summary["answers"]:
        for one in answer["ranked"][1:]:
            yield "summary.json", frozenset((answer["ranked"][0]["case"], one["case"])), one["outcome"]
    for change in (change for change in changes.changes(book, book.planned) if change.outcome):
        yield "options", frozenset((change.before.id, change.after.id)), change.outcome


@pytest.mark.parametrize("name", SCENES)
def test_no_two_places_contradict_each_other_about_a_pair(name, report_of):
    found = {}
    for place, pair, evidence in statements(*report_of(name)):
        found.setdefault(pair, {}).setdefault(evidence, set()).add(place)

    assert found and {pair: known for pair, known in found.items() if len(known) > 1} == {}


@pytest.mark.parametrize("name", SCENES)
def test_what_is_said_of_all_is_no_more_than_what_is_known_of_the_two_that_lead(name):
    book = Book(evaluation=SCENES[name]())

    for answer in book.answers:
        pair = answer.lead_pair
        bold = {place.summary.case.id for place in answer.ranked} & book.ahead
        assert not bold or answer.outcome in ("ahead", "equal")
        if pair is not None and not answer.level:
            assert answer.known == pair.known
        sentence = said.sentence(answer, SPOKEN).plain("en")
        assert [key for key, word in WORDS.items() if re.search(word, sentence)] == [answer.outcome]


def test_each_outcome_has_a_word_of_its_own():
    every = decisions.Outcome.__args__

    assert len({SPOKEN(f"outcome.{each}").plain("en") for each in every}) == len(every)


@pytest.mark.parametrize("name", SCENES)
def test_every_form_says_the_same_sentence_of_a_model_and_the_tables_have_its_value_in_bold(name, report_of):
    evaluation, folder, page = report_of(name)
    book = Book(evaluation=evaluation)
    forms.write(("md", "xlsx"), evaluation, folder, ("en",))
    markdown = (folder / "report.en.md").read_text(encoding="utf-8")
    sheets = openpyxl.load_workbook(io.BytesIO((folder / "report.xlsx").read_bytes())).worksheets
    places = {
        "page": page.one("section", id="verdict").text("en"),
        "Markdown": re.sub(r"[*\\\n]", "", markdown),
        "XLSX": " ".join(
            str(cell.value) for sheet in sheets if sheet.title == "About" for row in sheet for cell in row
        ),
        "site": " ".join(each.sentence.plain("en") for each in verdict.model_findings(finished.read(folder), SPOKEN)),
    }
    for finding in verdict.model_findings(book, SPOKEN):
        said_of_it = plain(finding.sentence.plain("en"))
        assert [place for place, text in places.items() if said_of_it not in plain(text)] == []

    ahead = {numbers.throughput(book.summary_of[id].items_per_s.value).text for id in book.ahead}
    assert {re.match(r"[\d,]+\.\d\d", element.text("en"))[0] for element in page.all("td", class_="best")} == ahead


def entrants(framework, at, runs=FIVE, failed=0, without="", unit="images/s", origin="measured"):
    """A result for each scale of *at*; some runs *failed*, a fact that it is *without*."""
    for scale, value in at.items():
        case = synthetic.case(framework, tuple(map(int, scale.split("x"))), device="gpu", protocol=synthetic.FULL)
        on = None if without == "device_model" else synthetic.GPU
        found = [synthetic.measured(case, k, value * each, environment=on) for k, each in enumerate(runs)]
        facts = tuple(fact for fact in found[0].facts if fact.key != without)
        found = [replace(summary, facts=facts, throughput=replace(summary.throughput, unit=unit)) for summary in found]
        found += [synthetic.failed(case, 9 - k, "Killed") for k in range(failed)]
        yield synthetic.summary(found, origin=origin)


@pytest.mark.parametrize("row", SAID.values(), ids=SAID)
def test_what_is_said_of_several_holds_of_each_of_them(row):
    book = Book(evaluation=synthetic.evaluation(with_scaling([each for one in row["of"] for each in entrants(**one)])))
    both = words.read()
    tables = [table for sheet in board.board(book, both).sheets for table in sheet.tables]
    found = [text for finding in verdict.model_findings(book, both) for text in (finding.sentence, finding.beside)]
    found += [text for table in tables for text in (table.sentence, table.beside)]
    told = [plain(text.plain(language)) for text in found if text for language in ("en", "zh")]
    for one in (one for table in tables for one in table.rows):
        name, _, _, ratio, _, notes = one.cells(both)
        told.append(
            f"{name.plain('en')}: {ratio.plain('en')}{' ahead' * one.ahead} {notes.plain('en')}; {notes.plain('zh')}"
        )
    for card in cards.cards(book, both):
        told += [
            f"{each['cell'].framework} {card.verdict.criterion}: {each['cell'].outcome} {each['value']}"
            for each in card.cells
        ]

    assert [text for text in row["says"] if text not in "\n".join(told)] == []


def plain(text):
    return re.sub(r"&gt;|\s+", lambda match: ">" if match[0] == "&gt;" else " ", text.replace("\u00a0", " "))


def test_no_lead_is_printed_without_those_who_are_as_fast_and_not_ranked(report_of):
    evaluation, _, page = report_of("passed")
    (answer,) = (answer for answer in Book(evaluation=evaluation).answers if len(answer.ranked) > 1)

    assert [each.summary.case.framework for each in answer.passed_over] == ["tensorflow", "mindspore"]
    passed = "as others, not ranked here, are no slower than the second: TensorFlow 93.00 ("
    said = page.one("section", id="verdict").text("en")
    assert said.count(passed) == 1 == said.count("); MindSpore 92.00 (")


LEAD = re.compile(r"\+\d|%,? (ahead of|above)")


@pytest.mark.parametrize("name", SCENES)
def test_a_lead_that_may_not_be_said_is_in_no_place_nor_is_the_name_of_who_has_it(name):
    """tianshu: the headline gave none, the tab had "OneFlow†", and the main results "6.2% above NGC PyTorch"."""
    book = Book(evaluation=SCENES[name]())
    shown = board.board(book, SPOKEN)

    for sheet in shown.sheets:
        answer, tab = sheet.chosen.answer, sheet.lead.plain("en")
        found = (finding.sentence for finding in verdict.model_findings(book, SPOKEN))
        texts = [tab, *(text.plain("en") for text in (sheet.chosen.sentence, shown.finding, *found))]
        if answer.passed_over or answer.disturbed:
            assert {row.cells(SPOKEN)[3].plain("en") for row in sheet.chosen.rows} == {board.NOTHING}
            assert [text for text in texts if LEAD.search(text)] == []
            assert answer.known in ("ahead", "equal") or "OneFlow" not in tab


def test_a_series_that_is_measured_at_several_scales_and_not_drawn_is_named(tmp_path):
    clipped = (("gradient_clipping", "off"), ("image_size", "64"))
    rows = [of("oneflow", 100.0), of("oneflow", 99.5, scale=(1, 2)), of("mxnet", 90.0)]
    rows += [of("mxnet", 170.0, scale=(1, 2), options=clipped)]
    rows += [of("tensorflow", 80.0), of("tensorflow", 60.0, scale=(1, 2)), of("pytorch", 80.0)]
    printed = of("pytorch", 150.0, scale=(1, 2))
    alone = [replace(run, findings=(PrintedOnly(method="step times"),)) for run in printed.measurements]
    rows += [synthetic.summary(alone)]
    page = report.build(synthetic.evaluation(with_scaling(rows)), tmp_path)[0].read_text(encoding="utf-8")

    said = pages.read(page).one("section", id="verdict").text("en")
    apart = "MXNet under other conditions at each scale; PyTorch at 1×2 printed by the script alone."
    assert said.count(f"No efficiency: {apart}") == 1
    assert said.count("slower than 1×1") == 1  # of TensorFlow; less than 1 % is no difference


def test_why_a_run_failed_is_told_once_and_by_its_kind():
    line = Message("logs.failure_line", kind=Message("logs.failure_Python_exception"), line=25, text="ValueError: x")
    failed = synthetic.summary([synthetic.failed(of("mxnet", 1.0).case, 0, line)])
    book = Book(evaluation=reports.evaluation(of("oneflow", 100.0), failed))
    (sheet,) = board.board(book, SPOKEN).sheets
    texts = [sheet.chosen.sentence, sheet.chosen.beside, *(row.why for row in sheet.chosen.rows)]
    told = " ".join(text.plain("en") for text in texts if text)

    assert (told.count("no valid run: Python exception"), told.count("ValueError")) == (1, 0)
