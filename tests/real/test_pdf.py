"""The PDF form, printed by a real Chromium and read back with poppler's tools."""

import re
import shutil
import subprocess

import pytest
import reports
import synthetic

from evalsuite.core.errors import EvalsuiteError
from evalsuite.report import forms
from evalsuite.report.forms import pdf
from evalsuite.results.evaluation import evaluate
from evalsuite.runs.store import Store
from tests import planted
from tools import rebuild_dlperf, rebuild_document, rebuild_recorded


def _missing() -> str | None:
    try:
        pdf.browser()
    except EvalsuiteError as error:
        return str(error)
    return None if shutil.which("pdffonts") else "pdffonts is missing: apt install poppler-utils"


pytestmark = pytest.mark.skipif(bool(_missing()), reason=_missing() or "")


def output(*argv) -> str:
    return subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """The quick page as PDF in both languages."""
    out = tmp_path_factory.mktemp("pdf")
    return dict(zip(("zh", "en"), forms.write(("pdf",), synthetic.quick(), out, ("zh", "en")), strict=True))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_pdf_is_a4_with_every_font_embedded(printed, language):
    assert "(A4)" in output("pdfinfo", printed[language])

    rows = output("pdffonts", printed[language]).splitlines()[2:]
    columns = [re.search(r"(yes|no) +(yes|no) +(yes|no) +\d+ +\d+$", row).groups() for row in rows]
    assert rows and all(embedded == "yes" and readable == "yes" for embedded, _, readable in columns)


def test_the_first_page_has_the_verdict_and_the_chinese_can_be_searched(printed):
    text = re.sub(r"\s", "", output("pdftotext", printed["zh"], "-"))
    assert "测试方案" in text and "运行日期" in text
    assert "Onecardforeach" not in text

    first = output("pdftotext", "-l", "1", printed["en"], "-")
    assert "Verdict" in first and "PyTorch" in first
    assert "Scaling efficiency over devices" in text_of(printed["en"])


def test_printing_twice_gives_the_same_bytes_with_the_dates_of_the_data(printed, tmp_path):
    assert {path.name for path in printed["zh"].parent.glob("*.pdf")} == {"report.zh.pdf", "report.en.pdf"}
    assert "2026" in output("pdfinfo", "-isodates", printed["zh"]).split("CreationDate:")[1][:20]

    def again():
        return forms.write(("pdf",), synthetic.quick(), tmp_path, ("en",))[0].read_bytes()

    first, second = printed["en"].read_bytes(), again()
    assert first == second or again() in (first, second)  # one print of some forty has other bytes (`audit.PRINTS`)


def pages(path) -> int:
    return int(re.search(r"Pages: +(\d+)", output("pdfinfo", path)).group(1))


def text_of(path, *, first=1, last=1) -> str:
    return re.sub(r"\s+", " ", output("pdftotext", "-f", first, "-l", last, path, "-"))


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """The quick report and DLPerf's as PDF in both languages, the lab's in its own."""
    makers = {"quick": rebuild_recorded.quick, "dlperf": rebuild_dlperf.evaluation, "lab": rebuild_document.evaluation}
    found = {name: make() for name, make in makers.items()}
    out = tmp_path_factory.mktemp("examples")
    for name in found:
        (out / name).mkdir()
    both = ("zh", "en")
    return {
        name: forms.write(("pdf",), of, out / name, both[: 1 if name == "lab" else 2]) for name, of in found.items()
    }


@pytest.mark.parametrize(("name", "most"), [("quick", 8), ("dlperf", 30), ("lab", 40)])
def test_a_report_on_paper_is_no_longer_than_a_reader_bears(examples, name, most):
    assert max(map(pages, examples[name])) <= most


def test_a_large_document_sums_up_first_and_repeats_the_head_of_a_table_overleaf(examples):
    zh, en = examples["dlperf"]

    assert all(said in text_of(en) for said in ("in any of 4", "164 of 164 figures cited", "Scaling efficiency over"))
    assert "Not applicable here" in text_of(en, last=4)
    assert "Contents Verdict 1 ResNet-50 v1.5" in text_of(en, last=4)
    assert "目录 结论 1 ResNet-50 v1.5" in text_of(zh, last=4)

    begins = next(page for page in range(1, pages(zh)) if "表 1-1" in text_of(zh, first=page, last=page))
    assert "1×1 1×8 2×8 4×8" in text_of(zh, first=begins + 1, last=begins + 1)

    text = output("pdftotext", examples["quick"][1], "-")
    assert re.search(r"A3\s+Data quality and failures", text) and "Data findings, one row per rule" in text
    assert "click" not in text.lower() and "a link:" not in text


def heights_of(path, word) -> set[float]:
    """How high *word* is printed, wherever it stands, in points."""
    matches = re.findall(rf'<word xMin="[^"]+" yMin="([^"]+)" xMax="[^"]+" yMax="([^"]+)">{word}</word>', boxes(path))
    return {round(float(bottom) - float(top), 1) for top, bottom in matches}


def boxes(path) -> str:
    return output("pdftotext", "-bbox", path, "-")


def test_a_wide_table_shrinks_no_page_and_stays_within_the_paper(printed, tmp_path):
    scales = [(1, 1), *((1, 2**k) for k in range(1, 4)), *((2**k, 8) for k in range(1, 8))]
    found = [
        reports.summary([speed * nodes * each for speed in reports.STEADY], of=synthetic.case(name, (nodes, each)))
        for name in ("ngc_tensorflow", "ngc_pytorch", "paddlepaddle")
        for nodes, each in scales
    ]
    [wide] = forms.write(("pdf",), reports.evaluation(*found), tmp_path, ("en",))

    assert heights_of(wide, "Verdict") & heights_of(printed["en"], "Verdict")
    width = float(re.search(r'<page width="([^"]+)"', boxes(wide)).group(1))
    assert max(float(right) for right in re.findall(r'xMax="([^"]+)"', boxes(wide))) <= width
    assert "128×8" in output("pdftotext", wide, "-")


def test_a_one_case_report_prints_too(tmp_path):
    [path] = forms.write(("pdf",), reports.evaluation(reports.summary()), tmp_path, ("zh",))

    text = output("pdftotext", path, "-")
    assert "结论" in text and "100.00" in text  # the median of the runs


def test_no_planted_secret_stands_in_the_text_of_the_pdf_or_beside_it(tmp_path):
    runs = planted.plant(tmp_path / "runs", planted.COMMANDS, planted.VARIABLES)

    for path in forms.write(("pdf",), evaluate(Store(runs)), tmp_path, ("zh", "en")):
        text = re.sub(r"\s", "", output("pdftotext", "-raw", path, "-"))
        beside = output("pdfinfo", path) + output("pdfinfo", "-url", path)

        assert "[secret:" in text
        assert [secret for secret in planted.SECRETS if re.sub(r"\s", "", secret) in text or secret in beside] == []
