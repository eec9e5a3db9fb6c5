"""Where everything lies: adapters, templates and data, in a checkout or inside the installed package."""

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def _house() -> Path:
    """The folder that holds `adapters/`, `templates/` and `data/`.

    In a wheel they lie inside the package, in a checkout and an editable install beside it.
    """
    return PACKAGE if (PACKAGE / "adapters").is_dir() else PACKAGE.parent


ADAPTERS = _house() / "adapters"
TEMPLATES = _house() / "templates"
SECTIONS = PACKAGE / "report" / "sections"  # a chapter's template lies beside its module
DATA = _house() / "data"


def cache() -> Path:
    """The folder for what can be made again: virtual environments, checkouts, font and figure caches."""
    named = os.environ.get("EVALSUITE_CACHE")
    if named:
        return Path(named).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evalsuite"


def data_sets() -> Path:
    """The folder of the user's data sets (`imagenet`, `imagenet-tfrecord`, …): `{data}` in command lines."""
    named = os.environ.get("EVALSUITE_DATA")
    return Path(named).expanduser() if named else cache() / "data"
