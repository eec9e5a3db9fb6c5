"""OpenMMLab's libraries on mmengine: mmpretrain, mmdetection 3, mmsegmentation 1, mmpose, xtuner …

Their loops print one line, counted in an epoch or over the whole run, and write it as JSON to `vis_data/`.
mmcv's runner, which came before, is in `pytorch.py`.
"""

import functools

from evalsuite.dialect import Dialect, line

_PRINTED = "open-mmlab/mmengine@25434293:mmengine/runner/log_processor.py, LogProcessor.get_log_after_iter()"
_TIMES = rb" [^\r\n]*?\btime: (?P<seconds>[\d.]+)(?![\d.]|,\d)(?:[^\r\n]*?\bloss: (?P<loss>[\d.e+-]+|nan))?"
_NOTES = (
    "time is the mean of the last window_size iterations (10 unless log_processor says otherwise), waiting for data "
    "included; an iteration is one batch on each device, also where gradients are accumulated."
)

_EVALUATION = line(
    rb" - mmengine - INFO - (?:Epoch\(val\)|Iter\(val\)|Saving checkpoint)",
    b"07/03 13:05:02 - mmengine - INFO - Saving checkpoint at 1 epochs",
    "open-mmlab/mmengine@25434293:mmengine/hooks/checkpoint_hook.py, after_train_epoch() and after_train_iter()",
)

_FACTS = line(
    rb"train_dataloader = dict\((?:[^()]|\([^()]*\)){0,400}?\bbatch_size=(?P<batch_per_device>\d+)",
    b"train_dataloader = dict(\n    batch_size=128,",
    "open-mmlab/mmengine@25434293:mmengine/config/config.py, Config.pretty_text; the data loader is one process's",
)


_dialect = functools.partial(Dialect, framework="pytorch", unit="samples/s", scope="global", averaging="interval")

DIALECTS = (
    _dialect(
        name="mmengine",
        title="OpenMMLab mmengine, epochs",
        steps_restart="epoch",
        zero_based=False,
        step=line(
            rb"mmengine - INFO - Epoch\(train\) +\[ *(?P<epoch>\d+)\]\[ *(?P<step>\d+)/(?P<of>\d+)\]" + _TIMES,
            b"07/03 13:04:17 - mmengine - INFO - Epoch(train)  [1][ 10/196]  lr: 3.3333e-04  eta: 0:13:14  "
            b"time: 0.4073  data_time: 0.0335  memory: 970  loss: 6.1887",
            _PRINTED,
        ),
        evaluation=_EVALUATION,
        facts=_FACTS,
        named_facts={"gpus": "devices"},
        notes=_NOTES,
    ),
    _dialect(
        name="mmengine_iter",
        title="OpenMMLab mmengine, iterations",
        zero_based=False,
        evaluation_inside=True,
        step=line(
            rb"mmengine - INFO - Iter\(train\) +\[ *(?P<step>\d+)/(?P<of>\d+)\]" + _TIMES,
            b"01/29 21:35:34 - mmengine - INFO - Iter(train) [ 10/720]  lr: 9.0001e-05  eta: 0:31:46  "
            b"time: 2.6851  data_time: 0.0077  memory: 12762  loss: 2.6900",
            _PRINTED,
        ),
        evaluation=_EVALUATION,
        facts=_FACTS,
        named_facts={"gpus": "devices"},
        notes=f"{_NOTES} The first iteration after an evaluation or a checkpoint contains it.",
    ),
    _dialect(
        name="mmengine_json",
        title="OpenMMLab mmengine, vis_data/*.json",
        zero_based=False,
        evaluation_inside=True,
        step=line(
            rb'data_time": [\d.e+-]+(?:[^{}\r\n]*?\bloss": (?P<loss>[\d.e+-]+|NaN))?[^{}\r\n]*?\btime": '
            rb'(?P<seconds>[\d.e+-]+)(?:[^{}\r\n]*?"epoch": (?P<epoch>\d+))?[^{}\r\n]*?"iter": (?P<step>\d+)[,}]',
            b'{"lr": 0.1, "data_time": 0.004, "loss": 6.9, "time": 0.25, "epoch": 1, "iter": 30, "memory": 5901, "step": 30}',
            "open-mmlab/mmengine@25434293:mmengine/visualization/vis_backend.py, LocalVisBackend.add_scalars(): the tag of get_log_after_iter()",
        ),
        evaluation=line(
            rb'"data_time": [\d.e+-]+, "time": [\d.e+-]+, "step": \d+\}',
            b'{"accuracy/top1": 12.5, "data_time": 0.03, "time": 0.09, "step": 1}',
            "open-mmlab/mmengine@25434293:mmengine/hooks/logger_hook.py, LoggerHook.after_val_epoch()",
        ),
        notes=f"{_NOTES} Batch and devices stand in the text log beside it, not here.",
    ),
)
