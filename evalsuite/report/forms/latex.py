"""`report.<language>.tex`: a table of medians for each setting, for a paper; it needs the package booktabs."""

from pathlib import Path

from evalsuite.files import write_atomically
from evalsuite.report.book import heading
from evalsuite.report.book.blocks import Block, models
from evalsuite.report.forms.material import Material
from evalsuite.report.text import names, numbers, words
from evalsuite.report.text.words import Words

BY_NAME = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
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
    texts = [[escaped(numbers.throughput(row.items_per_s.value).text) if row else "--" for row in row] for row in rows]
    frame = pandas.DataFrame(texts, [escaped(column.label) for column in block.columns], list(scales))
    about = f"{names.model(block.model)}, {heading.heading(block, known).plain(language)}, {names.visible(block.unit)}"
    return str(frame.to_latex(caption=escaped(about), label=f"tab:{block.id}", column_format="l" + "r" * len(scales)))


def escaped(text: str) -> str:
    return names.visible(text).translate(SPECIAL)
