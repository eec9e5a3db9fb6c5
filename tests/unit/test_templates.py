"""Templates are compiled once for a version of the code, and nothing stale or foreign is run instead."""

from pathlib import Path

import jinja2
import pytest

from evalsuite.report.page import templates


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("EVALSUITE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "page").write_text("{{ 'FAST' }} {{ name }}")
    return tmp_path / "templates"


@pytest.fixture
def compiled(monkeypatch) -> list[str]:
    """The templates that were compiled."""
    found = []
    compile_ = jinja2.Environment.compile

    def noted(self, source, name=None, *arguments, **named):
        found.append(name)
        return compile_(self, source, name, *arguments, **named)

    monkeypatch.setattr(jinja2.Environment, "compile", noted)
    return found


def filled(folder: Path) -> str:
    environment = templates.environment([folder])
    return environment.get_template("page").render(name="<b>")


def kept(folder: Path) -> list[Path]:
    return [file for file in (folder.parent / "cache" / "templates").rglob("*") if file.is_file()]


def test_a_template_is_compiled_once_and_another_text_is_another(folder, compiled):
    assert [filled(folder), filled(folder)] == ["FAST &lt;b&gt;"] * 2
    assert compiled == ["page"]

    filled(folder)
    (folder / "page").write_text("now {{ name }}")
    assert filled(folder) == "now &lt;b&gt;"


@pytest.mark.parametrize(
    "harm",
    [
        lambda file: file.write_bytes(file.read_bytes()[:-9]),  # damaged
        Path.unlink,
        lambda file: file.parent.chmod(0o777),  # others may have written it
    ],
)
def test_a_damaged_missing_or_foreign_file_is_compiled_again(folder, compiled, harm):
    filled(folder)
    for file in kept(folder):
        harm(file)

    assert filled(folder) == "FAST &lt;b&gt;"
    assert compiled == ["page"] * 2


def test_a_cache_that_cannot_be_written_only_costs_time(folder):
    (folder.parent / "cache").write_text("in the way")

    assert filled(folder) == "FAST &lt;b&gt;"
