"""The identity of an evaluation: a hash of everything the report is made of, in one order."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from evalsuite.model import Evaluation

from . import names

SHOWN_DIGITS = 12


def ordered(evaluation: Evaluation) -> Evaluation:
    """*evaluation* with its rows in the order of the page, however they came."""
    return replace(
        evaluation,
        planned=tuple(sorted(evaluation.planned, key=names.case_order)),
        skips=tuple(sorted(evaluation.skips, key=lambda skip: (names.case_order(skip.case), skip.reason))),
        summaries=tuple(sorted(evaluation.summaries, key=lambda one: names.case_order(one.case))),
        verdicts=tuple(sorted(evaluation.verdicts, key=lambda verdict: verdict.criterion)),
        findings=tuple(sorted(evaluation.findings, key=lambda f: (f.code, f.where, f.text, f.values))),
    )


def build_hash(evaluation: Evaluation) -> str:
    """SHA-256 of *evaluation*: the same input gives the same hash on every machine."""
    text = json.dumps(_plain(ordered(evaluation)), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(found)] for key, found in sorted(value.items(), key=lambda item: str(item[0]))]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
