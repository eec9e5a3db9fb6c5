"""PyTorch's ResNet-50 v1.5 with gradients summed in one of several ways, for links of a known rate.

    python -m evalsuite run --adapters tools/shaped_links/pytorch_links.py --recipe shaped-links …

`link_mbit` says what the links between the nodes give, so that runs over one link are told from those over another. It
makes nothing slower: tools/measure_links.py shapes the links.
"""

from pathlib import Path

from adapters.common import launchers
from adapters.common.reference import REFERENCE_ENVIRONMENT, REFERENCE_FACTS, reference_arguments, reference_unsupported
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.model import Case

SCRIPT = Path(__file__).resolve().parent / "workloads" / "pytorch_links.py"


def _command(case: Case) -> Command:
    said = ("--link-mbit", link) if (link := case.option("link_mbit")) else ()
    return Command(
        argv=(
            *(launchers.torchrun(case) if case.total_devices > 1 else ("{python}",)),
            str(SCRIPT),
            *reference_arguments(case),
            *("--all-reduce", "fp16" if case.option("fp16_allreduce") == "on" else "fp32"),
            *("--overlap", case.option("overlap", "on"), *said),
        ),
        environment=REFERENCE_ENVIRONMENT,
    )


def _unsupported(case: Case) -> str | None:
    if case.option("fp16_allreduce") == "on" and case.option("overlap", "on") == "off":
        return "Half precision is sent by a hook of the backward pass: fp16_allreduce=on goes with overlap=on alone."
    return reference_unsupported(case)


ADAPTER = Adapter(
    name="pytorch_links",  # a built-in name is refused
    title="PyTorch",
    recipes=(
        Recipe(
            name="shaped-links",
            model="resnet50_v1.5",
            kind="reference",
            dialect="pytorch_examples",
            command=_command,
            options={"image_size": (), "link_mbit": (), "fp16_allreduce": ("off", "on"), "overlap": ("on", "off")},
            facts=REFERENCE_FACTS,
            amp="",
            xla="",
            outside="it neither evaluates nor saves",
            made_by="sudo python tools/measure_links.py --runs DIR",
            spawn="per_node",
            unsupported=_unsupported,
            requirements=("torch==2.13.0", "torchvision==0.28.0"),
            import_name="torch",
            package="torch",
            source="torchvision.models.resnet50",
        ),
    ),
)
