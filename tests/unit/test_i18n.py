"""What commands print, in the language of the locale or of --lang."""

import re

import pytest
import reports

from evalsuite import cli
from evalsuite.commands.printing import i18n
from evalsuite.core import paths
from evalsuite.core.messages import Message
from evalsuite.report.text import words
from evalsuite.runs import archive
from tests import sources

TABLES = words.read(folder=words.TERMINAL).tables
PLAN = ["plan", "--frameworks", "pytorch", "--scales"]


@pytest.fixture
def say(capsys):
    """What a command prints on standard output and error, in a language."""

    def run_command(language, *arguments):
        cli.main([*map(str, arguments), "--lang", language])
        return "".join(capsys.readouterr())

    return run_command


@pytest.fixture
def chinese(monkeypatch):
    monkeypatch.setattr(i18n, "_chosen", "zh")


@pytest.mark.parametrize(("variables", "language"), sources.table("i18n.toml")["locales"])
def test_the_language_is_that_of_the_locale(variables, language):
    assert i18n.of_locale(variables) == language


@pytest.mark.parametrize(("asked", "language"), [("zh", "zh"), ("en", "en"), ("zh,en", "en"), (None, "en")])
def test_one_language_that_is_asked_for_is_the_terminals(asked, language):
    i18n.choose(type("Arguments", (), {"lang": asked})(), {"LANG": "C"})

    assert i18n.language() == language


def test_every_sentence_that_commands_ask_for_is_asked_for():
    code = "\n".join(file.read_text(encoding="utf-8") for file in paths.PACKAGE.rglob("commands/**/*.py"))
    others = (paths.PACKAGE / "cli.py", *(paths.TEMPLATES / "services").iterdir())
    code += "\n".join(file.read_text(encoding="utf-8") for file in others)
    composed = (
        *("columns.", "duration.", "adapters.", "dialects.", "statuses.", "groups.", "plan.on_", "nodes."),
        *("status.", "plan.by_", "largest.", "argparse.", "certainties.", "again."),
        *("goodput.", "memory.", "readings.", "certificate.", "services."),
    )
    plain = [key for key in TABLES["en"] if not key.startswith(composed)]

    assert [key for key in plain if not re.search(f"[\"']{key}[\"']", code)] == []


def test_a_message_is_said_in_the_language_of_the_terminal_and_markup_stays_text(chinese):
    message = Message("launch.not_on_path", purpose=Message("launch.program_mpi"))
    assert i18n.worded(message) == "PATH 中没有；用途：引擎 mpi"
    assert i18n.worded("nobody wrote this") == "nobody wrote this"
    assert i18n.say("run.without", status="-", reason=message).endswith("用途：引擎 mpi")

    near = Message("system.near", name="<b>&amp;</b>")
    assert i18n.say("run.without", status="-", reason=near).endswith("<b>&amp;</b>？")

    assert i18n.columns("待装 a") == 6
    assert i18n.padded("待装", 6) == "待装  "


@pytest.mark.parametrize(("arguments", "said"), sources.table("i18n.toml")["wrong_arguments"])
def test_wrong_arguments_are_answered_in_the_language_of_the_terminal(monkeypatch, capsys, arguments, said):
    for name in i18n.VARIABLES:
        monkeypatch.setenv(name, "zh_CN.UTF-8")

    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)

    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert said in told
    assert "--help" in told


PRINTED = sources.table("i18n.toml")["printed"]
DOCTOR = pytest.param(["doctor"], ("启动引擎\n", "本机"), ("Ready",))


@pytest.mark.parametrize(("arguments", "zh", "en"), [*PRINTED, DOCTOR])
def test_what_a_command_prints_is_said_in_the_language_asked_for(say, tmp_path, arguments, zh, en):
    (tmp_path / "x.log").write_text("nothing that a script prints\n", encoding="utf-8")
    arguments = [word.format(tmp=tmp_path, adapters=paths.ADAPTERS) for word in arguments]
    chinese, english = say("zh", *arguments), say("en", *arguments)

    assert all(word in chinese and word not in english for word in zh)
    assert all(word in english for word in en)


def test_what_publishing_did_and_json_are_said_as_asked_for(say, tmp_path):
    folder = reports.written(tmp_path / "one", reports.evaluation(reports.summary()))
    said = say("zh", "publish", folder, "--site", tmp_path / "site")
    assert "新增" in said and "报告：1，性能退化：0" in said

    zh, en = (say(language, *PLAN, "1x1,2x1", "--runs", tmp_path, "--json") for language in ("zh", "en"))
    assert zh == en


@pytest.mark.parametrize(("log", "zh", "en"), sources.table("i18n.toml")["readings"])
def test_how_a_log_is_read_is_said_in_the_language_asked_for(say, tmp_path, log, zh, en):
    (tmp_path / "x.log").write_text(log, encoding="utf-8")
    chinese, english = (say(language, "parse", "--explain", tmp_path / "x.log") for language in ("zh", "en"))

    assert zh in chinese and en in english
    assert not re.search(r"[a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+", chinese.replace("some words of that line", ""))


def test_how_logs_are_read_is_chinese_to_the_last_mark_and_english_as_json(say):
    log = paths.PACKAGE.parent / "tests/logs/dllogger_pytorch.log"

    assert "clock_disagrees：日志末尾自报" in say("zh", "parse", log)
    assert "clock_disagrees: the log's own final figure" in say("en", "parse", log)
    assert "the log's own final figure" in say("zh", "parse", log, "--json")
    assert "clock_disagrees：共 1 个日志，例如" in say("zh", "parse", log, log.with_name("axolotl.log"))

    log = str(next(archive.unpack(paths.DATA / "recorded.zip").glob("bluefog*-1x1/r0/log.*.txt")))
    assert not any(mark in say("zh", "parse", log).replace(log, "") for mark in (": ", "; ", ", ", " ("))


BOTH = 'title = { zh = "a", en = "b" }\ntext = { zh = "a", en = "b" }'


@pytest.mark.parametrize(("toml", "said"), sources.cases("i18n.toml")["mistake_labs_own"])
def test_a_mistake_in_a_labs_own_file_is_told_in_chinese(capsys, tmp_path, toml, said):
    (file := tmp_path / "lab.toml").write_text(toml, encoding="utf-8")

    assert cli.main(["report", "--runs", str(tmp_path), "--author", str(file), "--lang", "zh"]) == 2

    answer = capsys.readouterr().err
    assert said in answer and answer.rstrip().endswith("其中每种表都有示例。")
    assert "; expected" not in answer
