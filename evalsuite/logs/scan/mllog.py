"""A second derivation of an MLPerf log's throughput, from other keys than its dialect reads.

Submissions count differently: `train_samples` is an epoch's samples, the run's, batches, or 1; `epoch_count` counts
epochs, steps or samples. So a figure must agree with what the other keys make over the whole run.
"""

import re
import statistics
from collections.abc import Iterator

from evalsuite.core import paths
from evalsuite.core.messages import Message
from evalsuite.logs.formatting import rate
from evalsuite.logs.text.records import number

MOST_EPOCHS = 1000  # more are tokens, samples or steps by another name
FASTER = 1.5  # a run as a whole cannot be this many times faster than its training
APART = 1.5  # times, of two that count the same items
SLOWER = 4.0  # start-up and evaluations are inside the run as a whole; they never take three quarters of it
_EVENT = re.compile(
    rb':::MLLOG \{[^\r\n]*?"time_ms": (?P<ms>\d+)[^\r\n]*?"key": "(?P<key>block_start|block_stop|epoch_start|epoch_stop'
    rb"|eval_start|eval_stop|eval_accuracy|run_start|run_stop|tracked_stats|train_samples|global_batch_size"
    rb'|submission_benchmark)"(?P<rest>[^\r\n]*)'
)
_BEGINS = (b"run_start", b"block_start", b"epoch_start")
_SELF_PLAY = b'"minigo"'  # its samples are games that it plays itself
LEAST_SHARE, MOST_SHARE = 0.85, 1.02  # of the training set: submitters leave out what fills no batch, or fill the last


class MllogCheck:
    length = 1.0  # of a sample, in what the dialect counts

    def __init__(self) -> None:
        self._train_samples: float | None = None
        self._global_batch: float | None = None
        self._self_play, self._benchmark = False, ""
        self._began_s: float | None = None
        self._ended_s: float | None = None
        self._block = 0.0  # epochs of the block that goes on, as it counts them
        self._blocks = 0.0  # of those that have ended
        self._block_epoch: float | None = None  # where the one that ended last began
        self._first_epoch: float | None = None
        self._last_epoch: float | None = None
        self._counted: list[tuple[float, float]] = []  # (second, samples so far)
        self._throughputs: list[float] = []
        self._steps = self._samples = 0.0  # so far
        self._step_s: list[float] = []
        self._marks: list[tuple[float, float]] = []  # (step, samples so far)

    def add(self, text: bytes) -> None:
        for match in _EVENT.finditer(text):
            if b"validation" in match["rest"]:
                continue  # Graphcore brackets its validation as blocks, too
            self._event(match["key"], float(match["ms"]) / 1000, match["rest"])

    def _event(self, key: bytes, at_s: float, rest: bytes) -> None:
        if key == b"train_samples":
            self._train_samples = value(b"value", rest)
        elif key == b"global_batch_size":
            self._global_batch = value(b"value", rest)
        elif key == b"submission_benchmark":
            self._self_play = _SELF_PLAY in rest
            self._benchmark = (re.findall(rb'"value": "(\w+)"', rest) or [b""])[0].decode()
        elif key == b"tracked_stats":
            throughput = value(b"throughput", rest)
            self._throughputs += [] if throughput is None else [throughput]
            samples, step, took = (value(name, rest) for name in (b"samples_count", b"step", b"train_step_time"))
            self._samples = max(self._samples, samples or 0.0)
            if b'"train_' in rest:
                timed = took or value(b"train_step_timing in s", rest)
                self._step_s += [timed] if timed else []
                self._marks += [(step, samples)] if step is not None and samples is not None else []
        else:
            self._time(key, at_s, rest)

    def _time(self, key: bytes, at_s: float, rest: bytes) -> None:
        if key in _BEGINS and (self._began_s is None or key != b"run_start"):
            self._began_s = at_s if self._began_s is None else self._began_s
        samples, epoch = value(b"samples_count", rest), value(b"epoch_num", rest)
        self._samples = max(self._samples, samples or 0.0)
        steps = value(b"step_num", rest) or 0.0
        self._steps = max(self._steps, steps)
        if epoch is not None:
            self._first_epoch = epoch if self._first_epoch is None else self._first_epoch
            self._last_epoch = max(epoch, self._last_epoch or epoch)
        if self._began_s is None:
            return
        self._ended_s = at_s
        further = samples is not None and (not self._counted or samples > self._counted[-1][1])
        if samples is not None and further and key in (b"block_stop", b"eval_start", b"eval_accuracy"):
            self._counted.append((at_s, samples))
        first = value(b"first_epoch_num", rest)
        if key == b"block_start" and (first is None or first != self._block_epoch):  # not its validation
            self._block = value(b"epoch_count", rest) or 0.0
        elif key == b"block_stop":
            self._blocks, self._block, self._block_epoch = self._blocks + self._block, 0.0, first

    def contradiction(self, items_per_s: float) -> str | None:
        """Which other keys deny it, in words; None if none does."""
        if self._self_play:
            return Message("logs.read_self_play")
        if unlike := self._unlike_set():
            return unlike
        for name, other in self._others():
            if not (other > 0 and 1 / FASTER < items_per_s / other < SLOWER):
                return Message("logs.read_denied", rate=rate(items_per_s), name=name, other=rate(other))
        return self.miscounted(items_per_s)

    def miscounted(self, items_per_s: float) -> str | None:
        """Why the training set or the numbers of the steps deny it; None if they do not."""
        data, batch = paths.read_data("mlperf_sets.toml"), self._global_batch or 0.0
        epochs = max(self._samples, self._steps * batch) / max(data.get(self._benchmark, [float("inf")]))
        if epochs > data["most_epochs"].get(self._benchmark, epochs):
            return Message("logs.mllog_beyond", epochs=epochs, name=self._benchmark)
        each, trained = self._each_step(items_per_s), batch * self.length
        if each and trained:
            near = any(1 / APART < of_step / trained < APART for of_step in each)
            return None if near else Message("logs.mllog_step", n=each[0], trained=trained)
        return None

    def _each_step(self, items_per_s: float) -> list[float]:
        """Items of a step: by the step times, and by the numbers of the steps."""
        timed = [items_per_s * statistics.median(self._step_s)] if self._step_s else []
        if not self._marks or self._marks[-1][0] <= self._marks[0][0]:
            return timed
        (step, samples), (last, so_far) = self._marks[0], self._marks[-1]
        return [*timed, (so_far - samples) / (last - step)]

    def nonsense(self) -> str | None:
        """Why epochs and `train_samples` make no throughput; None if they can."""
        epochs, known = max(self._last_epoch or 0.0, self._blocks + self._block), paths.read_data("mlperf_sets.toml")
        if epochs > known["most_epochs"].get(self._benchmark, MOST_EPOCHS):
            return Message("logs.mllog_counted")
        if unlike := self._unlike_set():
            return unlike
        if self._train_samples is not None and self._train_samples <= (self._global_batch or 1.0):
            return Message("logs.mllog_samples", value=self._train_samples)
        return None

    def _unlike_set(self) -> Message | None:
        """Why `train_samples` are not those of the training set: some count its batches. None if they are, or no set
        is known."""
        sizes, stated = paths.read_data("mlperf_sets.toml").get(self._benchmark), self._train_samples
        if stated is None or sizes is None or any(LEAST_SHARE <= stated / size <= MOST_SHARE for size in sizes):
            return None
        return Message("logs.mllog_set", value=stated, name=self._benchmark)

    def _others(self) -> Iterator[tuple[str, float]]:
        if self._throughputs:
            yield Message("logs.mllog_keys"), sum(self._throughputs) / len(self._throughputs)
        if len(self._counted) > 1:
            (began, first), (ended, last) = self._counted[0], self._counted[-1]
            if ended > began and last > first:
                yield "its samples_count keys", (last - first) / (ended - began)
        epochs_per_s = self._epochs_per_s()
        if self._train_samples and epochs_per_s and self.nonsense() is None:
            yield "its epochs", self._train_samples * epochs_per_s

    def _epochs_per_s(self) -> float | None:
        took = (self._ended_s or 0.0) - (self._began_s or 0.0)
        numbered = (self._last_epoch or 0.0) - (self._first_epoch or 0.0)
        epochs = numbered if (self._last_epoch or 0.0) % 1 else max(self._blocks, numbered)
        return epochs / took if epochs > 0 and took > 0 else None


def value(name: bytes, text: bytes) -> float | None:
    return number(match[1]) if (match := re.search(b'"%b": (\\d[\\d.e+-]*)' % name, text)) else None
