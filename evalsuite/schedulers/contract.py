"""What a batch scheduler is to evalsuite: command lines, and what its programs print. Nothing is started here. A
scheduler is a module of `evalsuite/schedulers` with a `SCHEDULER`; `launch/remote/allocations` runs its programs."""

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evalsuite.core.decode import whole
from evalsuite.core.errors import EvalsuiteError

MOST_HOSTS = 100_000  # of a job
Argv = tuple[str, ...]
Environment = Mapping[str, str]
Options = tuple[tuple[str, str], ...]
Ask = Callable[..., str | None]  # a program and its arguments → what it prints; None: it is not there, or fails


@dataclass(frozen=True, kw_only=True)
class NodePlace:
    """A node's place, as texts; None: the platform does not say."""

    rank: str | None = None
    nodes: str | None = None
    host: str | None = None
    job: str | None = None  # with *step*: unlike any other's
    step: str | None = None
    master_addr: str | None = None
    master_port: str | None = None
    hosts: tuple[str, ...] = ()


class Host(NamedTuple):
    number: int  # among all of the allocation, from 0
    name: str


@dataclass(frozen=True, kw_only=True)
class Allocation:
    nodes: int
    spare: int = 0
    account: str | None = None
    partition: str | None = None
    time: str | None = None  # "8:00:00"; None: the partition's own limit
    gres: str | None = None  # "gpu:8"
    cores: int | None = None  # of each node, where the cases say it
    constraint: str | None = None
    options: Options = ()  # more of the submitting program's own, as ("mail-type", "END")


@dataclass(frozen=True, kw_only=True)
class Scheduler:
    """What a scheduler cannot say, its function gives as None or ()."""

    name: str  # of its engine
    title: str
    task_variable: str  # its tasks have it
    place: Callable[[Environment], NodePlace]  # of a task
    hosts_in_place: bool  # whether *place* names all hosts; else the command line names them to the agents
    inherits: bool  # whether a task has the variables of the shell that starts it; else they stand in the command line
    job_variable: str  # in the shell of an allocation: its id
    nodes: Callable[[Environment, Ask], tuple[str, ...]]  # of this shell's allocation, by rank
    left_s: Callable[[Environment, Ask, float], float | None]  # until its end, from the Unix time now; None: no end
    starter: str  # the program that starts a command on a node
    step: Callable[[int, Argv, Sequence[Host]], Argv]  # starts *argv* once on each of the first hosts; (): it chooses
    size: Callable[[Ask, str | None], int | None]  # nodes of a partition, or of the default one; None without an answer
    submitter: Argv  # the script's path follows
    tester: Argv  # the same, and nothing is submitted; (): there is none
    submitted: Callable[[str], str]  # what the submitter printed → the job's id
    in_turn: Options  # which make the jobs of one user start one after another; (): none do
    seconds: Callable[[str], float | None]  # of a time as it is asked for; None: not written so
    directives: Callable[[Allocation, str, str], Sequence[str]]  # lines of the script, for its folder and that of runs
    before: Callable[[str], Sequence[str]]  # shell lines before the command: into that folder, if no directive says it
    interactive: str  # takes two nodes for the command that follows, as typed in a shell
    inventory: str  # shows what there is to ask for
    alive: Argv  # fails where the scheduler does not answer
    package: str  # that has its programs

    @property
    def submits_with(self) -> str:
        return " ".join(word for word in self.submitter if not word.startswith("-"))


def one_line(name: str, value: str) -> str:
    if not value.isprintable() or {*'"\\'} & {*value}:
        raise EvalsuiteError.of("plan.one_line", name=name, text=repr(value[:60]))
    return f'"{value}"' if re.search(r"[\s'#]", value) else value


def unroll_nodelist(nodelist: str) -> tuple[str, ...]:
    """As `scontrol show hostnames`: `gpu[03-05,12],login1` → gpu03, gpu04, gpu05, gpu12, login1; of several brackets
    (`x0b[0-1]n[0-1]`) the last counts fastest."""
    names: list[str] = []
    for name in re.findall(r"(?:[^,\[\]]|\[[^\]]*\])+", nodelist):
        parts = [_ranges(part) if part.startswith("[") else [part] for part in re.findall(r"\[[^\]]*\]|[^\[]+", name)]
        if math.prod(map(len, parts)) > MOST_HOSTS:
            raise EvalsuiteError.of("agent.node_list", text=name[:60])
        names += ["".join(pieces) for pieces in itertools.product(*parts)]
    return tuple(names)


def _ranges(bracket: str) -> list[str]:
    """`[03-05,12]` → 03, 04, 05, 12."""
    numbers: list[str] = []
    for part in bracket.strip("[]").split(","):
        first, _, last = part.partition("-")
        low, high = whole(first), whole(last or first)
        if low is None or high is None or high - low >= MOST_HOSTS:
            raise EvalsuiteError.of("agent.node_list", text=bracket[:60])
        numbers += [str(number).zfill(len(first)) for number in range(low, high + 1)]
    return numbers
