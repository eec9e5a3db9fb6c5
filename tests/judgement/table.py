"""What is said of ways to a wrong statement: one row a case, and how many pass as true."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

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


def print_table(title: str, cases: Iterable[JudgementCase]) -> int:
    """Row by row, as they are judged. 1: one passes that should not."""
    found: list[tuple[JudgementCase, Said]] = []
    print(f"\n## {title}\n\n| what | should be said | is said | verdict |\n|---|---|---|---|")
    for case in cases:
        found.append((case, said := case.judge()))
        print(f"| {case.name} | {case.expected} | {said.words} | {said.verdict} |", flush=True)
    counts: Mapping[str, int] = {kind: sum(said.verdict == kind for _, said in found) for kind in Verdict.__args__}
    print("\n" + ", ".join(f"{kind} {count}" for kind, count in counts.items()))
    return int(any(said.verdict not in one.accepted for one, said in found))
