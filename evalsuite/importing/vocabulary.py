"""Names and values of imported runs, to find misspelt ones: `precison=amp` would become an option of its own.

Only what nearly is one of these is refused.
"""

import difflib
from collections.abc import Collection, Mapping, Sequence

from evalsuite.core import paths
from evalsuite.core.messages import Message
from evalsuite.core.model import Device, Precision

NEARLY = 0.8  # of difflib's ratio: two swapped letters in a word of five
_KNOWN = paths.read_data("vocabulary.toml")
FACTS: Sequence[str] = _KNOWN["facts"]
FIELDS: Sequence[str] = _KNOWN["fields"]
OTHER_NAMES: Mapping[str, str] = _KNOWN["other_names"]
DEVICES: Mapping[str, Device] = _KNOWN["devices"]
VALUES: Mapping[str, Sequence[str]] = _KNOWN["values"]
PRECISIONS: Mapping[Precision, Sequence[str]] = _KNOWN["precisions"]
SAY_MORE: Sequence[str] = _KNOWN["say_more"]
_SPELT = {"optimizer": "optimiser"}


def check_spelling(facts: Mapping[str, str], names: Sequence[str]) -> None:
    """Raises ValueError with the nearest known word. *names*: what `import` takes in addition to the facts."""
    known = {*FACTS, *names}
    for name, value in facts.items():
        if name not in known and (near := _nearest(name, known)):
            raise ValueError(Message("importing.vocabulary_name", text=name, near=near))
        words = VALUES.get(_SPELT.get(name, name), ())
        word = value.strip().lower()
        if words and word not in words and (near := _nearest(word, words)):
            raise ValueError(Message("importing.vocabulary_value", name=name, text=value, near=near))


def _nearest(word: str, known: Collection[str]) -> str | None:
    return next(iter(difflib.get_close_matches(word, known, n=1, cutoff=NEARLY)), None)
