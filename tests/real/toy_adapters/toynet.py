"""A framework that is a few lines of Python: for the tests of the spine, which need no real training."""

from evalsuite.contracts.adapter import Adapter, Command, Recipe


def command(case):
    steps = case.protocol.total_steps
    script = case.option("script", "train.py")
    return Command(
        argv=("{python}", f"{FOLDER}/{script}", str(steps), str(case.batch_per_device), str(case.total_devices))
    )


FOLDER = __file__.rsplit("/", 1)[0] + "/scripts"
ADAPTER = Adapter(
    name="toynet",
    title="Toynet",
    recipes=(
        Recipe(
            name="reference-toy",
            model="toy",
            kind="reference",
            dialect="pytorch_examples",
            import_name="json",
            package="pip",
            command=command,
        ),
    ),
)
