"""Writes one data set and reads it back, in the environment of its format's library.

python write.py < ORDER.json       # prints what was read back, as one line of JSON

The order has the writer's module, the format, the folder, and for each split its number of items and of shards. A
writer is a module with `FORMATS`: name → `write(order)` and `read(order, split)`, which gives the items that the files
hold. So the hash of the decoded items is that of the files, not of what was meant. Python 3.8 reads this file.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sources


@dataclass(frozen=True)
class Order:
    writer: str
    format: str
    folder: Path
    source: str
    seed: int
    items: dict[str, int]  # split → how many
    shards: dict[str, int]  # split → how many files
    shape: dict[str, Any]  # what the source takes beside: {"classes": 16}
    beside: Path  # the folder of the data set that this one belongs to

    def of(self, split: str):
        """The items of the source that the files must hold."""
        return sources.SOURCES[self.source](self.seed, split, self.items[split], **self.shape)

    def sharded(self, split: str):
        """(number of the shard, its items) for each, to be taken in this order; sizes differ by one at most."""
        items, shards = self.of(split), self.shards.get(split, 1)
        for number in range(shards):
            size = self.items[split] // shards + (number < self.items[split] % shards)
            yield number, itertools.islice(items, size)


def main() -> int:
    facts = json.load(sys.stdin)
    order = Order(**{**facts, "folder": Path(facts["folder"]), "beside": Path(facts["beside"])})
    form = importlib.import_module(order.writer).FORMATS[order.format]
    form.write(order)
    if not order.items:  # a vocabulary, an index: the writer's own check
        form.read(order, "")
    wanted = {split: _hash(order.of(split)) for split in order.items}
    found = {split: _hash(form.read(order, split)) for split in order.items}
    for split, (count, digest) in found.items():
        if (count, digest) != wanted[split]:
            print(f"{split}: {wanted[split][0]} items were to be written and {count} were read back", file=sys.stderr)
            return 1
    print(json.dumps({"decoded_sha256": {split: digest for split, (_, digest) in found.items()}}))
    return 0


def _hash(items) -> tuple[int, str]:
    """How many, and a hash that does not depend on their order: formats and shards have one of their own."""
    digests = sorted(item.digest() for item in items)
    return len(digests), hashlib.sha256(b"".join(digests)).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
