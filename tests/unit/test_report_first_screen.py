"""The first screen: what was found stands first, every answer is on the page, and nothing needs the script."""

from dataclasses import replace

import pages
import pytest
import reports
import synthetic

from evalsuite import report as report_room
from evalsuite.commands import report
from evalsuite.core.findings import BusyMachine
from evalsuite.report.book import tally
from evalsuite.report.book.blocks import models
from evalsuite.report.book.book import Book
from evalsuite.report.sections.common import captioned_figure
from evalsuite.report.sections.common.section import Subject
from evalsuite.report.sections.verdict import answers, matrix, notices, verdict
from evalsuite.report.text import words
from tests import sources

SPOKEN = words.read()


def text(one, language="en"):
    return one.plain(language).replace("\u00a0", " ")


def test_two_of_one_median_tie_and_a_tie_is_said_with_its_lead_and_the_share_of_errors():
    book = Book(evaluation=synthetic.asked())
    subject = Subject(book=book, models=models(book), look=captioned_figure.look(book), words=SPOKEN)
    _, found = verdict.facts(subject)["found"]

    assert text(found.sentence) == (
        "OneFlow, NGC PyTorch tie for fastest, equal within 1.5%: 9,441, 9,373 images/s; "
        "the first is 2.0% ahead of NGC MXNet (n = 7)."
    )
    assert "OneFlow、NGC PyTorch 并列最快，相差在 1.5% 以内：" in text(found.sentence, "zh")
    assert found.beside is None


def test_every_answer_stands_on_the_page_with_all_its_runs_and_reasons(built):
    book = Book(evaluation=synthetic.asked())
    found = {question.scale: question for question in answers.questions(book, SPOKEN) if question.model == "BERT-Base"}

    big = found["4×8"]
    assert [(text(place["name"]), place["ratio"], place["ahead"]) for place in big.places] == [
        ("OneFlow", "1.000", True),
        ("NGC PyTorch", "0.993", True),
        ("NGC MXNet", "0.980", False),
    ]
    assert {place["dots"].count("M") for place in big.places} == {7}
    assert list(map(text, big.reasons)) == ["MXNet: no valid run: CUDA out of memory <b>"]
    assert list(map(text, found["1×8"].reasons)) == ["MXNet: not planned with this setting at this scale"]


@pytest.mark.parametrize("name", ["full", "options", "variants", "ladder", "thorough"])
def test_without_script_every_cell_of_the_matrix_leads_to_its_answer_and_all_answers_are_there(name, built):
    page = built(name)
    section = page.section("verdict")
    blocks = {element["id"]: element.text("en") for element in section.all("article", class_="answer")}
    questions = answers.questions(page.book, SPOKEN)

    assert set(blocks) == {question.id for question in questions}
    for each in questions:
        said = [part for place in each.places for part in (text(place["name"]), place["value"].text)]
        assert all(part in blocks[each.id] for part in said)
        assert all(text(reason) in blocks[each.id] for reason in each.reasons)
    links = [link["href"] for table in section.all("table", class_="standings") for link in table.all("a")]
    assert {link[1:] for link in links if link.startswith("#a-")} <= set(blocks)


def standings_of(evaluation):
    return matrix.standings(Book(evaluation=evaluation), SPOKEN)


def test_everybody_stands_in_percent_of_the_fastest_and_who_may_not_be_ranked_stands_in_its_place_with_the_reason():
    def of(name, speed, options=(), **changes):
        case = synthetic.case(name, protocol=synthetic.FULL, options=options, **changes)
        return reports.summary([speed * each for each in reports.FASTER], of=case)

    rows = [of("oneflow", 1.0), of("pytorch", 0.8), of("mxnet", 0.9, options=(("gradient_clipping", "off"),))]
    rows += [of("mindspore", 0.5, batch_per_device=7), of("oneflow", 1.0, model="gpt2", recipe="gpt2")]
    evaluation = reports.evaluation(*rows)
    (table,) = standings_of(evaluation)

    found = {
        name: [(c.share and c.share.text, c.why and text(c.why), c.weight) for c in cells]
        for name, cells in table["rows"]
    }
    assert found == {
        "OneFlow": [("100.0%", None, "bold"), ("100.0%", None, "weak")],
        "PyTorch": [("80.0%", None, "bold"), (None, "never run", "weak")],
        "MXNet": [("90.0%", "gradient clipping: off", "weak"), (None, "never run", "weak")],
        "MindSpore": [("50.0%", "bsz 7", "weak"), (None, "never run", "weak")],
    }


def test_a_report_of_one_setting_draws_its_runs_where_a_matrix_would_have_one_row(built):
    page = built("quick").section("verdict")

    assert len(page.all("table", class_="standings")) == 1
    assert page.all("form") == []
    blocks = page.all("article", class_="answer")
    assert len(blocks) == 2 and sum(len(block.all("svg", class_="dots")) for block in blocks) == 8


def test_notices_are_a_line_each_and_say_whether_other_programs_ran():
    quick = synthetic.quick()
    first, *others = quick.summaries
    disturbed = replace(first.measurements[0], findings=(BusyMachine(others=0.5, where=first.measurements[0].run.id),))
    busy = replace(quick, summaries=(replace(first, measurements=(disturbed, *first.measurements[1:])), *others))

    calm, found = (
        {kind: text(line) for kind, line in notices.notices(Book(evaluation=of), SPOKEN)} for of in (quick, busy)
    )

    line = "Preliminary: 3 repeats of 30 steps each; the full protocol takes 5 to 7 of 100."
    assert found["profile"] == line and found["cores"].startswith("2 processes share the same CPU cores")
    assert all(len(line) < 180 for line in found.values())
    assert "in 1 of 24 runs other programs used the CPU, at most 50.0% of it" in found["busy"] and "busy" not in calm


@pytest.mark.parametrize(("evaluation", "language", "line"), sources.cases("report_first_screen.toml")["counted"])
def test_what_was_not_skipped_and_not_lost_is_not_counted(evaluation, language, line):
    assert text(tally.coverage(Book(evaluation=synthetic.PAGES[evaluation]()), SPOKEN), language) == line


def _with_a_rival(evaluation):
    """With another framework for the first model, so that its options are held equal and not ranked."""
    rival = synthetic.case("pytorch", (1, 1), device="gpu", protocol=synthetic.FULL, batch_per_device=32, options=())
    return replace(evaluation, summaries=(*evaluation.summaries, reports.summary(of=rival)))


def test_a_name_of_a_setting_leaves_out_what_all_settings_of_the_model_share():
    book = Book(evaluation=synthetic.quick())

    assert {text(setting) for setting in answers.settings(book.answers, SPOKEN).values()} == {"FP32 · bsz 8"}
    varied = answers.settings(Book(evaluation=_with_a_rival(synthetic.variants())).answers, SPOKEN).values()
    assert len({text(run) for run in varied}) == len(varied) > 4
    assert "FP32 · bsz 32 · optimiser: gradient all-reduce" in map(text, varied)
    assert "FP32 · bsz 32 · 优化器：梯度 AllReduce" in [text(run, "zh") for run in varied]


@pytest.mark.parametrize(("language", "said"), [("en", "within 1.5%: 9,441, 9,373"), ("zh", "以内：9,441")])
def test_the_terminal_ends_with_the_sentences_of_the_page(language, said):
    first, second = report.found_sentences(Book(evaluation=synthetic.asked()), words.read((language,)), language)

    first, second = (line.replace("（", " (") for line in (first, second))
    assert first.startswith("ResNet-50 v1.5 (FP32 · bsz 8") and second.startswith("BERT-Base (AMP · bsz 64")
    assert said in second and "<" not in second


def test_a_setting_is_offered_in_the_readers_language_and_asked_for_by_one_name(tmp_path):
    report_room.build(_with_a_rival(synthetic.variants()), tmp_path)
    page = pages.read((tmp_path / "report.html").read_text(encoding="utf-8"))
    articles = page.all("article", class_="answer")

    named = {(article["data-setting"], article["data-setting-in-en"]) for article in articles}
    assert ("FP32 · bsz 32 · 优化器：梯度 AllReduce", "FP32 · bsz 32 · optimiser: gradient all-reduce") in named
    assert ("FP32 · bsz 32", None) in named  # the same in both languages
