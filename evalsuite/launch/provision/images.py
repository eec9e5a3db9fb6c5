"""What is known of a container image on this machine."""

import functools
from collections.abc import Mapping

from evalsuite.core import files, paths
from evalsuite.core.paths import SCRATCH
from evalsuite.launch.programs import ask_program
from evalsuite.plan.containers import Container, Runtime

LISTING = paths.DATA / "list_distributions.py"
ASKING_S = 600.0  # a runtime that has not the image yet pulls it first


def digest(runtime: Runtime, image: str, environment: Mapping[str, str] | None = None) -> str | None:
    if not runtime.digest:
        return None
    answer = ask_program([image if word == "{image}" else word for word in runtime.digest], ASKING_S, environment)
    return next(iter(answer.stdout.split()), None) if answer and answer.returncode == 0 else None


@functools.cache
def packages(container: Container, image: str) -> Mapping[str, str]:
    """Distribution → version, as the Python inside *image* sees them; empty where it cannot be asked."""
    with files.scratch("image") as folder:
        (folder / SCRATCH).mkdir()
        asking = container.argv(("python3", "-I", "-c", LISTING.read_text("utf-8")), image=image, folder=str(folder))
        answer = ask_program(container.runtime.alone(asking), ASKING_S)
    return _listed(answer.stdout) if answer and answer.returncode == 0 else {}


def _listed(printed: str) -> dict[str, str]:
    """The last line that LISTING printed: an image may greet first."""
    lines = printed.strip().splitlines()
    try:
        versions = files.parse_json(lines[-1]) if lines else {}
    except ValueError:
        return {}
    return {str(name): str(version) for name, version in sorted(versions.items())} if isinstance(versions, dict) else {}
