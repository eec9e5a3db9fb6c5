"""What the machine says of itself, by psutil."""

from typing import Any

import psutil


def read_psutil(name: str, **options: Any) -> Any:
    """What psutil's function *name* answers; None where the machine cannot say."""
    try:
        return getattr(psutil, name)(**options)
    except (OSError, NotImplementedError, psutil.Error):
        return None
