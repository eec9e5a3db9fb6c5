import json
import multiprocessing
import re
import shutil
from html.parser import HTMLParser

import pages
import pytest
import reports
import synthetic

from evalsuite import cli, report
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.finished import finished, history
from evalsuite.report import forms
from evalsuite.report.forms import bundle
from evalsuite.site import publishing
from tests import sources
from tests.runfolders import contents

HAN = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture
def monday(tmp_path):
    return reports.written(tmp_path / "monday", reports.evaluation(reports.summary(), title="Monday's"))


@pytest.fixture
def tuesday(tmp_path):
    slower = reports.summary(reports.SLOWER, day=2, version="2.1")
    return reports.written(tmp_path / "tuesday", reports.evaluation(slower, title="Tuesday's"))


@pytest.fixture
def site(tmp_path):
    return tmp_path / "site"


def index(site):
    return (site / "index.html").read_text()


def visible_text(page: str) -> str:
    return re.sub(r"<(style|script)\b.*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL)


def test_a_report_is_copied_whole_under_the_hash_of_its_content_for_a_web_server_to_read(monday, site):
    (monday / "tables").mkdir()
    (monday / "tables" / "phases.csv").write_text("a\n")
    reports.sealed(monday)
    (monday / "summary.json").chmod(0o600)

    published = publishing.publish([monday], site)

    copied = site / "reports" / history.content_id(monday)
    assert published.added == (copied.name,)
    assert contents(copied) == contents(monday)
    assert {path.stat().st_mode & 0o777 for path in (site / "reports").rglob("*") if path.is_file()} == {0o644}


def test_publishing_again_changes_no_byte_and_the_order_does_not_matter(monday, tuesday, site, tmp_path):
    publishing.publish([monday, tuesday], site)
    before = contents(site)
    publishing.publish([tuesday], tmp_path / "two")
    publishing.publish([monday], tmp_path / "two")

    published = publishing.publish([tuesday], site)

    assert (published.added, len(published.known)) == ((), 1)
    assert contents(site) == before == contents(tmp_path / "two")


def test_an_old_report_stays_when_a_new_one_comes_whose_regression_leads_to_its_history(monday, tuesday, site):
    publishing.publish([monday], site)
    publishing.publish([tuesday], site)

    later, earlier = pages.rows(pages.read(index(site)).one("table", class_="stored"))
    assert "Tuesday's" in " ".join(later) and "Monday's" in " ".join(earlier)
    assert len(list((site / "reports").iterdir())) == 2
    page, anchor = re.search(r'href="(history/[^"#]+)#(l-[0-9a-f]+)"', index(site)).groups()
    assert "−10.0%" in index(site)
    assert f'id="{anchor}"' in (site / page).read_text()


def test_a_report_that_lost_its_summary_is_still_listed_and_one_left_half_copied_is_not(monday, site):
    half = site / "reports" / f"{publishing.INCOMING}0123"
    half.mkdir(parents=True)
    (half / "summary.json").write_text("{")
    published = publishing.publish([monday], site)
    (name,) = published.added
    (site / "reports" / name / "summary.json").write_text("{")

    publishing.publish([], site)

    assert [report.id for report in published.stored] == [name] and not half.exists()
    assert f"reports/{name}/report.html" in index(site) and "expected a JSON object" in index(site)


def test_what_was_published_and_is_edited_gone_or_older_is_said(monday, tuesday, site, capsys):
    again, audit = ["publish", "--site", str(site)], ["audit", str(site)]
    assert cli.main([*again, str(tuesday)]) == cli.main(audit) == Exit.DONE
    assert "not compared" not in capsys.readouterr().out
    assert cli.main([*again, str(monday)]) == 0 and "first   1 not compared" in capsys.readouterr().out
    (site / "reports" / history.content_id(monday) / "report.html").write_text("9")
    shutil.rmtree(site / "reports" / history.content_id(tuesday))
    for words, code in ((audit, Exit.CRITERION_FAILED), (again, Exit.DONE), (again, Exit.DONE), (audit, 5)):
        assert cli.main(words) == code
        assert re.search("no longer as they were published(?s:.*)and is gone", capsys.readouterr().out)
    assert index(site).count("this report is not in the history") == 2
    shutil.rmtree(site / "reports")
    assert cli.main(audit) == 5 and capsys.readouterr().out.count("and is gone") == 2


def test_nothing_is_written_into_something_else_or_of_what_is_no_report_holds_a_link_or_the_site(monday, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "thesis.tex").write_text("precious")

    with pytest.raises(EvalsuiteError, match="no site of evalsuite"):
        publishing.publish([monday], tmp_path / "docs")

    assert contents(tmp_path / "docs") == {"thesis.tex": b"precious"}

    with pytest.raises(EvalsuiteError, match="a place in the report"):
        publishing.publish([monday], monday / "site")
    with pytest.raises(EvalsuiteError, match="no finished report"):
        publishing.publish([monday, tmp_path], tmp_path / "site")
    for words in (["sample", "-o", monday, "--", "true"], ["import", tmp_path / "docs", "--runs", monday]):
        assert cli.main([*map(str, words)]) == Exit.USAGE
    assert cli.main(["diff", str(monday), str(monday), "--junit", str(monday / "j.xml")]) == Exit.USAGE
    assert not (monday / "j.xml").exists() and not [*monday.glob("log.*")]
    (monday / "secret").symlink_to("/etc/hostname")
    with pytest.raises(EvalsuiteError, match="it is a link"):
        publishing.publish([monday], tmp_path / "site")

    assert not (tmp_path / "site").exists() and not (monday / "site").exists()


NOT_OURS = {
    "id_rsa": b"x", "key.pem": b"x", "evil.js": b"x", "a.log.gz": b"x", "tables/a.csv": "token=1".encode("utf-16"),
    "evil.html": b"<script>x</script>", "a.svg": b"<svg><script>x</script></svg>", "b.svg": b"<svg onload='x'/>",
    "report.html": b"", "report.zh.html": b"<title>another</title>", "a.pdf": b"x", "b.pdf": b"%PDF-1.4 <</JS (x)>>",
    "a\u202evsc.csv": b"x", ".htaccess": b"x", "more.zip": bundle.zip_files({"../x.csv": b"x"}),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_OURS)
def test_what_evalsuite_did_not_write_is_not_published(name, monday, site):
    (monday / name).parent.mkdir(exist_ok=True)
    (monday / name).write_bytes(NOT_OURS[name])

    for _ in range(2):
        with pytest.raises(EvalsuiteError, match=re.escape(name.rpartition("/")[2])):
            publishing.publish([monday], site)
        reports.sealed(monday)  # as if it were of the report
    assert not site.exists()


@pytest.mark.parametrize(("before", "after"), sources.table("publishing.toml")["other_pages"])
def test_a_page_with_other_scripts_is_not_published(before, after, monday, site):
    page = (monday / "report.html").read_text()
    (monday / "report.html").write_text(page.replace(before, after))
    reports.sealed(monday)

    assert before in page
    with pytest.raises(EvalsuiteError, match=r"report\.html"):
        publishing.publish([monday], site)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A real report in every form but those that need a browser or logs."""
    folder, of = tmp_path_factory.mktemp("whole"), synthetic.quick()
    report.build(of, folder)
    forms.write(("single", "md", "xlsx", "parquet", "zip"), of, folder, ("zh", "en"))
    return folder


FORMS = "report.html report.en.md report.en.tex report.xlsx report-data.zip tables/summaries.csv tables/runs.parquet"


@pytest.mark.parametrize("name", ["summary.json", *FORMS.split()])
def test_a_form_that_is_not_as_it_was_written_is_not_published(name, whole, site, tmp_path):
    shutil.copytree(whole, tmp_path / "copy")
    with open(tmp_path / "copy" / name, "ab") as file:
        file.write(b" ")

    with pytest.raises(EvalsuiteError, match=re.escape(name)):
        publishing.publish([tmp_path / "copy"], site)
    assert not site.exists()


def test_a_whole_report_is_published_and_one_with_a_lost_file_or_without_a_manifest_is_not(whole, site):
    publishing.publish([whole], site)
    shutil.copytree(whole, site.parent / "copy")
    (site.parent / "copy" / "tables" / "phases.csv").unlink()

    with pytest.raises(EvalsuiteError, match=r"phases\.csv.*not there"):
        publishing.publish([site.parent / "copy"], site)
    (site.parent / "copy" / "manifest.json").unlink()
    with pytest.raises(EvalsuiteError, match=r"no manifest"):
        publishing.publish([site.parent / "copy"], site)


def test_two_publishers_at_once_both_find_their_reports_on_the_site(site, tmp_path):
    of = [reports.evaluation(reports.summary(day=day)) for day in range(1, 5)]
    folders = [reports.written(tmp_path / f"r{day}", one) for day, one in enumerate(of)]
    forked = multiprocessing.get_context("fork")
    at_work = [forked.Process(target=publishing.publish, args=([folder], site)) for folder in folders]
    for publisher in at_work:
        publisher.start()
    for publisher in at_work:
        publisher.join(120)

    assert {publisher.exitcode for publisher in at_work} == {0}
    listed = json.loads((site / "site.json").read_text())["reports"]
    assert {each["id"] for each in listed} == {history.content_id(folder) for folder in folders}


def test_a_later_build_of_the_same_data_is_counted_once_in_the_history(monday, tmp_path):
    again = reports.written(
        tmp_path / "again", reports.evaluation(reports.summary(), title="Monday's"), page=f"{reports.PAGE}<p>new</p>"
    )

    published = publishing.publish([monday, again], tmp_path / "site")

    assert len(published.stored) == 2
    assert [len(line.points) for line in published.history.lines] == [1]


class Requests(HTMLParser):
    def __init__(self):
        super().__init__()
        self.fetched, self.links = [], []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag in ("script", "img", "iframe", "source", "object") and ("src" in found or "data" in found):
            self.fetched.append(found)
        if tag == "link" and found.get("rel") != "alternate":
            self.fetched.append(found)
        if "href" in found:
            self.links.append(found["href"])


def test_no_page_fetches_anything_every_link_leads_to_a_file_of_the_site_and_no_word_is_missing(monday, tuesday, site):
    publishing.publish([monday, tuesday], site)

    for page in [*site.glob("*.html"), *site.glob("history/*.html")]:
        text = page.read_text()
        (seen := Requests()).feed(text)
        assert seen.fetched == []
        assert not re.search(r"\{\w*\}|\bNone\b|undefined", visible_text(text))
        assert page.parent != site or (HAN.search(text) and "Regressions" in text)
        for link in seen.links:
            target = link.partition("#")[0]
            assert not target or (page.parent / target).resolve().is_file(), (page.name, link)
            assert not re.match(r"[a-z]+:", link)


def test_hostile_text_stays_text_on_every_page(tmp_path):
    folder = reports.written(tmp_path / "hostile", synthetic.hostile())

    publishing.publish([folder], tmp_path / "site")

    for page in [*(tmp_path / "site").glob("*.html"), *(tmp_path / "site").glob("history/*.html")]:
        text = page.read_text()
        assert text.count("<script") == 2
        assert "<img" not in text and "<svg onload" not in text


def test_a_report_without_dates_stands_last_and_in_the_history(monday, tmp_path):
    undated = synthetic.summary([synthetic.replace(run, started_at=None) for run in reports.summary().measurements])
    folder = reports.written(tmp_path / "undated", reports.evaluation(undated, title="Undated"))
    site = tmp_path / "site"
    publishing.publish([folder, monday], site)
    index = (site / "index.html").read_text(encoding="utf-8")
    model = pages.read((site / "history" / "resnet50_v1.5.html").read_text(encoding="utf-8"))

    assert index.index("2026-11-01") < index.index("Undated")
    table = model.one("div", aria_labelledby="undated")
    assert "not recorded" in table.text("en") and history.content_id(folder)[:12] in table.text("en")


def test_the_command_says_what_it_added_and_what_it_knew(monday, site, monkeypatch, capsys):
    words = ["publish", str(monday), "--site", str(site)]

    assert cli.main(words) == cli.main(words) == Exit.DONE
    said = capsys.readouterr().out
    assert said.count("added   ") == 1 and said.count("known   ") == 1
    assert "reports: 1, regressions: 0" in said
    monkeypatch.setattr(finished.Finished, "lacking", 2)
    assert cli.main([*words[:3], str(other := site.with_name("other"))]) == Exit.DONE
    assert "lacking 2 of" in capsys.readouterr().out and "not whole: 2 of" in index(other)


def test_a_report_of_cited_values_says_so_and_of_regressions_nothing_is_said_where_nothing_was_compared(site, tmp_path):
    cited = synthetic.replace(reports.summary(), origin="cited")
    publishing.publish([reports.written(tmp_path / "cited", reports.evaluation(cited))], site)

    assert "<i lang=en>cited</i>" in index(site)
    assert "No case has two comparable full measurements yet" in index(site)
    assert "No statistically significant regression" not in index(site)


def test_the_index_tells_the_first_models_of_a_report_and_counts_the_others(tmp_path):
    of = [
        reports.summary(of=synthetic.case(name, model=f"model_{k}", recipe=f"r{k}", protocol=synthetic.FULL))
        for k in range(7)
        for name in ("pytorch", "mxnet")
    ]
    publishing.publish([reports.written(tmp_path / "a", reports.evaluation(*of))], tmp_path / "site")

    shown = visible_text(index(tmp_path / "site").partition('class="stored"')[2].partition("</table>")[0])
    assert "4 more models in the report." in shown and shown.count("model_") == 3
