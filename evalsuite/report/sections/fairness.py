"""What was held equal: for each comparison, the facts of every framework side by side, folded to the differences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evalsuite.model import Fact, Summary
from evalsuite.report.book import heading
from evalsuite.report.book.blocks import Block, models
from evalsuite.report.book.book import Book
from evalsuite.report.sections import markdown
from evalsuite.report.sections.markdown import MarkdownWriter
from evalsuite.report.sections.section import Section, Subject
from evalsuite.report.text import names
from evalsuite.report.text.words import Listed, Text, Words
from evalsuite.results.fairness import Comparison, FactRow, comparison


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """One comparison as the page shows it."""

    block: Block
    title: Text
    found: Comparison
    columns: tuple[str, ...]  # a name for each case
    standing: Text
    shown: tuple[FactRow, ...]  # those that differ or are not known of all
    same: tuple[FactRow, ...]
    nobody: Text | None  # facts that nobody states

    @property
    def id(self) -> str:
        return names.anchor("fair", self.block.id)


@dataclass(frozen=True, kw_only=True)
class FairnessFacts:
    """What the section shows."""

    matrices: tuple[Matrix, ...]

    def printed(self, fact: Fact) -> str:
        return printed(fact)


def sections(subject: Subject) -> Iterable[Section]:
    if any(of_block(block) for block in subject.blocks):
        yield Section(
            id="fairness",
            title=subject.words("fairness.title"),
            template="fairness.html.j2",
            facts=lambda: FairnessFacts(matrices=_matrices(subject.blocks, subject.words)),
            markdown=lambda writer: _markdown(subject.blocks, writer),
        )


def comparisons(book: Book) -> tuple[Comparison, ...]:
    """The comparison of every block in which two frameworks at least have a value at one scale."""
    blocks = (block for model in models(book) for block in model.blocks)
    return tuple(found for block in blocks if (found := of_block(block)))


def of_block(block: Block) -> Comparison | None:
    """The cases of *block* at the largest scale that most frameworks share; None where no two share one."""
    rows = [[one for one in block.valid if (one.case.nodes, one.case.devices_per_node) == s] for s in block.scales]
    row = max(rows, key=lambda row: (_frameworks(row), row[0].case.total_devices if row else 0), default=[])
    return comparison(row) if _frameworks(row) > 1 else None


def _frameworks(row: Sequence[Summary]) -> int:
    return len({one.case.framework for one in row})


def _matrices(blocks: Iterable[Block], words: Words) -> tuple[Matrix, ...]:
    return tuple(_matrix(block, found, words) for block in blocks if (found := of_block(block)))


def _matrix(block: Block, found: Comparison, words: Words) -> Matrix:
    labels = {column.series: column.label for column in block.columns}
    unstated = [row for row in found.rows if not any(row.values)]
    return Matrix(
        block=block,
        title=words("fairness.block", model=names.model(block.model), block_text=heading.heading(block, words)),
        found=found,
        columns=tuple(labels[one.case.series] for one in found.members),
        standing=_standing(found, labels, words),
        shown=tuple(row for row in found.rows if row.likeness != "same" and any(row.values)),
        same=tuple(row for row in found.rows if row.likeness == "same"),
        nobody=words("fairness.nobody", facts=_named(unstated, words)) if unstated else None,
    )


def _standing(found: Comparison, labels: dict[str, str], words: Words) -> Text:
    """Whether all stand in one order, and why not."""
    if found.standing == "ranked":
        return words("fairness.ranked")
    if found.standing == "indicative":
        return words("fairness.indicative", facts=_named(found.untold, words))
    parts = (words.listed(labels[one.case.series] for one in part) for part in found.ranked)
    together = words.listed(words("fairness.part", frameworks=part) for part in parts)
    return words("fairness.apart", facts=_named(found.apart, words), parts=together)


def _named(rows: Iterable[FactRow], words: Words) -> Listed:
    return words.listed(words(f"values.fact.{row.rule.key}") for row in rows)


def printed(fact: Fact) -> str:
    """What is stated, as the report writes it."""
    return names.precision(fact.value) if fact.key == "precision" else names.visible(fact.value)


def _markdown(blocks: Iterable[Block], writer: MarkdownWriter) -> Iterable[str]:
    yield f"## {writer.word('fairness.title')}"
    yield writer.word("fairness.intro")
    for matrix in _matrices(blocks, writer.words):
        yield f"### {writer.said(matrix.title)}"
        yield writer.said(matrix.standing)
        if matrix.nobody:
            yield writer.said(matrix.nobody)
        if matrix.shown:
            heads = [writer.word("fairness.fact"), *map(markdown.text, matrix.columns), writer.word("fairness.alike")]
            yield markdown.table(heads, [_row(row, writer) for row in matrix.shown])


def _row(row: FactRow, writer: MarkdownWriter) -> list[str]:
    cells = [_cell(stated, writer) for stated in row.values]
    return [writer.word(f"values.fact.{row.rule.key}"), *cells, writer.word(f"values.likeness.{row.likeness}")]


def _cell(stated: tuple[Fact, ...] | None, writer: MarkdownWriter) -> str:
    if not stated:
        return writer.word("fairness.unknown")
    return "; ".join(
        f"{markdown.text(printed(fact))} ({writer.word(f'values.source.{fact.source}')})" for fact in stated
    )
