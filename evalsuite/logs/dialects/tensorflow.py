"""Keras' bars. TensorFlow's others: data/dialects/tensorflow.toml."""

import functools
import re
from collections.abc import Mapping

from evalsuite.contracts.dialect import Dialect, line

_COUNT_BEFORE = re.compile(rb"(\d+)/(\d+) *$")
_EPOCH_BEFORE = re.compile(  # 13/13 ΓöüΓöü 3s 226ms/step: a bar in the wrong code page
    rb"(\d+)/\1 (?:- \d+s - |(?!\xe2\x94\x81)[^\s\d\[=-]+ (?:\d+s |[\dms]+ ))(\d+)(us|ms|s)$"
)
_SECONDS_BEFORE = re.compile(rb"(\d+)/\1 (\[=+\] )?- (\d+)$")
_LONGEST_BAR = 400  # bytes
_LEAST_S = 10  # of a bar that rounds them down


def _line_before(match: "re.Match[bytes]") -> Mapping[str, bytes | None] | None:
    """`100/100 - 0s - 308us/step`: a line an epoch, of that many steps."""
    if _evaluates(match):
        return None
    before = _EPOCH_BEFORE.search(match.string, max(0, match.start() - _LONGEST_BAR), match.start())
    unit = {b"us": "us", b"ms": "ms", b"s": "seconds"}
    if before is None:
        return None
    return {**match.groupdict(), **_of_fit(match), "interval": before[1], unit[before[3]]: before[2]}


def _line_of_epoch(match: "re.Match[bytes]") -> Mapping[str, bytes | float | None] | None:
    """`19/19 - 12s - loss: 0.1950`, of TensorFlow 2.0 to 2.8; `60000/60000 [====] - 71s - loss: 0.19`, of Keras 1.

    Of the latter some releases count steps.
    """
    text, bar = match.string, _SECONDS_BEFORE.search(match.string, max(0, match.start() - 80), match.start())
    if bar is None or int(bar[3]) < (_LEAST_S if bar[2] else 1) or _evaluates(match):
        return None
    if bar[2] and b"Train on %b samples" % bar[1] not in text[: bar.start()]:
        return None
    return {**match.groupdict(), **_of_fit(match), "interval": bar[1], "report_s": bar[3]}


_HEADER = re.compile(rb"Epoch (\d+)/\d+")
_FULL_BAR = re.compile(rb"(?<!\d)(\d+)/\1 ")
_BAR = re.compile(rb"(?<!\d)(\d+)/(\d+) [^\r\n/]{0,400}? (\d+)(us|ms|s)/step")
NEARLY_FULL = 0.9  # share of an epoch's steps that its mean must cover
_LOOK_BACK_BYTES = 1 << 13
_FIGURES = ("ms", "us", "seconds")  # of a step
STEP_US = 150  # no step of Keras 2 is so short
FINER = 2  # 198s 4ms/step: the seconds of the epoch have more digits, but hold the compilation in its first
_EPOCH_BYTES = 1 << 17  # of one epoch's bars, each overwriting the last


def _evaluates(match: "re.Match[bytes]") -> bool:
    """Is it the bar of evaluate() or predict()? Then another line has a full bar since the epoch's header.

    Only fit() prints a val_loss, and on a further line where the validation has printed one.
    """
    text, line = match.string, match.string.rfind(b"\n", 0, match.start()) + 1
    if _validated(match):
        return False
    headers = list(_HEADER.finditer(text, max(0, line - _LOOK_BACK_BYTES), line))
    return bool(headers) and _FULL_BAR.search(text, headers[-1].end(), line) is not None


def _validated(match: "re.Match[bytes]") -> bool:
    text = match.string
    return b"val_" in text[match.start() : (text.find(b"\n", match.end()) + 1) or len(text)]


def _of_fit(match: "re.Match[bytes]") -> Mapping[str, bytes | None]:
    text = match.string
    at = text.rfind(b"Epoch ", max(0, match.start() - _EPOCH_BYTES), match.start())
    header = _HEADER.match(text, at) if at >= 0 else None
    return {"epoch": header and header[1], "evaluated": b"val_" if _validated(match) else None}


def _bar_before(match: "re.Match[bytes]") -> Mapping[str, bytes | None] | None:
    """`100/100 [=====] - 8s 80ms/step`: a full bar is an epoch of that many steps."""
    before = _COUNT_BEFORE.search(match.string, max(0, match.start() - 24), match.start())
    if before is None or before[1] != before[2] or _evaluates(match):
        return None
    said = {**match.groupdict(), **_of_fit(match), "interval": before[2]}
    if match[0][:1] == b"[" and int(match["us"] or STEP_US) < STEP_US:  # until 2.3 bars of arrays count samples
        said["items"] = before[2]
    trained = _before_validation(match, before[2]) if _validated(match) else None
    if trained is not None:
        return {**said, "report_s": None, **trained, "evaluated": None}
    figure = next(int(value) for name in _FIGURES if (value := match[name]))
    finer = match["report_s"] and int(match["report_s"]) > FINER * figure and said["epoch"] != b"1"
    return {**said, **dict.fromkeys(_FIGURES if finer else ("report_s",))}


def _before_validation(match: "re.Match[bytes]", steps: bytes) -> Mapping[str, bytes | None] | None:
    """By the last bar of the epoch before it; None if none is nearly full."""
    text = match.string
    line = text[max(0, text.rfind(b"\n", 0, match.start()) + 1, match.start() - _LOOK_BACK_BYTES) : match.start()]
    bars = [bar for bar in _BAR.finditer(line) if bar[2] == steps]
    if not bars or int(bars[-1][1]) < NEARLY_FULL * int(steps):
        return None
    unit = {b"ms": "ms", b"us": "us", b"s": "seconds"}[bars[-1][4]]
    return {"ms": None, "us": None, "seconds": None, unit: bars[-1][3]}


_dialect = functools.partial(Dialect, framework="tensorflow", unit="samples/s", scope="global", averaging="interval")

DIALECTS = (
    _dialect(
        name="keras",
        title="Keras progress bar",
        per_epoch=True,
        step=line(
            rb"\[==+\] - (?:(?P<report_s>\d+)s|[\dms]+) (?:(?P<ms>\d+)ms|(?P<us>\d+)us|(?P<seconds>\d+)s)/step - "
            rb"(?:\w+: [-\d.e+]+ - )*?loss: (?P<loss>[-+\d.eE]+|-?nan|-?inf)",
            b"100/100 [==============================] - 17s 174ms/step - loss: 0.8651 - sparse_categorical_accuracy: 0.7398",
            "keras-team/keras@3a33d53ea4:keras/utils/generic_utils.py, Progbar, 2.x",
            fields=_bar_before,
        )
        + line(
            b"\xe2\x94\x81(?:\xe2\x94\x81)* (?:(?P<report_s>\\d+)s|[\\dms]+) (?:(?P<ms>\\d+)ms|(?P<us>\\d+)us|(?P<seconds>\\d+)s)/step - (?:\\w+: [-\\d.e+]+ - )*?loss: (?P<loss>[-+\\d.eE]+|-?nan|-?inf)",
            "100/100 ━━━━━━━━━━━━━━━━━━━━ 1s 772us/step - accuracy: 0.1000 - loss: 2.3266".encode(),
            "keras-team/keras@3422977a5e:keras/src/utils/progbar.py, 3.x",
            fields=_bar_before,
        )
        + line(
            rb"/step - (?:\w+: [-\d.e+]+ - )*?loss: (?P<loss>[-+\d.eE]+|-?nan|-?inf)",
            b"100/100 - 0s - 308us/step - accuracy: 0.1081 - loss: 2.3110",
            "keras-team/keras@3422977a5e:keras/src/utils/progbar.py, 3.x with verbose=2",
            fields=_line_before,
        )
        + line(
            rb"s - (?:\w+: [-\d.e+]+ - )*?loss: (?P<loss>[-+\d.eE]+|-?nan|-?inf)",
            b"19/19 - 12s - loss: 0.1950 - accuracy: 0.6812",
            "keras-team/keras@3a33d53ea4:keras/utils/generic_utils.py, Progbar, 2.x with verbose=2",
            fields=_line_of_epoch,
        ),
        facts=line(
            rb"Train on (?P<epoch_items>\d+) samples",
            b"Train on 45000 samples, validate on 5000 samples",
            "keras-team/keras@3a33d53ea4:keras/engine/training_arrays.py, until 2.3: its bars count samples",
        ),
        scores=line(
            rb"/step - loss: (?P<train_loss>[-\d.e+]+)"
            rb"(?: - (?:sparse_categorical_|categorical_)?acc(?:uracy)?: (?P<train_accuracy_share>[\d.e-]+))? - "
            rb"val_loss: (?P<validation_loss>[-\d.e+]+)"
            rb"(?: - val_(?:sparse_categorical_|categorical_)?acc(?:uracy)?: (?P<validation_accuracy_share>[\d.e-]+))?",
            b"100/100 [==============================] - 17s 174ms/step - loss: 0.8651 - sparse_categorical_accuracy: 0.7398 - val_loss: 1.2604 - val_sparse_categorical_accuracy: 0.5504",
            "keras-team/keras@3a33d53ea4:keras/utils/generic_utils.py, Progbar, 2.x, once an epoch: only its last print "
            "has a val_loss",
        )
        + line(
            rb"/step - accuracy: (?P<train_accuracy_share>[\d.e-]+) - loss: (?P<train_loss>[-\d.e+]+)"
            rb"(?: - val_accuracy: (?P<validation_accuracy_share>[\d.e-]+) - val_loss: (?P<validation_loss>[-\d.e+]+))?",
            b"100/100 - 0s - 5ms/step - accuracy: 0.1147 - loss: 2.3034 - val_accuracy: 0.1250 - val_loss: 2.3022",
            "keras-team/keras@3422977a5e:keras/src/utils/progbar.py, 3.x with verbose=2, once an epoch",
            fields=_line_before,
        ),
        yields_to=("tf_time_history", "horovod_synthetic"),
        notes="One figure an epoch, in whole milliseconds, the mean without the epoch's first step; evaluation is inside "
        "where there is a val_loss: there the last bar before it is read, and where none is left such epochs are left out.",
    ),
)
