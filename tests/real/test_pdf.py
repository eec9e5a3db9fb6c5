"""The PDF form, printed by a real Chromium and read back with poppler's tools."""

import re
import shutil
import subprocess

import pytest
import reports
import synthetic

from evalsuite.errors import EvalsuiteError
from evalsuite.report import forms
from evalsuite.report.forms import pdf


def _missing() -> str | None:
    try:
        pdf.browser()
    except EvalsuiteError as error:
        return str(error)
    return None if shutil.which("pdffonts") else "pdffonts is missing: apt install poppler-utils"


pytestmark = pytest.mark.skipif(bool(_missing()), reason=_missing() or "")


def said(*argv) -> str:
    return subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """The quick page as PDF in both languages."""
    out = tmp_path_factory.mktemp("pdf")
    return dict(zip(("zh", "en"), forms.write(("pdf",), synthetic.quick(), out, ("zh", "en")), strict=True))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_pdf_is_a4_with_every_font_embedded(printed, language):
    assert "(A4)" in said("pdfinfo", printed[language])

    rows = said("pdffonts", printed[language]).splitlines()[2:]
    columns = [re.search(r"(yes|no) +(yes|no) +(yes|no) +\d+ +\d+$", row).groups() for row in rows]
    assert rows and all(embedded == "yes" and readable == "yes" for embedded, _, readable in columns)


def test_the_chinese_pdf_can_be_searched_in_chinese_and_holds_no_english_sentence(printed):
    text = re.sub(r"\s", "", said("pdftotext", printed["zh"], "-"))

    assert "无法判定" in text and "单卡批大小" in text
    assert "Onecardforeach" not in text


def test_the_verdict_stands_on_the_first_page(printed):
    first = said("pdftotext", "-l", "1", printed["en"], "-")

    assert "Verdict" in first and "Undetermined" in first


def test_printing_twice_gives_the_same_bytes(printed, tmp_path):
    [again] = forms.write(("pdf",), synthetic.quick(), tmp_path, ("en",))

    assert again.read_bytes() == printed["en"].read_bytes()


def test_nothing_is_left_behind_and_no_date_is_that_of_printing(printed):
    assert {path.name for path in printed["zh"].parent.iterdir()} == {"report.zh.pdf", "report.en.pdf"}
    assert "2026" in said("pdfinfo", "-isodates", printed["zh"]).split("CreationDate:")[1][:20]


def test_a_one_case_report_prints_too(tmp_path):
    [path] = forms.write(("pdf",), reports.evaluation(reports.summary()), tmp_path, ("zh",))

    text = said("pdftotext", path, "-")
    assert "结论" in text and "100.40" in text  # the median of the runs
