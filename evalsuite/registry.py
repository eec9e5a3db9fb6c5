"""The adapters that are known: found because they lie in `adapters/` or in a folder given with `--adapters`."""

import importlib.util
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from evalsuite import paths
from evalsuite.adapter import Adapter, listed
from evalsuite.errors import EvalsuiteError


def discover(folders: Iterable[Path] = ()) -> dict[str, Adapter]:
    """All adapters by name: those of the house and those in *folders*. A later folder wins.

    Two modules of one folder may speak for the same framework (`pytorch.py`, `pytorch_official.py`): then the
    adapter has the recipes of both.
    """
    found = {}
    for folder in (paths.ADAPTERS, *folders):
        if not Path(folder).is_dir():
            raise EvalsuiteError(f"{folder}: there is no such folder; --adapters takes a folder of adapter modules.")
        found |= _of_folder(Path(folder))
    return found


def _of_folder(folder: Path) -> dict[str, Adapter]:
    found: dict[str, Adapter] = {}
    for file in sorted(folder.glob("[!_]*.py")):
        adapter = _brought(load(file), folder)
        before = found[adapter.name].recipes if adapter.name in found else ()
        found[adapter.name] = replace(adapter, recipes=(*before, *adapter.recipes))
    return found


def _brought(adapter: Adapter, folder: Path) -> Adapter:
    return replace(adapter, recipes=tuple(replace(recipe, brought_by=folder) for recipe in adapter.recipes))


def load(file: Path) -> Adapter:
    """The adapter in *file*. Raises EvalsuiteError if the file declares none."""
    spec = importlib.util.spec_from_file_location(f"evalsuite_adapter_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    adapter = getattr(module, "ADAPTER", None)
    if not isinstance(adapter, Adapter):
        raise EvalsuiteError(
            f"{file}: the module has no ADAPTER = Adapter(…); see docs/adding-a-framework.md for one that works."
        )
    return adapter


def chosen(names: Iterable[str], adapters: Mapping[str, Adapter]) -> list[Adapter]:
    """The adapters of *names*, in that order. Raises EvalsuiteError on an unknown name, with the nearest one."""
    return [_adapter(name, adapters) for name in names]


def _adapter(name: str, adapters: Mapping[str, Adapter]) -> Adapter:
    if name in adapters:
        return adapters[name]
    raise EvalsuiteError(f'--frameworks: unknown framework "{name}"; {listed("frameworks", name, adapters)}')
