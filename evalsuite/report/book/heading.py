"""The title of a report, and the heading of a block: under which conditions its cases were run."""

from collections.abc import Sequence

from evalsuite.core.model import Evaluation
from evalsuite.finished.finished import Finished
from evalsuite.report.book.blocks import Block
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.options import apart, option
from evalsuite.report.text.words import Listed, Rendered, Words
from evalsuite.results.evaluation import TITLE

MOST_IN_TITLE = 2  # models


def title(evaluation: Evaluation | Finished, words: Words) -> Rendered:
    """That of the lab's document, the evaluation's own, or the words that it names: else its models and frameworks."""
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


def setting(block: Block, words: Words, among: Sequence[Block] = ()) -> Listed:
    """Under which conditions the cases of *block* were run; of several only what is not the same for all *among*."""
    others = [other for other in among if other is not block]
    parts: list[Rendered | str] = []
    if not among or any(other.precision != block.precision for other in others):
        parts.append(options.precision(block.precision, block.options))
    if not among or any(other.batch != block.batch for other in others):
        parts.append(_batch(block))
    if not among:
        parts.append(words(names.KINDS[block.device]))
    told = [pair for pair in block.options if not among or any(pair not in other.options for other in others)]
    parts += [option(*pair, words) for pair in told]
    if not among:
        parts.append(_steps(block, words))
    return apart(parts or [names.precision(block.precision)], words)


def shared(blocks: Sequence[Block], words: Words) -> Listed:
    """What is the same for all *blocks*, which one table shows."""
    first = blocks[0]
    parts: list[Rendered | str] = [words("columns.items_per_s"), *[names.visible(first.unit)] * bool(first.unit)]
    parts += [options.precision(first.precision, first.options)] * (len({block.precision for block in blocks}) == 1)
    parts += [_batch(first)] * (len({block.batch for block in blocks}) == 1)
    parts.append(words(names.KINDS[first.device]))
    parts += [option(*pair, words) for pair in first.options if all(pair in block.options for block in blocks)]
    return apart([*parts, _steps(first, words)], words)


def _batch(block: Block) -> str:
    """With the word that a spec declares it by, where it is the most that fits."""
    called = names.bsz(block.batch, strong=block.strong)
    most = all(case.batch_policy == "max" for case in block.cases)
    return called.replace("bsz ", "bsz max = ") if most else called


def _steps(block: Block, words: Words) -> Rendered:
    steps = (numbers.count(block.protocol.warmup_steps), numbers.count(block.protocol.measured_steps))
    return words("models.steps", warmup=steps[0], measured=steps[1])
