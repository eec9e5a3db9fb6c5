"""`report.<language>.tex`: a table of medians for each setting, for a paper; it needs the package booktabs."""

from pathlib import Path

from evalsuite.core.files import write_atomically
from evalsuite.core.model import Summary
from evalsuite.report.book import heading, states
from evalsuite.report.book.blocks import Block, models
from evalsuite.report.book.book import Book
from evalsuite.report.forms.material import Material
from evalsuite.report.text import names, numbers, words
from evalsuite.report.text.words import Words

BY_NAME = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
MARKS = dict(zip(states.MARKS, (r"\circ", r"\triangle", r"\dagger", r"\ddagger", r"\S", r"\approx"), strict=True))
SPECIAL = str.maketrans({mark: f"\\{mark}" for mark in "&%$#_{}"} | BY_NAME)


def write(material: Material) -> list[Path]:
    known = words.read(material.languages, on_cpu=material.book.on_cpu)
    blocks = [block for model in models(material.book) for block in model.blocks if block.valid]
    written = {material.out / f"report.{language}.tex": language for language in material.languages}
    for path, language in written.items():
        write_atomically(path, "\n".join(_table(block, known, language) for block in blocks).encode("utf-8", "replace"))
    return [*written]


def _table(block: Block, known: Words, language: str) -> str:
    import pandas

    scales = {f"{nodes}×{devices}": (nodes, devices) for nodes, devices in block.scales}
    rows = [[block.measured(column, *scale) for scale in scales.values()] for column in block.columns]
    texts = [[_value(summary, block.book) if summary else "--" for summary in row] for row in rows]
    frame = pandas.DataFrame(texts, [escaped(column.label) for column in block.columns], list(scales))
    about = f"{names.model(block.model)}, {heading.heading(block, known).plain(language)}, {names.visible(block.unit)}"
    n = sorted({summary.n for summary in block.valid})
    marks = dict.fromkeys(mark for summary in block.valid for mark in block.book.marks(summary))
    notes = [f"${MARKS[mark]}$ {escaped(known(f'status.{mark}').plain(language))}" for mark in marks]
    caption = "; ".join([escaped(about), f"n = {'--'.join(map(str, dict.fromkeys((n[0], n[-1]))))}", *notes])
    return str(frame.to_latex(caption=caption, label=f"tab:{block.id}", column_format="l" + "r" * len(scales)))


def _value(summary: Summary, book: Book) -> str:
    marks = "".join(MARKS[mark] for mark in book.marks(summary))
    return escaped(numbers.throughput(summary.items_per_s.value).text) + (f"$^{{{marks}}}$" if marks else "")


def escaped(text: str) -> str:
    return names.visible(text).translate(SPECIAL)
