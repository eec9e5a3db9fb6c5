"""The words beyond the page keep the same rules as those of the page."""

import re
from pathlib import Path

from evalsuite import paths
from evalsuite.report.text import words
from evalsuite.results.compare import changes

SPOKEN = words.read_beyond_the_page()
SOURCES = (
    *sorted((paths.TEMPLATES / "site").glob("*.j2")),
    *sorted((paths.PACKAGE / "report").rglob("*.py")),
    *sorted((paths.PACKAGE / "site").glob("*.py")),
    *sorted((paths.PACKAGE / "commands").rglob("*.py")),
)
COMPOSED = ("differs", "why", "outcome", "compare", "history", "spreadsheet")  # keys that code puts together
KEY = re.compile(r"""(?:\bt|words|more|told|_words\(\))\(\s*f?["']([a-z_]+\.[a-z_]+)["']""")


def test_the_files_hold_the_same_keys_all_that_is_asked_for_and_nothing_unused():
    tables = {language: words.table(words.BEYOND_THE_PAGE / f"{language}.toml") for language in ("zh", "en")}
    words.check(tables)  # raises at the first that differs
    assert tables["zh"].keys() == tables["en"].keys()

    asked = {key for file in (paths.TEMPLATES / "site").glob("*.j2") for key in KEY.findall(file.read_text())}
    assert asked and {key for key in asked if key not in SPOKEN} == set()

    text = "".join(Path(file).read_text(encoding="utf-8") for file in SOURCES)
    known = SPOKEN.tables["zh"]
    unused = [key for key in known if f'"{key}"' not in text and f"'{key}'" not in text]
    assert [key for key in unused if key.partition(".")[0] not in (*COMPOSED, "list")] == []


def test_every_reason_and_outcome_has_a_sentence():
    source = Path(changes.__file__).read_text(encoding="utf-8")
    keys = {key for key in re.findall(r'Why\(key=f?"([a-z_{}]+)"', source)}
    reasons = {key.replace("{side}", side) for key in keys for side in ("before", "after")}

    assert {key for key in reasons if f"why.{key}" not in SPOKEN} == set()
    assert all(f"outcome.{name}" in SPOKEN for name in changes.Outcome.__args__)
