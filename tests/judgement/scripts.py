"""Scripts that bend their own figure, run by `compare` beside an honest one, and honest ones that look odd.

`python -m tests.judgement.scripts [--real] [NAME …]` prints the table: played, or run by
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

from evalsuite.contracts import registry
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
    codes = {name: {finding["code"] for finding in summary["findings"] if name in str(finding)} for name in ways}
    own = codes[vendor] - codes["honest"] | {each["code"] for each in summary["findings"] if each["code"] in whole}
    answers = [answer for answer in summary["answers"] if answer["nodes"] * answer["devices_per_node"] == 1]
    leading = [{place["framework"] for place in answer["ranked"] if place["leading"]} for answer in answers]
    ahead = any(
        answer["evidence"] in ("decided", "open", "preliminary", None) and names == {vendor}
        for answer, names in zip(answers, leading, strict=True)
    )
    passed = any(verdict["criterion"] == "C1" and verdict["outcome"] == "pass" for verdict in summary["verdicts"])
    bent = passed if scales != "1x1" else ahead
    values = [
        f"{row['case']['framework']} {row['throughput']['value']:,.0f}"
        if row["throughput"]
        else row["id"].split("-")[0]
        for row in summary["summaries"]
    ]
    said = [answer["evidence"] or "alone" for answer in answers]
    c1 = f"C1 {'passed' if passed else 'not passed'}" if scales != "1x1" else ""
    found = [", ".join(said), ", ".join(values), c1, ", ".join(sorted(own))]
    words = "; ".join(filter(None, found))
    verdict: Verdict = "caught" if not bent else "not proven" if UNPROVEN in page else "passes"
    return Said(verdict=("right" if bent else "caught") if honest else verdict, words=words)


def judgement_case(
    way: str,
    *,
    says: str,
    expected: str = "leaves no trace: not proven",
    trace: bool = True,
    honest: bool = False,
    finding: str = "",
    **changes: object,
) -> JudgementCase:
    """A row of the table. *trace*: whether it leaves one; *finding*: what names it, which a unit test asks for."""
    if honest:
        expected, changes = "its value and rank stand", {"step_s": STEP_S * 0.8, "honest": True, **changes}
    of = functools.partial(judge, way, "--real" in sys.argv, **changes)
    wanted: Verdict = "right" if honest else "caught" if trace else "not proven"
    return JudgementCase(name=says, expected=expected, judge=of, wanted=wanted)


TABLES = sources.table("judgement_scripts.toml")
CASES, WHAT_IFS = (
    {name: judgement_case(**{"way": name, **row}) for name, row in rows.items()} for rows in TABLES.values()
)


if __name__ == "__main__":
    chosen = [word for word in sys.argv[1:] if word != "--real"]
    tables = {"Scripts": CASES, "Scripts for which no limit was chosen": WHAT_IFS}
    ends = [
        print_table(title, (cases[name] for name in cases if name in chosen or not chosen))
        for title, cases in tables.items()
    ]
    sys.exit(max(ends))
