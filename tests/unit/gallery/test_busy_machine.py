"""The page of a busy machine: what was said falsely of one, as classes, and what must be said first."""

import re

import pytest

from evalsuite import report
from evalsuite.report import forms
from evalsuite.report.book import board
from evalsuite.report.book.book import Book
from evalsuite.report.text import words
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure.summary import valid
from evalsuite.runs.store import Store
from tests.judgement import played
from tests.judgement.played import Load
from tests.judgement.scripts import CRITERIA

WAYS = {name: ("plain", step_s) for name, step_s in (("pytorch", 0.09), ("mxnet", 0.1), ("tensorflow", 0.12))}
UNSAID = re.compile(
    r"(?s)<(style|script|template)\b.*?</\1>|<details[^>]*>\s*<summary>(?:<[^>]+>)*标记说明.*?</details>|<[^>]+>"
)
FALSE = {  # of a folder in which every run was made, and did its work
    "a base that was run is missing": r"base run missing|no run on one device|缺少基准|没有单设备",
    "what was measured is not": r"Only one scale|planned, not run|no valid run|\b0 of \d+ c|尚未运行",
    "what is left stands alone": r"Only \w+ has|仅 ?\w+ ?有",
    "the script is doubted": r"two clocks|nothing proves|in doubt|两个时钟|存疑",
    "a chance is promised": r"with a chance of|概率为",
}


@pytest.fixture(
    scope="module", params=[Load(share=0.3, spell_s=10.0), Load(share=0.3, each_run=True)], ids=["spells", "levels"]
)
def busy(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("busy")
    (folder / "criteria.toml").write_text(CRITERIA)
    played.compare(folder, WAYS, "toy", "1x1,1x2", "3", load=request.param)
    evaluation = evaluate(Store(folder / "runs"))
    report.build(evaluation, folder / "out")
    forms.write(("md",), evaluation, folder / "out", ("zh", "en"))
    texts = [(folder / "out" / name).read_text() for name in ("report.html", "report.en.md", "report.zh.md")]
    return Book(evaluation=evaluation), [UNSAID.sub(" ", text) for text in texts]


@pytest.mark.parametrize("said", FALSE)
def test_no_form_says_of_a_busy_machine_what_is_not_so(busy, said):
    _, texts = busy

    assert [found[0] for text in texts for found in re.finditer(FALSE[said], text)] == []


def test_the_machine_is_said_first_and_every_run_of_its_doing_is_counted(busy):
    book, _ = busy
    shown = board.board(book, words.read(("en",)))
    disturbed = sum(run.disturbed for run in book.measurements)

    assert shown.finding.plain("en").startswith("This machine was busy") and shown.again
    assert f"○ machine busy in {disturbed} of {len(book.measurements)} watched runs" in [
        chip.text.plain("en") for chip in shown.chips
    ]
    assert [
        each for run in book.measurements for each in run.findings if each.question in (2, 3, 4) and not each.noted
    ] == []


def test_a_base_is_one_of_itself_alone_and_an_order_that_is_not_told_has_no_lead(busy):
    book, _ = busy
    shown = board.board(book, words.read(("en",)))

    for row in valid(book.summaries):
        assert row.base.total_devices == 1 and (row.speedup.value == 1) == (row.case == row.base)
    for table in (table for sheet in shown.sheets for table in sheet.tables):
        told = table.sentence.plain("en")
        assert table.answer.known in ("ahead", "equal") or not re.search(r"\d% ahead|is fastest", told)
        assert {row.name.plain("en") for row in table.rows} >= {"PyTorch", "MXNet", "TensorFlow"}
