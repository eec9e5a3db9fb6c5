"""What was held equal: for each comparison, the facts of every framework side by side, folded to the differences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalsuite.core.model import Fact, Summary
from evalsuite.report.book import heading
from evalsuite.report.book.answers import SEVERAL
from evalsuite.report.book.blocks import Block, models
from evalsuite.report.book.book import Book
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Listed, Text, Words
from evalsuite.results.compare.equivalence import CasePair, case_pairs
from evalsuite.results.compare.fairness import Comparison, FactRow, comparison

# the names of a pair, then the largest relative difference of any step's loss, of the gradient's norm, and in float32
Computation = tuple[str, CasePair, tuple[Number | None, ...]]


def sections(subject: Subject) -> Iterable[Section]:
    if any(of_block(block) for block in subject.blocks):
        yield Section(
            id="fairness",
            title=subject.words("fairness.title"),
            template="fairness/fairness.html.j2",
            facts=lambda: {
                "matrices": () if subject.book.huge else _matrices(subject, subject.words),
                "printed": printed,
            },
            finding=lambda facts: subject.words(
                "fairness.found",
                n=numbers.count(sum(matrix["comparison"].standing == "ranked" for matrix in facts["matrices"])),
                all=numbers.count(len(facts["matrices"])),
            ),
        )


def comparisons(book: Book) -> tuple[Comparison, ...]:
    blocks = (block for model in models(book) for block in model.blocks)
    return tuple(comparison for block in blocks if (comparison := of_block(block)))


def of_block(block: Block) -> Comparison | None:
    rows = [[row for row in block.valid if (row.case.nodes, row.case.devices_per_node) == s] for s in block.scales]
    row = max(rows, key=lambda row: (_frameworks(row), row[0].case.total_devices if row else 0), default=[])
    return comparison(row) if _frameworks(row) > 1 else None


def _frameworks(row: Sequence[Summary]) -> int:
    return len({summary.case.framework for summary in row})


def _matrices(subject: Subject, words: Words) -> list[Mapping[str, Any]]:
    return [_matrix(block, comparison, words) for block in subject.blocks if (comparison := of_block(block))]


def _matrix(block: Block, comparison: Comparison, words: Words) -> Mapping[str, Any]:
    labels = {column.example.series: column.label for column in block.columns}
    evaluation = block.book.evaluation
    pairs = case_pairs(comparison.members, evaluation.commands, evaluation.receipts)
    unstated = [row for row in comparison.rows if not any(row.values)]
    return {
        "id": names.anchor("fair", block.id),
        "block": block,
        "title": words("fairness.block", model=names.model(block.model), block_text=heading.setting(block, words)),
        "comparison": comparison,
        "columns": [labels[summary.case.series] for summary in comparison.members],
        "standing": _standing(comparison, labels, words),
        "shown": [row for row in comparison.rows if row.likeness != "same" and any(row.values)],
        "same": _same(comparison, words),
        "nobody": words("fairness.nobody", facts=_named(unstated, words)) if unstated else None,
        "computation": [_computation(pair, labels) for pair in pairs],
        "computed": _computed(pairs, words),
    }


def _same(comparison: Comparison, words: Words) -> Listed | None:
    """The conditions that are the same, each with its value."""
    told = {row.rule.key: {fact for of in row.values for fact in map(printed, of or ())} for row in comparison.rows}
    alike = [row.rule.key for row in comparison.rows if row.likeness == "same"]
    named = ((words(f"values.fact.{key}"), " / ".join(sorted(told[key]))) for key in alike)
    said = [words("models.option", name_text=name, value=value) for name, value in named]
    return replace(words.listed(said), separators=SEVERAL) if said else None


def _computation(pair: CasePair, labels: Mapping[str, str]) -> Computation:
    measured = pair.measured
    sizes = (max(measured.losses, default=None), measured.gradient_norm, measured.float32) if measured else (None,) * 3
    name = f"{labels[pair.first.case.series]} – {labels[pair.second.case.series]}"
    return name, pair, tuple(None if size is None else numbers.relative(size) for size in sizes)


def _computed(pairs: Sequence[CasePair], words: Words) -> Text | None:
    if not pairs:
        return None
    proven = [pair for pair in pairs if pair.shown == "proven"]
    days = sorted({pair.day for pair in proven if pair.day})
    if days:
        of = {"proven": numbers.count(len(proven)), "n": numbers.count(len(pairs)), "day": days[-1]}
        said = words("fairness.computed", **of)
    else:
        said = words("fairness.computed_none", n=numbers.count(len(pairs)))
    limited = sum(pair.shown == "limited" for pair in pairs)
    return words("fairness.computed_limited", computed_text=said, n=numbers.count(limited)) if limited else said


def _standing(comparison: Comparison, labels: dict[str, str], words: Words) -> Text:
    if comparison.standing == "ranked":
        return words("fairness.ranked")
    if comparison.standing == "not_decided":
        return words("fairness.not_decided", facts=_named(comparison.untold, words))
    parts = (words.listed(labels[summary.case.series] for summary in part) for part in comparison.ranked if part[1:])
    together = words.listed(words("fairness.part", frameworks=part) for part in parts)
    if not together.items and comparison.apart:
        return words("fairness.none_ranked", facts=_named(comparison.apart, words))
    if not comparison.apart:  # a value is in doubt, or one alone is timed by a clock of ours
        return words("fairness.only", parts=together)
    return words("fairness.not_comparable", facts=_named(comparison.apart, words), parts=together)


def _named(rows: Iterable[FactRow], words: Words) -> Listed:
    """Each with the key that an import states it by."""
    keys = [row.rule.key for row in rows]
    return words.listed(words("answers.fact_key", name_text=words(f"values.fact.{key}"), key=key) for key in keys)


def printed(fact: Fact) -> str:
    return names.precision(fact.value) if fact.key == "precision" else names.visible(fact.value)
