"""What is said of ways to a wrong statement: one row a case, and how many pass as true."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["caught", "footnote", "passes", "right"]


@dataclass(frozen=True, kw_only=True)
class Said:
    verdict: Verdict  # "right": of an honest case, whose value and rank stand
    words: str


@dataclass(frozen=True, kw_only=True)
class JudgementCase:
    name: str
    expected: str  # what should be said
    judge: Callable[[], Said]
    wanted: Verdict = "caught"


def print_table(title: str, rows: Iterable[tuple[JudgementCase, Said]]) -> None:
    found = list(rows)
    print(f"\n## {title}\n\n| what | should be said | is said | verdict |\n|---|---|---|---|")
    for case, said in found:
        print(f"| {case.name} | {case.expected} | {said.words} | {said.verdict} |")
    counts: Mapping[str, int] = {kind: sum(said.verdict == kind for _, said in found) for kind in Verdict.__args__}
    print("\n" + ", ".join(f"{kind} {count}" for kind, count in counts.items()))
