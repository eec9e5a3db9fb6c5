"""What a block is called where the variants of one framework are ranked: as in the first sentence of the report."""

from dataclasses import replace

from evalsuite.report.book.blocks import Block
from evalsuite.report.text import entrants
from evalsuite.report.text.words import Rendered, Words


def of(block: Block, words: Words) -> Rendered | None:
    """The name of its variant, whichever script it is of; None where no options are ranked."""
    contest = block.book.contests[block.model]
    if not contest.options:
        return None
    return entrants.name(replace(contest.entrant(block.cases[0]), recipe=None), contest, words)


def beside(block: Block) -> tuple[tuple[str, str], ...]:
    """Its options that no name of a variant tells."""
    told = block.book.contests[block.model].names
    return tuple(pair for pair in block.options if pair[0] not in told)
