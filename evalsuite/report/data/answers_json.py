"""`answers` of `summary.json`: who is fastest at each setting and scale (docs/contracts.md#summaryjson)."""

from collections.abc import Mapping
from typing import Any

from evalsuite.model import Protocol, Summary
from evalsuite.results.compare.answers import Answer, Apart, Conditions, Deciding, Missing, Ranked
from evalsuite.results.compare.ranking import FRAMEWORKS, Contest


def document(answer: Answer) -> dict[str, Any]:
    setting = answer.setting
    shown = [*(one.summary for one in answer.ranked), *(one.summary for one in answer.apart)]
    return {
        "model": setting.model,
        "device": setting.device,
        "precision": setting.precision,
        "xla": setting.xla,
        "batch_per_device": setting.batch_per_device or (setting.strong_batch or 0) // answer.devices,
        "strong_batch": setting.strong_batch,
        "options": dict(setting.options),
        "warmup_steps": setting.protocol.warmup_steps,
        "measured_steps": setting.protocol.measured_steps,
        "nodes": answer.nodes,
        "devices_per_node": answer.devices_per_node,
        "total_devices": answer.devices,
        "said": answer.said,
        "among": _among(answer.contest),
        "unit": shown[0].unit if shown else None,
        "lead": answer.lead,
        "chance": answer.chance,
        "false_exclusion": answer.false_exclusion,
        "deciding": _deciding(answer.deciding),
        "ranked": [_ranked(one) for one in answer.ranked],
        "apart": [_apart(one) for one in answer.apart],
        "missing": [_missing(one) for one in answer.missing],
    }


def _among(contest: Contest) -> dict[str, Any]:
    return {
        "what": contest.among,
        "scripts": contest.scripts,
        "options": {name: list(values) for name, values in contest.options},
    }


def _contest(facts: Mapping[str, Any] | None) -> Contest:
    """What is ranked; in reports of earlier versions, which do not say it, frameworks."""
    if facts is None:
        return FRAMEWORKS
    return Contest(
        among=facts["what"],
        scripts=facts["scripts"],
        options=tuple((name, tuple(values)) for name, values in facts["options"].items()),
    )


def _ranked(one: Ranked) -> dict[str, Any]:
    return {
        "framework": one.summary.case.framework,
        "case": one.summary.case.id,
        "throughput": one.summary.items_per_s.value,
        "n": one.summary.n,
        "ratio": one.ratio,
        "leading": one.leading,
    }


def _apart(one: Apart) -> dict[str, Any]:
    return {"framework": one.summary.case.framework, "case": one.summary.case.id, "why": list(one.why)}


def _missing(one: Missing) -> dict[str, Any]:
    return {
        "framework": one.framework,
        "recipe": one.entrant.recipe,
        "options": dict(one.entrant.options),
        "why": one.why,
        "case": one.case.id if one.case else None,
        "reason": one.reason or None,
        "batches": list(one.batches),
    }


def _deciding(found: Deciding | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"needed": found.needed, "runs": found.runs, "seconds": found.seconds, "facts": list(found.facts)}


def read(facts: Mapping[str, Any], of: Mapping[str, Summary]) -> Answer:
    """The answer with its order and what may be said of it; *of* has the summaries by the ids of their cases."""
    return Answer(
        setting=Conditions(
            model=facts["model"],
            device=facts["device"],
            precision=facts["precision"],
            xla=facts["xla"],
            batch_per_device=None if facts.get("strong_batch") else facts["batch_per_device"],
            strong_batch=facts.get("strong_batch"),
            options=tuple(sorted(facts["options"].items())),
            protocol=Protocol(warmup_steps=facts["warmup_steps"], measured_steps=facts["measured_steps"]),
        ),
        nodes=facts["nodes"],
        devices_per_node=facts["devices_per_node"],
        said=facts["said"],
        contest=_contest(facts.get("among")),
        ranked=tuple(
            Ranked(summary=of[one["case"]], ratio=one["ratio"], leading=one["leading"]) for one in facts["ranked"]
        ),
        chance=facts["chance"],
        false_exclusion=facts["false_exclusion"],
    )
