"""The title of a report, and the heading of a block: under which conditions its cases were run."""

from collections.abc import Sequence
from dataclasses import replace

from evalsuite.core.model import Evaluation
from evalsuite.finished.finished import Finished
from evalsuite.report.book.blocks import Block
from evalsuite.report.book.book import conditions
from evalsuite.report.book.result_tables import BatchPolicy, SeriesRow, shared_options
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.options import apart, option
from evalsuite.report.text.options import title as title_of
from evalsuite.report.text.words import Listed, Rendered, Text, Words
from evalsuite.results.evaluation import TITLE

MOST_IN_TITLE = 2  # models


def title(evaluation: Evaluation | Finished, words: Words) -> Rendered:
    """The title of the lab's document, the evaluation's own, or the words that its title names.

    An evaluation without a title of its own is called by its models and frameworks.
    """
    if evaluation.document:
        return words("page.by_author", text=words.same(vars(evaluation.document.title)))
    models = sorted({row.case.model for row in evaluation.summaries}, key=names.model_order)
    frameworks = sorted({row.case.framework for row in evaluation.summaries})
    if evaluation.title == TITLE and models:
        framework, n = names.framework(frameworks[0]), numbers.count(len(frameworks))
        if len(models) > MOST_IN_TITLE:
            return words("titles.models", n=n, models=numbers.count(len(models)))
        listed = words.listed(map(names.model, models))
        if len(frameworks) == 1:
            return words("titles.one_framework", models_text=listed, framework=framework)
        return words("titles.frameworks", models_text=listed, n=n)
    key = f"titles.{evaluation.title}"
    return words(key) if key in words else words.same(evaluation.title)


def above_title(evaluation: Evaluation, words: Words) -> Rendered | None:
    document = evaluation.document
    if document and document.organisation:
        return words.same(vars(document.organisation))  # whose words they are stands with the title
    return None if evaluation.title == TITLE and not document else words("page.kicker")


def heading(block: Block, words: Words) -> Text:
    """Precision, batch size, device, options; protocol or unit too where it alone tells this block from another."""
    values = {
        "precision": names.precision(block.precision),
        "batch_text": words(
            "models.batch_strong" if block.strong else "models.batch", batch=numbers.count(block.batch)
        ),
        "device": words(names.KINDS[block.device]),
    }
    text = words("models.block", **values)
    if block.options:
        options = words.listed(option(name, value, words) for name, value in block.options)
        text = words("models.block_options", options_text=options, **values)
    if _has_other_unit(block):
        text = words("models.block_unit", block_text=text, unit=names.visible(block.unit))
    if not _has_twin(block):
        return text
    steps = (block.protocol.warmup_steps, block.protocol.measured_steps)
    return words(
        "models.block_steps", block_text=text, warmup=numbers.count(steps[0]), measured=numbers.count(steps[1])
    )


def policy(policy: BatchPolicy, words: Words) -> Text:
    first = policy.blocks[0]
    if len(policy.blocks) == 1 and not policy.maximal:
        return heading(first, words)
    device = words(names.KINDS[first.device])
    found_text = words(
        "models.policy_strong" if first.strong else "models.policy", batch=numbers.count(first.batch), device=device
    )
    if policy.maximal:
        sizes = sorted({block.batch for block in policy.blocks})
        found_text = words("models.maximal", sizes=words.listed(f"{size:,}" for size in sizes), device=device)
    elif policy.mixed:
        found_text = words("models.others_strong" if policy.strong else "models.others", device=device)
    shared: list[Text | str] = [option(name, value, words) for name, value in shared_options(policy.blocks)]
    if any(map(_has_other_unit, policy.blocks)):
        shared.append(names.visible(policy.unit))
    if any(map(_has_twin, policy.blocks)):
        steps = (first.protocol.warmup_steps, first.protocol.measured_steps)
        shared.append(words("models.steps", warmup=numbers.count(steps[0]), measured=numbers.count(steps[1])))
    if not shared:
        return found_text
    return words("models.and_options", conditions_text=found_text, options_text=words.listed(shared))


def setting_of(row: SeriesRow, table: BatchPolicy, words: Words) -> Listed:
    """What tells *row* and those of its group from others of their table: precision, compiler, options.

    Where a precision alone is left and others add an option to it, the group says that it does not set that one.
    """
    own = [pair for pair in options_beside(row.block) if pair not in shared_options(table.blocks)]
    called = variant_name(row.block, words)
    first = apart([names.precision(row.block.precision), *["XLA"] * bool(row.column.example.xla)], words)
    alike = [other for other in table.blocks if other.precision == row.block.precision]
    told = bool(own or called or table.mixed)
    unset = (
        set() if told else {name for block in alike for name, _ in options_beside(block)} - set(dict(row.block.options))
    )
    return words.listed(
        [
            first,
            *([called] if called else []),
            *(option(*pair, words) for pair in own),
            *(words("models.option_unset", name_text=title_of(name, words)) for name in sorted(unset)),
        ]
    )


def _has_twin(block: Block) -> bool:
    return block.book.protocols_of[conditions(block.cases[0])] != {block.protocol}


def _has_other_unit(block: Block) -> bool:
    values = block.book.units_of.get((conditions(block.cases[0]), block.protocol), set())
    return not values <= {None, block.unit}


def variant_name(block: Block, words: Words) -> Rendered | None:
    """Of a block of one framework's variants, whichever script it is of; None where no options are ranked."""
    scope = block.book.ranking_scopes[block.model]
    if not scope.options:
        return None
    return options.candidate_name(replace(scope.candidate(block.cases[0]), recipe=None), scope, words)


def options_beside(block: Block) -> tuple[tuple[str, str], ...]:
    ranked = block.book.ranking_scopes[block.model].names
    return tuple(pair for pair in block.options if pair[0] not in ranked)


def settings(blocks: Sequence[Block], words: Words) -> list[Rendered]:
    parts: list[list[Rendered | str]] = [
        [names.precision(block.precision), f"{'g' if block.strong else 'b'}{block.batch}"] for block in blocks
    ]
    keys: list[tuple[object, ...]] = [(block.model, block.precision, block.batch) for block in blocks]
    for place, block in enumerate(blocks):
        alike = [other for key, other in zip(keys, blocks, strict=True) if key == keys[place]]
        if len({other.unit for other in alike}) > 1:
            parts[place].append(names.visible(block.unit))
        if len({other.options for other in alike if other.unit == block.unit}) > 1:
            parts[place] += [option(*pair, words) for pair in options_beside(block)]
        if called := variant_name(block, words):
            settings = {(each.precision, each.batch) for each in blocks if each.model == block.model}
            parts[place] = [called] if len(settings) == 1 else [*parts[place], called]
    return [apart(each, words) for each in parts]
