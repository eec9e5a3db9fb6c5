"""Calls NVML by pynvml (nvidia-ml-py), imported when a device is looked for. No NVMLError leaves this module."""

import functools
from typing import Any

from evalsuite.core.messages import Message


@functools.cache
def trouble() -> str | None:
    """Why NVML gives nothing; None if it answers."""
    try:
        import pynvml
    except ImportError:
        return Message("machine.nvml_absent")
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return str(error)
    return None


def ask(name: str, *arguments: Any, **named: Any) -> Any:
    """What NVML answers; None where package, library, driver or device cannot say."""
    answered, answer = _answer(name, *arguments, **named)
    return answer if answered else None


def call(name: str, *arguments: Any) -> bool:
    return _answer(name, *arguments)[0]


def _answer(name: str, *arguments: Any, **named: Any) -> tuple[bool, Any]:
    if trouble() is not None:
        return False, None
    import pynvml

    function = getattr(pynvml, name, None)
    if function is None:
        return False, None
    try:
        return True, function(*arguments, **named)
    except pynvml.NVMLError:
        return False, None


def constant(name: str) -> Any:
    import pynvml

    return getattr(pynvml, name, None)


def string(value: bytes | str | None) -> str | None:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
