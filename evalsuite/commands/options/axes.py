"""The axes on the command line: the same options for `compare`, `plan` and `run`."""

import argparse
from pathlib import Path

from evalsuite.commands.options import engine_options
from evalsuite.commands.options.common import add_options

MATRIX = {  # option → metavar, help
    "frameworks": ("A,B,…", "adapters by name; see `evalsuite adapters`"),
    "models": ("M,…", "models by name, such as resnet50_v1.5"),
    "recipe": ("R,…", "recipes by name, or a kind: reference (default) or official"),
    "scales": ("NxD,…", "nodes x devices per node, such as 1x1,1x8,2x8"),
    "batch-sizes": ("B,…", "items per device and step; max: the most that fits, found by short runs"),
    "memory-per-device": ("GB", "that a CPU device has while the most that fits is searched for"),
    "scaling": ("S", "weak (default): each device keeps its batch; strong: the job keeps that of the smallest scale"),
    "precision": ("P,…", "fp32, amp"),
    "xla": ("X,…", "off, on: XLA or the framework's own graph compiler"),
    "repeats": ("N", "runs of each case, or 3-7 or 5-7: up to 7 where fewer decide too little"),
    "steps": ("W+M", "warm-up and measured steps, such as 20+100"),
}
WHERE = {
    "cores-per-device": (
        "C",
        "a CPU device is C cores (default: the machine's ÷ the most devices asked for)",
    ),
    "retries": ("N", "of runs that a node or the launcher failed, not the training (2)"),
    "max-device-hours": ("H", "start no run once so many are spent"),
    "seed": ("N", "of the order of the frameworks within each scale and repeat (0)"),
    "container": ("C", "run each recipe in its image: docker, podman, apptainer, enroot, pyxis or charliecloud"),
}
PARTICIPANT = (
    "of the spec's participants this one alone; or one more, as title=…,framework=…,recipe=…,image=…, "
    "with environment=managed in place of the image, data=…, option.NAME=…; repeatable"
)
SWITCHES = {
    "stop-after-window": "end each script once its measured steps are done (always, where it has no limit of its own)",
    "oversubscribe": "let CPU devices share cores, and mark the cases",
    "share": "run at the same time as another evaluation here instead of waiting for it, and mark both",
    "sandbox": "let a script write into its scratch folder alone and reach no network (bubblewrap; one node)",
    "measure-network": "before the first run of a scale of several devices, time all-reduces and reads from storage",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    matrix = parser.add_argument_group("the test matrix (each given axis replaces that of the profile or spec)")
    for name, (metavar, help_text) in MATRIX.items():
        matrix.add_argument(f"--{name}", metavar=metavar, help=help_text)
    _add_repeatable(matrix, "option", "NAME=VALUE", "such as image_size=224; repeatable")
    _add_repeatable(matrix, "participant", "TITLE|KEY=VALUE,…", PARTICIPANT)
    matrix.add_argument("--subset", metavar="NODES", help="the scales of at most so many nodes alone")
    source = parser.add_mutually_exclusive_group()
    profiles = "quick (default), full, bert, cifar10, wide-deep, face, official-cpu, tianshu, tianshu-cpu, dlperf"
    source.add_argument("--profile", metavar="NAME", help=profiles)
    source.add_argument("--spec", metavar="FILE", type=Path, help="a spec of your own (TOML)")
    where = parser.add_argument_group("where")
    devices, default = ("auto", "cpu", "gpu", "npu"), "default: the accelerators if there are any"
    where.add_argument("--device", choices=devices, default="auto", help=default)
    managed = "managed: a virtual environment for each framework (default); current: this interpreter"
    where.add_argument("--environment", choices=("managed", "current"), default="managed", help=managed)
    for name, (metavar, help_text) in WHERE.items():
        where.add_argument(f"--{name}", metavar=metavar, help=help_text)
    for name, help_text in SWITCHES.items():
        where.add_argument(f"--{name}", action="store_true", help=help_text)
    images = "the image of all recipes, or of a framework's, in place of their own; repeatable; with --container"
    _add_repeatable(where, "image", "[FRAMEWORK=]IMAGE", images)
    engine_options.add_arguments(where)
    add_options(where, "adapters", "dialects", "runs", "group")


def _add_repeatable(group: "argparse._ArgumentGroup", name: str, metavar: str, help_text: str) -> None:
    group.add_argument(f"--{name}", metavar=metavar, action="append", default=[], help=help_text)
