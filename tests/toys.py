"""Small cases, measurements and adapters for the unit floor; and the toy framework that tests of clusters train, an
adapter in `tests/real/toy_adapters`."""

from pathlib import Path

from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.documents import RunCommand, UsedRecipe
from evalsuite.core.model import Case, Fact, Machine, Measurement, Protocol, Run, Throughput, Window
from evalsuite.launch import runner
from evalsuite.plan.engines import engine

CASE = Case(
    framework="toynet",
    recipe="reference-resnet50",
    model="resnet50_v1.5",
    batch_per_device=32,
    protocol=Protocol(warmup_steps=20, measured_steps=100),
)
COMMAND = RunCommand(argv=(), command=(), environment={}, recipe=UsedRecipe(dialect="pytorch_examples"))
TOYS = Path(__file__).resolve().parent / "real" / "toy_adapters"
TOYNET = (
    *("--frameworks", "toynet", "--models", "toy", "--adapters", str(TOYS)),
    *("--environment", "current", "--device", "cpu"),
    *("--quiet-rounds", "0"),  # whatever else the machine does
)
LAUNCHER = runner.Launcher(engine=engine("local"), timeout_s=60.0, pythons={}, packages={}, dialects={})


FACTS = tuple(  # all that a fair comparison asks for beside case and machine
    Fact(key=key, value="the same", source="recipe")
    for key in (
        *("input_size", "data", "optimiser", "clipping", "parallel_layout"),
        *("driver_generation", "tf32", "host_kind", "communication"),
    )
)


def measured(case: Case, repeat: int, items_per_s: float | None, **changes) -> Measurement:
    """A run of *case* with that value, its window and nothing else."""
    window = Window(first_step=21, last_step=120, steps=100, begin_s=5.0, end_s=15.0)
    facts = {
        "run": Run(case=case, repeat=repeat),
        "status": "ok" if items_per_s else "failed",
        "throughput": Throughput(items_per_s=items_per_s, unit="images/s", method="arrival times", window=window),
        "environment": Machine(name="toy machine"),
        "framework_version": "1.0",
        "facts": FACTS,
        "campaign": "toy campaign",
    }
    return Measurement(**{**facts, **changes})


def toynet(name: str = "toynet", **changes) -> Adapter:
    """An adapter whose script is one line of Python."""
    recipe = {
        "name": "reference-resnet50",
        "model": "resnet50_v1.5",
        "kind": "reference",
        "dialect": "pytorch_examples",
        "command": lambda case: Command(argv=("{python}", "train.py", "-b", str(case.batch_per_device))),
    }
    return Adapter(name=name, title=name.title(), recipes=(Recipe(**{**recipe, **changes}),))
