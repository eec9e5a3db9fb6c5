"""A stranger's framework: one file with its adapter and the dialect that its script prints."""

from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.contracts.dialect import Dialect, Line
from evalsuite.core.model import Case

PRINTED = Dialect(
    name="tinynet",
    title="TinyNet train.py",
    framework="tinynet",
    unit="samples/s",
    scope="global",
    averaging="step",
    step=(
        Line(
            pattern=rb"tinynet: step (?P<step>\d+) took (?P<ms>[\d.]+) ms, loss (?P<loss>[\d.]+)",
            sample=b"tinynet: step 12 took 20.2 ms, loss 6.9120",
            source="example/tinynet@1f2e3d4:train.py, line 9",
        ),
    ),
)


def command(case: Case) -> Command:
    script = __file__.rsplit("/", 1)[0] + "/scripts/train.py"
    return Command(argv=("{python}", script, str(case.protocol.total_steps)))


ADAPTER = Adapter(
    name="tinynet",
    title="TinyNet",
    recipes=(
        Recipe(
            name="train-tiny",
            model="tiny",
            kind="reference",
            unit="samples/s",
            dialect=PRINTED,
            command=command,
            import_name="json",
            package="pip",
        ),
    ),
)
