import re
import tomllib
from pathlib import Path

import pytest

from evalsuite import paths
from evalsuite.report import figures
from evalsuite.report.book import columns
from evalsuite.report.sections.glossary import glossary as glossary_section
from evalsuite.report.text import glossary, words
from evalsuite.report.text.words import Words, WordsError
from evalsuite.results.judge import verdicts
from tests import typography

SPOKEN = words.read()
LANGUAGES = ("zh", "en")
# Keys that code puts together: `t("status." ~ state)` and the like.
COMPOSED = (
    "totals",
    "explain",
    *(
        "effects",
        "of_all",
        "glyphs",
        "share_of",
        "unlike",
        "forecasts",
        "convergence",
        "scores",
        "phases",
        "steptime",
        "options",
        "option_spoken",
        "option_values",
        "tables",
        "problem_status",
        "outline",
        "topology",
        "settings",
        "axes",
        "columns",
        "criteria",
        "resource_kinds",
        "criteria_short",
        "fields",
        "figures",
        "filter",
        "findings",
        "kind",
    ),
    *("launcher", "legend", "methods", "origin", "quality", "resources", "rules", "severity", "status", "tasks"),
    *(
        "titles",
        "usage",
        "values",
        "views",
        "verdict",
        "verdicts",
        "background",
        "reproduction",
        "notices",
        "headlines",
        "answers",
        "matrix",
    ),
)


def test_the_files_hold_the_same_keys_and_places():
    tables = words.read(LANGUAGES).tables  # raises at the first that differs

    assert tables["zh"].keys() == tables["en"].keys()


def test_a_missing_key_is_named():
    with pytest.raises(WordsError, match=r'en\.toml: "page\.only_here" is missing'):
        words.check({"zh": {"page.only_here": "甲"}, "en": {}})


def test_a_place_that_one_language_lacks_is_named():
    with pytest.raises(WordsError, match="places"):
        words.check({"zh": {"a": "共 {n} 个"}, "en": {"a": "many"}})


def test_a_sentence_without_its_value_is_refused():
    with pytest.raises(WordsError, match=r"runs"):
        SPOKEN("headlines.all_valid")


def test_a_value_without_a_place_is_refused():
    with pytest.raises(WordsError):
        SPOKEN("words.copy", n=1)


def test_an_unknown_language_is_refused_with_the_known_ones():
    with pytest.raises(WordsError, match="en, zh"):
        words.read(("fr",))


def test_values_are_escaped_and_our_own_markup_is_not():
    spoken = Words({"zh": {"a": "<b>{x}</b>"}, "en": {"a": "<b>{x}</b>"}})

    assert spoken("a", x="<i>").in_language("zh") == "<b>&lt;i&gt;</b>"


def test_english_nouns_follow_their_number():
    one, many = (SPOKEN("problems.cases", n=n).plain("en") for n in (1, 2))

    assert (one, many) == ("1 case", "2 cases")


def test_lists_are_separated_as_each_language_does():
    listed = SPOKEN.listed(["PyTorch", "MXNet"])

    assert (listed.plain("zh"), listed.plain("en")) == ("PyTorch、MXNet", "PyTorch, MXNet")


def test_chinese_sentences_follow_one_another_without_a_blank():
    both = SPOKEN.sentences([SPOKEN("quality.no_failures"), SPOKEN("quality.no_skips")])

    assert both.plain("zh") == "没有失败的运行。没有跳过的用例。"
    assert both.plain("en") == "No run failed. No case was skipped."


def test_durations_are_worded_in_both_languages():
    duration = SPOKEN.duration(4071)

    assert (duration.plain("zh"), duration.plain("en")) == ("1 小时 07 分 51 秒", "1 h 07 min 51 s")


def test_one_language_alone_needs_no_marks():
    assert words.read(("en",))("words.copy").__html__() == "Copy"


def test_every_key_that_a_template_asks_for_exists():
    asked = re.compile(r"""\bt\("([\w.]+)"[,)]""")
    files = [*paths.TEMPLATES.glob("*.j2"), *paths.SECTIONS.rglob("*.j2"), *(paths.PACKAGE / "report").rglob("*.py")]
    keys = {key for file in files for key in asked.findall(file.read_text(encoding="utf-8"))}

    assert sorted(key for key in keys if key not in SPOKEN) == []


def test_each_column_that_the_page_shows_has_its_name_in_the_file_of_columns():
    file = tomllib.loads(words.COLUMNS.read_text(encoding="utf-8"))

    assert {name: set(texts) for name, texts in file.items()} == {one.name: set(LANGUAGES) for one in columns.SHOWN}


def test_no_sentence_lies_unused():
    files = [*paths.TEMPLATES.glob("*.j2"), *paths.SECTIONS.rglob("*.j2"), *(paths.PACKAGE / "report").rglob("*.py")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    unused = [key for key in SPOKEN.tables["zh"] if f'"{key}"' not in text and key.partition(".")[0] not in COMPOSED]

    assert unused == []


def test_what_criteria_reason_has_a_sentence_in_both_languages():
    text = Path(verdicts.__file__).read_text(encoding="utf-8")
    reasons = set(re.findall(r'reason="(\w+)"', text)) | {
        "met",
        "not_met",
        "faster",
        "no_difference",
        "cannot_tell",
        "short_window",
    }

    assert sorted(reason for reason in reasons if f"verdicts.{reason}" not in SPOKEN) == []


def test_every_axis_column_and_legend_of_a_drawn_figure_has_words():
    text = "\n".join(file.read_text(encoding="utf-8") for file in Path(figures.__file__).parent.glob("*.py"))
    scaling = {"at_s", "resource", "distance_from_median", "case", "value", "devices", "speedup", "efficiency"}
    axes = set(re.findall(r'Axis\(key="(\w+)"', text)) & scaling

    assert [f"axes.{key}" for key in sorted(axes) if f"axes.{key}" not in SPOKEN] == []


@pytest.mark.parametrize("read", [words.read, words.read_beyond_the_page])
def test_the_chinese_keeps_the_rules_of_typography(read):
    assert list(typography.all_faults(read().tables["zh"])) == []


@pytest.mark.parametrize(
    ("sentence", "fault"),
    [
        ("共5个用例", "a blank is missing between Han and Latin"),
        ("共 5个用例", "a blank is missing between Han and Latin"),
        ("使用GPU训练", "a blank is missing between Han and Latin"),
        ("吞吐率, 中位数", "half-width punctuation beside Han"),
        ("结束.", "half-width punctuation beside Han"),
        ("吞吐率 ，中位数", "a blank beside full-width punctuation"),
        ("占 80 %", "a blank before % or °"),
        ("吞吐 率", "a blank between Han"),
        ("共{n}个", "a blank is missing between Han and Latin"),
        ("吞吐量为 {n}", "not the glossary's term: 吞吐量"),
        ("<em>强调</em>", "italics in Chinese"),
        ('他说"好"', "straight quotes around Han"),
    ],
)
def test_bad_chinese_typography_is_caught(sentence, fault):
    assert [found.partition(": '")[0] for found in typography.faults(sentence)] == [fault]


def test_labels_are_the_glossarys_terms():
    terms = {term.key: term for term in glossary.terms()}
    ours = {
        "verdict.pass": "pass",
        "verdict.fail": "fail",
        "verdict.undetermined": "undetermined",
        "axes.speedup": "speedup",
        "axes.efficiency": "scaling_efficiency",
        "axes.items_per_s_per_device": "throughput_per_device",
        "usage.title": "hardware_utilisation",
        "status.not_planned": None,
        "background.matrix": None,
        "resources.gpu": "gpu_utilisation",
        "resources.gpu_memory": "gpu_memory_used",
    }

    for key, term in ours.items():
        if term is not None:
            assert SPOKEN.tables["zh"][key] == terms[term].zh
            assert SPOKEN.tables["en"][key].casefold() == terms[term].en.casefold()


def test_the_glossary_is_the_shared_one(shared):
    assert glossary.FILE.read_bytes() == (shared / "reference" / "glossary.csv").read_bytes()


def test_a_report_on_cpus_speaks_of_processes_and_not_of_cards():
    said = words.read(("zh",), on_cpu=True)

    assert said("figures.block", model="a", precision="b", batch="8").plain("zh") == "a，b，每进程批大小 8。"
    assert said("headlines.base", devices="2").plain("zh") == "基准 = 2 进程"
    assert said("columns.batch_per_device").plain("zh") == "每进程批大小"
    assert words.read(("zh",))("columns.batch_per_device").plain("zh") == "单卡批大小"


def test_the_rules_speak_of_cards_on_every_machine():
    said = words.read(("zh",), on_cpu=True)

    assert "1,000 卡" in said("rules_text.largest").plain("zh")
    assert said("background.size", nodes="4", devices="32").plain("zh") == "4 机 32 卡"


def test_the_glossary_of_a_report_on_cpus_speaks_of_processes_and_by_the_pages_own_words():
    of_cards, of_processes = words.read(), words.read(on_cpu=True)
    terms = {term.key: term for term in glossary.terms()}

    assert glossary_section.adapt_term(terms["throughput_per_device"], of_cards).zh == "单卡吞吐率"
    assert glossary_section.adapt_term(terms["throughput_per_device"], of_processes).zh == "单进程吞吐率"
    assert glossary_section.adapt_term(terms["partial"], of_cards).zh == "样本不足"


@pytest.mark.parametrize("word", ["无从", "印出", "参测", "求解时间", "部分完成", "利用率", "剔除", "凭据"])
def test_the_chinese_has_one_word_for_an_idea(word):
    said = {**SPOKEN.tables["zh"], **words.read_beyond_the_page().tables["zh"]}

    assert [key for key, sentence in said.items() if word in sentence.replace("模型算力利用率", "")] == []


@pytest.mark.parametrize("phrase", ["held equal", "stands for", "so many", "thrown away", "Nobody states", " n ≥ 1"])
def test_the_english_says_plainly_what_it_means(phrase):
    said = {**SPOKEN.tables["en"], **words.read_beyond_the_page().tables["en"]}

    assert [key for key, sentence in said.items() if phrase.casefold() in sentence.casefold()] == []
