"""Writes one data set, in the environment of its format's library.

python write.py < ORDER.json       # prints the hash of the decoded items, as one line of JSON

The order has the writer's module, the format, the folder, and for each split its number of items and of shards. A
writer is a module with `FORMATS`: name → what writes an order. Python 3.8 reads this file.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import sys
from dataclasses import dataclass, field
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
    times: int  # how often training's items are listed or linked, so that a pass over them is longer
    beside: Path  # the folder of the data set that this one belongs to
    digests: dict[str, list[bytes]] = field(default_factory=dict)  # split → those of the items that were taken

    def of(self, split: str):
        """The items of the source that the files must hold."""
        taken = self.digests.setdefault(split, [])
        for item in sources.SOURCES[self.source](self.seed, split, self.items[split], **self.shape):
            taken.append(item.digest())
            yield item

    def sharded(self, folders: dict[str, str]):
        """(split, its folder, number of the shard, its items) for each, to be taken in this order; sizes differ by one
        at most."""
        for split, count in self.items.items():
            items, shards = self.of(split), self.shards[split]
            folder = self.folder / folders.get(split, "")
            folder.mkdir(parents=True, exist_ok=True)
            for number in range(shards):
                yield split, folder, number, itertools.islice(items, count // shards + (number < count % shards))


def main() -> int:
    facts = json.load(sys.stdin)
    order = Order(**{**facts, "folder": Path(facts["folder"]), "beside": Path(facts["beside"])})
    importlib.import_module(order.writer).FORMATS[order.format](order)
    for split, wanted in order.items.items():
        if (count := len(order.digests[split])) != wanted:
            print(f"{split}: {wanted} items were to be written and {count} were", file=sys.stderr)
            return 1
    # sorted: formats and shards have an order of their own
    hashes = {split: hashlib.sha256(b"".join(sorted(each))).hexdigest() for split, each in order.digests.items()}
    print(json.dumps({"decoded_sha256": hashes}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
