import re
import tomllib
from pathlib import Path

import pytest

from evalsuite.core import paths
from evalsuite.report.book import columns
from evalsuite.report.sections.glossary import glossary
from evalsuite.report.text import words
from evalsuite.report.text.words import Words, WordsError
from evalsuite.results.compare import changes
from evalsuite.results.judge import verdicts
from tests import sources, typography

SPOKEN = words.read()  # raises at the first key that the languages do not share, as is tested below
LANGUAGES = ("zh", "en")
# Keys that code puts together: `t("status." ~ state)` and the like.
COMPOSED = (
    *("totals", "of_all", "glyphs", "share_of", "forecasts", "convergence", "scores"),
    *("options", "option_values", "problem_status", "outline"),
    *("settings", "criteria", "resource_kinds", "criteria_short", "fields"),
    *("filter", "findings", "launcher", "limits", "origin", "quality", "questions", "resources", "rules"),
    *("severity", "status", "tasks", "titles", "usage", "values", "verdict", "verdict_notes", "verdicts"),
    *("notices", "answers", "outcome", "board", "against"),
    *("why", "kind", "steptime", "phases", "unlike", "explain", "headlines"),
)


def test_every_column_and_reason_has_words():
    file = tomllib.loads(words.COLUMNS.read_text(encoding="utf-8"))
    assert {name: set(texts) for name, texts in file.items()} == {each.name: set(LANGUAGES) for each in columns.SHOWN}

    text = Path(verdicts.__file__).read_text(encoding="utf-8")
    notes = {*re.findall(r'answer\(\s*"\w*", "(\w+)"', text), *re.findall(r'notes.append\("(\w+)"', text)}
    assert len(notes) > 15 and sorted(note for note in notes if f"verdict_notes.{note}" not in SPOKEN) == []


@pytest.mark.parametrize(("zh", "en", "said"), sources.cases("report_words.toml")["a_key_or_a_place"])
def test_a_key_or_a_place_that_one_language_lacks_is_named(zh, en, said):
    with pytest.raises(WordsError, match=said):
        words.check({"zh": zh, "en": en})


def test_a_sentence_without_its_value_a_value_without_a_place_and_an_unknown_language_are_refused():
    with pytest.raises(WordsError, match=r"runs"):
        SPOKEN("headlines.all_valid")
    with pytest.raises(WordsError):
        SPOKEN("words.copy", n=1)
    with pytest.raises(WordsError, match="en, zh"):
        words.read(("fr",))


@pytest.mark.parametrize(
    ("said", "zh", "en"),
    [
        (SPOKEN("quality.places", n=1), "1 处", "1 place"),
        (SPOKEN("quality.places", n=2), "2 处", "2 places"),
        (SPOKEN.listed(["PyTorch", "MXNet"]), "PyTorch、MXNet", "PyTorch, MXNet"),
        (
            SPOKEN.sentences([SPOKEN("headlines.all_valid", runs=2), SPOKEN("convergence.see_target")]),
            *("2 次运行全部有效。虚线为目标。", "2 runs, all valid. The dashed line is the target."),
        ),
        (SPOKEN.duration(4071), "1 小时 07 分 51 秒", "1 h 07 min 51 s"),
    ],
)
def test_numbers_lists_sentences_and_durations_are_put_together_as_each_language_does(said, zh, en):
    assert (said.plain("zh"), said.plain("en")) == (zh, en)


def test_words_of_one_language_need_no_marks_and_values_are_escaped():
    assert words.read(("en",))("words.copy").__html__() == "Copy"

    spoken = Words({"zh": {"a": "<b>{x}</b>"}, "en": {"a": "<b>{x}</b>"}})
    assert spoken("a", x="<i>").in_language("zh") == "<b>&lt;i&gt;</b>"


def test_every_key_that_a_template_asks_for_exists_and_no_sentence_lies_unused():
    files = [*paths.TEMPLATES.glob("*.j2"), *paths.SECTIONS.rglob("*.j2"), *(paths.PACKAGE / "report").rglob("*.py")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    keys = re.findall(r"""\bt\("([\w.]+)"[,)]""", text)
    unused = [
        key
        for key in SPOKEN.tables["zh"]
        if not re.search(f'"{key.replace(".", "[.-]")}"', text) and key.partition(".")[0] not in COMPOSED
    ]

    assert sorted({key for key in keys if key not in SPOKEN}) == []
    assert unused == []


@pytest.mark.parametrize("read", [words.read, words.read_beyond_the_page])
def test_the_chinese_keeps_the_rules_of_typography(read):
    assert list(typography.all_faults(read().tables["zh"])) == []


@pytest.mark.parametrize(("sentence", "fault"), sources.table("report_words.toml")["typography"])
def test_bad_chinese_typography_is_caught(sentence, fault):
    assert [each.partition(": '")[0] for each in typography.faults(sentence)] == [fault]


def test_labels_are_the_glossarys_terms():
    terms = {term["key"]: term for term in glossary.terms(SPOKEN)}
    ours = {
        **{f"verdict.{outcome}": outcome for outcome in ("pass", "fail", "undetermined")},
        **{"columns.speedup": "speedup", "columns.efficiency": "scaling_efficiency"},
        **{"usage.title": "hardware_utilisation"},
        **{"resources.gpu": "gpu_utilisation", "resources.gpu_memory": "gpu_memory_used"},
    }

    for key, term in ours.items():
        assert SPOKEN.tables["zh"][key] == terms[term]["zh"]
        assert SPOKEN.tables["en"][key].casefold() == terms[term]["en"].casefold()


def test_the_glossary_is_the_shared_one(shared):
    assert glossary.FILE.read_bytes() == (shared / "reference" / "glossary.csv").read_bytes()


@pytest.mark.parametrize(("key", "values", "zh"), sources.table("report_words.toml")["on_cpus"])
def test_a_report_on_cpus_speaks_of_processes_and_not_of_cards(key, values, zh):
    on_cpu = words.read(("zh",), on_cpu=True)

    assert on_cpu(key, **values).plain("zh") == zh
    assert "1,000 卡" in on_cpu("rules_text.largest").plain("zh")
    assert words.read(("zh",))("filter.batch_per_device").plain("zh") == "单卡批大小"
    assert "单进程吞吐率" in {term["zh"] for term in glossary.terms(words.read(on_cpu=True))}


@pytest.mark.parametrize(("language", "others"), sources.cases("report_words.toml")["not_plain"])
def test_a_language_has_one_plain_word_for_an_idea(language, others):
    said = {**SPOKEN.tables[language], **words.read_beyond_the_page().tables[language]}

    plain = {key: text.casefold().replace("模型算力利用率", "") for key, text in said.items()}
    assert [(key, word) for key, text in plain.items() for word in others if word in text] == []


# the words beyond the page keep the same rules as those of the page


OF_SITE = words.read_beyond_the_page()
SOURCES = (
    *sorted((paths.TEMPLATES / "site").glob("*.j2")),
    *sorted(file for kind in ("*.py", "*.j2") for file in (paths.PACKAGE / "report").rglob(kind)),
    *sorted((paths.PACKAGE / "site").glob("*.py")),
    *sorted((paths.PACKAGE / "commands").rglob("*.py")),
)
COMPOSED_OF_SITE = ("why", "outcome", "compare", "history", "spreadsheet")  # keys that code puts together
KEY = re.compile(r"""(?:\bt|words|more|told|_words\(\))\(\s*f?["']([a-z_]+\.[a-z_]+)["']""")


def test_the_files_hold_all_that_is_asked_for_and_nothing_unused():
    asked = {key for file in (paths.TEMPLATES / "site").glob("*.j2") for key in KEY.findall(file.read_text())}
    assert asked and {key for key in asked if key not in OF_SITE} == set()

    text = "".join(Path(file).read_text(encoding="utf-8") for file in SOURCES)
    known = OF_SITE.tables["zh"]
    unused = [key for key in known if f'"{key}"' not in text and f"'{key}'" not in text]
    assert [key for key in unused if key.partition(".")[0] not in (*COMPOSED_OF_SITE, "list")] == []


def test_every_reason_and_outcome_has_a_sentence():
    source = Path(changes.__file__).read_text(encoding="utf-8")
    keys = {key for key in re.findall(r'Why\(key=f?"([a-z_{}]+)"', source)}
    reasons = {key.replace("{side}", side) for key in keys for side in ("before", "after")}

    assert {key for key in reasons if f"why.{key}" not in OF_SITE} == set()
    assert all(f"outcome.{name}" in OF_SITE for name in changes.Outcome.__args__)
