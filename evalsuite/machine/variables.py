"""The environment variables that are recorded: those known to change how fast a framework trains.

Each is named: a prefix (`NCCL_`) would include NCCL_SECRET. Of others with such a prefix it is recorded that they were
set, not to what.
"""

import re
from collections.abc import Mapping

from evalsuite.core import paths, redaction

SET = "[set]"  # instead of a value that may be secret

_NAMES: Mapping[str, str] = paths.read_data("variables.toml")
KNOWN = frozenset(f"{beginning}{name}" for beginning, names in _NAMES.items() for name in names.split())
_BEGINNINGS = re.compile("|".join(sorted(filter(None, _NAMES))))
# Terraform's, TensorFlow's list of hosts, and names like those of secrets.
_OTHERS = re.compile(r"TF_(?:CLI|CONFIG|VAR|LOG)|.*(?:CREDENTIAL|KEY|PASSW|SECRET|TOKEN)", re.IGNORECASE)


def relevant(environment: Mapping[str, str]) -> dict[str, str]:
    """Of variables that only share a prefix with known ones, that they are set."""
    values = {}
    for name, value in sorted(environment.items()):
        if name in KNOWN:
            values[name] = value
        elif _BEGINNINGS.match(name) and not _OTHERS.match(name) and not redaction.is_secret_name(name):
            values[name] = SET
    return redaction.redact_variables(values)
