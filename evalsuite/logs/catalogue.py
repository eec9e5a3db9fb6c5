"""The dialects that are known: those of the house, and those that a user or an adapter brings."""

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evalsuite.dialect import Dialect
from evalsuite.errors import EvalsuiteError, did_you_mean

HOUSE = Path(__file__).resolve().parent / "dialects"


def discover(folders: Iterable[Path] = ()) -> dict[str, Dialect]:
    """All dialects by name: those of the house and those in *folders*, which are checked. A later one wins."""
    found = {dialect.name: dialect for file in sorted(HOUSE.glob("[!_]*.py")) for dialect in load(file)}
    for folder in folders:
        if not Path(folder).is_dir():
            raise EvalsuiteError(f"{folder}: there is no such folder; --dialects takes a folder of dialect modules.")
        for file in sorted(Path(folder).glob("[!_]*.py")):
            for dialect in load(file):
                dialect.check()
                found[dialect.name] = dialect
    return found


def load(file: Path) -> Sequence[Dialect]:
    """The dialects that *file* declares. Raises EvalsuiteError if it declares none or cannot be read."""
    spec = importlib.util.spec_from_file_location(f"evalsuite_dialect_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise EvalsuiteError(
            f"{file}: {type(error).__name__}: {error}; a dialect module is Python that declares DIALECTS. "
            "See docs/adding-a-dialect.md for one that works."
        ) from error
    declared = getattr(module, "DIALECTS", None)
    if not isinstance(declared, (tuple, list)) or not all(isinstance(one, Dialect) for one in declared):
        raise EvalsuiteError(
            f"{file}: the module has no DIALECTS = (Dialect(…), …); see docs/adding-a-dialect.md for one that works."
        )
    return declared


def chosen(name: str, dialects: Mapping[str, Dialect]) -> Dialect:
    """The dialect called *name*. Raises EvalsuiteError with the nearest name if there is none."""
    if name in dialects:
        return dialects[name]
    hint = did_you_mean(name, dialects, cutoff=0.4)
    raise EvalsuiteError(f'--dialect: unknown dialect "{name}"; `evalsuite dialects` lists them.{hint}')
