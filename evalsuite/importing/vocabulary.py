"""Names and values of imported runs, to find misspelt ones: `precison=amp` would become an option of its own.

Only what nearly is one of these is refused.
"""

import difflib
from collections.abc import Mapping

from evalsuite.messages import Message

NEARLY = 0.8  # of difflib's ratio: two swapped letters in a word of five
FACTS = (  # of data/criteria/facts.toml, and the options that state them
    *("model_variant", "tf32", "batch_per_device", "global_batch", "accumulation", "input_size", "image_size"),
    *("sequence_length", "data", "loader", "data_loader", "loader_workers", "optimiser", "optimizer", "clipping"),
    *("gradient_clipping", "weight_decay", "parallel_layout", "tensor_parallel", "pipeline_parallel", "zero_stage"),
    *("device_model", "device_memory", "driver_generation", "host_kind", "hosts", "machine", "communication"),
    *("compiler", "framework_version", "version", "image", "image_digest", "cuda", "nccl", "loss_scaling"),
    *("memory_layout", "kernel_switches", "parameters", "features", "batch_policy", "mode", "loss_scale"),
    *("data_source", "data_place"),
)
VALUES: Mapping[str, tuple[str, ...]] = {
    "optimiser": (
        *("sgd", "sgd without momentum", "momentum", "nag", "adam", "adamw", "lazy adam", "adamax", "nadam", "radam"),
        *("adan", "adafactor", "adagrad", "adabelief", "lamb", "lars", "lion", "muon", "rmsprop", "shampoo", "sophia"),
        *("fusedadam", "fused_adam", "fusedlamb", "fused_lamb", "adamw_hf", "adamw_torch", "adamw_torch_fused"),
    ),
    "data": (
        *("synthetic", "imagenet", "imagenet1k", "imagenet21k", "imagenette", "imagewoof", "text", "c4", "wikitext"),
        *("cifar10", "cifar100", "mnist", "criteo", "dali", "dali-gpu", "dali-cpu", "records", "ofrecord", "pytorch"),
    ),
    "weight_decay": ("none", "l2", "decoupled"),
    "memory_layout": ("nchw", "nhwc", "channels_last"),
    "loss_scaling": ("none", "static", "dynamic"),
}
_SPELT = {"optimizer": "optimiser"}


def check_spelling(facts: Mapping[str, str], names: tuple[str, ...]) -> None:
    """Raises ValueError with the nearest word if a name or value of *facts* nearly is a known one.

    *names*: those that `import` takes in addition to the facts.
    """
    known = {*FACTS, *names}
    for name, value in facts.items():
        if name not in known and (near := _nearest(name, tuple(known))):
            raise ValueError(Message("importing.vocabulary_name", text=name, near=near))
        words = VALUES.get(_SPELT.get(name, name), ())
        word = value.strip().lower()
        if words and word not in words and (near := _nearest(word, words)):
            raise ValueError(Message("importing.vocabulary_value", name=name, text=value, near=near))


def _nearest(word: str, known: tuple[str, ...]) -> str | None:
    return next(iter(difflib.get_close_matches(word, known, n=1, cutoff=NEARLY)), None)
