import os
import re
import signal
import subprocess
import sys

import pytest

from evalsuite import cli
from evalsuite.core import paths
from evalsuite.core.errors import Exit
from tests import sources

LIBRARIES = ("jinja2", "openpyxl", "numpy", "psutil", "rich", "pynvml")


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_the_help_of_a_command_has_an_example(command, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main([command, "--help"])

    assert end.value.code == 0
    assert f"evalsuite {command}" in capsys.readouterr().out.split("examples:")[1]


@pytest.mark.parametrize("page", ["contracts.md", "contracts.zh.md"])
def test_the_contracts_list_every_command(page):
    text = (paths.PACKAGE.parent / "docs" / page).read_text("utf-8").partition("\n## ")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`([\w-]+)`", row.split("|")[1])}

    assert listed == set(cli.COMMANDS)


OWN = ["init", "-o", "own.toml", "--batch-per-device", "8", "--", "python"]
CLOSES = ["plan", "--adapters", "closes.py"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [(OWN, Exit.USAGE, "own.toml: it is not a file"), (CLOSES, Exit.NOTHING_MEASURED, "no ADAPTER")],
)
def test_what_is_no_file_and_an_adapter_that_closes_the_output_end_in_words(words, code, said, tmp_path):
    os.mkfifo(tmp_path / "own.toml")
    (tmp_path / "closes.py").write_text("import sys\nsys.stdout.close()\n")
    line = [sys.executable, "-m", "evalsuite", *words]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (code, True, False)


def test_help_of_any_command_imports_its_arguments_alone():
    program = sources.text("cli_help.py.in")

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    imported = set(done.stdout.split())
    light = {"evalsuite.logs", "evalsuite.logs.formatting"}  # how `parse` prints a rate
    ours = {name.split(".")[1] for name in imported - light if name.startswith("evalsuite.")}
    assert imported & set(LIBRARIES) == set()
    assert {f"evalsuite.commands.{name.replace('-', '_')}" for name in cli.COMMANDS} & imported == set()
    assert (
        ours & {"plan", "machine", "agent", "launch", "importing", "runs", "logs", "results", "report", "site"} == set()
    )


@pytest.mark.parametrize("words", [["doctor"], ["plan"], ["frob"], ["parse", "nowhere.log", "--lang", "zh"]])
def test_a_python_without_the_libraries_is_told_which_one_to_use(words):
    done = subprocess.run(
        [sys.executable, "-S", "-m", "evalsuite", *words],  # -S: without what is installed
        cwd=paths.PACKAGE.parent,
        capture_output=True,
        text=True,
    )

    assert done.returncode == Exit.USAGE
    assert done.stderr.count("\n") == 1 and "make setup" in done.stderr and ".venv/bin/python" in done.stderr


@pytest.mark.parametrize(("words", "message"), sources.table("cli.toml")["wrong_usage"])
def test_an_unknown_command_or_option_is_wrong_usage_and_names_the_nearest(words, message, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(words.split())

    said = capsys.readouterr().err.splitlines()
    assert end.value.code == Exit.USAGE
    assert said[0].startswith("usage: evalsuite") and message in said[-1]
    assert ("Did you mean" in said[-1] or "是否" in said[-1]) is not words.startswith(("frob", "plan --foo"))


GONE = paths.read_data("commands/gone.toml")


def options(command):
    return set(cli.parser_of(command).options())


@pytest.mark.parametrize(("name", "instead"), [*GONE["commands"].items(), *GONE["options"].items()])
def test_a_name_that_is_gone_says_what_to_type_instead(name, instead, capsys):
    command, option = name.split() if " " in name else ("compare", name) if name.startswith("--") else (name, "")
    with pytest.raises(SystemExit) as end:
        cli.main([command, option, "--lang", "zh"])

    said = capsys.readouterr().err
    assert end.value.code == Exit.USAGE
    assert f"已没有 {name.split()[-1]}" in said and instead in said
    assert option not in options(command) if option else command not in cli.COMMANDS
    for taker, words in re.findall(r"evalsuite ([\w-]+)([^,]*)", instead) or [(command, instead)]:
        assert set(re.findall(r"--[a-z-]+", words)) <= options(taker)


def test_the_parser_of_completions_and_man_page_knows_what_every_command_takes():
    assert {"--models", "--receipts", "--hz"} <= set(cli.whole_parser().options())


def test_no_command_shows_the_list_and_help_shows_it_without_an_import(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code = "import sys\nfrom evalsuite.__main__ import main\nmain()\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)

    assert cli.main([]) == Exit.USAGE
    assert capsys.readouterr().out == cli.HELP == done.stdout.partition("sys ")[0]
    assert not {"argparse", "typing", "evalsuite.cli"} & {*done.stdout.split()}


@pytest.mark.parametrize(("words", "has", "has_not"), sources.table("cli.toml")["sums_up"])
def test_what_cannot_run_is_summed_up_and_comes_last(words, has, has_not, capsys):
    cli.main(words.split())

    out = capsys.readouterr().out
    assert all(text in out for text in has) and has_not not in out


def test_a_report_of_an_empty_folder_says_that_nothing_was_measured(tmp_path, capsys):
    assert cli.main(["report", "--runs", str(tmp_path)]) == Exit.NOTHING_MEASURED
    assert "no finished run" in capsys.readouterr().err


@pytest.mark.parametrize(("given", "code"), [((), 130), ((signal.SIGTERM,), 143)])
def test_an_interrupted_command_ends_as_a_shell_says_of_its_signal(given, code, monkeypatch, capsys):
    def stopped(arguments):
        raise KeyboardInterrupt(*given)

    monkeypatch.setattr("evalsuite.commands.explain.run", stopped)

    assert cli.main(["explain", "unsteady"]) == code


def test_ctrl_c_while_modules_load_is_quiet():
    kill = "import builtins, os, signal, evalsuite.__main__ as m; load = builtins.__import__\n"
    kill += "builtins.__import__ = lambda n, *g: os.kill(os.getpid(), 2) if n == 'evalsuite.cli' else load(n, *g)\n"
    kill += "m.main()"

    ended = subprocess.run([sys.executable, "-c", kill, "report"], capture_output=True, text=True)

    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "")


@pytest.mark.parametrize("words", [["submit", "--ask=--"], ["report", "--out=--"], ["import", "x", "--set=--"]])
def test_two_dashes_are_no_value(words, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(words)

    assert end.value.code == Exit.USAGE and "expected one argument" in capsys.readouterr().err


def test_what_says_nothing_new_or_to_nobody_is_named(monkeypatch, capsys):
    monkeypatch.setenv("EVALSUITE_CAHE", "x")
    cli.main(["plan", "--frameworks", "pytorch,pytorch", "--scales", "0x1"])

    said = capsys.readouterr().err
    assert "no variable EVALSUITE_CAHE. Did you mean EVALSUITE_CACHE?" in said
    assert "--frameworks pytorch is given twice" in said
