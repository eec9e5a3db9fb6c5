"""Figures that others published of their systems (BlueFog, ChainerMN, ElasticDL, HAL), as they printed them."""

import csv
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "published" / "seeds.csv"


@cache
def rows() -> tuple[dict[str, str], ...]:
    """A row for each figure: what it is of, `metric`, `value` and `unit`; nobody changes them."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))
