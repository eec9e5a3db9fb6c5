"""The plan beside the run folders: what was to be run and what was skipped, as written and as read back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from evalsuite.model import Case, Measurement, Skip
from evalsuite.runs.store import case_from


def facts(name: str, cases: Sequence[Case], repeats: int, skips: Sequence[Skip]) -> dict:
    """What `store.write_plan` keeps of a plan."""
    return {
        "profile": name,
        "repeats": repeats,
        "cases": [asdict(case) for case in cases],
        "skips": [{"case": asdict(skip.case), "reason": skip.reason, "kind": skip.kind} for skip in skips],
    }


def read_back(planned: Mapping, measurements: Sequence[Measurement], wanted: set[str] | None):
    cases = [case_from(facts) for facts in planned.get("cases", ())]
    known = {case.id for case in cases}
    cases += [case for case in dict.fromkeys(m.run.case for m in measurements) if case.id not in known]
    skips = [Skip(**{**skip, "case": case_from(skip["case"])}) for skip in planned.get("skips", ())]
    if wanted is not None:
        cases = [case for case in cases if case.id in wanted]
    return cases, skips
