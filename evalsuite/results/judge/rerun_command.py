"""The command line of evalsuite that makes given cases, for a reader to copy."""

from collections.abc import Iterable, Sequence

from evalsuite.core.documents import RunCommand
from evalsuite.core.model import UNKNOWN, Case

SPEC = "SPEC.toml"


def words(cases: Sequence[Case], *, repeats: int | str, participants: Sequence[str] = ()) -> tuple[str, ...]:
    """`python -m evalsuite compare …` for *cases*, which differ in framework, recipe and scale alone.

    *participants*: their titles in a spec, which the reader has to name.
    """
    case = cases[0]
    batch, base = case.series_batch, min(case.total_devices for case in cases)
    if participants:
        who = ["--spec", SPEC, *(word for title in participants for word in ("--participant", title))]
    else:
        frameworks, recipes = (_listed(getattr(each, name) for each in cases) for name in ("framework", "recipe"))
        who = ["--frameworks", frameworks, "--recipe", recipes]
    setting = {"precision": case.precision, "xla": "on" if case.xla else "off", "device": case.device}
    given = [
        *(*who, "--models", case.model, "--scales", _listed(case.scale for case in cases)),
        *("--batch-sizes", str(batch if case.strong_batch is None else batch // base)),
        *(word for name, value in setting.items() if value != UNKNOWN for word in (f"--{name}", value)),
        *("--steps", f"{case.protocol.warmup_steps}+{case.protocol.measured_steps}", "--repeats", str(repeats)),
    ]
    if case.strong_batch is not None:
        given += ["--scaling", "strong"]
    if case.cores_per_device:
        given += ["--cores-per-device", str(case.cores_per_device)]
    for name, value in case.options:
        given += ["--option", f"{name}={value}"]
    return ("python", "-m", "evalsuite", "compare", *given)


def titles(ran: Iterable[RunCommand]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(title for command in ran if command.recipe and (title := command.recipe.participant)))


def _listed(names: Iterable[str]) -> str:
    return ",".join(dict.fromkeys(names))
