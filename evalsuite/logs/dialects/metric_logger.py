"""Vision trainers that time an iteration: the MetricLogger of torchvision's references and all who copied it, Swin
Transformer, SAM 2, LLaMA2-Accessory. None of them prints a rate; the size of the batch, where a log has it, is that of one device."""

import functools

from evalsuite.dialect import Dialect, line

_SMOOTHED = (
    "time is the mean of the last 20 iterations, the wait for data inside; every forward pass is an iteration, also "
    "where gradients are accumulated (MAE's accum_iter). The first report of an epoch holds the start of its loader."
)


_dialect = functools.partial(Dialect, framework="pytorch", scope="global", averaging="interval")

DIALECTS = (
    _dialect(
        name="metric_logger",
        title="MetricLogger (torchvision detection and segmentation, DETR, DeiT, MAE, DINO, DINOv2)",
        unit="images/s",
        steps_restart="epoch",
        zero_based=True,
        step=line(
            rb"Epoch: \[(?P<epoch>\d+)(?:/\d+)?\] +\[ *(?P<step>\d+)/(?P<of>\d+)\]  eta: "
            rb"(?:[^\r\n]*?  loss: (?P<loss>[\d.]+|nan))?[^\r\n]*?  time: (?P<seconds>[\d.]+)  data: ",
            b"Epoch: [0]  [10/60]  eta: 0:00:20  lr: 0.000936  loss: 1.3007 (1.5313)  loss_classifier: 0.3979 (0.4719)  "
            b"loss_box_reg: 0.2454 (0.2272)  loss_mask: 0.6089 (0.7953)  loss_objectness: 0.0197 (0.0228)  "
            b"loss_rpn_box_reg: 0.0121 (0.0141)  time: 0.4198  data: 0.0298  max mem: 5081",
            "facebookresearch/deit@7e160fe43f:utils.py, MetricLogger.log_every(); facebookresearch/detr@29901c51d7 "
            "and facebookresearch/mae@efb2a8062c have it in util/misc.py, facebookresearch/dino@7c446df5b9 in utils.py",
        )
        + line(
            rb"Training  \[ *(?P<step>\d+)/(?P<of>\d+)\]  eta: [^\r\n]*?  total_loss: (?P<loss>[\d.]+|nan)[^\r\n]*?"
            rb"  time: (?P<seconds>[\d.]+)  data: ",
            b"I20230509 12:00:20 4321 dinov2 helpers.py:103] Training  [    10/125000]  eta: 1 day, 10:58:43  "
            b"lr: 0.0000 (0.0000)  current_batch_size: 64.0000 (64.0000)  total_loss: 11.2000 (11.3000)  time: 1.390000  "
            b"data: 0.010000  max mem: 30123",
            "facebookresearch/dinov2@b8931f7bf9:dinov2/logging/helpers.py, MetricLogger.log_every(), as "
            "dinov2/train/train.py calls it",
        ),
        evaluation=line(
            rb"Test: +\[ *\d+/\d+\]  eta: ",
            b"Test:  [ 0/50]  eta: 0:00:19  model_time: 0.2152 (0.2152)  evaluator_time: 0.0133 (0.0133)  time: 0.4000",
            "facebookresearch/deit@7e160fe43f:engine.py, evaluate()",
        ),
        named_facts={"bare": "batch_per_device", "per_device": "batch_per_device", "devices": "devices"},
        yields_to=("torchvision",),
        notes=_SMOOTHED,
    ),
    _dialect(
        name="llama2_accessory",
        title="LLaMA2-Accessory",
        unit="sequences/s",
        steps_restart="epoch",
        zero_based=True,
        step=line(
            rb"Epoch: \[(?P<epoch>\d+)\] +\[ *(?P<step>\d+)/(?P<of>\d+)\]  lr: [\d.e+-]+  closs: (?P<loss>[\d.]+|nan)"
            rb"[^\r\n]*?  time: (?P<seconds>[\d.]+)  data: ",
            b"[07:16:21.232598] Epoch: [2]  [1490/1504]  lr: 0.000005  closs: 0.6968 (0.8547)  "
            b"grad_norm: 0.2537 (0.3329)  time: 4.1840  data: 0.0001  max mem: 51710",
            "Alpha-VLLM/LLaMA2-Accessory@3777c43940:accessory/util/misc.py, MetricLogger.log_every()",
        ),
        evaluation=line(
            rb"\] model saved",
            b"[07:18:20.563967] model saved",
            "Alpha-VLLM/LLaMA2-Accessory@3777c43940:accessory/util/misc.py, save_checkpoint()",
            telling=False,
        ),
        notes="A MetricLogger that prints no time that remains. " + _SMOOTHED,
    ),
    _dialect(
        name="swin",
        title="Swin Transformer and what is built on it",
        unit="images/s",
        steps_restart="epoch",
        zero_based=True,
        step=line(
            rb"Train: \[(?P<epoch>\d+)/\d+\]\[(?P<step>\d+)/(?P<of>\d+)\]\s+eta [^\r\n]*?\btime (?P<seconds>[\d.]+) "
            rb"\((?P<mean_s>[\d.]+)\)(?:[^\r\n]*?\bloss (?P<loss>[\d.]+|nan) )?",
            b"[2022-03-14 09:02:08 swin_tiny_patch4_window7_224] (main.py 222): INFO Train: [14/300][0/1251]\t"
            b"eta 2:46:48 lr 0.000710\t wd 0.0500\ttime 8.0000 (8.0000)\tloss 6.5584 (6.3074)\tgrad_norm 6.5613 (10.6225)\t"
            b"loss_scale 65536.0000 (65536.0000)\tmem 14764MB",
            "microsoft/Swin-Transformer@f82860bfb5:main.py, train_one_epoch()",
        ),
        evaluation=line(
            rb"Test: \[\d+/\d+\]\s+Time ",
            b"[2022-03-14 09:18:40 swin_tiny_patch4_window7_224] (main.py 275): INFO Test: [0/49]\tTime 2.100 (2.100)\t",
            "microsoft/Swin-Transformer@f82860bfb5:main.py, validate()",
        ),
        facts=line(
            rb"DATA:\r?\n[^\r\n]*  BATCH_SIZE: (?P<batch_per_device>\d+)",
            b"DATA:\n  BATCH_SIZE: 128\n  CACHE_MODE: part\n",
            "microsoft/Swin-Transformer@f82860bfb5:config.py, BATCH_SIZE: for a single GPU; printed by main.py",
        )
        + line(
            rb"RANK and WORLD_SIZE in environ: \d+/(?P<devices>\d+)",
            b"RANK and WORLD_SIZE in environ: 0/8",
            "microsoft/Swin-Transformer@f82860bfb5:main.py",
        ),
        notes="time is the last iteration and, in brackets, the mean since the epoch began, whose growth is used.",
    ),
    _dialect(
        name="sam_2",
        title="SAM 2 trainer, and VGGT, which is built on it",
        unit="samples/s",
        steps_restart="epoch",
        zero_based=True,
        step=line(
            rb"Train Epoch: \[(?P<epoch>\d+)\]\[ *(?P<step>\d+)/(?P<of>\d+)\] \| Batch Time: (?P<seconds>[\d.]+) \((?P<mean_s>[\d.]+)\)"
            rb"(?:[^\r\n]*?_loss: (?P<loss>[\d.e+-]+|nan))?",
            b"INFO 2024-10-02 12:00:06,050 train_utils.py: 271: Train Epoch: [0][  0/200] | Batch Time: 6.00 (6.00) | "
            b"Data Time: 0.03 (0.35) | Mem (GB): 16.00 (15.91/16.00) | Time Elapsed: 00d 00h 00m | "
            b"Losses/train_all_loss: 3.18e+01 (8.32e+01)",
            "facebookresearch/sam2@2b90b9f5ce:training/utils/train_utils.py, ProgressMeter.display()",
        ),
        evaluation=line(
            rb"Val Epoch: \[\d+\]",
            b"INFO 2024-10-02 12:05:08,150 train_utils.py: 271: Val Epoch: [0][ 0/20] | Batch Time: 3.10 (3.10)",
            "facebookresearch/sam2@2b90b9f5ce:training/trainer.py, val_epoch()",
        ),
        notes="A sample is a clip of several frames. Time is the last iteration and, in brackets, the mean since the epoch began. "
        "VGGT draws anew with each batch how many sequences it holds: its batch is only a mean.",
    ),
)
