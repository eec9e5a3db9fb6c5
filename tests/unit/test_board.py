"""The board: one object that every form draws, and no sentence of it that is false where something is missing."""

import html
import io
import re
from dataclasses import replace

import openpyxl
import pages
import pytest
import reports
import synthetic

from evalsuite import report as report_room
from evalsuite.commands import report as command
from evalsuite.core.findings import AtOnce, BusyMachine
from evalsuite.core.model import Fact
from evalsuite.report import forms
from evalsuite.report.book import board, tally
from evalsuite.report.book.book import Book
from evalsuite.report.sections.glossary import glossary
from evalsuite.report.text import words
from tests import sources

SPOKEN, ENGLISH = words.read(), words.read(("en",))
FIVE = (1.0, 1.001, 0.999, 1.002, 0.998)


def text(one, language="en"):
    return one.plain(language).replace("\u00a0", " ").replace("\u202f", " ")


def of(framework, speed, runs=FIVE, scale=(1, 1), origin="measured", unit="images/s", **changes):
    case = synthetic.case(framework, scale, protocol=synthetic.FULL, **changes)
    made = [synthetic.measured(case, k, speed * each) for k, each in enumerate(runs)]
    if origin != "measured":
        made = [replace(run, utilisation=(), probe_s=None) for run in made]
    made = [replace(run, origin=origin, throughput=replace(run.throughput, unit=unit)) for run in made]
    return synthetic.summary(made, origin=origin)


def busy(evaluation, share):
    """With other programs beside that share of the runs, or beside one of so many."""
    every = [run.run.id for row in evaluation.summaries for run in row.measurements]
    some = set(every[: round(share * len(every))] if share <= 1 else every[::share])

    def disturbed(run):
        found = (BusyMachine(others=0.4, where=run.run.id),) if run.run.id in some else ()
        return replace(run, findings=(*run.findings, *found))

    rows = [synthetic.summary(map(disturbed, row.measurements)) for row in evaluation.summaries]
    return synthetic.evaluation(synthetic.with_scaling(rows), profile="quick")


def entries():
    """Thirteen models with one entry each."""
    return reports.evaluation(*(of("jax", 10.0 + k, model=f"model_{k}", recipe=f"recipe_{k}") for k in range(13)))


def pair(origin):
    return reports.evaluation(of("oneflow", 100.0, origin=origin), of("pytorch", 90.0, origin=origin))


def language_models():
    """A model that has no result on one device."""
    about = {"model": "llama3_8b", "device": "gpu", "recipe": "llm", "options": ()}
    speeds = (("megatron", 900.0), ("pytorch", 800.0))
    rows = [of(name, v * n / 8, scale=(n // 8, 8), unit="tokens/s", **about) for name, v in speeds for n in (8, 16, 32)]
    return reports.evaluation(*synthetic.with_scaling(rows))


SCENES = {
    "quiet": synthetic.thorough,
    "busy": lambda: busy(synthetic.quick(), 0.5),
    "cited": lambda: pair("cited"),
    "imported": lambda: pair("imported"),
    "llm": language_models,
    "nothing valid": synthetic.all_failed,
    "nothing run": synthetic.empty,
    "one case": synthetic.one_case,
    "one scale": synthetic.one_scale,
    "one entry each": entries,
    "partial": synthetic.partial,
    "variants": synthetic.variants,
    "asked": synthetic.asked,
}


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    made = {}

    def of_name(name):
        if name not in made:
            evaluation, folder = SCENES[name](), tmp_path_factory.mktemp("board")
            page = report_room.build(evaluation, folder)[0].read_text(encoding="utf-8")
            made[name] = (Book(evaluation=evaluation), folder, pages.read(page))
        return made[name]

    return of_name


@pytest.mark.parametrize("name", SCENES)
def test_every_form_has_the_same_rows_in_the_same_order_with_the_same_text(name, scene, capsys):
    book, folder, page = scene(name)
    forms.write(("md", "xlsx"), book.evaluation, folder, ("en",))
    made = board.board(book, ENGLISH)
    rows = {
        table.id: [list(map(text, row.cells(ENGLISH))) for row in table.rows] for s in made.sheets for table in s.tables
    }
    chosen = [rows[sheet.chosen.id] for sheet in made.sheets]

    drawn = {table["id"]: table for table in page.all("table", class_="board-table")}
    assert {id: [cells(row) for row in table.one("tbody").all("tr")] for id, table in drawn.items()} == rows

    markdown = (folder / "report.en.md").read_text(encoding="utf-8")
    markdown = html.unescape(re.sub(r"\\(?=\W)", "", markdown))
    lines = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in markdown.splitlines()]
    assert all(row in lines for table in chosen for row in table)

    sheet = openpyxl.load_workbook(io.BytesIO((folder / "report.xlsx").read_bytes())).worksheets[0]
    lines = sheet.iter_rows(values_only=True)
    told = [[str(cell).replace("\u00a0", " ") for cell in row if cell is not None] for row in lines]
    assert all(row in told for table in rows.values() for row in table)
    assert [text(made.finding)] in told
    command.show_board(made, ENGLISH)
    said = capsys.readouterr().out
    assert said.startswith(text(made.finding))
    assert all(len(line) <= 100 for line in said.splitlines() if line.startswith(" "))
    printed = re.sub(r"\s+", "", said)
    assert all(row[0].replace(" ", "") in printed and row[1].replace(" ", "") in printed for t in chosen for row in t)
    assert re.sub(r"\s+", "", text(made.finding)) in printed


def cells(row):
    return [re.sub("[\u00a0\u202f]", " ", cell.text("en")).strip() for cell in row.all("th") + row.all("td")]


@pytest.mark.parametrize("name", SCENES)
def test_what_a_page_prints_is_explained_by_its_word(name, scene):
    made = board.board(scene(name)[0], SPOKEN)
    tables = [table for sheet in made.sheets for table in sheet.tables]
    said = [*(chip.text for chip in made.chips), *(SPOKEN(f"outcome.{table.answer.outcome}") for table in tables)]
    unranked = [row.why for table in tables for row in table.rows if row.summary and row.why]
    said += [SPOKEN("board.unranked", why_text=why) for why in unranked]
    said += [row.why for table in tables for row in table.rows if not row.summary]
    assert [each.plain(of) for of in ("en", "zh") for each in said if not glossary.meant(each.plain(of), SPOKEN)] == []


FALSE = sources.table("board.toml")["false"]


@pytest.mark.parametrize("name", SCENES)
def test_no_sentence_of_a_scene_is_one_that_would_be_false_of_it(name, scene):
    book, _, page = scene(name)
    said = page.one("main").text("en")
    refused = [row["words"] for row in FALSE if name in row["of"]]

    assert [words for words in refused if re.search(words, said)] == []
    for sheet in board.board(book, SPOKEN).sheets:
        for table in sheet.tables:
            valued = [row for row in table.rows if row.summary]
            assert all(row.why for row in table.rows if not row.summary)
            assert len(valued) != 1 or valued[0].ratio is None  # a lone runner is no 100 %
            assert table.answer.known in ("ahead", "equal") or not re.search(r"\+\d", text(sheet.lead))
            assert all(text(row.cells(SPOKEN)[-1]).count("ranked") <= 1 for row in table.rows)


def test_from_a_quarter_of_the_runs_on_the_machine_is_the_finding_with_what_holds_and_the_command():
    few, many, aside = (board.board(Book(evaluation=busy(synthetic.quick(), share)), SPOKEN) for share in (0.2, 0.5, 3))

    assert "Not decided (n = 3)" in text(few.finding) and few.again is None
    assert "Not decided (n = 2)" in text(aside.finding) and aside.again is None  # two of each case remain, and tell it
    assert text(many.finding).startswith("This machine was busy: in 12 of 24 runs other programs took 40.0% of its CPU")
    assert many.finding.plain("zh").startswith("测量期间机器被占用：24 次运行中有 12 次")
    assert many.again == "evalsuite compare --profile quick" and many.beside is not None
    short = [text(chip.text) for chip in many.chips if not chip.good]
    assert {"○ machine busy in 12 of 24 watched runs", "4 of 8 cases share cores"} <= {*short}
    elsewhere = board.board(Book(evaluation=replace(synthetic.quick(), recorded_elsewhere=True)), SPOKEN)
    assert ["recorded on another machine" in map(text, (c.text for c in of.chips)) for of in (few, elsewhere)] == [0, 1]


def test_models_stand_in_their_natural_order_and_an_efficiency_over_a_disturbed_base_is_drawn_weak():
    sheets = board.board(Book(evaluation=entries()), SPOKEN).sheets
    assert [sheet.model for sheet in sheets] == [f"model_{k}" for k in range(13)]
    (sheet,) = board.board(Book(evaluation=busy(synthetic.quick(), 1.0)), SPOKEN).sheets
    assert all(row.weak for row in sheet.chosen.rows) and sheet.chosen.answer.devices == 2


def test_who_may_not_be_ranked_and_a_faster_option_stand_where_their_values_are():
    rows = [of("oneflow", 100.0), of("pytorch", 80.0), of("pytorch", 95.0, xla=True)]
    clipped = (("gradient_clipping", "off"), ("image_size", "64"))
    rows += [of("mindspore", 50.0, batch_per_device=7), of("mxnet", 90.0, options=clipped)]
    (sheet,) = board.board(Book(evaluation=reports.evaluation(*rows)), SPOKEN).sheets
    assert [(text(row.name), row.why and text(row.why)) for row in sheet.chosen.rows] == [
        ("OneFlow", None),
        ("PyTorch, XLA: on", "XLA: on; placed with 80.00 below"),
        ("MXNet", "gradient clipping: off"),
        ("PyTorch", None),
        ("MindSpore", "bsz 7"),
    ]
    assert {row.ratio for row in sheet.chosen.rows} == {None}  # nor may a reader choose one as 100 %
    assert text(sheet.lead) == "OneFlow"  # no lead without those who are as fast


@pytest.mark.parametrize(("evaluation", "language", "line"), sources.cases("board.toml")["counted"])
def test_what_was_not_skipped_and_not_lost_is_not_counted(evaluation, language, line):
    assert text(tally.coverage(Book(evaluation=(synthetic.PAGES | SCENES)[evaluation]()), SPOKEN), language) == line


def test_a_finding_over_several_sheets_counts_what_is_decided():
    made = board.board(Book(evaluation=synthetic.asked()), SPOKEN)
    assert text(made.finding) == "All 2 comparisons are decided: PyTorch is fastest in 1, by 23.1%; 1 tie."
    assert [text(sheet.lead) for sheet in made.sheets][1] == "OneFlow ≈ NGC PyTorch"
    (sheet,) = board.board(Book(evaluation=synthetic.quick()), SPOKEN).sheets
    assert text(sheet.lead) == "not decided"  # and no name and no lead


def shown(*rows):
    return board.board(Book(evaluation=reports.evaluation(*rows)), ENGLISH)


def told(row, **changes):
    return synthetic.summary(replace(run, **changes) for run in row.measurements)


def test_where_the_setting_is_another_at_another_scale_each_table_says_so():
    made = shown(of("oneflow", 10.0, batch_per_device=16), of("oneflow", 19.0, scale=(1, 2), batch_per_device=4))
    said = "The settings differ by scale (1×1 bsz 16; 1×2 bsz 4): no value here compares with one at another scale."
    assert [text(made.sentences_of(table)[-1]) for table in made.sheets[0].tables] == [said, said]


def test_one_that_is_left_to_rank_alone_has_the_reason_as_the_other_has():
    others = [fact for fact in synthetic.FACTS if fact.key != "optimiser"]
    adam = (*others, Fact(key="optimiser", value="adam", source="recipe"))
    rows = shown(of("oneflow", 100.0), told(of("pytorch", 90.0), facts=adam)).sheets[0].chosen.rows

    assert [row.why and text(row.why) for row in rows] == ["optimiser: SGD", "optimiser: Adam"]


def test_what_is_at_other_scales_alone_says_at_which_and_a_chip_how_many_are_seen_to_train():
    rows = [of("oneflow", 10.0), of("oneflow", 19.0, scale=(1, 2)), of("pytorch", 9.0), of("mxnet", 18.0, scale=(1, 2))]
    made = shown(*(told(row, trained="trained" if n else "not_printed") for n, row in enumerate(rows)))
    whys = {text(row.name): text(row.why) for table in made.sheets[0].tables for row in table.rows if not row.summary}
    assert whys == {"MXNet": "planned at 1×2 only", "PyTorch": "planned at 1×1 only"}
    bad = [text(chip.text) for chip in made.chips if not chip.good]
    assert "loss falls in 3 of 4 cases, not printed in 1" in bad


def test_imported_runs_that_count_for_nothing_are_a_line_on_the_terminal(capsys):
    rows = [of("jax", 10.0, origin="imported"), of("pytorch", 9.0, origin="imported")]
    runs = [replace(run, findings=(AtOnce(first="jax/r0"),)) for run in rows[0].measurements[1:]]
    copied = synthetic.summary([rows[0].measurements[0], *runs], origin="imported")

    command._note_lost(Book(evaluation=reports.evaluation(copied, rows[1])), ENGLISH)
    said = capsys.readouterr().err
    assert said.startswith("4 of 10 imported runs count for nothing: ") and "(D04)" in said
    command._note_lost(Book(evaluation=reports.evaluation(*rows)), ENGLISH)
    assert capsys.readouterr().err == ""
