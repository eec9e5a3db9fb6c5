"""What was held equal: for each comparison, the facts of every framework side by side, folded to the differences."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evalsuite.core.model import Fact, Summary, by_key
from evalsuite.report.book import heading
from evalsuite.report.book.answers import SEVERAL
from evalsuite.report.book.blocks import Block, models
from evalsuite.report.book.book import Book
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Listed, Rendered, Text, Words
from evalsuite.results.compare.decisions import PUBLISHED
from evalsuite.results.compare.equivalence import CasePair, case_pairs
from evalsuite.results.compare.fairness import Comparison, FactRow, comparison

# the names of a pair, then the largest relative difference of any step's loss, of the gradient's norm, and in float32
Computation = tuple[str, CasePair, tuple[Number | None, ...]]


def sections(subject: Subject) -> Iterable[Section]:
    known = [(block, compared) for block in subject.blocks if (compared := of_block(block))]
    if known:
        made = [] if subject.book.huge else [_matrix(*pair, subject.words) for pair in known]
        alike = by_key((matrix["said"], matrix) for matrix in made).values()  # of which the same is to be said
        yield Section(
            id="fairness",
            title=subject.words("fairness.title"),
            template="fairness/fairness.html.j2",
            facts=lambda: {"matrices": [_of_all(group, subject.words) for group in alike], "printed": printed},
            finding=lambda facts: subject.words(
                "fairness.found",
                n=numbers.count(sum(each["ranked"] * len(each["of"]) for each in facts["matrices"])),
                all=numbers.count(sum(len(each["of"]) for each in facts["matrices"])),
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


def _matrix(block: Block, comparison: Comparison, words: Words) -> dict[str, Any]:
    labels = {column.example.series: column.label for column in block.columns}
    pairs = case_pairs(comparison.members, block.book.evaluation.commands, block.book.evaluation.receipts)
    unstated = [row for row in comparison.rows if not any(row.values)]
    cited = any(summary.origin in PUBLISHED for summary in comparison.members)  # of which no machine was recorded
    same = [row for row in comparison.rows if row.likeness == "same" and not (cited and row.rule.key == "hosts")]
    shown = [row for row in comparison.rows if row.likeness != "same" and any(row.values)]
    columns = [labels[summary.case.series] for summary in comparison.members]
    standing = _standing(comparison, labels, words)
    computation = [_computation(pair, labels) for pair in pairs]
    alike = [(name, pair.shown, pair.day, pair.measured) for name, pair, _ in computation]
    told = [(row.rule.key, row.values) for row in shown], [row.rule.key for row in (*unstated, *same)]
    return {
        "id": names.anchor("fair", block.id),
        "block": block,
        "title": words("fairness.block", model=names.model(block.model), block_text=heading.setting(block, words)),
        "ranked": comparison.standing == "ranked",
        "columns": columns,
        "standing": standing,
        "shown": shown,
        "same": {row.rule.key: sorted({printed(each) for of in row.values for each in of or ()}) for row in same},
        "nobody": words("fairness.nobody", facts=_named(unstated, words)) if unstated else None,
        "computation": computation,
        "computed": _computed(pairs, words),
        "said": repr((block.model, columns, standing.plain(words.languages[0]), told, alike)),
    }


def _of_all(matrices: Sequence[Mapping[str, Any]], words: Words) -> Mapping[str, Any]:
    """The first of *matrices*, with what sets the others apart, and which conditions are the same in all or in each."""
    first, blocks = matrices[0], [matrix["block"] for matrix in matrices]
    within = [key for key, value in first["same"].items() if any(each["same"][key] != value for each in matrices)]
    said = [
        words("models.option", name_text=words(f"values.fact.{key}"), value=options.apart(shown, words, " / "))
        for key, values in first["same"].items()
        if key not in within and (shown := [options.value_of(key, value, words) for value in values])
    ]
    unlike = words.listed(words(f"values.fact.{key}") for key in within)
    others = [heading.setting(block, words, blocks) for block in blocks[1:]]
    return {
        **first,
        "of": blocks,
        "others": words("fairness.alike", blocks=options.apart(others, words, SEVERAL)) if others else None,
        "same": words("fairness.same", facts=options.apart(said, words, SEVERAL)) if said else None,
        "within": words("fairness.within", facts=unlike) if within else None,
    }


def _computation(pair: CasePair, labels: Mapping[str, str]) -> Computation:
    measured = pair.measured
    sizes = (max(measured.losses, default=None), measured.gradient_norm, measured.float32) if measured else (None,) * 3
    name = f"{labels[pair.first.case.series]} – {labels[pair.second.case.series]}"
    return name, pair, tuple(None if size is None else numbers.relative(size) for size in sizes)


def _computed(pairs: Sequence[CasePair], words: Words) -> Text | None:
    if not pairs:
        return None
    proven = [pair for pair in pairs if pair.shown == "proven"]
    if days := sorted({pair.day for pair in proven if pair.day}):
        of = {"proven": numbers.count(len(proven)), "n": numbers.count(len(pairs)), "day": days[-1]}
        said = words("fairness.computed", **of)
    else:
        said = words("fairness.computed_none", n=numbers.count(len(pairs)))
    limited = sum(pair.shown == "limited" for pair in pairs)
    return words("fairness.computed_limited", computed_text=said, n=numbers.count(limited)) if limited else said


def _standing(made: Comparison, labels: dict[str, str], words: Words) -> Rendered:
    if made.standing == "ranked":
        return words("fairness.ranked")
    if made.standing == "not_decided":
        return words("fairness.not_decided", facts=_named(made.untold, words))
    parts = (words.listed(labels[summary.case.series] for summary in part) for part in made.ranked if part[1:])
    together = words.listed(words("fairness.part", frameworks=part) for part in parts)
    if not together.items and made.apart:
        return words("fairness.none_ranked", facts=_named(made.apart, words))
    if not made.apart:  # a value is in doubt, or one alone is timed by a clock of ours
        within = [row for part in made.ranked if part[1:] for row in comparison(part).untold]
        unstated = [words("fairness.not_decided", facts=_named({row.rule.key: row for row in within}.values(), words))]
        return words.sentences([words("fairness.only", parts=together), *unstated * bool(within)])
    doubted = [words("fairness.doubted")] * (len({summary.grounds for summary in made.members}) > 1)
    said = words("fairness.not_comparable", facts=_named(made.apart, words), parts=together)
    return words.sentences([said, *doubted])


def _named(rows: Iterable[FactRow], words: Words) -> Listed:
    """Each with the key that an import states it by."""
    keys = [row.rule.key for row in rows]
    return words.listed(words("answers.fact_key", name_text=words(f"values.fact.{key}"), key=key) for key in keys)


def printed(fact: Fact) -> str:
    return names.precision(fact.value) if fact.key == "precision" else names.visible(fact.value)
