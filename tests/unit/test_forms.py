import errno
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from dataclasses import replace

import openpyxl
import pages
import pytest
import reports
import synthetic
from markupsafe import Markup

from evalsuite import cli, report
from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.finished import manifest
from evalsuite.report import forms
from evalsuite.report.data import tables
from evalsuite.report.forms import bundle, markdown, pdf, spreadsheet
from evalsuite.report.forms import material as material_room
from evalsuite.report.sections.common import markdown as section_markdown
from tests import runfolders, sources

BOTH = ("zh", "en")
SVG = "{http://www.w3.org/2000/svg}"


def material(evaluation, out, languages=BOTH):
    return material_room.material_of(evaluation, out, languages)


@pytest.fixture(params=["quick", "partial", "all_failed", "empty", "hostile", "skipped", "mixed_units"])
def any_material(request, tmp_path):
    return material(synthetic.PAGES[request.param](), tmp_path)


def test_forms_are_named_once_in_one_order_and_a_browser_without_a_pdf_gives_its_last_words(monkeypatch, tmp_path):
    assert forms.parse_names("zip, md,md") == ("md", "zip")

    fake = sources.program(tmp_path / "chromium", "echo no display >&2")

    with pytest.raises(EvalsuiteError, match=r"wrote no PDF.*no display"):
        pdf._print(b"<p>", str(fake))


@pytest.mark.parametrize("text", ["docx", "", "md,docx"])
def test_an_unknown_form_is_told_with_the_known_ones(text):
    with pytest.raises(EvalsuiteError, match="expected one or more of html, single, md, xlsx, parquet, pdf, zip, logs"):
        forms.parse_names(text)


@pytest.mark.parametrize(("form", "browser", "said"), sources.cases("forms.toml")["form_lacks_program"])
def test_a_form_that_lacks_its_program_or_library_is_refused_before_anything_is_measured(
    form, browser, said, monkeypatch
):
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv(pdf.VARIABLE, browser)
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)

    with pytest.raises(EvalsuiteError, match=said):
        forms.parse_names(form)


@pytest.mark.parametrize(
    ("of", "stamp"), [(synthetic.empty, pdf.NO_DATE), (synthetic.quick, "20261120045900")], ids=["empty", "quick"]
)
def test_paper_gets_a_page_without_scripts_and_the_date_of_the_data_in_utc(of, stamp, tmp_path, monkeypatch):
    given, printed = [], b"<</CreationDate (D:20261121004710+00'00')\n/ModDate (D:20261121004710+00'00')>>"
    monkeypatch.setattr(pdf, "browser", lambda: "chromium")
    monkeypatch.setattr(pdf, "_print", lambda page, program: given.append(page) or printed)
    written = pdf.write(material(of(), tmp_path))

    assert len(given) == 2 and all(b"<script" not in page and b"</html>" in page for page in given)
    assert {path.read_bytes() for path in written} == {printed.replace(b"20261121004710", stamp.encode())}


# Markdown


@pytest.mark.parametrize("language", BOTH)
def test_markdown_has_one_table_row_shape_no_gap_and_no_tag_of_a_page(any_material, language):
    text = markdown.document(any_material, language)
    spoken = re.sub(r"`[^`]*`", "", text)

    assert "None" not in spoken and re.findall(r"<[a-z/][^>]*>", spoken) == []
    assert not re.search(r"(?<!\\)\{\w+\}", text.replace("{placeholder}", ""))
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_markdown_begins_with_what_was_found_the_matrix_and_the_verdicts(tmp_path):
    found = {
        name: markdown.document(material(synthetic.PAGES[name](), tmp_path), "en")
        for name in ("thorough", "gpu", "one_scale")
    }
    alone = markdown.document(material(reports.evaluation(reports.summary(reports.FASTER)), tmp_path), "en")

    assert re.search(r"\*\*\d×\d · PyTorch is fastest: ", found["thorough"])
    assert re.search(r"\| PyTorch \| [\d.]+ \| [\d.–]+ · n = 7 \| 100.0% \|", found["thorough"])
    assert found["gpu"].index("PyTorch is fastest") < found["gpu"].index("C1")
    assert re.search(r"\| 110\.20 \| [\d.–]+ · n = 5 \|", alone)
    assert "Not applicable here. C1 Linear speedup: Nothing measured on 20 nodes or more" in found["one_scale"]
    assert "Not applicable here" not in alone


def test_each_language_gets_a_file_with_its_figure_beside_it_that_stands_alone(tmp_path):
    written = {path.name: path.read_text() for path in markdown.write(material(synthetic.quick(), tmp_path))}

    assert sorted(written) == ["report.en.md", "report.en.svg", "report.zh.md", "report.zh.svg"]
    assert "结论" in written["report.zh.md"] and "结论" not in written["report.en.md"]
    assert "](report.en.svg)" in written["report.en.md"]
    drawing = ElementTree.fromstring(written["report.en.svg"])
    texts = [line.text for line in drawing.iter(f"{SVG}text")]
    assert {"MXNet", "PaddlePaddle", "PyTorch", "TensorFlow"} <= set(texts)
    assert len(list(drawing.iter(f"{SVG}circle"))) == 4 * 3  # three runs each
    assert not re.search(r"<(?:style|script|a |image|use|foreignObject)|var\(|href|\son\w+=", written["report.en.svg"])


@pytest.mark.parametrize(("data", "shown"), sources.table("forms.toml")["markdown"])
def test_data_in_markdown_is_neither_markup_nor_link_nor_mention(data, shown):
    assert section_markdown.text(data) == shown


def test_our_own_emphasis_and_code_survive_in_markdown():
    found = section_markdown.from_markup(Markup("<strong>本报告。</strong>用 <code>make *</code> &amp; more"))

    assert found == "**本报告**。用 `make *` & more"


@pytest.mark.parametrize(
    ("said", "bold"), [("本报告。", "**本报告**。"), ("“快”", "“**快**”"), ("a b", "**a b**"), ("…", "…"), ("", "")]
)
def test_bold_begins_and_ends_with_a_letter_so_that_every_host_shows_it(said, bold):
    assert section_markdown.emphasised(said) == bold


def test_dots_of_the_figure_lie_from_left_to_right_by_their_speed_and_hostile_names_stay_text(tmp_path):
    slow, fast = (synthetic.case(name, protocol=synthetic.FULL) for name in ("mxnet", "<b>&"))
    of = reports.evaluation(reports.summary(reports.FASTER, of=fast), reports.summary(of=slow))
    markdown.write(material(of, tmp_path))

    drawing = ElementTree.parse(tmp_path / "report.en.svg")
    places = [float(each.get("cx")) for each in drawing.iter(f"{SVG}circle")]
    assert min(places[:5]) > max(places[5:])
    assert any((line.text or "").startswith("<b>&") for line in drawing.iter(f"{SVG}text"))


def test_a_report_with_nothing_to_set_side_by_side_has_no_figure_and_removes_an_older_one(tmp_path):
    (tmp_path / "report.en.svg").write_text("of other data")

    written = markdown.write(material(synthetic.empty(), tmp_path))

    assert [path.suffix for path in written] == [".md", ".md"]
    assert not (tmp_path / "report.en.svg").exists()
    assert "](report" not in (tmp_path / "report.en.md").read_text()


# spreadsheet


def sheets(made):
    return openpyxl.load_workbook(io.BytesIO(spreadsheet.workbook(made)))


def test_a_workbook_has_a_sheet_for_each_table_that_is_not_empty_with_the_columns_of_the_csv(any_material):
    _, *raw = sheets(any_material)

    rows = tables.rows(any_material.book)
    filled = [name for name in spreadsheet.SHEETS if rows[name]]
    assert [[cell.value for cell in sheet[1]] for sheet in raw] == [
        list(tables.with_options(tables.COLUMNS[name], rows[name])[0]) for name in filled
    ]


def test_a_workbook_says_first_what_was_found_and_how_sure_it_is(tmp_path):
    about, *_ = sheets(material(synthetic.quick(), tmp_path, ("zh",)))

    lines = [cell.value for row in about.iter_rows() for cell in row if cell.value]
    found = next(k for k, text in enumerate(lines) if "未能判定（n\u00a0=\u00a03）" in text)
    assert {"测量 30 步", "已证明计算一致"} & {*lines[found + 1 :]}
    assert all(row[1].value for row in about.iter_rows(max_row=4) if row[0].value)


def test_a_workbook_keeps_raw_values_leaves_absent_ones_empty_and_is_the_same_bytes_each_time(tmp_path):
    made = material(synthetic.quick(), tmp_path)
    found = list(sheets(made)["运行 Runs"].iter_rows(min_row=2, values_only=True))
    expected = tables.rows(made.book)["runs"]
    column, exit_code = (tables.COLUMNS["runs"].index(name) for name in ("items_per_s", "exit_code"))

    # XlsxWriter prints 16 significant digits: the last bit of a double may differ
    assert [row[column] for row in found] == pytest.approx([row["items_per_s"] for row in expected], rel=1e-15)
    assert [row[exit_code] is None for row in found] == [row["exit_code"] is None for row in expected]
    assert spreadsheet.workbook(made) == spreadsheet.workbook(made)


def test_no_cell_of_a_workbook_is_a_formula_or_a_link(tmp_path):
    for sheet in sheets(material(synthetic.hostile(), tmp_path)):
        for row in sheet.iter_rows():
            assert all(cell.data_type != "f" and cell.hyperlink is None for cell in row)


# bundle


def test_the_bundle_holds_the_same_numbers_as_the_files_beside_the_page(tmp_path):
    of = synthetic.partial()
    report.build(of, tmp_path)

    [path] = bundle.write(material(of, tmp_path))

    with zipfile.ZipFile(path) as archive:
        inside = {name: archive.read(name) for name in archive.namelist()}
    assert inside["summary.json"] == (tmp_path / "summary.json").read_bytes()
    for table in (tmp_path / "tables").glob("*.csv"):
        assert inside[f"tables/{table.name}"] == table.read_bytes()
    assert set(json.loads(inside["tables.json"])) == set(tables.COLUMNS)
    assert inside["summary.schema.json"] == bundle.SCHEMA.read_bytes()
    assert all(said in inside["README.txt"].decode() for said in ("没有测得", "items 之和 ÷ seconds 之和"))


def test_the_bundle_is_the_same_bytes_each_time_with_a_fixed_date_and_a_readable_mode(tmp_path):
    of = synthetic.quick()
    shuffled = replace(of, summaries=tuple(reversed(of.summaries)), planned=tuple(reversed(of.planned)))

    assert bundle.zip_files(bundle.contents(material(of, tmp_path))) == bundle.zip_files(
        bundle.contents(material(shuffled, tmp_path))
    )

    entries = zipfile.ZipFile(io.BytesIO(bundle.zip_files({"b.txt": b"2", "a.txt": b"1"}))).infolist()
    assert [entry.filename for entry in entries] == ["a.txt", "b.txt"]
    assert {(entry.date_time, entry.external_attr >> 16 & 0o777) for entry in entries} == {(files.EARLIEST, 0o644)}


# beside the page


def test_forms_of_other_data_are_outdated_and_forms_of_the_same_data_are_not(tmp_path):
    of, other = (reports.evaluation(reports.summary(speeds)) for speeds in (reports.STEADY, reports.SLOWER))
    report.build(of, tmp_path)
    forms.write(("md", "zip"), of, tmp_path, BOTH)

    assert forms.outdated(of, tmp_path, ("zh", "en")) == []
    late = {path.name for path in forms.outdated(other, tmp_path, ("zh", "en"))}
    assert late == {f"report.{of}" for of in ("zh.md", "en.md", "zh.svg", "en.svg")} | {"report-data.zip"}


@pytest.mark.parametrize(
    "place", ["report.data.tables.write", "report.forms.markdown.write", "finished.manifest.write_json"]
)
def test_a_full_disk_leaves_the_old_report_whole_and_the_next_one_replaces_all_of_it(place, tmp_path, monkeypatch):
    runs, out = tmp_path / "runs", tmp_path / "out"
    words = ["report", "--runs", str(runs), "--out", str(out), "--lang", "en", "--forms"]
    runfolders.finished(runs)
    assert cli.main([*words, "html,md"]) == Exit.DONE
    before = runfolders.contents(out)
    runfolders.finished(runs, repeat=1)

    with monkeypatch.context() as full:
        full.setattr(f"evalsuite.{place}", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
        assert cli.main([*words, "html,md"]) == Exit.USAGE
    assert runfolders.contents(out) == before
    assert not (out / report.BESIDE).exists()

    assert cli.main([*words, "html"]) == Exit.DONE
    after = runfolders.contents(out)
    assert after["summary.json"] != before["summary.json"] and "report.en.md" not in after
    assert not list(manifest.mistakes(manifest.read(out), out, (path for path in out.rglob("*") if path.is_file())))


def test_a_page_in_one_language_holds_nothing_of_the_other(tmp_path):
    zh, en = forms.write(("single",), synthetic.one_scale(), tmp_path, BOTH)

    page = pages.read(en.read_text())
    assert (zh.name, en.name) == ("report.zh.html", "report.en.html")
    english, chinese = "Not applicable here", "不适用："
    assert chinese in zh.read_text() and chinese not in en.read_text()
    assert english in en.read_text() and english not in zh.read_text()
    assert page.one("html")["lang"] == "en" and not page.all(id="lang-zh")
    assert not [element for element in page.one("main").all("span") if element["lang"] == "zh-CN"]


@pytest.mark.parametrize(("name", "value"), [("PATH", "/nonexistent"), ("FONTCONFIG_FILE", os.devnull)])
def test_fonts_are_asked_for_where_fontconfig_is_and_the_user_has_no_configuration(monkeypatch, tmp_path, name, value):
    monkeypatch.setenv(name, value)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("fc-list was asked"))

    assert pdf._fonts(tmp_path) == {}


def test_blocks_that_differ_in_their_protocol_alone_have_different_headings(tmp_path):
    short = reports.summary(of=synthetic.case(protocol=synthetic.QUICK))
    full = reports.summary()

    page = pages.read(report.build(reports.evaluation(short, full), tmp_path)[0].read_text(encoding="utf-8"))

    headings = [block.one("h3").text("en") for block in page.all("section", class_="block")]
    assert len(headings) == len(set(headings)) == 2
    assert "5 + 30 steps" in headings[0]
