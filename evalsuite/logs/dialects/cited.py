"""Figures cited from a table: what `evalsuite import` writes next to the row as it was there."""

from evalsuite.contracts.dialect import Dialect, line

ITEMS = ("images", "sentences", "sequences", "samples", "tokens", "words")


def _cited(items: str) -> Dialect:
    unit = f"{items}/s"
    return Dialect(
        name=f"cited_{items}",
        title="a cited table",
        framework=None,
        unit=unit,
        scope="global",
        averaging="interval",
        step=(),
        final=line(
            rb"evalsuite cites (?P<rate>[\d.e+-]+) " + unit.encode() + rb"(?!\w)",
            f"evalsuite cites 392.24 {unit} of the whole job".encode(),
            "evalsuite/importing/published_figures.py",
        ),
    )


DIALECTS = tuple(_cited(items) for items in ITEMS)
