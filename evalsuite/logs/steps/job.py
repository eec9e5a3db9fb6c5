"""Batch and devices of a job: what its log says, and what is known from outside."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from evalsuite.findings import ContradictsLog
from evalsuite.logs.text.records import positive, whole
from evalsuite.model import Finding

PIECES = ("tokens/s", "words/s")  # an item of the batch holds many of them
FEWEST_PIECES = 256  # on one device in a step, in a toy; fewer are sequences, whose length is not said
Said = Mapping[str, bytes | float]
"""Facts as lines of the log give them: names of `dialect.GROUPS` → text or number."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """From the options, the case, or the log itself."""

    devices: int | None = None
    nodes: int | None = None
    batch_per_device: float | None = None
    global_batch: float | None = None  # per optimiser step
    items_per_epoch: float | None = None
    items_per_batch: float | None = None  # tokens in a sequence
    batch_from_outside: bool = False
    argument: str | None = None  # as it stands in the log
    model: str | None = None

    @property
    def items_per_step(self) -> float | None:
        """Of the whole job."""
        items = self.items_per_batch or 1.0
        if self.global_batch is not None:
            return self.global_batch * items
        if self.batch_per_device is None or self.devices is None:
            return None
        return self.batch_per_device * self.devices * items

    def counts(self, unit: str) -> bool:
        """In *unit*? A batch from outside may be sequences, where tokens are printed."""
        return not (self.batch_from_outside and self.items_per_batch is None and unit in PIECES)

    def may_count(self, unit: str) -> bool:
        """The same, or a batch from outside at least as large as one of *unit*."""
        own = batch_per_device(self)
        return self.counts(unit) or own is None or own >= FEWEST_PIECES


def facts(known: Facts, said: Said, case: bool = False) -> Facts:
    """What the log says, completed from outside; of a *case* the other way round, whose recipe has chosen the batch."""
    accumulation = positive(said.get("accumulation")) or 1.0
    printed = _counted(said, "batch_per_device")
    printed = None if printed is None else printed * accumulation
    given = known.batch_per_device
    batch = (given if case else None) or printed or (given and given * (1.0 if case else accumulation))
    total = None if case and batch else positive(said.get("reduced_batch")) or _counted(said, "global_batch")
    argued = {} if case or batch or total else _argued(said)
    if argued:
        said = {**said, **argued}
        batch, total = (_counted(said, name) for name in ("batch_per_device", "global_batch"))
    devices = (known.devices if case else None) or _devices(said) or known.devices or whole(said.get("world_size"))
    model = said.get("model")
    return replace(
        known,
        devices=devices,
        nodes=known.nodes or whole(said.get("nodes")),
        batch_per_device=batch,
        global_batch=total,
        items_per_epoch=positive(said.get("epoch_items")),
        items_per_batch=_counted(said, "items_per_batch"),
        batch_from_outside=bool(argued)
        or (bool(batch) and batch == (given and given * (1.0 if case else accumulation))),
        argument=_argument(said) if argued else None,
        model=known.model or (None if model is None else _text(model)),
    )


ARGUED = ("global_batch", "batch_per_device")


def _argued(said: Said) -> dict[str, bytes | float]:
    """None where steps come in parts."""
    if "argued_parts" in said:
        return {}
    return {name: said[f"argued_{name}"] for name in ARGUED if _counted(said, f"argued_{name}") is not None}


def _argument(said: Said) -> str:
    return ", ".join(_text(said[f"argued_{name}_text"]) for name in ARGUED if f"argued_{name}_text" in said)


def _counted(said: Said, name: str) -> float | None:
    """None if it is no whole number: 491,520 beside decimal commas is no batch of 491.52."""
    found = positive(said.get(name))
    return found if found is not None and found == int(found) else None


def _text(said: bytes | float) -> str:
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)


def _devices(said: Said) -> int | None:
    if positive(said.get("devices")):
        return whole(said["devices"])
    nodes, each = whole(said.get("nodes")), whole(said.get("devices_per_node"))
    if each:
        return (nodes or 1) * each
    total, own = positive(said.get("global_batch")), positive(said.get("batch_per_device"))
    own = own * (positive(said.get("accumulation")) or 1.0) if own else None
    return round(total / own) if total and own and total % own == 0 else None


def batch_per_device(known: Facts) -> float | None:
    if known.global_batch is None or known.devices is None:
        return known.batch_per_device
    each = known.global_batch / known.devices
    return each if each >= 1 else None  # a model spread over devices has no batch on each


def contradictions(known: Facts, said: Said) -> Iterator[Finding]:
    own = facts(Facts(), said)
    forward = positive(said.get("batch_per_device"))
    pairs = (
        ("devices", known.devices, own.devices, None),
        ("batch_per_device", known.batch_per_device, batch_per_device(own), forward),
    )
    for what, given, printed, also in pairs:
        if given is not None and printed is not None and given != also and not math.isclose(given, printed):
            yield ContradictsLog(what=what, given=given, printed=printed)
