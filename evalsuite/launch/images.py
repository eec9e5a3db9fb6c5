"""What is known of a container image on this machine."""

import subprocess
from collections.abc import Mapping

from evalsuite.plan.containers import Runtime


def digest(found: Runtime, image: str, environment: Mapping[str, str] | None = None) -> str | None:
    """The digest that pins *image*, where the runtime tells it; None where it does not or the image is not here."""
    if found.digest_argv is None:
        return None
    try:
        answer = subprocess.run(
            found.digest_argv(image), capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment
        )
    except OSError:
        return None
    return next(iter(answer.stdout.split()), None) if answer.returncode == 0 else None
