"""The toy framework that tests of clusters train: an adapter in `tests/real/toy_adapters`."""

from pathlib import Path

TOYS = Path(__file__).resolve().parent / "real" / "toy_adapters"
TOYNET = (
    *("--frameworks", "toynet", "--models", "toy", "--adapters", str(TOYS)),
    *("--environment", "current", "--device", "cpu"),
)
