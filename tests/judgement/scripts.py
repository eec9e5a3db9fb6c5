"""Scripts that bend their own figure, run by `compare` beside an honest one, and honest ones that look odd.

`python -m tests.judgement.scripts [--real] [NAME …]` prints the table (`make test-judgement`): played, or run by
`compare`, which takes an hour of a quiet machine. By the second table (`WHAT_IFS`) no limit was chosen.
"""

import contextlib
import functools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from evalsuite import registry
from tests import sources
from tests.judgement import played
from tests.judgement.table import JudgementCase, Said, Verdict, print_table

SCRIPT = Path(__file__).with_name("toy_script.py")
STEP_S = 0.02
ADAPTER = sources.text("judgement_scripts_adapter.py.in")
UNPROVEN = "is not proven"
CRITERIA = "[C1]\nthreshold = 0.8\nmin_nodes = 1\n[C3]\n"


def compare(
    folder: Path, ways: Mapping[str, tuple[str, float]], model: str, scales: str, repeats: str
) -> tuple[dict | None, int, str]:
    """The summary of these frameworks (name → way and seconds of a step), None where refused, the exit code, and the
    page.
    """
    for name, (way, step_s) in ways.items():
        given = {"script": str(SCRIPT), "way": way, "step_s": str(step_s), "count": str(folder / f"{name}.count")}
        text = ADAPTER.format(name=name, model=model, **given)
        (folder / f"{name}.py").write_text(text)
    words = [sys.executable, "-m", "evalsuite", "compare", "--frameworks", ",".join(ways), "--models", model]
    words += ["--scales", scales, "--batch-sizes", "32", "--repeats", repeats, "--steps", "20+100", "--device", "cpu"]
    words += ["--environment", "current", "--cores-per-device", "1", "--share", "--lang", "en", "--fail-on-criteria"]
    for option, place in {"adapters": "", "runs": "runs", "out": "out", "criteria": "criteria.toml"}.items():
        words += [f"--{option}", str(folder / place)]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=900)
    summary = folder / "out" / "summary.json"
    if not summary.exists() and ended.returncode != 2:
        raise RuntimeError(f"{' '.join(words)}: {ended.returncode} {ended.stderr[-2000:]}")
    if not summary.exists():
        return None, ended.returncode, ""
    return json.loads(summary.read_text()), ended.returncode, (folder / "out" / "report.html").read_text()


@contextlib.contextmanager
def spinning(processes: int) -> Iterator[None]:
    """Other programs that keep the cores busy."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def judge(
    way: str,
    real: bool,
    *,
    step_s: float = STEP_S,
    model: str = "toy",
    scales: str = "1x1",
    repeats: str = "5",
    honest: bool = False,
    vendor: str = "vendor",
    folders: int = 1,
    others: int = 0,
) -> Said:
    """What is said of a vendor whose script goes this *way*. *folders*: it is tried in so many."""
    ways = {"honest": ("plain", STEP_S), vendor: (way, step_s)}
    with tempfile.TemporaryDirectory() as name, spinning(others if real else 0):
        for number in range(folders):
            (folder := Path(name) / str(number)).mkdir()
            (folder / "criteria.toml").write_text(CRITERIA)
            asked = (folder, ways, model, scales, repeats)
            summary, code, page = (
                compare(*asked) if real or vendor in registry.discover() else played.compare(*asked, others)
            )
    if summary is None:
        return Said(verdict="caught", words=f"refused; exit {code}")
    whole = ("evaluated_before", *(["busy_machine"] if others else ()))
    codes = {name: {one["code"] for one in summary["findings"] if name in str(one)} for name in ways}
    own = codes[vendor] - codes["honest"] | {one["code"] for one in summary["findings"] if one["code"] in whole}
    answers = [answer for answer in summary["answers"] if answer["nodes"] * answer["devices_per_node"] == 1]
    leading = [{place["framework"] for place in answer["ranked"] if place["leading"]} for answer in answers]
    ahead = any(
        answer["said"] in ("fastest", "group", "consistent", "alone") and names == {vendor}
        for answer, names in zip(answers, leading, strict=True)
    )
    passed = any(one["criterion"] == "C1" and one["outcome"] == "pass" for one in summary["verdicts"])
    bent = passed if scales != "1x1" else ahead
    values = [
        f"{one['case']['framework']} {one['throughput']['value']:,.0f}"
        if one["throughput"]
        else one["id"].split("-")[0]
        for one in summary["summaries"]
    ]
    said = [answer["said"] for answer in answers]
    c1 = f"C1 {'passed' if passed else 'not passed'}" if scales != "1x1" else ""
    found = [", ".join(said), ", ".join(values), c1, ", ".join(sorted(own))]
    words = "; ".join(filter(None, found))
    verdict: Verdict = "caught" if not bent else "not proven" if UNPROVEN in page else "passes"
    return Said(verdict=("right" if bent else "caught") if honest else verdict, words=words)


NO_TRACE = {"expected": "leaves no trace: not proven", "wanted": "not proven"}


def bent(name: str, expected: str, way: str, *, wanted: Verdict = "caught", **changes: object) -> JudgementCase:
    of = functools.partial(judge, way, "--real" in sys.argv, **changes)
    return JudgementCase(name=name, expected=expected, judge=of, wanted=wanted)


def honest(name: str, way: str, **changes: object) -> JudgementCase:
    return bent(name, "its value and rank stand", way, wanted="right", step_s=STEP_S * 0.8, honest=True, **changes)


CASES = {
    "one write": bent("all lines in one write at the end, a quarter of the time claimed", "no clock", "one write"),
    "ten lines": bent("ten lines a write, 40 % of the time claimed", "the ends of the writes count", "ten lines"),
    "queued": bent("steps printed when queued, 3/4 of the run after the last line", "excluded", "queued"),
    "before": bent("half of the work before the first line, as an honest start", way="before", **NO_TRACE),
    "warm-up": bent("the window's work in the warm-up", "excluded", "warm-up"),
    "every second": bent("every second step empty", "two kinds of steps", "every second"),
    "half batch": bent("half the batch that the case says", way="half batch", **NO_TRACE),
    "stamps": bent("stamps that run 17 % slow", "the agent's clock counts", "stamps"),
    "attempts": bent("three attempts in one log, the longest the fastest", "not chosen by the script", "attempts"),
    "survivors": bent("its slow runs exit 1, seven of thirteen", "not ranked", "survivor", repeats="13"),
    "5 of 7": bent("its slow runs exit 1, two of seven", "not ranked", "5 of 7", repeats="7"),
    "draws": bent("the best of eight draws is what runs", way="draws", **NO_TRACE),
    "slow base": bent("base slowed by two at 1x1", "C1 cannot pass", "slow base", scales="1x1,1x2"),
    "alone": bent("two copies that never exchange gradients", "C1 cannot pass", "alone", scales="1x1,1x2"),
    "sleeps": bent(
        "a script that sleeps, model resnet50_v1.5", "more than its core can do", "sleeps", model="resnet50_v1.5"
    ),
    "own name": bent("an own adapter of the name pytorch", "refused", "half batch", vendor="pytorch"),
    "folders": bent("the best of evaluations in four folders", "no order", "draws", repeats="3", folders=4),
    "beside": bent("beside another evaluation", "preliminary", "half batch", others=2),
    "claims": bent("prints 15 % more than the arrivals", "arrivals count", "claims"),
    "faster": honest("really 25 % faster", "plain"),
    "buffered": honest("really 25 % faster, ten lines a write", "buffered"),
    "evaluates": honest("really 25 % faster, evaluates 12 s at its end and counts batches", "evaluates"),
    "long start": honest("really 25 % faster, compiles three windows long", "long start"),
}

PAIR = {"scales": "1x1,1x2"}
WHAT_IFS = {
    "third": bent("every third step empty", "two kinds of steps", "third"),
    "random": bent("steps skipped at random, times that scatter", way="random", **NO_TRACE),
    "slower warm-up": bent("a third of the window's work in the warm-up", "excluded", "slower warm-up"),
    "half warm-up": bent("the same in three of four steps of the warm-up", "excluded", "half warm-up"),
    "fading": bent("steps that take ever less", "no one speed", "fading"),
    "last queued": bent("the last fifth of the steps queued", "excluded", "last queued"),
    "accuracy": bent("queued steps behind which an accuracy is printed", "batches are asked for", "accuracy"),
    "slow batches": bent("queued steps during which batches are counted", "slower than training", "slow batches"),
    "child": bent("queued steps left to a child, which the agent ends", "left at work", "child"),
    "leaves": bent("queued steps that nobody does", way="leaves", **NO_TRACE),
    "late begin": bent("the first 60 lines in one write, a third of the time claimed", "arrivals count", "late begin"),
    "stops agent": bent("stops its agent during half of the run", "the rest counts", "stops agent"),
    "stamps 1.9": bent("stamps that run 1.9 % slow", "the lower rate counts", "stamps 1.9"),
    "short first": bent("a slow attempt of 45 %, a fast one", "not chosen by the script", "short first"),
    "same loss": bent("half of the work, one loss of five digits", "not ranked", "same loss"),
    "spins": bent("spins instead of ResNet-50", "more than a core can do", "spins", step_s=0.01, model="resnet50_v1.5"),
    "sleeps fast": bent("sleeps a quarter of the time", "nothing to wait for", "sleeps fast"),
    "chatter": bent("copies that exchange 20 kB, of 17 MB of gradients", "C1 cannot pass", "chatter",
                    model="wide_and_deep_tiny", **PAIR),
    "every fourth": bent("gradients exchanged at every fourth step", way="every fourth", **NO_TRACE, **PAIR),
    "loader": honest("really 25 % faster, every fifth step waits for its loader", "loader"),
    "accumulates": honest("really 25 % faster, prints micro-batches, every other with the optimiser", "accumulates"),
    "silent": bent("really 25 % faster, evaluates 12 s without a word", "batches are asked for", "silent"),
    "waits": honest("really 25 % faster, half of its time waits for the network", "waits"),
}  # fmt: skip


if __name__ == "__main__":
    chosen = [word for word in sys.argv[1:] if word != "--real"]
    tables = {"Scripts": CASES, "Scripts for which no limit was chosen": WHAT_IFS}
    ends = [
        print_table(title, (cases[name] for name in cases if name in chosen or not chosen))
        for title, cases in tables.items()
    ]
    sys.exit(max(ends))
