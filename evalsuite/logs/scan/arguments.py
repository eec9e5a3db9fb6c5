"""Batch sizes in a script's dump of its arguments, whatever its dialect.

Only names that say whose batch they mean are taken. With accumulation or micro batches a printed step may be a part of
one. A bare `batch_size` is quoted where the batch must be asked for.
"""

import re
from collections.abc import Iterator

_NAMES = {  # what it says → what scripts call it, with `_` for `-`, `.` or a blank
    "per_device": rb"(?:train_|local_)?batch_size_per_(?:gpu|device|card|rank)|batch_per_(?:gpu|device|card)"
    rb"|per_(?:gpu|device|card)_(?:train_)?batch_size|samples_per_gpu",
    "all": rb"(?:train_)?(?:global|total)_(?:train_)?batch_size",
    "in_parts": rb"(?:gradient|grad)_accum(?:ulation)?(?:_steps?)?|accumulate_grad_(?:batches|iterations)|accum_iter"
    rb"|accumulation_steps|micro_?batch(?:_size)?|effective_batch_size",
    "bare": rb"(?:train_|mini_?)?batch_?size",
}
_WORDS = (b"atch", b"ccum", b"samples_per_gpu")  # one of them stands in each
# global_batch_size=512, · "batch_size_per_gpu": 32 · --per-device-train-batch-size 4 · Global batch size: 1024
_ARGUMENT = re.compile(
    rb"(?i)(?<![\w-])(?:--|(?<!\w ))(?:"
    + b"|".join(b"(?P<%b>%b)" % (name.encode(), words.replace(b"_", b"[_. -]")) for name, words in _NAMES.items())
    + rb")['\"]?(?:[ \t]{0,3}[:=][ \t]{0,3}|(?<=[a-z])[ \t])(?P<value>\d{1,9})(?![\w.,]*\d)(?!\.\w)"
)
FACTS = {
    "per_device": "argued_batch_per_device",
    "all": "argued_global_batch",
    "in_parts": "argued_parts",
    "bare": "bare_batch",
}


def arguments(text: bytes) -> dict[str, bytes]:
    """The first of each kind, as facts of the job, and how it stood there."""
    found: dict[str, bytes] = {}
    for line in _lines(text):
        for match in _ARGUMENT.finditer(line):
            kind = next(each for each in _NAMES if match[each] is not None)
            if kind == "in_parts" and match["value"] == b"1" and b"ccum" in match[0]:
                continue  # no accumulation
            if FACTS[kind] not in found:
                found[FACTS[kind]] = match["value"]
                found[f"{FACTS[kind]}_text"] = match[0].strip(b"- ")
    return found


def _lines(text: bytes) -> Iterator[bytes]:
    """Found by the words first: nearly no line has one."""
    begins: dict[int, int] = {}
    for word in _WORDS:
        at = text.find(word)
        while at >= 0:
            begin, end = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
            begins[begin] = len(text) if end < 0 else end
            at = text.find(word, begins[begin])
    for begin in sorted(begins):
        yield from text[begin : begins[begin]].split(b"\r")
