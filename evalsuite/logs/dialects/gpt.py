"""nanoGPT and modded-nanogpt.

Small scripts that print a line for a step, and count tokens of the whole job.
"""

import functools
import math
import re
from collections.abc import Mapping

from evalsuite.contracts.dialect import Dialect, line


def _product(match: "re.Match[bytes]") -> Mapping[str, float]:
    """`8*64*1024`, as the script that modded-nanogpt copies into its log has it."""
    factors = {name: [int(factor) for factor in text.split(b"*")] for name, text in match.groupdict().items()}
    return {name: float(math.prod(numbers)) for name, numbers in factors.items()}


_LENGTH = re.compile(rb"Overriding: block_size = (\d+)")


def _tokens(match: "re.Match[bytes]") -> Mapping[str, bytes | float]:
    """As sequences, where an option has set how long one is; a number of tokens otherwise."""
    tokens, lengths = match["global_batch"], _LENGTH.findall(match.string, max(0, match.start() - 4000), match.start())
    if not lengths:
        return {"global_batch": tokens}
    length = float(lengths[-1])
    return {"global_batch": float(tokens.replace(b",", b"")) / length, "items_per_batch": length}


_MODDED = "KellerJordan/modded-nanogpt@f411b3d346:records/track_1_short"
_MUON = f"{_MODDED}/2024-11-10_UNetDoubleLr/c87bb826-797b-4f37-98c7-d3a5dad2de74.txt"

_dialect = functools.partial(Dialect, framework="pytorch", unit="tokens/s", scope="global", averaging="step")

DIALECTS = (
    _dialect(
        name="nanogpt",
        tokens="slots",
        cross_entropy=True,
        title="nanoGPT",
        zero_based=True,
        evaluation_inside=True,
        step=line(
            rb"iter (?P<step>\d+): loss (?P<loss>[-+\d.eE]+|-?nan|-?inf), time (?P<ms>[\d.]+)ms",
            b"iter 50: loss 9.9876, time 250.00ms, mfu 35.62%",
            "karpathy/nanoGPT@3adf61e154:train.py",
        ),
        evaluation=line(
            rb"step \d+: train loss [\d.naif]+, val loss ",
            b"step 0: train loss 10.9887, val loss 10.9892",
            "karpathy/nanoGPT@3adf61e154:train.py",
        ),
        facts=line(
            rb"tokens per iteration will be: (?P<global_batch>[\d,]+)",
            b"tokens per iteration will be: 491,520",
            "karpathy/nanoGPT@3adf61e154:train.py: accumulation steps x devices x batch x block size",
            fields=_tokens,
        ),
        notes="The time is that of the last iteration, taken before the device has caught up: where not every iteration is "
        "printed it can be too short. The report behind an evaluation holds the evaluation and is left out.",
    ),
    _dialect(
        name="modded_nanogpt",
        tokens="slots",
        cross_entropy=True,
        title="modded-nanogpt",
        averaging="interval",
        zero_based=False,
        step=line(
            rb"step:(?P<step>\d+)/\d+ (?:train_loss:(?P<loss>[-+\d.eE]+|-?nan|-?inf) )?train_time:(?:(?P<elapsed_ms>\d+)ms|(?P<elapsed_s>[\d.]+)s) step_avg:",
            b"step:20/3000 train_loss:6.1644 train_time:1398ms step_avg:139.84ms",
            f"{_MUON}, whose first part is the script",
        ),
        evaluation=line(
            rb"step:\d+/\d+ val_loss:", b"step:0/3000 val_loss:10.8258 train_time:411ms step_avg:nanms", _MUON
        ),
        facts=line(
            rb"    (train_)?batch_size ?(?:: int )?= (?P<global_batch>\d+(?: ?\* ?\d+)*)(?(1)\r?\n| # batch size(?:, in sequences, across all devices| in tokens))",
            b"    batch_size : int = 8*64 # batch size, in sequences, across all devices",
            f"{_MUON}; of tokens in 2025-01-16_Sub3Min/1d3bd93b-a69e-4118-aeb8-8184239d7566.txt, with train_ in "
            "2025-09-10_Yarn/0ecdb695-510b-4c3b-b030-09861a162ce8.txt",
            fields=_product,
        )
        + line(
            rb"sequence_length : int = (?P<items_per_batch>\d+(?: ?\* ?\d+)*) # sequence length, in tokens",
            b"    sequence_length : int = 1024 # sequence length, in tokens",
            _MUON,
            fields=_product,
        ),
        notes="train_time leaves validation out and, until 2025, began anew at step 10; step_avg is its mean. The batch is read "
        "from the script in the log. Since December 2025 it grows in stages, and no one number of tokens is a step's.",
    ),
)
