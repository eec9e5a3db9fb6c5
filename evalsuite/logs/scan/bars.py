"""A progress bar that counts on after its total."""

import re

from evalsuite.core.messages import Message

# Epoch 1: 100%|██████████| 14/14 [04:02<00:00, 17.64s/it, loss=88]
# Epoch 1: 15it [04:02, 18.76s/it, loss=88]: tqdm drops a total that was passed
_NEXT = re.compile(rb"100%\|[^|\r\n]*\| *(\d+)/\1 \[[^\r\n]*[\r\n]+(?P<name>[^\r\n|]*?)(?P<count>\d+)it \[")
_WORD = re.compile(rb"[A-Za-z]+")


class PastTotal:
    """Either its count or its total is not that of the batches, and nothing tells which."""

    def __init__(self) -> None:
        self._passed: re.Match[bytes] | None = None

    def add(self, text: bytes) -> None:
        if self._passed is None and b"it [" in text:
            self._passed = next((bar for bar in _NEXT.finditer(text) if _is_same(bar)), None)

    def contradiction(self, items_per_s: float) -> Message | None:
        if self._passed is None:
            return None
        return Message("logs.bar_past_total", count=int(self._passed["count"]), of=int(self._passed[1]))


def _is_same(passed: re.Match[bytes]) -> bool:
    text, at = passed.string, passed.start()
    name = text[max(text.rfind(b"\r", 0, at), text.rfind(b"\n", 0, at)) + 1 : at]
    return int(passed["count"]) > int(passed[1]) and _WORD.findall(name) == _WORD.findall(passed["name"])
