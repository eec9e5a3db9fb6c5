"""Logs composed after what training scripts print, of runs whose speed is known: the truth that a reading is held to.
They are composed after the scripts' sources and not after the logs of `tests/logs`, from which the dialects were made.
`tests/logs/composed` has a template of each script: `complete` ones tell all, some need options, some tell no rate;
`traps` and `short` have evaluations between the steps and a trap in each; they were made before the reader met them."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import jinja2

FOLDER = Path(__file__).resolve().parent / "logs" / "composed"


@dataclass(frozen=True, kw_only=True)
class Training:
    """A run: a slow first step, then steps of nearly the same time, and perhaps an evaluation each hundredth."""

    steps: int = 200
    step_s: float = 0.4
    first_s: float = 12.0
    devices: int = 8
    batch: int = 32  # sequences or images on one device
    tokens: int = 2048  # in a sequence
    start: datetime = datetime(2026, 3, 2, 9, 58, 20)
    evaluation_s: float = 0.0
    swing: float = 0.02

    @property
    def global_batch(self) -> int:
        return self.batch * self.devices

    def took(self, step: int) -> float:
        return self.first_s if step == 1 else self.step_s * (1 + self.swing * math.sin(7 * step))

    @cache  # noqa: B019 (a few runs, for as long as the tests)
    def trained(self, step: int) -> float:
        """Seconds of training up to the end of *step*."""
        return math.fsum(map(self.took, range(1, step + 1)))

    def seconds(self, step: int) -> float:
        """From the start to the end of *step*, evaluations included."""
        return self.trained(step) + self.evaluation_s * ((step - 1) // 100)

    def mean(self, step: int, last: int) -> float:
        """Of the time of the *last* steps up to *step*."""
        first = max(1, step - last + 1)
        return math.fsum(map(self.took, range(first, step + 1))) / (step - first + 1)

    def at(self, step: int, more_s: float = 0.0) -> datetime:
        return self.start + timedelta(seconds=self.seconds(step) + more_s)

    def every(self, steps: int) -> range:
        return range(steps, self.steps + 1, steps)

    def evaluated(self, step: int) -> bool:
        return self.evaluation_s > 0 and step % 100 == 0 and step < self.steps

    def items_per_s(self, unit: str | None) -> float:
        items = {"tokens/s": self.global_batch * self.tokens, "steps/s": 1}
        return items.get(unit or "", self.global_batch) / self.step_s


RUN = Training()
EVALUATED = {"devices": 8, "batch": 24, "tokens": 1024, "evaluation_s": 20.0, "start": datetime(2026, 4, 7, 23, 58, 10)}
OF_FOLDER = {
    "traps": Training(steps=300, step_s=0.37, first_s=25.0, **EVALUATED),
    "short": Training(steps=300, step_s=0.021, first_s=1.3, swing=0.0, **EVALUATED),
}


def names(folder: str) -> list[str]:
    """Of the logs of a folder, each with that of its folder."""
    return sorted(f"{folder}/{path.stem}" for path in (FOLDER / folder).glob("*.txt"))


def run_of(name: str) -> Training:
    return OF_FOLDER.get(name.partition("/")[0], RUN)


def log(name: str, run: Training | None = None) -> str:
    """What the script *name* prints of a run."""
    return _templates().get_template(f"{name}.txt").render(run=run or run_of(name), cr="\r", esc="\x1b")


@cache
def _templates() -> jinja2.Environment:
    made = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER), keep_trailing_newline=True, trim_blocks=True)
    made.filters["as"] = format
    made.globals |= {"bar": _bar, "clock": _clock, "comma_ms": _comma_ms, "timedelta": timedelta}
    made.globals |= {"int": int, "min": min, "round": round}
    return made


def _clock(seconds: float) -> str:
    whole = int(seconds)
    short = f"{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{whole // 3600}:{short}" if whole >= 3600 else short


def _comma_ms(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}"


def _bar(run: Training, step: int) -> str:
    """As tqdm draws it."""
    passed = run.seconds(step)
    rate = step / passed if step else 0.0
    per = "?it/s" if not rate else f"{rate:5.2f}it/s" if rate >= 1 else f"{1 / rate:5.2f}s/it"
    left = _clock((run.steps - step) / rate) if rate else "?"
    share = step * 100 // run.steps
    return f"{share:3d}%|{'█' * (share // 10):<10}| {step}/{run.steps} [{_clock(passed)}<{left}, {per}]"
