"""Asks psutil."""

from typing import Any

import psutil


def read_psutil(name: str, **options: Any) -> Any:
    try:
        return getattr(psutil, name)(**options)
    except (OSError, NotImplementedError, psutil.Error):
        return None
