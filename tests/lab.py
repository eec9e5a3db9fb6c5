"""A folder of runs in which each start of a run ends as said next, and takes the seconds a step that are said."""

from dataclasses import replace

from evalsuite.core.model import Run
from evalsuite.launch import campaign, runner
from evalsuite.machine import cores
from evalsuite.results.measure import measurement
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests import runfolders
from tests.toys import CASE, COMMAND, LAUNCHER, toynet

RUN = Run(case=replace(CASE, framework="toynet"), repeat=0)
FAILED = {"status": "failed", "reason": "exit code 1", "exit_code": 1}


class Interrupted(Exception):
    """Ctrl-C, in the middle of a run."""


class Lab:
    def __init__(self, folder, monkeypatch, *ends):
        self.store, self.ends, self.command, self.printed = Store(folder / "runs"), list(ends), COMMAND, None
        self.seconds = {}  # run id → seconds a step; 0: it is interrupted; None: it fails
        monkeypatch.setattr(runner, "launch", self._launch)
        monkeypatch.setattr(cores, "measure_seconds", lambda: 0.3)

    def _launch(self, run, recipe, folder, launcher, *, tick, enough, place):
        seconds = self.seconds.get(run.id, 0.5)
        if seconds == 0:
            raise Interrupted
        ended = self.ends.pop(0) if self.ends else {} if seconds else FAILED
        printed = self.printed or runfolders.steps(seconds=(seconds or 0.5) + 0.0001 * (run.repeat % 5))
        host = runfolders.Host(printed=(printed,))
        return runfolders.fill(folder, host, run.repeat, replace(self.command, campaign=place), **ended)

    def start(self, repeats=1, cases=(RUN.case,), waits=print, **limits):
        """One start of an evaluation: what is missing is run."""
        planned = Planned(profile="full", repeats=repeats, cases=tuple(cases), skips=())
        self.store.write_plan(planned)
        started, launcher = campaign.begin(planned, self.store), replace(LAUNCHER, waits=waits)
        missing = self.store.missing(Run(case=case, repeat=repeat) for repeat in range(repeats) for case in cases)
        ended = []
        for each in campaign.launch_all(missing, self.store, {"toynet": toynet()}, launcher, started, **limits):
            ended.append(each)
            campaign.note_value(each, started, self.store, measurement.measurement(self.store.folder(each.run)))
        return ended

    @property
    def folders(self):
        return sorted(path.name for path in self.store.folder(RUN).path.parent.iterdir() if path.is_dir())
