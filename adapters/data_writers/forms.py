"""What a writer's `FORMATS` holds. Python 3.8 reads this file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Form:
    write: Callable[[Any], None]  # of an order
    read: Callable[[Any, str], Iterable[Any]]  # of an order and a split: the items that the files hold


def shard_name(split: str, number: int, shards: int) -> str:
    return f"{split}-{number:05d}-of-{shards:05d}"
