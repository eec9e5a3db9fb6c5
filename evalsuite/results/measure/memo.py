"""Caches derived values on a Summary, which is immutable."""

import functools
from collections.abc import Callable
from typing import TypeVar, cast

from evalsuite.model import Summary

Value = TypeVar("Value")


def cached(made: Callable[[Summary], Value]) -> Callable[[Summary], Value]:
    """*made*, whose value is kept with each summary: a cache by value would hash all its runs."""
    name = f"_{made.__module__}.{made.__qualname__}"

    @functools.wraps(made)
    def known(summary: Summary) -> Value:
        beside = vars(summary)
        if name not in beside:
            beside[name] = made(summary)
        return cast(Value, beside[name])

    return known
