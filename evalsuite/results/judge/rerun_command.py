"""The command line of evalsuite that makes given cases, for a reader to copy."""

from collections.abc import Iterable, Sequence

from evalsuite.model import Case, Protocol


def words(
    command: str,
    cases: Sequence[Case],
    *,
    repeats: int | str,
    protocol: Protocol | None = None,
    engine: str | None = None,
) -> tuple[str, ...]:
    """`python -m evalsuite COMMAND …` for *cases*, which differ in framework, recipe and scale alone.

    *protocol*: in place of their own; *engine*: what started them, where it was not this machine.
    """
    case = cases[0]
    steps = protocol or case.protocol
    batch, base = case.series_batch, min(one.total_devices for one in cases)
    given = [
        *("--frameworks", _listed(one.framework for one in cases), "--models", case.model),
        *("--recipe", _listed(one.recipe for one in cases), "--scales", _listed(one.scale for one in cases)),
        *("--batch-sizes", str(batch if case.strong_batch is None else batch // base), "--precision", case.precision),
        *("--xla", "on" if case.xla else "off", "--device", case.device),
        *("--steps", f"{steps.warmup_steps}+{steps.measured_steps}", "--repeats", str(repeats)),
    ]
    if case.strong_batch is not None:
        given += ["--scaling", "strong"]
    if case.cores_per_device:
        given += ["--cores-per-device", str(case.cores_per_device)]
    if engine and engine not in ("local", "replay"):
        given += ["--engine", engine]
    for name, value in case.options:
        given += ["--option", f"{name}={value}"]
    return ("python", "-m", "evalsuite", command, *given)


def _listed(names: Iterable[str]) -> str:
    return ",".join(dict.fromkeys(names))
