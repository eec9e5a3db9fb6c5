"""Imported logs, facts, criteria, authors' words and reports that are compared, bent towards a wrong statement.

`python -m tests.judgement.imports [NAME …]` prints the table.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tests import reports, synthetic
from tests.judgement.table import JudgementCase, Said
from tests.judgement.workplace import RANKED, Workplace, c1, case, codes, ranked, show, verdict

ONE = "--set devices=1 --set batch=64 --set model=resnet50_v1.5 --set machine=m"
SCALES = "--set batch=64 --set model=resnet50_v1.5 --set framework=a --set machine=m --set campaign=c"


def two_frameworks(
    work: Workplace, seconds: Mapping[str, float], campaigns: Mapping[str, str], words: str = ""
) -> Said:
    for framework, each in seconds.items():
        for repeat in range(5):
            work.log(f"{framework}/{repeat}.log", each, seed=repeat)
        work.bring(framework, f"{ONE} --set framework={framework} --set campaign={campaigns[framework]} {words}")
    return first_of(work)


def first_of(work: Workplace) -> Said:
    _, summary = work.report()
    said, stated = ranked(summary), '"source": "stated"' in json.dumps(summary)
    words = ", ".join(filter(None, (codes(summary), "facts marked as stated" * stated)))
    return verdict(any(word in said for word in (*RANKED[:2], "alone: a")), words, said or "no ranking")


def another_day(work: Workplace) -> Said:
    return two_frameworks(work, {"a": 0.5, "b": 0.5125}, {"a": "monday", "b": "tuesday"})


def one_campaign_by_word(work: Workplace, of_a: float = 0.45) -> Said:
    return two_frameworks(work, {"a": of_a, "b": 0.5}, {"a": "monday", "b": "monday"})


def parts(steps: int, part_of: Callable[[list[str], int], list[str]]) -> Callable[[Workplace], Said]:
    """Five logs made of one of *steps* steps."""

    def of(work: Workplace) -> Said:
        for framework, seconds in {"a": 0.5, "b": 0.515}.items():
            work.log("whole.log", seconds, steps=steps)
            lines = (work.folder / "whole.log").read_text().splitlines(keepends=True)
            for part in range(5):
                work.write(f"{framework}/{part}.log", "".join(part_of(lines, part)))
            work.bring(framework, f"{ONE} --set framework={framework} --set campaign=c")
        _, summary = work.report()
        most = max((row["n"] for row in summary["summaries"]), default=0)
        return verdict(most > 1, codes(summary), f"n = {most}; {ranked(summary)}; {codes(summary)}")

    return of


def scaled(
    base: float = 0.5,
    scale: float = 0.55,
    first: tuple[int, int] = (0, 0),
    shape: str = "nodes=20 gpus=8",
    criteria: str = "",
) -> Callable[[Workplace], Said]:
    """C1 of an imported base and scale. *first*: the first repeats; *criteria*: the text of a file."""

    def of(work: Workplace) -> Said:
        for at, seconds, begin, size in (("one", base, first[0], "devices=1"), ("many", scale, first[1], shape)):
            for repeat in range(5):
                work.log(f"{at}/{begin + repeat}.log", seconds, seed=begin + repeat)
            sized = " ".join(f"--set {word}" for word in size.split())
            work.bring(at, f"{SCALES} {sized} --pattern {{repeat}}.log")
        if criteria:
            work.write("own.toml", criteria)
        code, summary = work.report("--criteria own.toml" if criteria else "")
        if not summary:
            return Said(verdict="caught", words=f"exit {code}")
        own = "own criteria named" if "own.toml" in work.printed else ""
        return verdict(code == 0, own or codes(summary), f"C1 {c1(summary)}, exit {code}")

    return of


def amended(work: Workplace) -> Said:
    words = SCALES.replace("--set batch=64", "--set devices=1")
    for repeat in range(5):
        work.log(f"a/{repeat}.log", 0.5, seed=repeat)
    work.bring("a", f"{words} --set batch=128")
    _, before = work.report()
    work.bring("a", f"{words} --set batch=256 --amend")
    _, after = work.report()
    values = [each["summaries"][0]["throughput"]["value"] for each in (before, after)]
    ranked = after["summaries"][0]["runs"][0]["grounds"] == "clock"
    return verdict(ranked, codes(after), f"{values[0]:.0f} → {values[1]:.0f} images/s")


def gate(*nights: Sequence[reports.Summary], words: str = "", wanted: Sequence[int] = (5, 6)) -> Callable:
    """What `--fail-on-regression` says of the last night against the first."""

    def of(work: Workplace) -> Said:
        write_nights(work, nights)
        code = work.do(f"diff n0 n{len(nights) - 1} --fail-on-regression {words}")
        first = next((line for line in work.printed.splitlines() if line.strip()), "")
        return verdict(code not in wanted, "", f"exit {code}: {first}")

    return of


def write_nights(work: Workplace, nights: Sequence[Sequence[reports.Summary]]) -> None:
    for day, summaries in enumerate(nights):
        reports.written(work.folder / f"n{day}", reports.evaluation(*summaries))


def published(*nights: Sequence[reports.Summary]) -> Callable[[Workplace], Said]:
    def of(work: Workplace) -> Said:
        write_nights(work, nights)
        work.do(f"publish {' '.join(f'n{day}' for day in range(len(nights)))} --site site --lang en")
        last = work.printed.strip().splitlines()[-1]
        return verdict("regressions: 0" in last, "undated" if "without a date" in work.printed else "", last)

    return of


def at(factor: float, day: int, **changes: object) -> reports.Summary:
    return reports.summary([speed * factor for speed in reports.STEADY], day=day, **changes)


def crashed(day: int) -> reports.Summary:
    return synthetic.summary([synthetic.failed(reports.summary().case, 0, "Killed")])


def undated(factor: float, day: int) -> reports.Summary:
    one = at(factor, day)
    runs = tuple(replace(run, started_at=None, origin="imported", campaign=None) for run in one.measurements)
    return replace(one, measurements=runs, origin="imported")


CASE = synthetic.case(protocol=synthetic.FULL)
OTHERS = [replace(CASE, batch_per_device=batch) for batch in (16, 32)]
STEPS = replace(CASE, protocol=replace(CASE.protocol, measured_steps=99))
OPTION = replace(CASE, options=(("input_size", "64"),))
RENAMED = replace(CASE, framework="pytorch2")
CASES: dict[str, JudgementCase] = {
    "another day": case("a on monday, b on tuesday on a machine 2.5 % slower", "not fastest", another_day),
    "cut": case(
        *("one log of 700 steps cut in five, twice", "one run"),
        parts(700, lambda lines, part: lines[140 * part : 140 * part + 140]),
    ),
    "shortened": case(
        *("one log five times, each a line shorter", "one run"), parts(140, lambda lines, part: lines[part:])
    ),
    "20x8": case("logs of one device called 20x8", "C1 not passed", scaled(scale=0.5)),
    "slow base": case("base slowed, machine and campaign said", "C1 not passed", scaled(base=0.62, scale=0.62)),
    "15-19": case("scale from repeats 15–19, base from 0–4", "C1 not passed", scaled(first=(0, 15))),
    "1 of 8": case("20 nodes with 1 of 8 devices", "C1 not passed", scaled(shape="nodes=20 gpus=1")),
    "amended": case("--amend batch=256 after the results", "not ranked", amended),
    "by word": case("every fact said by the user", "on the user's word", one_campaign_by_word, "footnote"),
    "C3 alone": case(
        "criteria with C3 alone at 33 %", "named as own", scaled(scale=1.5, criteria="[C3]\n"), "footnote"
    ),
    "0.30": case(
        *("criteria with a threshold of 0.30 at 33 %", "named as own"),
        scaled(scale=1.5, criteria="[C1]\nthreshold = 0.3\nmin_nodes = 20\n"),
    ),
    "empty": case("an empty file of criteria", "refused", scaled(scale=1.5, criteria=" ")),
    "scope": case(
        *("a scope that selects nothing", "refused"),
        scaled(scale=1.5, criteria='[C1]\nscope = { frameworks = ["b"] }\n'),
    ),
    "30 nodes": case("min_nodes 30", "undetermined", scaled(criteria="[C1]\nmin_nodes = 30\n")),
    "crash": case("the case crashes in the new version", "exit 5", gate([at(1, 1)], [crashed(2)], wanted=[5])),
    "lost": case(
        *("it crashes, and another is as it was", "exit 5"),
        gate([at(1, 1), at(1, 1, of=OTHERS[0])], [crashed(2), at(1, 2, of=OTHERS[0])], wanted=[5]),
    ),
    "few": case(
        *("40 % slower with 4 repeats", "exit 6"),
        gate([at(1, 1)], [reports.summary([speed * 0.6 for speed in reports.STEADY[:4]], day=2)]),
    ),
    "renamed": case(
        *("40 % slower under another name, another case pairs", "exit 6"),
        gate([at(1, 1), at(1, 1, of=OTHERS[0])], [at(0.6, 2, of=RENAMED), at(1, 2, of=OTHERS[0])]),
    ),
    "option": case("an option renamed", "exit 6", gate([at(1, 1)], [at(0.6, 2, of=OPTION)])),
    "steps": case("20+99 steps", "exit 6", gate([at(1, 1)], [at(0.6, 2, of=STEPS)])),
    "creep": case(
        *("4.5 % slower every night, on the site", "a regression"),
        published(*([at(0.955**night, night + 1)] for night in range(6))),
    ),
    "undated": case(
        "the same of imports without a date",
        "said",
        published(*([undated(0.9**n, n + 1)] for n in range(3))),
        "footnote",
    ),
    "three": case(
        *("three cases 29, 6 and 7 % slower", "exit 5"),
        gate(
            [at(1, 1, of=other) for other in (CASE, *OTHERS)],
            [at(share, 2, of=one) for share, one in zip((0.71, 0.94, 0.93), (CASE, *OTHERS), strict=True)],
            wanted=[5],
        ),
    ),
}

if __name__ == "__main__":
    sys.exit(show("Imports, verdicts, reports", CASES))
