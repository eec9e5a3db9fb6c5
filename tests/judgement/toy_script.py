"""A training script of the judgement cases, which `played` plays on a machine whose clock is a number."""

import random
from typing import Any

WARMUP, STEPS = 20, 120
LINE = "Epoch: [0][{step:4d}/{steps}]\tTime {seconds:.6f} ({seconds:.6f})\tLoss {loss}\n"
SECONDS = {  # of a step and an attempt, as shares of an honest one
    **dict.fromkeys(("queued", "accuracy", "slow batches", "child", "leaves", "sleeps fast"), lambda *_: 0.25),
    "warm-up": lambda step, attempt: 4.0 if step < WARMUP else 0.4,
    "slower warm-up": lambda step, attempt: 2.4 if step < WARMUP else 0.7,
    "half warm-up": lambda step, attempt: 3.0 if step < WARMUP and step % 4 else 0.7,
    "every second": lambda step, attempt: step % 2,
    "third": lambda step, attempt: min(1, step % 3),
    "random": lambda step, attempt: random.expovariate(1 / 0.7),
    "three quarters": lambda step, attempt: 1.0 if step < WARMUP else 0.75,
    "fading": lambda step, attempt: 1.2 - step / STEPS,
    "last queued": lambda step, attempt: 0.05 if step >= STEPS - 24 else 1.0,
    **dict.fromkeys(("half batch", "before", "survivor", "5 of 7", "same loss"), lambda step, attempt: 0.5),
    "attempts": lambda step, attempt: 0.5 if attempt == 1 else 1.0,
    "short first": lambda step, attempt: 0.7 if attempt else 1.0,
    "loader": lambda step, attempt: 0.75 if step % 5 else 2.0,
    "accumulates": lambda step, attempt: 0.7 if step % 2 else 1.3,
}
CLAIMED = {"one write": 0.25, "ten lines": 0.4, "late begin": 1 / 3, "claims": 1 / 1.15}
AT_ONCE = {"one write": STEPS, "ten lines": 10, "buffered": 10}
ATTEMPTS = {"attempts": (STEPS - 1, STEPS, STEPS - 1), "short first": (round(0.45 * STEPS), STEPS)}
OF_ONE = {"14 % base": 1.14, "spins at scale": 1.14}  # of a step on one device
REACHES = {"14 % base": 0.74, "spins at scale": 0.74}  # true efficiency of several
SLOW = {"stamps": 0.83, "stamps 1.9": 0.981}
ASLEEP = {"sleeps": 1.0, "sleeps fast": 1.0, "waits": 0.75}  # shares
FAILS = {"survivor": 7 / 13, "5 of 7": 2 / 7}


class Training:
    """*run*: how many of this way began before it, and this."""

    def __init__(self, way: str, step_s: float, run: int, machine: Any) -> None:
        self.way, self.step_s, self.run, self.machine = way, step_s, run, machine
        self.held: list[str] = []

    def start(self) -> None:
        factor, clock = self.step_s * self._begin(), 0.0
        for attempt, steps in enumerate(ATTEMPTS.get(self.way, (STEPS,))):
            for step in range(steps):
                began = self.machine.now()
                if self.way == "stops agent" and step in (5, 70):
                    self.machine.stop_agent(step == 5)
                self.machine.work(factor * SECONDS.get(self.way, lambda step, attempt: 1.0)(step, attempt))
                self._exchange(step)
                took = self.machine.now() - began
                clock += took * SLOW.get(self.way, 1.0)
                self._say(step, took * CLAIMED.get(self.way, 1.0), clock if self.way in SLOW else None)
        self._flush()
        self._end()

    def _begin(self) -> float:
        """What a way does before its first step. Returns the factor of all its steps."""
        fails = FAILS.get(self.way, 0.0)
        if int(self.run * fails) > int((self.run - 1) * fails):
            self.machine.work(0.5)
            self.machine.fail()
        self.machine.work({"before": 0.5, "long start": 3.0}.get(self.way, 0.0) * (STEPS - WARMUP) * self.step_s)
        drawn = min(random.uniform(0.9, 1.1) for _ in range(8)) if self.way == "draws" else 1.0
        return drawn * (OF_ONE.get(self.way, 1.0) if self.machine.world == 1 else 1.0)

    def _exchange(self, step: int) -> None:
        """A gradient of 50 kB over loopback, as a reduction would; what a step loses by it is waited for, or spun."""
        if self.machine.world > 1 and (reached := REACHES.get(self.way)):
            lost_s = self.step_s * (1 / reached - 1)
            self.machine.work(lost_s) if self.way == "spins at scale" else self.machine.wait(lost_s)
        if self.way == "waits":
            self.machine.fetch(50_000)
        if self.machine.world > 1 and self.way != "alone" and not (self.way == "every fourth" and step % 4):
            self.machine.exchange(10_000 if self.way == "chatter" else 50_000)

    def _say(self, step: int, seconds: float, stamp_s: float | None) -> None:
        """Rank 0 speaks for all."""
        stamp = ""
        if stamp_s is not None:
            stamp = f"2026-11-20 10:{int(stamp_s // 60):02d}:{stamp_s % 60:06.3f} "
        loss = "6.9078" if self.way == "same loss" else f"{7 - step / 500 + random.random() / 100:.4f}"
        self.held.append(stamp + LINE.format(step=step, steps=STEPS, seconds=seconds, loss=loss))
        if len(self.held) >= AT_ONCE.get(self.way, 1) and not (self.way == "late begin" and step < 60):
            self._flush()

    def _flush(self) -> None:
        if self.held:
            self.machine.write("".join(self.held))
        self.held = []

    def _end(self) -> None:
        queued_s = max(12.0, 3 * STEPS * self.step_s / 4)
        if self.way == "child":
            self.machine.leave_child(queued_s)
        if self.way in ("queued", "accuracy", "silent"):
            self.machine.work(queued_s)
        if (batch_s := {"evaluates": 0.4, "slow batches": 4.0}.get(self.way, 0.0) * self.step_s) > 0:
            for batch in range(10, batches := round(queued_s / batch_s), 10):
                self.machine.work(10 * batch_s)
                self.machine.write(f"Test: [{batch:4d}/{batches}]\tLoss 6.9\n")
        if self.way in ("accuracy", "evaluates", "slow batches"):
            self.machine.write(" * Acc@1 76.100 Acc@5 92.900\n")
