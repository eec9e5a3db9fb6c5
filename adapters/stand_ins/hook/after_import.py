"""Changes a foreign module right after it was imported, so that its user sees it changed from the first line on."""

import importlib.abc
import importlib.util
import sys

_changes = {}  # module's name → functions of the module


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self):
        self._asking = set()

    def find_spec(self, name, path=None, target=None):
        if name not in _changes or name in self._asking:
            return None
        self._asking.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking.discard(name)
        if spec is not None and spec.loader is not None:
            _change_after(spec.loader, _changes[name])
        return spec


def _change_after(loader, changes):
    execute = loader.exec_module

    def exec_module(module):
        execute(module)
        for change in changes:
            change(module)

    loader.exec_module = exec_module


def after_import(name, change):
    """Calls *change* with the module *name* once it is imported; at once if it is already."""
    if name in sys.modules:
        change(sys.modules[name])
    else:
        _changes.setdefault(name, []).append(change)


sys.meta_path.insert(0, _Finder())
