"""The heading of a block: under which conditions its cases were run, in the words of the page and of every form."""

from . import names, numbers
from .blocks import Block
from .words import Text, Words


def heading(block: Block, words: Words) -> Text:
    """Precision, batch size, device, options; the protocol too where it alone tells this block from another."""
    values = {
        "precision": names.precision(block.precision),
        "batch": numbers.count(block.batch_per_device),
        "device": words("words.gpu" if block.device == "gpu" else "words.cpu"),
    }
    options = ", ".join(f"{names.visible(name)} = {names.visible(value)}" for name, value in block.options)
    found = words("models.block_options", options=options, **values) if options else words("models.block", **values)
    if not _has_twin(block):
        return found
    steps = (block.protocol.warmup_steps, block.protocol.measured_steps)
    return words(
        "models.block_steps", block_text=found, warmup=numbers.count(steps[0]), measured=numbers.count(steps[1])
    )


def _has_twin(block: Block) -> bool:
    """Whether the report has the same conditions with another protocol."""
    ours = (block.model, block.device, block.precision, block.batch_per_device, block.options)
    return any(
        (case.model, case.device, case.precision, case.batch_per_device, case.options) == ours
        and case.protocol != block.protocol
        for case in block.book.planned
    )
