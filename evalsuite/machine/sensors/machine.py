"""What the machine says of itself: by psutil, or where that is not installed by the kernel's own files."""

from typing import Any

from evalsuite.machine.sensors import kernel


def asked(name: str, **named: Any) -> Any:
    """What psutil's function *name* answers, or a stand-in of ours; None where the machine cannot say."""
    try:
        import psutil
    except ImportError:
        return kernel.asked(name)
    try:
        return getattr(psutil, name)(**named)
    except (OSError, NotImplementedError, psutil.Error):
        return None
