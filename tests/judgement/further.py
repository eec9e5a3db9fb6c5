"""Further ways to a wrong statement, written after the rules and not tuned to them: logs, tables, reports.

`python -m tests.judgement.further [NAME …]` prints the table.
"""

import sys
from collections.abc import Callable
from dataclasses import replace

from tests import reports
from tests.judgement import tables
from tests.judgement.imports import CASE, ONE, SCALES, at, author, first_of, gate
from tests.judgement.table import JudgementCase, Said
from tests.judgement.workplace import Workplace, c1, case, codes, ranked, show, verdict

A_FIFTH = 0.2


def edited(edit: Callable[[list[str], int], list[str]], seconds: float = 0.5) -> Callable[[Workplace], Said]:
    """Five logs of an honest `b`, and of an equal `a` after *edit* of its lines (and the number of its log)."""

    def of(work: Workplace) -> Said:
        for framework, each in (("a", seconds), ("b", 0.5)):
            for repeat in range(5):
                name = f"{framework}/{repeat}.log"
                work.log(name, each, seed=repeat)
                if framework == "a":
                    lines = (work.folder / name).read_text().splitlines(keepends=True)
                    work.write(name, "".join(edit(lines, repeat)))
            work.bring(framework, f"{ONE} --set framework={framework} --set campaign=c")
        return first_of(work)

    return of


def renamed(work: Workplace) -> Said:
    """One framework's five logs under two names."""
    for framework in "ab":
        for repeat in range(5):
            work.log("one.log", 0.5, seed=repeat)
            work.write(f"{framework}/{repeat}.log", (work.folder / "one.log").read_text())
        work.bring(framework, f"{ONE} --set framework={framework} --set campaign=c")
    _, summary = work.report()
    both = sum(row["n"] == 5 for row in summary["summaries"]) == 2
    return verdict(both, codes(summary), f"{ranked(summary)}; {codes(summary)}")


def same_logs_at_scale(work: Workplace) -> Said:
    """The base's own logs are the scale's, too."""
    for size in ("devices=1", "nodes=20 gpus=8"):
        for repeat in range(5):
            work.log("one.log", 0.5, seed=repeat)
            work.write(f"{size[:7]}/{repeat}.log", (work.folder / "one.log").read_text())
        sized = " ".join(f"--set {word}" for word in size.split())
        work.bring(f"'{size[:7]}'", f"{SCALES} {sized}")
    code, summary = work.report()
    return verdict(code == 0, codes(summary), f"C1 {c1(summary)}, exit {code} {codes(summary)}")


def per_device(summary: dict) -> bool:
    """A value of one device stands as that of eight, without a word."""
    return any(row["speedup"] and row["speedup"]["value"] < 1.2 and row["efficiency"] for row in summary["summaries"])


def faster_stamps(lines: list[str], repeat: int) -> list[str]:
    """The printed Time stays, the clock of the stamps runs a fifth slow."""
    found = []
    for number, line in enumerate(lines):
        at_s = 0.5 * (1 - A_FIFTH) * number
        stamp = f"2026-11-20 {10 + int(at_s // 3600):02d}:{int(at_s // 60 % 60):02d}:{at_s % 60:06.3f}"
        found.append(stamp + line[len(stamp) :])
    return found


def left_out(lines: list[str], repeat: int) -> list[str]:
    """The slowest fifth of the steps is cut out, and the rest numbered on."""
    slow = sorted(range(40, 140), key=lambda k: -float(lines[k].split("Time ")[1].split()[0]))[:20]
    kept = [line for k, line in enumerate(lines) if k not in slow]
    return [line.replace(line[line.index("[0][") :][:7], f"[0][{k:3d}") for k, line in enumerate(kept)]


def set_back(lines: list[str], repeat: int) -> list[str]:
    """The clock of the machine is set back by ten seconds in the window."""
    return [line if k < 90 else line.replace(" 10:01:", " 10:00:") for k, line in enumerate(lines)]


def printed_half(lines: list[str], repeat: int) -> list[str]:
    """Times are printed as half of what they were; the stamps are honest."""
    return [
        line.replace(f"Time {line.split('Time ')[1][:6]}", f"Time {float(line.split('Time ')[1][:6]) / 2:.4f}")
        for line in lines
    ]


def doubled(lines: list[str], repeat: int) -> list[str]:
    """Each step is printed twice and counted on: two steps for one."""
    twice = [line for line in lines for _ in (0, 1)]
    return [line.replace(line[line.index("[0][") :][:7], f"[0][{k:3d}") for k, line in enumerate(twice)]


def crazy_loss(lines: list[str], repeat: int) -> list[str]:
    return [line[: line.index("Loss")] + "Loss nan\n" for line in lines]


WEAK = [(1, 1, "64", "100"), (1, 2, "64", "198"), (1, 4, "64", "390"), (1, 8, "64", "770"), (2, 8, "64", "1500")]
PER_DEVICE = [tables.row("alpha", "700", gpus="1"), tables.row("alpha", "690")]
OTHER_BATCH = [f"{tables.row('alpha', '700', gpus='1', batch='256')},1.00", f"{tables.row('alpha', '4725')},6.75"]
WORDS = '[document]\ntitle = { zh = "a 比 b 快一倍", en = "a is twice as fast as b" }\n'
DIGITS = '[[finding]]\nzh = "a 是九个框架中最快的"\nen = "a beats b at every scale, within three percent of linear"\n'


CASES: dict[str, JudgementCase] = {
    "slow clock": case("stamps of a clock that runs a fifth slow", "not fastest", edited(faster_stamps)),
    "set back": case("clock set back by ten seconds in the window", "not fastest", edited(set_back)),
    "half times": case("printed times halved beside honest stamps", "not fastest", edited(printed_half)),
    "cut out": case("the slowest fifth of the steps cut out, numbered on", "not fastest", edited(left_out)),
    "doubled": case("each step printed twice and counted twice", "not fastest", edited(doubled)),
    "nan": case("every loss is nan, a tenth faster", "not fastest", edited(crazy_loss, 0.45)),
    "renamed": case("one framework's logs under two names", "a finding", renamed),
    "same logs": case("the base's own logs as those of 20x8", "C1 not passed", same_logs_at_scale),
    "per device": case(
        *("a rate of one device in the row of eight", "said"), tables.table(PER_DEVICE, wrong=per_device), "footnote"
    ),
    "other batch": case(
        *("a speed-up to a base of another batch", "no speed-up"),
        tables.table(OTHER_BATCH, f"{tables.HEAD},speedup", wrong=tables.speedup),
    ),
    "twice": case("author: twice as fast, of equal ones", "marked", author(WORDS, 0.5)),
    "words": case("author: nine frameworks and three percent in words", "marked", author(DIGITS, 0.5), "footnote"),
    "halved batch": case(
        *("30 % slower, and the batch halved in the same night", "exit 6"),
        gate([at(1, 1)], [at(0.7, 2, of=replace(CASE, batch_per_device=16))], wanted=[5, 6]),
    ),
    "old runs": case(
        *("the night before's runs again as tonight's", "exit 6"),
        gate([at(1, 1)], [reports.summary(day=1)], wanted=[5, 6]),
    ),
}

if __name__ == "__main__":
    sys.exit(show("Further ones, untuned", CASES))
