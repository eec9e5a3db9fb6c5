"""DLLogger of MXNet, whose devices are counted. The others compute nothing: `data/dialects/dllogger.toml`."""

from evalsuite.contracts.dialect import Dialect, line

_DLE = "NVIDIA/DeepLearningExamples@729963dd47:"
_AT = rb"DLL (?P<stamp>\d{4}-\d\d-\d\d [\d:.]+) - "


DIALECTS = (
    Dialect(
        scope="global",
        averaging="interval",
        name="dllogger_mxnet",
        title="NVIDIA DeepLearningExamples MXNet RN50v1.5",
        framework="mxnet",
        unit="images/s",
        steps_restart="epoch",
        step=line(
            _AT + rb"Epoch: (?P<epoch>\d+) Iteration: (?P<step>\d+)  train\.loss : (?P<loss>[-\d.e+]+|nan)  "
            rb"train\.ips : (?P<rate>[\d.e+]+) ",
            b"DLL 2023-07-31 06:25:54.436868 - Epoch: 0 Iteration: 39  train.loss : 6.67905101776123  train.ips : 11677.433381196674 images/s train.lr : 0.9984 ",
            f"{_DLE}MxNet/Classification/RN50v1.5/fit.py",
        ),
        evaluation=line(
            _AT + rb"Epoch: \d+  (?:train|val)\.",
            b"DLL 2023-07-31 06:21:20.775433 - Epoch: 0  train.loss : 6.678095985412598  train.ips : 1490.2657629773284 images/s",
            f"{_DLE}MxNet/Classification/RN50v1.5/fit.py, the end of an epoch",
        ),
        final=line(
            _AT + rb"Summary: train\.loss : [^\r\n]*?train\.ips : (?P<rate>[\d.e+]+) ",
            b"DLL 2023-07-31 06:24:15.032213 - Summary: train.loss : 5.9220680227279665  train.ips : 1478.0019509616304 images/s",
            f"{_DLE}MxNet/Classification/RN50v1.5/fit.py; total batch over the mean step time",
        )
        + line(
            rb"\n     +\d+ +\| +(?P<rate>\d+(?:\.\d+)?) +\|",
            b"\n     8     |   10336   |",
            f"{_DLE}MxNet/Classification/RN50v1.5/benchmark.py; harmonic mean over the kept epochs",
        ),
        facts=line(
            rb"DLL [^\r\n]*? PARAMETER arch : [^\r\n]*? gpus : \[(?P<devices>[\d, ]+)\] "
            rb"[^\r\n]*? batch_size : (?P<global_batch>\d+)",
            b"DLL 2023-07-31 06:24:28.055105 - PARAMETER arch : resnetv15  ... gpus : [0, 1, 2, 3, 4, 5, 6, 7]  ... batch_size : 2048 ",
            f"{_DLE}MxNet/Classification/RN50v1.5/train.py",
            fields=lambda match: {**match.groupdict(), "devices": match["devices"].count(b",") + 1},  # [0, 1, 2, 3]
        ),
        notes="The first report of each epoch holds its start-up.",
    ),
)
