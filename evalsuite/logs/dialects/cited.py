"""What `evalsuite import` writes: a figure cited from a table, below its row as it was there; the history of a run."""

from evalsuite.contracts.dialect import Dialect, line

ITEMS = ("images", "sentences", "sequences", "samples", "tokens", "words")
OF_HISTORIES = (*ITEMS, "frames", "examples", "utterances", "timesteps")


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


def _history(items: str) -> Dialect:
    parts = {"step": "step", "at": "unix_s", "after": "elapsed_s", "rate": "rate", "seconds": "seconds"}
    parts |= {"steps_per_s": "steps_per_s", "timesteps": "consumed", "loss": "loss"}
    said = (b"(?: %b (?P<%b>[-+\\d.einfa]+))?" % (name.encode(), group.encode()) for name, group in parts.items())
    return Dialect(
        name=f"history_{items}",
        title="a run's history",
        framework=None,
        unit=f"{items}/s",
        scope="auto",
        averaging="interval",
        step=line(
            f"history of {items}/s:".encode() + b"".join(said),
            f"history of {items}/s: step 10 at 1790000005.000 rate 81921 loss 2.98".encode(),
            "evalsuite/importing/histories.py",
        ),
    )


DIALECTS = (*map(_cited, ITEMS), *map(_history, OF_HISTORIES))
