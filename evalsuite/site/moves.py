"""From one report to a later one: how their common cases moved."""

from collections.abc import Iterable
from dataclasses import dataclass

from evalsuite.model import by_key
from evalsuite.results.compare.changes import Change, Changes, Together


@dataclass(frozen=True, kw_only=True)
class Move:
    before: str  # id of the earlier report on the site
    after: str
    changes: Changes

    @property
    def together(self) -> Together | None:
        """Every case moved the same way: the campaigns differ, the cause is unknown."""
        return self.changes.together


def moves(compared: Iterable[tuple[str, str, Change]]) -> tuple[Move, ...]:
    """*compared*: ids of the earlier and the later report, and a change between them."""
    changes = by_key(((before, after), change) for before, after, change in compared)
    return tuple(
        Move(before=before, after=after, changes=Changes(changes=tuple(changes), unpaired=()))
        for (before, after), changes in changes.items()
    )


def nearest(moves: Iterable[Move], after: str) -> Move | None:
    return max(
        (move for move in moves if move.after == after), key=lambda move: len(move.changes.changes), default=None
    )
