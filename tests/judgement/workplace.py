"""A folder in which commands of evalsuite are given, and what their report says."""

import contextlib
import io
import json
import math
import random
import shlex
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from evalsuite.cli import main
from tests.judgement.table import JudgementCase, Said, print_table

FACTS = (
    "data=synthetic optimiser=sgd clipping=none parallel_layout=DP input_size=224 precision=fp32 xla=off "
    "model_variant=resnet50_v1.5 version=2.0 device=A100 "
    "tf32=off driver_generation=550 host_kind=bare_metal compiler=none"
)
LINE = "2026-11-20 {hour:02d}:{minute:02d}:{second:06.3f} "
LINE += "Epoch: [0][{step:3d}/{of}]\tTime {seconds:.4f} (0.6000)\tData 0.002 (0.001)\tLoss {loss:.4f}\n"
RANKED = ("decided", "preliminary", "open")


class Workplace:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.printed = ""

    def log(self, name: str, seconds: float, *, seed: int = 0, steps: int = 140, first: int = 0) -> None:
        """A stamped log of *steps* steps whose times scatter by 1 %; each has a level of its own, 0.3 %."""
        chance = random.Random(f"{name} {seed}")
        level = seconds * math.exp(chance.gauss(0, 0.003))
        lines, at_s = [], 0.0
        for step in range(first, first + steps):
            at_s += (took := level * math.exp(chance.gauss(0, 0.01)))
            stamp = {"hour": int(10 + at_s // 3600), "minute": int(at_s // 60 % 60), "second": at_s % 60}
            lines.append(LINE.format(step=step, of=2000, seconds=took, loss=7 - step / 500, **stamp))
        self.write(name, "".join(lines))

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def do(self, words: str) -> int:
        """The exit code of *words*, in this folder."""
        out = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = main(shlex.split(words))
        self.printed = out.getvalue()
        return int(code)

    def bring(self, paths: str, words: str = "", facts: str = FACTS) -> int:
        said = " ".join(f"--set {fact}" for fact in facts.split())
        return self.do(f"import {paths} --runs runs {said} {words}")

    def report(self, words: str = "") -> tuple[int, Mapping]:
        """(Exit code of `report --fail-on-criteria`, its summary; empty without one.)"""
        code = self.do(f"report --runs runs --out out --fail-on-criteria --lang en {words}")
        file = self.folder / "out" / "summary.json"
        return code, json.loads(file.read_text()) if file.exists() else {}


def verdict(bent: bool, said: str, words: str) -> Said:
    """*bent*: whether the wrong statement stands; *said*: the word beside it, if there is one."""
    return Said(verdict=("footnote" if said else "passes") if bent else "caught", words=f"{words} {said}".strip())


def codes(summary: Mapping, *ignored: str) -> str:
    """Findings but those that every small import has."""
    usual = {"D05", "D07", "D14", "peak_unverified", *ignored}
    return ", ".join(sorted({finding["code"] for finding in summary.get("findings", ())} - usual))


def ranked(summary: Mapping) -> str:
    return ", ".join(
        f"{answer['evidence'] or 'alone'}: {answer['ranked'][0]['framework']}" if answer["ranked"] else "none"
        for answer in summary.get("answers", ())
    )


def c1(summary: Mapping) -> str:
    return next(
        (f"{each['outcome']} ({each['reason']})" for each in summary["verdicts"] if each["criterion"] == "C1"), "no C1"
    )


def case(name: str, expected: str, of: Callable[[Workplace], Said], wanted: str = "caught") -> JudgementCase:
    def judge() -> Said:
        with tempfile.TemporaryDirectory() as folder:
            return of(Workplace(Path(folder)))

    return JudgementCase(name=name, expected=expected, judge=judge, wanted=wanted)


def show(title: str, cases: Mapping[str, JudgementCase]) -> int:
    """Prints the table of the cases that are named on the command line, or all. 1: one passes that should not."""
    return print_table(title, (cases[name] for name in sys.argv[1:] or cases))
