"""Lightning, pytorch-cifar, wordplay. PyTorch's others: data/dialects/pytorch.toml."""

import functools
import re
from collections.abc import Mapping

from evalsuite.contracts.dialect import Dialect, line
from evalsuite.logs.scan.collectors import PastTotal
from evalsuite.logs.text.records import clock_s

_BAR = rb"\| +(?P<step>\d+)/(?P<of>\d+) \[([\d:]+)<[\d:?]+, +(?:(?P<steps_per_s>[\d.]+)it/s|(?P<seconds>[\d.]+)s/it)"


def _lightning(match: "re.Match[bytes]") -> Mapping[str, bytes | float | None]:
    """NeMo prints consumed_samples: exact ones count; of a single bar with global_step they give the batch."""
    printed = 1 / float(match["steps_per_s"]) if match["steps_per_s"] else float(match["seconds"])
    steps, elapsed = int(match["step"]), clock_s(match[4])
    total = printed * steps  # of Lightning's own bar, whose rate is a mean
    smoothed = abs(total - elapsed - 0.5) > 1 + elapsed / 100  # tqdm's is of the last steps
    mean_s = (elapsed + 0.5 if smoothed else min(max(total, elapsed), elapsed + 1)) / steps
    fields = {name: match[name] for name in ("epoch", "step", "of", "loss")}
    if (told := match["consumed"]) is None or b"e" in told:
        return {**fields, "mean_s": mean_s}
    since = float(match["since"] or 0)
    whole = since > 0 and float(told) % since == 0
    return {**fields, "mean_s": mean_s, "consumed": told, "global_batch": float(told) / since if whole else None}


_SECONDS = {b"D": 86400.0, b"h": 3600.0, b"m": 60.0, b"s": 1.0, b"ms": 1e-3}
_TIME = re.compile(rb"(\d+)(ms|[Dhms])")


def _cifar_epoch(match: "re.Match[bytes]") -> Mapping[str, bytes | float]:
    """`391/391 … Tot: 43s169ms … (16120/50000)`: the clock starts after the first batch."""
    batches = float(match["interval"])
    share = (batches - 1) / batches
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _TIME.findall(match[3]))
    return {
        "epoch": match["epoch"],
        "interval": batches - 1,
        "report_s": seconds,
        "items": float(match["items"]) * share,
        "loss": match["loss"],
    }


_dialect = functools.partial(Dialect, framework="pytorch", scope="global")

DIALECTS = (
    _dialect(
        name="lightning",
        title="PyTorch Lightning progress bar",
        unit="samples/s",
        averaging="cumulative",
        clock_s=1.0,
        steps_restart="epoch",
        zero_based=False,
        step=line(
            rb"Epoch (?P<epoch>\d+): +\d+%\|[^|\r\n]*"
            + _BAR
            + rb", [^\]\r\n]*?(?:loss=(?P<loss>[-+\d.eE]+|-?nan|-?inf)|_acc1?=[\d.]+)"
            rb"(?:[^\]\r\n]*?global_step=(?P<since>[\d.e+]+))?(?:[^\]\r\n]*?consumed_samples=(?P<consumed>[\d.e+]+))?",
            "Epoch 0: 100%|██████████| 40/40 [00:31<00:00,  1.27it/s, loss=10.9, v_num=, "
            "reduced_train_loss=10.90, global_step=39.00, consumed_samples=9984.0]".encode(),
            "Lightning-AI/pytorch-lightning@7f0c3436cd:src/lightning/pytorch/callbacks/progress/tqdm_progress.py",
            fields=_lightning,
        ),
        redrawn=True,
        second=PastTotal,
        yields_to=("nemo_dllogger",),
        notes="The rate is a mean since the epoch began (tqdm with smoothing=0) and flips to s/it below one step a second.",
    ),
    _dialect(
        name="pytorch_cifar",
        title="kuangliu/pytorch-cifar",
        unit="images/s",
        averaging="interval",
        per_epoch=True,
        step=line(
            rb"Epoch: (?P<epoch>\d+)\s+\[=+ (?P<interval>\d+)/(?P=interval) =+>\]  Step: \w+ \| Tot: (\w+) \| "
            rb"Loss: (?P<loss>[-+\d.eE]+|-?nan|-?inf) \| Acc: [\d.]+% \(\d+/(?P<items>\d+)\)",
            b"Epoch: 0\n [============================ 391/391 ===========================>]  Step: 1s194ms | Tot: "
            b"45s885ms | Loss: 2.703 | Acc: 15.342% (7671/50000)\n",
            "kuangliu/pytorch-cifar@49b7aa97b0:utils.py, progress_bar(), as a terminal shows it",
            fields=_cifar_epoch,
        ),
        notes="The full bar of each epoch's training; that of its test follows and is left out.",
    ),
    _dialect(
        name="nanogpt_sps",
        title="Argonne wordplay (nanoGPT)",
        unit="tokens/s",
        averaging="step",
        zero_based=False,
        step=line(
            rb"step=(?P<step>\d+) loss=(?P<loss>[-+\d.eE]+|-?nan|-?inf) dt=(?P<ms>[\d.]+) [^\r\n]*?mtps=(?P<rate_k>[\d.]+)",
            b"step=5 loss=3.6333 dt=84.3107 dtf=4.3360 dtb=78.0501 sps=94.8871 mtps=1.5546 mfu=-100.0000",
            "saforem2/wordplay@23fd191:src/wordplay/trainer.py",
            fields=lambda match: {**match.groupdict(), "rate_k": 1000 * float(match["rate_k"])},
        ),
        notes="sps leaves the batch of a device out (samples_per_iter in configs.py): mtps, millions of tokens, is read.",
    ),
)
