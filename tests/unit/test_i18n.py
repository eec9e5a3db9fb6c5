"""What commands print, in the language of the locale or of --lang."""

import re

import pytest

from evalsuite import cli, paths
from evalsuite.commands.printing import i18n
from evalsuite.messages import Message
from evalsuite.report.text import words
from evalsuite.runs import archive

TABLES = words.read(folder=words.TERMINAL).tables


@pytest.fixture
def chinese(monkeypatch):
    monkeypatch.setattr(i18n, "_chosen", "zh")


@pytest.fixture(autouse=True)
def english_afterwards():
    yield
    i18n.choose(None, {})


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({}, "en"),
        ({"LANG": "C"}, "en"),
        ({"LANG": "POSIX"}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_TW"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_language_is_that_of_the_locale(variables, language):
    assert i18n.of_locale(variables) == language


@pytest.mark.parametrize(("asked", "language"), [("zh", "zh"), ("en", "en"), ("zh,en", "en"), (None, "en")])
def test_one_language_that_is_asked_for_is_the_terminals(asked, language):
    i18n.choose(type("Arguments", (), {"lang": asked})(), {"LANG": "C"})

    assert i18n.language() == language


def test_every_sentence_that_commands_ask_for_is_asked_for():
    code = "\n".join(file.read_text(encoding="utf-8") for file in paths.PACKAGE.rglob("commands/**/*.py"))
    code += (paths.PACKAGE / "cli.py").read_text(encoding="utf-8")
    composed = (
        "columns.",
        "adapters.",
        "dialects.",
        "statuses.",
        "causes.",
        "groups.",
        "plan.on_",
        "preflight.",
        "status.",
        "plan.by_",
        "largest.",
        "argparse.",
        "certainties.",
        "methods.",
    )

    assert [
        key for key in TABLES["en"] if not re.search(f"[\"']{key}[\"']", code) and not key.startswith(composed)
    ] == []


def test_a_message_is_said_in_the_language_of_the_terminal_and_other_words_stay(chinese):
    message = Message("launch.not_on_path", purpose=Message("launch.engine_mpi"))

    assert i18n.worded(message) == "PATH 中没有；用途：引擎 mpi"
    assert i18n.worded("nobody wrote this") == "nobody wrote this"
    assert i18n.say("run.without", status="-", reason=message).endswith("用途：引擎 mpi")


def test_markup_in_a_message_stays_text(chinese):
    assert i18n.say("run.without", status="-", reason=Message("system.near", name="<b>&amp;</b>")).endswith(
        "<b>&amp;</b>？"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plan", "--nope"], "没有这样的参数：--nope"),
        (["frobnicate"], "不能是 'frobnicate'"),
        (["plan", "--scales"], "后面应有一个值"),
        (["import"], "缺少参数：PATH"),
        (["parse", "x.log", "--devices", "many"], "参数 --devices：“many”不正确"),
    ],
)
def test_wrong_arguments_are_answered_in_the_language_of_the_terminal(monkeypatch, capsys, arguments, said):
    for name in i18n.VARIABLES:
        monkeypatch.setenv(name, "zh_CN.UTF-8")

    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)

    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert said in told
    assert "--help" in told


def test_a_rule_is_explained_in_the_language_of_the_locale(monkeypatch, capsys):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    cli.main(["explain", "D10"])

    assert "测量窗口首尾速度漂移" in capsys.readouterr().out


def test_a_plan_of_which_nothing_can_run_is_not_called_done(capsys, tmp_path):
    cli.main(["plan", "--frameworks", "pytorch", "--scales", "2x1", "--runs", str(tmp_path), "--lang", "zh"])

    assert "都无法运行" in capsys.readouterr().out


def test_a_plan_is_printed_in_chinese_and_in_english(capsys, tmp_path):
    shared = ["plan", "--frameworks", "pytorch", "--scales", "1x1", "--runs", str(tmp_path)]

    cli.main([*shared, "--lang", "zh"])
    zh = capsys.readouterr().out
    cli.main([*shared, "--lang", "en"])
    en = capsys.readouterr().out

    assert "框架" in zh and "尚有 3 次待执行" in zh and "runs" not in zh.replace("runs/", "")
    assert "framework" in en and "3 of 3 runs to do" in en


def test_a_wrong_name_is_said_in_the_language_asked_for(capsys):
    assert cli.main(["plan", "--frameworks", "pytorhc", "--lang", "zh"]) == 2
    assert "没有名为“pytorhc”的框架" in capsys.readouterr().err


def test_doctor_says_in_chinese_what_is_missing(capsys):
    cli.main(["doctor", "--lang", "zh"])
    said = capsys.readouterr().out

    assert "启动引擎\n" in said and "本机" in said
    assert "Ready" not in said


@pytest.mark.parametrize(
    ("arguments", "zh", "en"),
    [
        (
            ["adapters", "--frameworks", "pytorch"],
            ("训练脚本", "每节点一次", "已实际运行"),
            ("recipe", "per node", "ran"),
        ),
        (["dialects"], ("速率范围", "累计平均"), ("rate counts", "since start")),
    ],
)
def test_the_tables_of_adapters_and_dialects_are_said_in_the_language_asked_for(capsys, arguments, zh, en):
    said = {}
    for language in ("zh", "en"):
        assert cli.main([*arguments, "--lang", language]) == 0
        said[language] = capsys.readouterr().out

    assert all(word in said["zh"] and word not in said["en"] for word in zh)
    assert all(word in said["en"] for word in en)


@pytest.mark.parametrize(
    ("log", "zh", "en"),
    [
        ("hello\nspeed 812.5 widgets\n", "没有日志格式能在其中找到", "no dialect finds"),
        ("Iter #0: 5.0 img/sec per CPU\nTotal img/sec on 1 CPU(s): 5.0 +-0.2\n", "开头部分有", "in the first part"),
    ],
)
def test_how_a_log_is_read_is_said_in_the_language_asked_for(capsys, tmp_path, log, zh, en):
    (tmp_path / "x.log").write_text(log, encoding="utf-8")
    said = {}
    for language in ("zh", "en"):
        cli.main(["dialects", "--explain", str(tmp_path / "x.log"), "--lang", language])
        said[language] = capsys.readouterr().out

    assert zh in said["zh"] and en in said["en"]
    assert not re.search(r"[a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+", said["zh"].replace("some words of that line", ""))


@pytest.mark.parametrize(
    ("arguments", "zh", "en"),
    [
        (["env", "list"], "环境", "environments for cpu"),
        (["repositories", "list"], "官方代码仓库", "official repositories"),
    ],
)
def test_what_is_on_this_machine_is_said_in_the_language_asked_for(capsys, arguments, zh, en):
    said = {}
    for language in ("zh", "en"):
        assert cli.main([*arguments, "--lang", language]) == 0
        said[language] = capsys.readouterr().out

    assert zh in said["zh"] and zh not in said["en"] and en in said["en"]


def test_what_publishing_did_is_said_in_the_language_asked_for(built, capsys, tmp_path):
    assert cli.main(["publish", str(built("quick").folder), "--site", str(tmp_path / "site"), "--lang", "zh"]) == 0
    assert "新增" in (out := capsys.readouterr().out) and "报告：1，性能退化：0" in out


def test_a_check_of_an_adapter_is_said_in_chinese(capsys):
    cli.main(["adapters", "--check", str(paths.ADAPTERS / "chainermn.py"), "--lang", "zh"])

    said = capsys.readouterr().out
    assert "小规模矩阵的命令行" in said and "日志：" in said


def test_the_json_of_a_command_is_the_same_in_every_language(capsys, tmp_path):
    shared = ["plan", "--frameworks", "pytorch", "--scales", "1x1,2x1", "--runs", str(tmp_path), "--json"]

    cli.main([*shared, "--lang", "zh"])
    zh = capsys.readouterr().out
    cli.main([*shared, "--lang", "en"])

    assert capsys.readouterr().out == zh


def test_a_chinese_word_takes_two_columns():
    assert i18n.columns("待装 a") == 6
    assert i18n.padded("待装", 6) == "待装  "


def test_findings_of_logs_are_said_in_the_language_asked_for_and_in_english_as_json(capsys):
    log = str(paths.PACKAGE.parent / "tests/logs/dllogger_pytorch.log")
    said = {}
    for asked in (["--lang", "zh"], ["--lang", "en"], ["--lang", "zh", "--json"]):
        cli.main(["parse", log, *asked])
        said[" ".join(asked)] = capsys.readouterr().out
    cli.main(["parse", log, log, "--lang", "zh"])

    assert "final_disagrees：日志末尾自报" in said["--lang zh"]
    assert "final_disagrees: the log's own final figure" in said["--lang en"]
    assert "the log's own final figure" in said["--lang zh --json"]
    assert "final_disagrees：共 1 个日志，例如" in capsys.readouterr().out


def test_what_parse_says_of_a_log_is_chinese_to_the_last_mark(capsys):
    log = str(next(archive.unpack(paths.DATA / "recorded.zip").glob("bluefog*-1x1/r0/log.*.txt")))
    cli.main(["parse", log, "--lang", "zh"])

    assert not any(mark in capsys.readouterr().out.replace(log, "") for mark in (": ", "; ", ", ", " ("))


TITLED = '[document]\ntitle = { zh = "天枢", en = "Tianshu" }\n'


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        (TITLED + 'organisation = "某实验室"', 'organisation："某实验室" 不符合要求，应为一个表。'),
        ("[document]\noutlin = 1", "没有“outlin”这个键"),
        ('[document]\ntitle = { zh = "天枢" }', "title.en：缺少这个键，应为一段文字"),
        (
            TITLED
            + '[[document.sections]]\nplace = "背景"\ntitle = { zh = "a", en = "b" }\ntext = { zh = "a", en = "b" }',
            'place："背景" 不符合要求，应为 introduction',
        ),
        ('[[problems]]\nquestion = { zh = "a", en = "b" }\nstatus = "closed"', "而没有 answer"),
        ("[document", "应为 TOML 文件"),
        ("", "其中没有 [[finding]]"),
    ],
)
def test_a_mistake_in_a_labs_own_file_is_told_in_chinese(capsys, tmp_path, toml, said):
    (file := tmp_path / "lab.toml").write_text(toml, encoding="utf-8")

    assert cli.main(["report", "--runs", str(tmp_path), "--author", str(file), "--lang", "zh"]) == 2

    answer = capsys.readouterr().err
    assert said in answer and answer.rstrip().endswith("其中每种表都有示例。")
    assert "; expected" not in answer


def test_why_a_log_has_no_value_is_said_in_the_language_asked_for(capsys, tmp_path):
    (tmp_path / "x.log").write_text("nothing that a script prints\n", encoding="utf-8")
    cli.main(["parse", str(tmp_path / "x.log"), str(tmp_path / "no.log"), "--lang", "zh"])

    said = capsys.readouterr().out
    assert "没有已知的日志格式" in said and "没有这个文件" in said
