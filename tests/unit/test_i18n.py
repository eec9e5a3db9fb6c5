"""What commands print, in the language of the locale or of --lang."""

import ast
import re

import pytest

from evalsuite import cli, paths
from evalsuite.commands.printing import i18n
from evalsuite.report.text import retold, words
from evalsuite.runs import archive

TABLES = words.read(folder=words.TERMINAL).tables
RETOLD = {key: text for key, text in TABLES["en"].items() if key.startswith(retold.RETOLD)}


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


REASONS = {  # where it is said why a run has no value: every sentence there has its Chinese
    "logs/reading.py": {"_silent"},
    "logs/status/status.py": {"status", "_missing", "_too_short"},
    "logs/status/confidence.py": {"doubt", "_explanations"},
    "launch/runner.py": {"_ending", "_meddled"},
    "launch/fault_attribution.py": {"find_infrastructure_fault"},
    "results/measure/measurement.py": {"_unused"},
}


def test_every_reason_why_a_run_has_no_value_is_said_in_chinese():
    known = {re.sub(r"\{\w+\}", "{}", text) for text in RETOLD.values()}
    untold = []
    for name, functions in REASONS.items():
        tree = ast.parse((paths.PACKAGE / name).read_text(encoding="utf-8"))
        for function in (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name in functions):
            parts = {id(part) for one in ast.walk(function) if isinstance(one, ast.JoinedStr) for part in one.values}
            for text in texts(ast.Module(body=function.body[1:], type_ignores=[]), parts):
                if len(re.findall(r"[a-z]{2,} ", text)) >= 3 and text not in known:
                    untold.append(text)

    assert [text for text in untold if not text.startswith(" (")] == []  # those stand in others


def texts(tree, inside=frozenset()):
    """Every text of *tree*, its places as {}, but the parts of others."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("the time limit of 60 s was reached; killed, line 7: a; b", "达到了 60 秒的时限；被终止（日志第 7 行）：a; b"),
        ("14 reports up to step 34; 20 + 100 steps are wanted", "14 条记录，到第 34 步为止；需要 20 + 100 步"),
        ("there is no such file; a run folder has one.", "没有这个文件，而运行文件夹中应有一个。"),
        (
            "aborted, line 3: Permission denied",
            "异常中止（日志第 3 行）：Permission denied",
        ),
        ("eine andere Sprache; nothing of ours", "eine andere Sprache; nothing of ours"),
    ],
)
def test_reasons_are_retold_and_what_a_log_said_stays(english, chinese):
    assert retold.retold(english, "zh").startswith(chinese)
    assert retold.retold(english, "en") == english


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
        retold.RETOLD,
        retold.ELSEWHERE,
    )

    assert [
        key for key in TABLES["en"] if not re.search(f"[\"']{key}[\"']", code) and not key.startswith(composed)
    ] == []


@pytest.mark.parametrize(
    ("english", "said"),
    [
        ('scale "8": expected NODESxDEVICES, both at least 1, such as 1x1, 1x8 or 2x8.', "规模“8”不正确"),
        ("not on the PATH; for engine slurm", "用途：引擎 slurm"),
        ("a: b: 3.1: no cluster answers", "a: b: 3.1：集群没有响应"),
        ("runs: it is full; the report is written there. Try --out DIR.", "请用 --out DIR 换一个位置"),
    ],
)
def test_a_message_is_said_in_chinese_with_what_stands_in_it(chinese, english, said):
    assert said in i18n.retold(english)


@pytest.mark.parametrize("text", ["", "nobody wrote this", "a: b", "{name}", "x\ny: z", "Did you mean it"])
def test_what_nobody_translated_stays_as_it_is(chinese, text):
    assert i18n.retold(text) == text


def test_markup_in_a_message_stays_text(chinese):
    said = i18n.retold('scale "<b>&amp;</b>": expected NODESxDEVICES, both at least 1, such as 1x1, 1x8 or 2x8.')

    assert "规模“<b>&amp;</b>”不正确" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plan", "--nope"], "没有这样的参数：--nope"),
        (["frobnicate"], "不能是 'frobnicate'"),
        (["plan", "--scales"], "后面应有一个值"),
        (["import"], "缺少参数：PATH"),
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


def test_english_is_untouched():
    text = 'scale "8": expected NODESxDEVICES, both at least 1, such as 1x1, 1x8 or 2x8.'

    assert i18n.retold(text) == text


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


def test_two_figures_that_contradict_each_other_are_told_in_chinese_whatever_clocks_they_are_of():
    said = (
        "its rates give 25.62 tokens/s, the log's stamps 3,430.60: 134 times apart, so neither is the throughput. "
        "Possible: the script counts only some of the steps that it trains"
    )

    told = retold.retold(said, "zh")

    assert not re.search(r"\b(?:the|log's|stamps)\b", told)
    assert "3,430.60" in told


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
    log = str(next(archive.unpacked(paths.DATA / "recorded.zip").glob("bluefog*-1x1/r0/log.*.txt")))
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
