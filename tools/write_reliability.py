"""Writes `docs/reliability.md`, in both languages, of the figures that a night of tests leaves.

python tools/write_reliability.py

`make test-nightly` leaves them in `build/figures`. Those of an earlier night stay, in `docs/reliability.json`.
"""

import json
from pathlib import Path
from typing import Any

HOUSE = Path(__file__).resolve().parents[1]
RECORD = HOUSE / "docs" / "reliability.json"
LEFT = HOUSE / "build" / "figures"
ROWS = {  # what was tried, what may not happen: in both languages
    "kills_evaluator": (
        ("kills of the evaluator (SIGKILL, at moments drawn from a seed)", "finished runs lost or changed"),
        ("强制终止测量主进程（SIGKILL，时刻由随机种子决定）", "丢失或改变的已完成运行"),
    ),
    "kills_agent": (
        ("kills of an agent on a node, or of its guard", "finished runs lost or changed"),
        ("强制终止节点代理或其守护进程", "丢失或改变的已完成运行"),
    ),
    "kills_child": (
        ("kills of a training", "finished runs lost or changed"),
        ("强制终止训练进程", "丢失或改变的已完成运行"),
    ),
    "bad_inputs": (
        ("commands given a damaged, hostile or senseless file", "tracebacks, and exit codes that are not documented"),
        ("读入损坏、恶意或无意义文件的命令", "Python 回溯，或文档之外的退出码"),
    ),
    "secrets": (
        ("secrets of some 200 kinds, five of each (`tests/data/secrets.json`)", "shown"),
        ("约 200 类敏感信息，每类五个（`tests/data/secrets.json`）", "未被遮盖"),
    ),
    "false_alarms": (
        ("harmless strings (`tests/data/harmless.txt`)", "blanked"),
        ("无害的文本（`tests/data/harmless.txt`）", "被误遮盖"),
    ),
    "wheel": (("builds of two clones of one commit", "that differ"), ("同一提交的两个克隆各构建一次", "不一致的构建")),
}
PAGES = {
    "reliability.md": """# How reliable it is

*Understand.* [中文](reliability.zh.md)

What a night of tests counted: what was tried, and how often happened what may not. `make test-nightly` leaves the
figures, and `tools/write_reliability.py` writes this page of them; do not edit it. A figure of an earlier night stays
until a newer comes.

| tried | | may not happen | |
|---|--:|---|--:|
{rows}

Each again, in a checkout of the commit it names (`+`: with changes on top that were not committed yet):

| | on | of commit | command |
|---|---|---|---|
{again}

SHA-256 of that build:
{hashes}

What a number here cannot say: the bad inputs, the secrets and the harmless strings are those that we thought of. The
kinds of secrets, and a third of the harmless strings, were written with the rules in sight, and rules were mended by
them: of kinds that nobody here has seen more are missed. [SECURITY.md](../SECURITY.md) says which.
""",
    "reliability.zh.md": """# 可靠性数据

*理解。* [English](reliability.md)

一夜测试的计数：试了多少次，不该发生的事发生了几次。数据由 `make test-nightly` 留下，
本页由 `tools/write_reliability.py` 据此生成，请勿手工修改。没有新数据的项目保留上一次的结果。

| 试验内容 | 次数 | 不应发生 | 次数 |
|---|--:|---|--:|
{rows}

逐项复现（在所列提交的检出中执行；`+` 表示当时还有未提交的改动）：

| | 日期 | 提交 | 命令 |
|---|---|---|---|
{again}

该次构建的 SHA-256：
{hashes}

这些数字的局限：损坏的输入、敏感信息和无害文本都只是我们想得到的。敏感信息的种类和三分之一的无害文本是看着规则写的，
规则也据此修正过；对没有人见过的种类，漏检会更多。哪些种类不会被发现，见 [SECURITY.md](../SECURITY.md)。
""",
}


def cells(*texts: object) -> str:
    return f"| {' | '.join(map(str, texts))} |"


def page(template: str, language: int, record: dict[str, Any]) -> str:
    known = [(ROWS[name][language], record[name]) for name in ROWS if name in record]
    return template.format(
        rows="\n".join(cells(t, f"{f['figures']['tried']:,}", bad, int(f["figures"]["bad"])) for (t, bad), f in known),
        again="\n".join(
            cells(tried.partition(" (")[0].partition("（")[0], f["date"], f"`{f['commit']}`", f"`{f['command']}`")
            for (tried, _), f in known
        ),
        hashes="\n".join(f"- `{name}` `{value}`" for name, value in record["wheel"]["figures"]["hashes"].items()),
    )


if __name__ == "__main__":
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    record |= {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(LEFT.glob("*.json"))}
    RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    for language, (name, template) in enumerate(PAGES.items()):
        (RECORD.parent / name).write_text(page(template, language, record), encoding="utf-8")
