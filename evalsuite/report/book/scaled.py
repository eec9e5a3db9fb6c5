"""Results with an efficiency: what scaling sections speak of."""

from dataclasses import dataclass

from evalsuite.model import Case, Interval, Summary


@dataclass(frozen=True, kw_only=True)
class Scaled:
    """A summary that was compared with a smaller scale of its series."""

    summary: Summary
    base: Case
    efficiency: Interval

    @property
    def case(self) -> Case:
        return self.summary.case


def scaled(summary: Summary) -> Scaled | None:
    """*summary* with its efficiency; None for the base itself, which would say 100 %, and where there is no base."""
    if summary.efficiency is None or summary.base is None or summary.base == summary.case:
        return None
    return Scaled(summary=summary, base=summary.base, efficiency=summary.efficiency)
