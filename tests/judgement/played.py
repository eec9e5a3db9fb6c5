"""Plays the toy script on a machine whose clock is a number, and makes of it the run folders of an evaluation."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock

from evalsuite.commands.launching.adaptive_repeats import AdaptiveRepeats
from evalsuite.core.documents import RunCommand, UsedRecipe
from evalsuite.core.model import Case, Protocol, Run
from evalsuite.launch import campaign, runner
from evalsuite.logs.catalogue import Places
from evalsuite.machine import cores
from evalsuite.plan.plan import Plan
from evalsuite.plan.spec import Spec
from evalsuite.report.book import board, identity
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from evalsuite.report.text import words
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure.measurement import measurement
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests import runfolders
from tests.bad_files import AGENT
from tests.judgement import toy_script
from tests.toys import COMMAND, FACTS, LAUNCHER, toynet

SAMPLES_S = 0.2
PROBE_S = 0.3
HARDEST = 0.75  # of the cores in a spell: three programs beside each of ours
SCATTER, LEVELS = 0.01, 0.003  # of steps, and of runs


class Failed(Exception):
    pass


@dataclass
class Load:
    """What others take of the cores over the time of a campaign: *share* of it, in spells of *spell_s* on average.
    Without spells it is steady or, where *each_run*, another level in each run."""

    share: float
    spell_s: float = 0.0
    each_run: bool = False
    now_s: float = 0.0  # since the campaign began
    level: float = 0.0
    until_s: float = 0.0

    def begin_run(self) -> None:
        if not self.spell_s:
            self.level = random.uniform(0, min(0.9, 2 * self.share)) if self.each_run else self.share

    def spend(self, work_s: float) -> float:
        """The wall time that so many seconds of work take, and what others took of the cores in it."""
        begun = self.now_s
        while work_s > 0:
            if self.spell_s and self.now_s >= self.until_s:
                calm_s = self.spell_s * (HARDEST / self.share - 1)
                self.level = 0.0 if self.level else HARDEST
                self.until_s = self.now_s + random.expovariate(1 / (self.spell_s if self.level else calm_s))
            wall_s = work_s / (1 - self.level)
            if self.spell_s:
                wall_s = min(wall_s, self.until_s - self.now_s)
            self.now_s += wall_s
            work_s -= wall_s * (1 - self.level)
            work_s = 0.0 if work_s < 1e-9 else work_s
        return self.now_s - begun


@dataclass
class PlayedMachine:
    """What it does costs time and leaves marks, as (time, CPU seconds, bytes over loopback, seconds others took)."""

    way: str = "plain"
    world: int = 1
    others: int = 0  # programs that want the cores, too
    load: Load | None = None
    taken_s: float = 0.0  # of each core by others
    now_s: float = 0.5
    cpu_s: float = 0.2
    sent: float = 0.0
    level: float = field(default_factory=lambda: random.gauss(1.0, LEVELS))
    marks: list[tuple[float, ...]] = field(default_factory=lambda: [(0.0, 0.0, 0.0, 0.0)])
    written: list[tuple[str, float | None]] = field(default_factory=list)
    stopped: bool = False
    left: int = 0

    def now(self) -> float:
        return self.now_s

    def work(self, seconds: float) -> None:
        seconds *= self.level * random.gauss(1.0, SCATTER)
        asleep = toy_script.ASLEEP.get(self.way, 0.0)
        self.cpu_s += seconds * (1 - asleep) * self.world
        wall_s = self.load.spend(seconds) if self.load else seconds * (1 + self.others / 2)
        self.now_s += wall_s
        self.taken_s += wall_s - seconds if self.load else 0.0
        self.marks.append((self.now_s, self.cpu_s, self.sent, self.taken_s))

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self.marks.append((self.now_s, self.cpu_s, self.sent, self.taken_s))

    def write(self, text: str) -> None:
        lines = text.splitlines()
        self.written += [(line, None if self.stopped else self.now_s) for line in lines]

    def exchange(self, count: int) -> None:
        self.sent += 2 * count

    def stop_agent(self, stop: bool) -> None:
        self.stopped = stop
        self.written = [(line, self.now_s if at_s is None else at_s) for line, at_s in self.written]

    def fetch(self, count: int) -> None:
        self.sent += count

    def leave_child(self, seconds: float) -> None:
        """It works until the agent ends it."""
        self.left = 1
        self.work(min(seconds, 1.0))

    def fail(self) -> None:
        raise Failed

    def samples(self) -> str:
        header = {
            "header": True,
            "hz": 1 / SAMPLES_S,
            "cpu_count": float(self.world),
            "interfaces": {"lo": {}, "eth0": {}},
        }
        lines, marks = [header], iter([*self.marks, (self.now_s + 1, self.cpu_s, self.sent, self.taken_s)])
        before = after = next(marks)
        used_s, lost_s = 0.0, 0.0
        for at in range(int(self.now_s / SAMPLES_S) + 2):  # the agent reads once more at the end
            while after[0] < at * SAMPLES_S:
                before, after = after, next(marks)
            share = (at * SAMPLES_S - before[0]) / (after[0] - before[0]) if after[0] > before[0] else 1.0
            cpu_s, sent, taken_s = (
                begin + share * (end - begin) for begin, end in zip(before[1:], after[1:], strict=True)
            )
            tree = {"cpu_s": cpu_s, "memory_bytes": 1}
            moved = {"lo": {"received_bytes": sent, "sent_bytes": sent}, "eth0": {"received_bytes": 0, "sent_bytes": 0}}
            both_s = (cpu_s - used_s) / self.world + taken_s - lost_s
            percent = 100.0 if self.others else min(100.0, 100 * both_s / SAMPLES_S)
            lines.append({"at_s": at * SAMPLES_S, "cpu_percent": percent, "tree": tree, "interfaces": moved})
            used_s, lost_s = cpu_s, taken_s
        return "".join(f"{json.dumps(line)}\n" for line in lines)


def compare(
    folder: Path,
    ways: Mapping[str, tuple[str, float]],
    model: str,
    scales: str,
    repeats: str,
    others: int = 0,
    load: Load | None = None,
) -> tuple[dict, str]:
    random.seed(f"{ways} {folder.name}")
    begun = dict.fromkeys(ways, 0)

    def launch(run: Run, recipe: object, into: object, launcher: object, *, place: object, **_: object) -> object:
        way, step_s = ways[run.case.framework]
        begun[run.case.framework] += 1
        machine = PlayedMachine(way=way, world=run.case.total_devices, others=others, load=load)
        if load:
            load.begin_run()
        ended = {}
        try:
            toy_script.Training(way, step_s, begun[run.case.framework], machine).start()
        except Failed:
            machine.write("CUDA error: unspecified launch failure")
            ended = {"status": "failed", "reason": "exit code 1", "exit_code": 1}
        lines, at_s = zip(*machine.written, strict=True)
        samples = machine.samples()
        host = runfolders.Host(printed=[runfolders.Printed(lines=lines, arrivals_s=at_s)], samples=samples)
        facts = {**{fact.key: fact.value for fact in FACTS}, "input_size": "224"}
        used = UsedRecipe(dialect="pytorch_examples", kind="reference", name="toy", model=model, facts=facts)
        command: RunCommand = replace(COMMAND, campaign=place, recipe=used, framework_version="1.0")
        outcome = runfolders.fill(into, host, run.repeat, command, duration_s=machine.now_s + 0.1, **ended)
        own = {"duration_s": machine.now_s + 0.1, "left_behind": machine.left, "group_cpu_s": machine.cpu_s}
        counted = {"started_at": outcome.started_at, "samples": samples.count("\n") - 1}
        into.write_agent("n0", replace(AGENT, cores=None, **own | counted))
        return outcome

    def probe() -> float:
        """The fastest of three."""
        return min(load.spend(PROBE_S) for _ in range(3)) if load else PROBE_S

    protocol = Protocol(warmup_steps=toy_script.WARMUP, measured_steps=toy_script.STEPS - toy_script.WARMUP)
    shape = {"recipe": "toy", "model": model, "batch_per_device": 32, "protocol": protocol, "device": "cpu"}
    sizes = [tuple(map(int, scale.split("x"))) for scale in scales.split(",")]
    cases = [
        Case(framework=name, nodes=nodes, devices_per_node=devices, cores_per_device=1, **shape)
        for nodes, devices in sizes
        for name in ways
    ]
    store = Store(folder / "runs")
    planned = Planned(profile="full", repeats=int(repeats), cases=tuple(cases), skips=())
    store.write_plan(planned)
    with mock.patch.object(runner, "launch", launch), mock.patch.object(cores, "measure_seconds", probe):
        started = campaign.begin(planned, store)
        runs = [Run(case=case, repeat=repeat) for repeat in range(int(repeats)) for case in cases]
        recipe = replace(toynet().recipes[0], name="toy", model=model)
        adapters = {name: replace(toynet(name), recipes=(recipe,)) for name in ways}
        whole = Plan(spec=Spec(repeats=int(repeats)), adapters=adapters, cases=tuple(cases), runs=tuple(runs), skips=())
        again = AdaptiveRepeats(whole, store, Places()).rounds(runs, []) if load else runs
        for ended in campaign.launch_all(again, store, adapters, LAUNCHER, started):
            campaign.note_value(ended, started, store, measurement(store.folder(ended.run)))
    book = Book(evaluation=identity.ordered(evaluate(store, criteria_file=folder / "criteria.toml")))
    page = " ".join(chip.text.plain("en") for chip in board.board(book, words.read()).chips)
    return json.loads(json.dumps(summary_json.document(book, "0" * 64))), page
