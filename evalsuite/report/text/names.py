"""Proper names, anchors and order on the page."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from evalsuite.core import paths
from evalsuite.core.messages import Message
from evalsuite.core.model import UNKNOWN, Case, by_key

ANCHOR_BYTES = 5  # 40 bits: two of 5,000 cases share an anchor once in 90,000 reports
SAFE = re.compile(r"[A-Za-z0-9._-]{1,60}")
PRECISIONS = {
    **{"fp32": "FP32", "tf32": "TF32", "amp": "AMP", "fp16_amp": "FP16 AMP", "bf16_amp": "BF16 AMP"},
    **{"amp-fp16": "FP16 AMP", "amp-bf16": "BF16 AMP"},
    **{"fp16": "FP16", "bf16": "BF16", "fp8": "FP8", "mxfp8": "MXFP8", "nvfp4": "NVFP4"},
}
KINDS = {"cpu": "words.cpu", "gpu": "words.gpu", "npu": "words.npu", UNKNOWN: "words.unknown_device"}
CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), 127, *range(128, 160)) if code not in (9, 10, 13)}
UNSEEN = (  # direction marks and what has no width
    r"\xad\u034f\u061c\u115f\u1160\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2061-\u206f\u3164\ufeff\uffa0\U000e0000-\U000e0fff"
)
SPELLED = re.compile(f"[{''.join(map(chr, CONTROL))}{UNSEEN}\u2060]")
_UNSEEN = re.compile(f"[{UNSEEN}]")


@cache
def facts() -> dict[str, Any]:
    return paths.read_data("text/names.toml")


def framework(name: str) -> str:
    return str(facts()["frameworks"].get(name, visible(name.replace("_", " "))))


def scale(case: Case) -> str:
    return f"?×? = {case.total_devices}" if case.nodes_unknown else f"{case.nodes}×{case.devices_per_node}"


def scales(cases: Iterable[Case]) -> tuple[str, ...]:
    named = {(case.total_devices, case.nodes): scale(case) for case in cases}
    return tuple(named[place] for place in sorted(named))


def bsz(batch: int, *, strong: bool = False) -> str:
    return f"global bsz {batch:,}" if strong else f"bsz {batch:,}"


def labels(cases: Iterable[Case]) -> dict[Case, str]:
    """Of each the framework, and what tells it from the others of its name."""
    told = {
        of: (of.recipe, scale(of), precision(of.precision), bsz(of.batch_per_device), *map(" ".join, of.options))
        for of in cases
    }
    alike = by_key((case.framework, {*words}) for case, words in told.items())
    shared = {name: set.intersection(*of) for name, of in alike.items()}
    apart = {case: [each for each in words if each not in shared[case.framework]] for case, words in told.items()}
    return {case: " ".join([framework(case.framework), *map(visible, words)]) for case, words in apart.items()}


def model(name: str) -> str:
    return str(model_facts(name).get("title", visible(name)))


def model_facts(name: str) -> Mapping[str, str]:
    known: Mapping[str, Mapping[str, str]] = facts()["models"]
    return known.get(name, {})


def precision(name: str) -> str:
    return Message("report.unknown_precision") if name == UNKNOWN else PRECISIONS.get(name, visible(name))


def case_anchor(case: Case) -> str:
    return anchor("c", case.id)


def model_anchor(name: str) -> str:
    """Its own name where that is safe: people read links."""
    return f"model-{name}" if SAFE.fullmatch(name) else anchor("model", name)


def anchor(kind: str, name: str) -> str:
    """A short id, the same in every build, safe in HTML and URLs."""
    import hashlib  # a page needs it, a terminal that prints names does not

    return f"{kind}-{hashlib.sha256(name.encode('utf-8', 'backslashreplace')).hexdigest()[: 2 * ANCHOR_BYTES]}"


def visible(text: object) -> str:
    """Control characters and direction marks spelled out."""
    said = str(text)
    if said.isascii() and said.isprintable():  # as nearly all is
        return said
    return SPELLED.sub(_spelled, said.encode("utf-8", "backslashreplace").decode())


def without_unseen(text: str) -> str:
    """A whole page or document with the same spelled out; not the word joiner, which our own Markdown has."""
    return _UNSEEN.sub(_spelled, text)


def _spelled(match: "re.Match[str]") -> str:
    return ascii(match[0])[1:-1]


def model_order(name: str) -> tuple[int, str]:
    known = list(facts()["models"])
    return known.index(name) if name in known else len(known), re.sub(r"\d+", lambda of: of[0].zfill(20), name)


def options_order(options: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value.zfill(20) if value.isdecimal() else value) for name, value in options)


def case_order(case: Case) -> tuple[Any, ...]:
    return (
        model_order(case.model),
        case.device,
        case.precision,
        case.strong_batch is not None,
        case.series_batch,
        options_order(case.options),
        (case.protocol.warmup_steps, case.protocol.measured_steps),
        framework(case.framework).casefold(),
        case.framework,
        case.recipe,
        str(case.xla),
        case.total_devices,
        case.nodes,
    )


def day(stamp: str) -> str:
    return visible(stamp.partition("T")[0])


def minute(stamp: str) -> str:
    zone = " UTC" * stamp.endswith(("Z", "+00:00"))
    return visible(stamp[:16].replace("T", " ") + zone)
