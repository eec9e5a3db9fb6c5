"""Scripts that bend their own figure, played beside an honest one, and honest ones that look odd. By the second table
(`WHAT_IFS`) no limit was chosen."""

import functools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests import sources
from tests.judgement import played

STEP_S = 0.02
UNPROVEN = "same work not proven"
CRITERIA = "[C1]\nthreshold = 0.8\nmin_nodes = 1\n"


Verdict = Literal["caught", "footnote", "not proven", "passes", "right"]


@dataclass(frozen=True, kw_only=True)
class Said:
    # footnote: said beside a value that is as it was; not proven: leaves no trace, and the page says that nothing is
    # proven of it; right: of an honest case, whose value and rank stand
    verdict: Verdict
    words: str


@dataclass(frozen=True, kw_only=True)
class JudgementCase:
    name: str
    expected: str  # what should be said
    judge: Callable[[], Said]
    wanted: Verdict = "caught"

    @property
    def accepted(self) -> tuple[Verdict, ...]:
        worse: tuple[Verdict, ...] = ("caught", "footnote", "not proven", "passes")
        return ("right",) if self.wanted == "right" else worse[: worse.index(self.wanted) + 1]


def judge(
    way: str,
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
    with tempfile.TemporaryDirectory() as name:
        for number in range(folders):
            (folder := Path(name) / str(number)).mkdir()
            (folder / "criteria.toml").write_text(CRITERIA)
            summary, page = played.compare(folder, ways, model, scales, repeats, others)
    whole = ("evaluated_before", *(["busy_machine"] if others else ()))
    codes = {name: {finding["code"] for finding in summary["findings"] if name in str(finding)} for name in ways}
    own = codes[vendor] - codes["honest"] | {each["code"] for each in summary["findings"] if each["code"] in whole}
    answers = [answer for answer in summary["answers"] if answer["nodes"] * answer["devices_per_node"] == 1]
    leading = [{place["framework"] for place in answer["ranked"] if place["leading"]} for answer in answers]
    ahead = any(
        answer["outcome"] in ("ahead", "scatter", "not_decided", None) and names == {vendor}
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
    said = [answer["outcome"] or "alone" for answer in answers]
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
    of = functools.partial(judge, way, **changes)
    wanted: Verdict = "right" if honest else "caught" if trace else "not proven"
    return JudgementCase(name=says, expected=expected, judge=of, wanted=wanted)


TABLES = sources.table("judgement_scripts.toml")
CASES, WHAT_IFS = (
    {name: judgement_case(**{"way": name, **row}) for name, row in rows.items()} for rows in TABLES.values()
)
