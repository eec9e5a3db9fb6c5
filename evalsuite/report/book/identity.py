"""The identity of an evaluation: a hash of everything the report is made of, in one order."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace

from evalsuite.core import findings
from evalsuite.core.model import Evaluation
from evalsuite.report.text import names

SHOWN_DIGITS = 12


def ordered(evaluation: Evaluation) -> Evaluation:
    return replace(
        evaluation,
        planned=tuple(sorted(evaluation.planned, key=names.case_order)),
        skips=tuple(sorted(evaluation.skips, key=lambda skip: (names.case_order(skip.case), skip.reason))),
        summaries=tuple(sorted(evaluation.summaries, key=lambda summary: names.case_order(summary.case))),
        verdicts=tuple(sorted(evaluation.verdicts, key=lambda verdict: verdict.criterion)),
        findings=tuple(sorted(evaluation.findings, key=findings.order)),
    )


def build_hash(evaluation: Evaluation) -> str:
    """SHA-256 of *evaluation*: the same input gives the same hash on every machine."""
    hashed = hashlib.sha256()
    for part in _parts(ordered(evaluation)):
        hashed.update(part.encode("utf-8", "backslashreplace"))
        hashed.update(b"\n")
    return hashed.hexdigest()


def _parts(evaluation: Evaluation) -> Iterator[str]:
    for field in fields(evaluation):
        value = getattr(evaluation, field.name)
        if isinstance(value, Mapping):
            yield json.dumps(value, sort_keys=True, default=repr)
        elif value or field.name not in ("journal_sha256", "beside_runs", "against", "since"):
            yield f"{field.name}={value!r}"
