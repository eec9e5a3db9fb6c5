"""The hosts of an evaluation: `--hosts a,b:8`, or a host file as mpirun reads it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message

_NAME = r"(?:[\w.-]+@)?[A-Za-z0-9_][\w.-]*"  # user@host; a leading dash would be an option
_WORD = re.compile(rf"({_NAME})(?::(\d{{1,4}}))?", re.ASCII)  # gpu01:8
_WORDS = r"(?:\s+slots=(\d{1,4})|\s+(?!slots=)[\w-]+=\S+)*"
_LINE = re.compile(rf"({_NAME})(?::(\d{{1,4}}))?{_WORDS}", re.ASCII)  # gpu01 slots=8 max_slots=8
MOST_DEVICES = 1024  # some count the cores of a host as its slots


@dataclass(frozen=True, kw_only=True)
class Host:
    address: str  # as ssh takes it: gpu01, or user@gpu01
    devices: int | None = None  # None: not given

    @property
    def name(self) -> str:
        return self.address.rpartition("@")[2]


def from_words(text: str) -> tuple[Host, ...]:
    words = map(str.strip, text.split(","))
    return _checked(
        [_host(_WORD, word, EvalsuiteError.of("plan.hosts_word", name=word[:60])) for word in words], "--hosts"
    )


def from_file(path: Path) -> tuple[Host, ...]:
    """A host a line: `gpu01`, `gpu01 slots=8` (Open MPI) or `gpu01:8` (MPICH)."""
    try:
        lines = files.read_bytes(path, follow=True).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else Message("plan.host_no_text")
        raise EvalsuiteError.of("plan.hosts_file", path=path, error=why) from error
    bare = [(number, words) for number, line in enumerate(lines, 1) if (words := line.partition("#")[0].strip())]
    hosts = [
        _host(_LINE, words, EvalsuiteError.of("plan.host_line", path=path, line=number, text=words[:60]))
        for number, words in bare
    ]
    return _checked(hosts, f"--hosts {path}")


def _host(pattern: re.Pattern[str], words: str, mistake: EvalsuiteError) -> Host:
    if not (match := pattern.fullmatch(words)):
        raise mistake
    devices = next(filter(None, match.groups()[1:]), None)
    return Host(address=match[1], devices=int(devices) if devices else None)


def _checked(hosts: Sequence[Host], where: str) -> tuple[Host, ...]:
    names = [host.name for host in hosts]
    if not names:
        raise EvalsuiteError.of("plan.hosts_none", where=where)
    if twice := next((name for place, name in enumerate(names) if name in names[:place]), None):
        raise EvalsuiteError.of("plan.hosts_twice", where=where, name=twice)
    for host in hosts:
        if host.devices is not None and not 1 <= host.devices <= MOST_DEVICES:
            raise EvalsuiteError.of(
                "plan.hosts_devices", where=where, name=host.name, n=host.devices, most=MOST_DEVICES
            )
    return tuple(hosts)


def too_small(hosts: Iterable[Host], devices: int) -> list[str]:
    return [host.name for host in hosts if host.devices is not None and host.devices < devices]
