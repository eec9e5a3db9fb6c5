"""MLPerf training logs (`:::MLLOG`) and what is in them, MindSpore. Its BERT: data/dialects/single_scripts.toml."""

import functools
import re
import statistics
from collections.abc import Callable, Iterator

from evalsuite.contracts.dialect import Dialect, Fields, Line, line
from evalsuite.core import paths
from evalsuite.core.messages import Message
from evalsuite.logs.formatting import rate
from evalsuite.logs.text.records import number

_MLLOG = rb':::MLLOG \{"namespace": "[^"]*", "time_ms": (?P<unix_ms>\d+), '
_LOGGING = "mlcommons/logging@7bbf792686:mlperf_logging/mllog"
_KEYS = f"{_LOGGING}/mllog.py, with the keys of constants.py"


_RUN_STOP = line(
    rb'"key": "run_stop"',
    b':::MLLOG {"namespace": "", "time_ms": 1712978709821, "event_type": "INTERVAL_END", "key": "run_stop", "value": null',
    _KEYS,
)


_TRAIN_SAMPLES = line(
    rb'"key": "train_samples", "value": (?P<items_per_batch>\d+)',
    b':::MLLOG {"namespace": "main", "time_ms": 1593154619127, "key": "train_samples", "value": 1281167',
    _KEYS,
    # a step is an epoch, and a batch one item: the epoch's samples
    fields=lambda match: {"global_batch": 1.0, "items_per_batch": match["items_per_batch"]},
)

# What other benchmarks call eval_accuracy is another measure (an AUC, a hit rate, even a loss): only ResNet's is read.
_TOP1 = line(
    rb'"key": "eval_accuracy", "value": (?P<validation_top1_share>[\d.]+), "metadata": \{'
    rb'(?=[^}\r\n]*"file": "[^"]*(?:resnet|imagenet|image_classification))[^}\r\n]*"epoch_num": (?P<epoch>\d+)[,}]',
    b'"key": "eval_accuracy", "value": 0.39042, "metadata": {"file": "/workspace/image_classification/common/fit.py", "lineno": 1056, "epoch_num": 3}}',
    f"{_KEYS}; NVIDIA, Baidu and Google count epochs from 1 (first_epoch_num)",
)


def _value(name: bytes, text: bytes) -> float | None:
    return number(match[1]) if (match := re.search(b'"%b": (\\d[\\d.e+-]*)' % name, text)) else None


def _block_start(match: "re.Match[bytes]") -> Fields | None:
    """Millions of epochs are tokens or samples by another name."""
    epochs, text = _value(b"epoch_count", match[0]), match.string
    if _counted_in_samples(match) or (epochs is not None and epochs > MOST_EPOCHS):
        return None
    first, ended = _value(b"first_epoch_num", match[0]), text.rfind(b'"key": "block_stop"', 0, match.start())
    if first is not None and ended >= 0 and first == _value(b"first_epoch_num", text[ended : text.find(b"\n", ended)]):
        return None  # its validation
    return {"unix_ms": match["unix_ms"], "interval": epochs, "begins": 1.0}


def _block_stop(match: "re.Match[bytes]") -> Fields | None:
    return None if _counted_in_samples(match) else {"unix_ms": match["unix_ms"]}


def _counted_in_samples(match: "re.Match[bytes]") -> bool:
    return _value(b"samples_count", match[0]) is not None


def _epoch_stop(match: "re.Match[bytes]") -> Fields:
    """Of the epoch that began last: some number its end as the next one's beginning."""
    text, began = match.string, match.string.rfind(b'"key": "epoch_start"', 0, match.start())
    started = None if began < 0 else _value(b"epoch_num", text[began : text.find(b"\n", began)])
    epoch = _value(b"epoch_num", match[0]) if started is None else started
    return {"unix_ms": match["unix_ms"], "consumed": None if epoch is None else epoch + 1}


def _evaluation_start(match: "re.Match[bytes]") -> Fields:
    """Ends a part of an epoch where epochs have fractions (1.0999), else all of it."""
    epoch = _value(b"epoch_num", match[0])
    return {"unix_ms": match["unix_ms"], "consumed": epoch if epoch is not None and epoch % 1 > 0 else None}


def _event(key: bytes, fields: Callable[["re.Match[bytes]"], Fields | None], sample: bytes) -> Line:
    """Not of validation, which Graphcore's submission brackets as blocks, too."""
    return Line(
        pattern=_MLLOG + rb'[^\r\n]*?"key": "' + key + rb'"(?![^\r\n]*validation)[^\r\n]*',
        sample=b':::MLLOG {"namespace": "' + sample,
        source=_KEYS,
        fields=lambda match: fields(match) if match[0].count(b"{") <= match[0].count(b"}") else None,  # else cut off
        telling=key.startswith((b"block", b"epoch")),
    )


_BLOCKS = (
    _event(b"block_start", _block_start, b'main", "time_ms": 1593154759901, "key": "block_start", "value": null ... }'),
    _event(b"eval_start", _block_stop, b'main", "time_ms": 1593155167462, "key": "eval_start", "value": null ... }'),
    _event(b"block_stop", _block_stop, b'main", "time_ms": 1593155188793, "key": "block_stop", "value": null ... }'),
)
_SAMPLE_BLOCKS = (
    _event(
        b"block_start",
        lambda match: {"unix_ms": match["unix_ms"], "begins": 1.0} if _counted_in_samples(match) else None,
        b'", "time_ms": 1715242795848, "event_type": "INTERVAL_START", "key": "block_start", "value": "", "metadata": {"file": "mlperf_logging_utils.py", "lineno": 187, "samples_count": 192}}',
    ),
    _event(
        b"block_stop",
        lambda match: (
            {"unix_ms": match["unix_ms"], "consumed": _value(b"samples_count", match[0])}
            if _counted_in_samples(match)
            else None
        ),
        b'", "time_ms": 1715242795848, "event_type": "INTERVAL_END", "key": "block_stop", "value": "", "metadata": {"file": "mlperf_logging_utils.py", "lineno": 177, "samples_count": 1536}}',
    ),
)
_EPOCHS = (
    _event(
        b"epoch_start",
        lambda match: {"unix_ms": match["unix_ms"], "consumed": _value(b"epoch_num", match[0]), "begins": 1.0},
        b'", "time_ms": 1593139465989, "event_type": "INTERVAL_START", "key": "epoch_start", "value": null, "metadata": {"file": "scripts/dist_train.py", "lineno": 182, "epoch_num": 1}}',
    ),
    _event(b"eval_start", _evaluation_start, b'", "time_ms": 1593139483302, ... "key": "eval_start" ... }'),
    _event(
        b"eval_stop",
        lambda match: {**of, "begins": 1.0} if (of := _evaluation_start(match))["consumed"] is not None else None,
        b'", "time_ms": 1593139487050, "event_type": "INTERVAL_END", "key": "eval_stop", "value": null, "metadata": {"file": "scripts/dist_train.py", "lineno": 292, "epoch_num": 1.049980888109768}}',
    ),
    _event(
        b"run_stop",
        lambda of: {"unix_ms": of["unix_ms"], "begins": 1.0},
        b'", "time_ms": 1593139749480, ... "key": "run_stop" ... }',
    ),
    _event(b"epoch_stop", _epoch_stop, b'", "time_ms": 1593139749480, ... "key": "epoch_stop" ... }'),
)


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
    """A second derivation of the throughput, from other keys than the dialect reads.

    Submissions count differently: `train_samples` is an epoch's samples, the run's, batches, or 1; `epoch_count` counts
    epochs, steps or samples. So a figure must agree with what the other keys make over the whole run.
    """

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
            if b"validation" not in match["rest"]:  # Graphcore brackets its validation as blocks, too
                self._event(match["key"], float(match["ms"]) / 1000, match["rest"])

    def _event(self, key: bytes, at_s: float, rest: bytes) -> None:
        if key == b"train_samples":
            self._train_samples = _value(b"value", rest)
        elif key == b"global_batch_size":
            self._global_batch = _value(b"value", rest)
        elif key == b"submission_benchmark":
            self._self_play = _SELF_PLAY in rest
            self._benchmark = (re.findall(rb'"value": "(\w+)"', rest) or [b""])[0].decode()
        elif key == b"tracked_stats":
            throughput = _value(b"throughput", rest)
            self._throughputs += [] if throughput is None else [throughput]
            samples, step, took = (_value(name, rest) for name in (b"samples_count", b"step", b"train_step_time"))
            self._samples = max(self._samples, samples or 0.0)
            if b'"train_' in rest:
                timed = took or _value(b"train_step_timing in s", rest)
                self._step_s += [timed] if timed else []
                self._marks += [(step, samples)] if step is not None and samples is not None else []
        else:
            self._time(key, at_s, rest)

    def _time(self, key: bytes, at_s: float, rest: bytes) -> None:
        if key in _BEGINS and self._began_s is None:
            self._began_s = at_s
        samples, epoch = _value(b"samples_count", rest), _value(b"epoch_num", rest)
        self._samples = max(self._samples, samples or 0.0)
        self._steps = max(self._steps, _value(b"step_num", rest) or 0.0)
        if epoch is not None:
            self._first_epoch = epoch if self._first_epoch is None else self._first_epoch
            self._last_epoch = max(epoch, self._last_epoch or epoch)
        if self._began_s is None:
            return
        self._ended_s = at_s
        further = samples is not None and (not self._counted or samples > self._counted[-1][1])
        if samples is not None and further and key in (b"block_stop", b"eval_start", b"eval_accuracy"):
            self._counted.append((at_s, samples))
        first = _value(b"first_epoch_num", rest)
        if key == b"block_start" and (first is None or first != self._block_epoch):  # not its validation
            self._block = _value(b"epoch_count", rest) or 0.0
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
        each = [items_per_s * statistics.median(self._step_s)] if self._step_s else []  # items of a step, by its time
        if self._marks and self._marks[-1][0] > self._marks[0][0]:
            (step, samples), (last, so_far) = self._marks[0], self._marks[-1]
            each.append((so_far - samples) / (last - step))
        trained = batch * self.length
        if not each or not trained or any(1 / APART < of_step / trained < APART for of_step in each):
            return None
        return Message("logs.mllog_step", n=each[0], trained=trained)

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
        took, last = (self._ended_s or 0.0) - (self._began_s or 0.0), self._last_epoch or 0.0
        numbered = last - (self._first_epoch or 0.0)
        epochs = numbered if last % 1 else max(self._blocks, numbered)
        if self._train_samples and epochs > 0 and took > 0 and self.nonsense() is None:
            yield "its epochs", self._train_samples * epochs / took


class _EpochCheck(MllogCheck):
    """Epochs × train_samples is the number itself here, so that both must be what they are called."""

    def contradiction(self, items_per_s: float) -> str | None:
        return self.nonsense() or super().contradiction(items_per_s)


def _nemo_step(match: "re.Match[bytes]") -> Fields | None:
    """Samples so far are in samples_count or, where there is none, in `step`.

    A train_step_time has the number of its step from 0, a train_loss the number of steps; the mean of a whole block has
    neither.
    """
    timed = match["seconds"]
    step, samples = _value(b"step", match[0]), _value(b"samples_count", match[0])
    if step is None:
        return None
    if samples is None:
        return {"unix_ms": match["unix_ms"], "seconds": timed, "consumed": step} if timed else None
    return {"unix_ms": match["unix_ms"], "seconds": timed, "consumed": samples, "step": step + (1 if timed else 0)}


def _steps_per_epoch(match: "re.Match[bytes]") -> Fields:
    said = match.groupdict()
    report, step = (float(said.get(name) or 0) for name in ("report_ms", "ms"))
    report = report or 1000 * float(match["report_s"])
    return {**said, "ms": None, "interval": round(report / step) if step > 0 else None}


class _TokenCheck(MllogCheck):
    length = 2048.0  # of a sequence of GPT-3, by mlcommons/training_policies:training_rules.adoc

    def contradiction(self, items_per_s: float) -> str | None:
        return self.miscounted(items_per_s)


_OTHER_SCRIPTS = ("mlperf_bert", "mxnet_speedometer", "mxnet_ssd", "bigdl", "hugectr", "fairseq_2018")
_COUNTED = ("mlperf_mllog", "mlperf_nemo", "mlperf_gpt")
_dialect = functools.partial(Dialect, scope="global", averaging="interval")

_without_throughput = functools.partial(_dialect, framework=None, unit="samples/s", per_epoch=True, end=_RUN_STOP)
_of_epochs = functools.partial(
    _without_throughput,
    epochs_are_steps=True,
    trust_stamps=False,
    scores=_TOP1,
    facts=_TRAIN_SAMPLES,
    second=_EpochCheck,
)

DIALECTS = (
    _dialect(
        name="mlperf_mllog",
        title="MLPerf :::MLLOG with a throughput",
        framework=None,
        unit="samples/s",
        per_epoch=True,
        trust_stamps=False,
        step=line(
            _MLLOG
            + rb'[^\r\n]*?"key": "tracked_stats", "value": \{[^}\r\n]*?"(?:throughput|imgs_sec)": (?P<rate>[\d.e+]+)',
            b':::MLLOG {"namespace": "", "time_ms": 1712974041539, "event_type": "POINT_IN_TIME", "key": "tracked_stats", "value": {"throughput": 534.2836281280698}, "metadata": {',
            f"{_LOGGING}/mllog.py, event(); the key is that of NVIDIA's submissions since v1.0",
        ),
        end=_RUN_STOP,
        named_facts={"all": "global_batch"},
        scores=_TOP1,
        second=MllogCheck,
        yields_to=("mlperf_gpt", "mlperf_nemo", *_OTHER_SCRIPTS),
        notes="Samples are those of the benchmark: images, sequences, tokens.",
    ),
    _dialect(
        name="mlperf_nemo",
        title="MLPerf :::MLLOG of NeMo since v5.0",
        framework="pytorch",
        unit="samples/s",
        zero_based=False,
        step=line(
            _MLLOG
            + rb'[^\r\n]*?"key": "tracked_stats", "value": \{"train_(?:step_time": (?P<seconds>[\d.e+-]+)|loss": )[^\r\n]*',
            b':::MLLOG {"namespace": "", "time_ms": 1759978644063, "event_type": "POINT_IN_TIME", "key": "tracked_stats", "value": {"train_step_time": 0.1571516990661621, "reduced_train_loss": 8.318889617919922}, "metadata": {"file": "/workspace/llm/custom_callbacks.py", "lineno": 480, "step": 31.0, "samples_count": 1152.0}}',
            "mlcommons/training_results_v5.1@441d65f444:Lambda/results/gb300_n18_ngc25.04_nemo/llama31_8b/result_1.txt",
            fields=_nemo_step,
        ),
        evaluation=line(
            rb'"key": "eval_start"',
            b':::MLLOG {"namespace": "", "time_ms": 1759978694242, "event_type": "INTERVAL_START", "key": "eval_start", "value": null',
            _KEYS,
        ),
        end=_RUN_STOP,
        named_facts={"all": "global_batch"},
        second=MllogCheck,
        notes="The stamps of the lines are the clock, and the mean step times beside them the check. Samples are sequences or images.",
    ),
    _dialect(
        name="mlperf_gpt",
        title="MLPerf :::MLLOG of GPT-3 (NeMo)",
        framework="pytorch",
        unit="tokens/s",
        averaging="step",
        every=1,
        step=line(
            _MLLOG + rb'[^\r\n]*?"key": "tracked_stats", "value": \{"train_step_timing in s": (?P<seconds>[\d.e+-]+)\}'
            rb'[^\r\n]*?"step": (?P<consumed>\d+)',
            b':::MLLOG {"namespace": "", "time_ms": 1715963226355, "event_type": "POINT_IN_TIME", "key": "tracked_stats", "value": {"train_step_timing in s": 10.639731407165527}, "metadata": {... "step": 1035993088}}',
            "mlcommons/training_results_v4.0@6fe954378e:NVIDIA/benchmarks/gpt3/implementations/nemo/custom_callbacks.py; step counts tokens",
        ),
        evaluation=line(
            rb'"key": "tracked_stats", "value": \{"validation_step_timing',
            b'"key": "tracked_stats", "value": {"validation_step_timing in s": 4.3293914794921875}',
            "mlcommons/training_results_v4.0@6fe954378e:NVIDIA/benchmarks/gpt3/implementations/nemo/custom_callbacks.py",
        ),
        final=line(
            rb'"key": "tracked_stats", "value": \{"throughput": (?P<rate>[\d.e+]+)\}',
            b'"key": "tracked_stats", "value": {"throughput": 354044.3725906329}, "metadata": {... "step": 1207959552}}',
            "mlcommons/training_results_v4.0@6fe954378e:NVIDIA/benchmarks/gpt3/implementations/nemo/custom_callbacks.py; validation is inside",
            telling=False,
        ),
        second=_TokenCheck,
        notes="step counts tokens: 4194304 more in each step. The time of a step leaves out what lies between two of them.",
    ),
    _without_throughput(
        name="mlperf_samples",
        title="MLPerf :::MLLOG without a throughput, blocks counted in samples",
        trust_stamps=False,
        step=_SAMPLE_BLOCKS,
        second=MllogCheck,
        yields_to=(*_COUNTED, *_OTHER_SCRIPTS),
        notes="Samples since the block before, evaluation inside.",
    ),
    _of_epochs(
        name="mlperf_blocks",
        title="MLPerf :::MLLOG without a throughput, blocks between evaluations",
        step=_BLOCKS,
        yields_to=(*_COUNTED, "mlperf_samples", "mlperf_epochs", *_OTHER_SCRIPTS),
        notes="Training samples x epochs of a block / its time; evaluation is inside where no line says when it begins.",
    ),
    _of_epochs(
        name="mlperf_epochs",
        title="MLPerf :::MLLOG without a throughput, epochs",
        step=_EPOCHS,
        yields_to=(*_COUNTED, "mlperf_samples", *_OTHER_SCRIPTS),
        notes="Training samples of an epoch, or of its part between two evaluations, / its time.",
    ),
    _dialect(
        name="mindspore",
        title="MindSpore TimeMonitor",
        framework="mindspore",
        unit="images/s",
        per_epoch=True,
        step=line(
            rb"epoch time: (?P<report_ms>[\d.]+) ms, per step time: (?P<ms>[\d.]+) ms",
            b"epoch time: 360760.985 ms, per step time: 288.378 ms",
            "mindspore-ai/mindspore@01fc6efc7d:mindspore/python/mindspore/train/callback/_time_monitor.py",
            fields=_steps_per_epoch,
        )
        + line(
            rb"epoch: \[(?P<epoch>\d+)/\d+\] loss: (?P<loss>[-+\d.eE]+|-?nan|-?inf), epoch time: (?P<report_s>[\d.]+) s, "
            rb"per step time: (?P<ms>[\d.]+) ms",
            b"2023-02-17 14:27:31,711:INFO:epoch: [2/90] loss: 1.045892, epoch time: 2.413 s, per step time: 12.377 ms",
            "mindspore-ai/models@eab643f513:official/cv/ResNet/src/callback.py",
            fields=_steps_per_epoch,
        ),
        trust_stamps=False,
        notes="In data parallel each device prints its own; the first epoch holds graph compilation.",
    ),
)
