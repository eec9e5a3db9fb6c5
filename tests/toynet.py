"""The toy framework that tests of clusters train: an adapter in `tests/real/toy_adapters`."""

from pathlib import Path

from evalsuite.launch import runner
from evalsuite.plan.engines import engine

TOYS = Path(__file__).resolve().parent / "real" / "toy_adapters"
TOYNET = (
    *("--frameworks", "toynet", "--models", "toy", "--adapters", str(TOYS)),
    *("--environment", "current", "--device", "cpu"),
    *("--quiet-rounds", "0"),  # whatever else the machine does
)
LAUNCHER = runner.Launcher(engine=engine("local"), timeout_s=60.0, pythons={}, packages={}, dialects={})
