"""The name of Python 3.12 that scripts import, for a framework whose CPU build is for 3.11: `typing.override`."""

import typing


def override(method):
    method.__override__ = True
    return method


if not hasattr(typing, "override"):
    typing.override = override
