"""What stands under a name of DALI: it can be inherited from and says no when it is made."""


class Name:
    def __init__(self, *args, **kwargs):
        raise RuntimeError("the stand-in for DALI has names only: choose the script's synthetic data")


def any_name(name):
    """The `__getattr__` of a module that has every name but Python's own."""
    if name.startswith("__"):
        raise AttributeError(name)
    return Name


def constant_or_name(name):
    """`types.FLOAT` is "FLOAT", `types.Constant` a name."""
    return name if name.isupper() else any_name(name)
