"""What is told of a case beside its speed, declared once: the table of the page and the tidy tables read it here.

The words of a column that the page shows are `totals.<name>` in data/text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from evalsuite.model import Summary
from evalsuite.report.text import numbers
from evalsuite.report.text.numbers import Form
from evalsuite.results.rules import flops_and_energy
from evalsuite.results.rules.flops_and_energy import compute, energy, peak_memory


@dataclass(frozen=True, kw_only=True)
class CaseColumn:
    name: str
    value: Callable[[Summary], float | str | None]
    form: Form | None = None  # how the page prints it; None: it does not
    method: str = ""


_quantity: Callable[[str], Form] = lambda unit: partial(numbers.quantity, unit=unit)  # noqa: E731
OF_CASE = (
    CaseColumn(
        name="tflops_per_device",
        value=lambda one: found.tflops_per_device if (found := compute(one)) else None,
        form=_quantity(""),
    ),
    CaseColumn(name="peak_tflops", value=lambda one: found.peak_tflops if (found := compute(one)) else None),
    CaseColumn(name="mfu", value=lambda one: found.mfu if (found := compute(one)) else None, form=numbers.percent),
    CaseColumn(
        name="peak_memory_printed_bytes", value=lambda one: peak_memory(one).printed_bytes or None, form=numbers.memory
    ),
    CaseColumn(
        name="peak_memory_sampled_bytes", value=lambda one: peak_memory(one).sampled_bytes or None, form=numbers.memory
    ),
    CaseColumn(
        name="energy_j_per_item",
        value=lambda one: found.joules_per_item if (found := energy(one)) else None,
        form=_quantity("J"),
        method="energy_method",
    ),
    CaseColumn(name="energy_method", value=lambda one: found.method if (found := energy(one)) else None),
    CaseColumn(name="cpu_s", value=flops_and_energy.cpu_s, form=_quantity("s")),
)
