"""The data sets that a training script reads."""

import re

from evalsuite import paths
from evalsuite.adapter import Command


def names(command: Command) -> list[str]:
    """What follows `{data}/` in *command*."""
    return sorted({name for token in command.tokens for name in re.findall(r"\{data\}/([\w.+-]+)", token)})


def folders(command: Command) -> list[str]:
    """Where *command* reads its data, with targets of links; none where it reads none."""
    if not any("{data}" in token for token in command.tokens):
        return []
    place = paths.data_sets()
    linked = [str((place / name).resolve()) for name in names(command) if (place / name).is_symlink()]
    return [str(place), *dict.fromkeys(linked)]
