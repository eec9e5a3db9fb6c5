"""Scripts that bend their own figure, run by `compare` beside an honest one, and honest ones that look odd.

`python -m tests.judgement.scripts [NAME …]` prints the table (`make test-judgement`).
"""

import functools
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.judgement.table import JudgementCase, Said, Verdict, print_table

SCRIPT = Path(__file__).with_name("toy_script.py")
STEP_S = 0.02
ADAPTER = """
from evalsuite.adapter import Adapter, Command, Recipe

def command(case):
    return Command(argv=("{{python}}", {script!r}, {way!r}, str(case.protocol.total_steps), {step_s!r}))

FACTS = {{"data": "synthetic", "optimiser": "sgd", "clipping": "none", "parallel_layout": "DP", "input_size": "224"}}
ADAPTER = Adapter(name={name!r}, title={name!r}, recipes=(Recipe(
    name="toy", model={model!r}, kind="reference", dialect="pytorch_examples", command=command, spawn="per_device",
    import_name="json", package="pip", facts=FACTS),))
"""
CRITERIA = "[C1]\nthreshold = 0.8\nmin_nodes = 1\n[C3]\n"


def compare(
    folder: Path, ways: Mapping[str, tuple[str, float]], model: str, scales: str, repeats: str
) -> tuple[dict, int]:
    """The summary of these frameworks (name → way and seconds of a step), and the exit code."""
    for name, (way, step_s) in ways.items():
        text = ADAPTER.format(script=str(SCRIPT), way=way, name=name, step_s=str(step_s), model=model)
        (folder / f"{name}.py").write_text(text)
    (folder / "criteria.toml").write_text(CRITERIA)
    words = [sys.executable, "-m", "evalsuite", "compare", "--frameworks", ",".join(ways), "--models", model]
    words += ["--scales", scales, "--batch-sizes", "32", "--repeats", repeats, "--steps", "20+100", "--device", "cpu"]
    words += ["--environment", "current", "--cores-per-device", "1", "--share", "--lang", "en", "--fail-on-criteria"]
    for option, place in {"adapters": "", "runs": "runs", "out": "out", "criteria": "criteria.toml"}.items():
        words += [f"--{option}", str(folder / place)]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=900)
    summary = folder / "out" / "summary.json"
    if not summary.exists():
        raise RuntimeError(f"{' '.join(words)}: {ended.returncode} {ended.stderr[-2000:]}")
    return json.loads(summary.read_text()), ended.returncode


def judge(
    way: str,
    *,
    step_s: float = STEP_S,
    model: str = "toy",
    scales: str = "1x1",
    repeats: str = "5",
    honest: bool = False,
    beside: Sequence[str] = ("honest",),
) -> Said:
    """What is said of a vendor whose script goes this *way*."""
    ways = {**dict.fromkeys(beside, ("plain", STEP_S)), "vendor": (way, step_s)}
    with tempfile.TemporaryDirectory() as name:
        summary, code = compare(Path(name), ways, model, scales, repeats)
    own = {finding["code"] for finding in summary["findings"] if "vendor" in str(finding)}
    answers = [answer for answer in summary["answers"] if answer["nodes"] * answer["devices_per_node"] == 1]
    ahead = any(
        place["framework"] == "vendor" and place["leading"]
        for answer in answers
        for place in answer["ranked"]
        if answer["said"] in ("fastest", "group", "consistent")
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
    found = [", ".join(said), ", ".join(values), f"C1 {'pass' if passed else 'not passed'}", ", ".join(sorted(own))]
    words = "; ".join(filter(None, found)) + f"; exit {code}"
    verdict: Verdict = "passes" if bent and not own else "footnote" if bent else "caught"
    return Said(verdict=("right" if bent else "caught") if honest else verdict, words=words)


def bent(name: str, expected: str, way: str, wanted: Verdict = "caught", **changes: object) -> JudgementCase:
    return JudgementCase(name=name, expected=expected, judge=functools.partial(judge, way, **changes), wanted=wanted)


def honest(name: str, way: str, **changes: object) -> JudgementCase:
    return bent(name, "its value and rank stand", way, wanted="right", step_s=STEP_S * 0.8, honest=True, **changes)


CASES = {
    "one write": bent(
        "all lines in one write at the end, a quarter of the time claimed", "no clock: not ranked", "one write"
    ),
    "ten lines": bent("ten lines a write, 40 % of the time claimed", "the ends of the writes count", "ten lines"),
    "queued": bent("steps printed when queued, 3/4 of the run after the last line", "excluded", "queued"),
    "before": bent("half of the work before the first line", "said at the headline", "before", wanted="footnote"),
    "warm-up": bent("the window's work in the warm-up", "excluded", "warm-up"),
    "every second": bent("every second step empty", "two kinds of steps", "every second"),
    "half batch": bent("half the batch that the case says", "leaves no trace", "half batch", wanted="passes"),
    "stamps": bent("stamps that run 17 % slow", "the agent's clock counts", "stamps"),
    "attempts": bent("three attempts in one log, the longest the fastest", "not chosen by the script", "attempts"),
    "survivor": bent("its slow runs exit 1", "not ranked", "survivor", repeats="7"),
    "slow base": bent("base slowed by two at 1x1", "C1 cannot pass", "slow base", scales="1x1,1x2"),
    "alone": bent("two copies that never exchange gradients", "C1 cannot pass", "alone", scales="1x1,1x2"),
    "sleeps": bent(
        "a script that sleeps, model resnet50_v1.5", "more than its core can do", "sleeps", model="resnet50_v1.5"
    ),
    "claims": bent("prints 15 % more than the arrivals", "arrivals count", "claims"),
    "faster": honest("really 25 % faster", "plain"),
    "buffered": honest("really 25 % faster, ten lines a write", "buffered"),
    "evaluates": honest("really 25 % faster, evaluates 12 s at its end", "evaluates"),
    "long start": honest("really 25 % faster, compiles three windows long", "long start"),
}


def main(names: Sequence[str]) -> None:
    chosen = [CASES[name] for name in names or CASES]
    print_table("Scripts", ((case, case.judge()) for case in chosen))


if __name__ == "__main__":
    main(sys.argv[1:])
