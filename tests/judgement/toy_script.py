"""A training script of the judgement cases: `toy_script.py WAY STEPS STEP_S COUNT`. Its work is a busy core."""

import os
import random
import signal
import socket
import sys
import time
from pathlib import Path

WAY, STEPS, STEP_S = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
COUNT = Path(sys.argv[4])  # as many bytes as runs began
RANK, WORLD = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
WARMUP = 20
LINE = "Epoch: [0][{step:4d}/{steps}]\tTime {seconds:.6f} ({seconds:.6f})\tLoss {loss}\n"
SECONDS = {  # of a step and an attempt, as shares of an honest one
    "queued": lambda step, attempt: 0.25,
    "accuracy": lambda step, attempt: 0.25,
    "child": lambda step, attempt: 0.25,
    "leaves": lambda step, attempt: 0.25,
    "sleeps fast": lambda step, attempt: 0.25,
    "warm-up": lambda step, attempt: 4.0 if step < WARMUP else 0.4,
    "slower warm-up": lambda step, attempt: 2.4 if step < WARMUP else 0.7,
    "half warm-up": lambda step, attempt: 3.0 if step < WARMUP and step % 4 else 0.7,
    "every second": lambda step, attempt: step % 2,
    "third": lambda step, attempt: min(1, step % 3),
    "random": lambda step, attempt: random.expovariate(1 / 0.7),
    "fading": lambda step, attempt: 1.2 - step / STEPS,
    "last queued": lambda step, attempt: 0.05 if step >= STEPS - 24 else 1.0,
    "half batch": lambda step, attempt: 0.5,
    "before": lambda step, attempt: 0.5,
    "survivor": lambda step, attempt: 0.5,
    "5 of 7": lambda step, attempt: 0.5,
    "same loss": lambda step, attempt: 0.5,
    "attempts": lambda step, attempt: 0.5 if attempt == 1 else 1.0,
    "short first": lambda step, attempt: 0.7 if attempt else 1.0,
    "slow base": lambda step, attempt: 2.0 if WORLD == 1 else 1.0,
    "loader": lambda step, attempt: 0.75 if step % 5 else 2.0,
    "accumulates": lambda step, attempt: 0.7 if step % 2 else 1.3,
}
CLAIMED = {"one write": 0.25, "ten lines": 0.4, "late begin": 1 / 3, "claims": 1 / 1.15}
AT_ONCE = {"one write": STEPS, "ten lines": 10, "buffered": 10}
ATTEMPTS = {"attempts": (STEPS - 1, STEPS, STEPS - 1), "short first": (round(0.45 * STEPS), STEPS)}
SLOW = {"stamps": 0.83, "stamps 1.9": 0.981}
ASLEEP = {
    "sleeps": 1.0,
    "sleeps fast": 1.0,
    "waits": 0.75,
}  # shares; a core that others want, too, keeps the time better so
FAILS = {"survivor": 7 / 13, "5 of 7": 2 / 7}
held: list[str] = []


def work(seconds: float) -> None:
    ends = time.perf_counter() + seconds
    time.sleep(seconds * ASLEEP.get(WAY, 0.4))
    while time.perf_counter() < ends:
        pass


def say(step: int, seconds: float, stamp_s: float | None) -> None:
    """Rank 0 speaks for all."""
    stamp = ""
    if stamp_s is not None:
        stamp = f"2026-11-20 10:{int(stamp_s // 60):02d}:{stamp_s % 60:06.3f} "
    loss = "6.9078" if WAY == "same loss" else f"{7 - step / 500 + random.random() / 100:.4f}"
    held.append(stamp + LINE.format(step=step, steps=STEPS, seconds=seconds, loss=loss))
    if len(held) >= AT_ONCE.get(WAY, 1) and not (WAY == "late begin" and step < 60):
        flush()


def flush() -> None:
    if RANK == 0:
        sys.stdout.write("".join(held))
        sys.stdout.flush()
    held.clear()


def exchange(connection: list[socket.socket], step: int) -> None:
    """A gradient of 50 kB over loopback, as a reduction would."""
    if connection and not (WAY == "every fourth" and step % 4):
        left = 10_000 if WAY == "chatter" else 50_000
        connection[0].sendall(bytes(left))
        while left:
            left -= len(connection[0].recv(left))


def connect() -> list[socket.socket]:
    if WORLD < 2 or WAY == "alone":
        return []
    port = int(os.environ["MASTER_PORT"]) + 1
    if RANK == 0:
        server = socket.create_server(("127.0.0.1", port))
        return [server.accept()[0]]
    for _ in range(200):
        try:
            return [socket.create_connection(("127.0.0.1", port))]
        except OSError:
            time.sleep(0.05)
    raise SystemExit("rank 0 does not answer")


def begin(window_s: float) -> float:
    """What a way does before its first step. Returns the factor of all its steps."""
    with COUNT.open("a") as file:
        file.write("x")
    run, fails = COUNT.stat().st_size, FAILS.get(WAY, 0.0)
    if int(run * fails) > int((run - 1) * fails):
        work(0.5)
        raise SystemExit("CUDA error: unspecified launch failure")
    work({"before": 0.5, "long start": 3.0}.get(WAY, 0.0) * window_s)
    return min(random.uniform(0.9, 1.1) for _ in range(8)) if WAY == "draws" else 1.0


def end() -> None:
    queued_s = max(12.0, 3 * STEPS * STEP_S / 4)
    if WAY == "child" and os.fork() == 0:
        os.setsid()
        os.close(1)
        os.close(2)
        work(queued_s)
        os._exit(0)
    if WAY in ("queued", "accuracy", "evaluates", "silent"):
        work(queued_s)
    if WAY in ("accuracy", "evaluates"):
        print(" * Acc@1 76.100 Acc@5 92.900", flush=True)


def main() -> None:
    other, clock = connect(), 0.0
    factor = STEP_S * begin((STEPS - WARMUP) * STEP_S)
    for attempt, steps in enumerate(ATTEMPTS.get(WAY, (STEPS,))):
        for step in range(steps):
            began = time.perf_counter()
            if WAY == "stops agent" and step in (5, 70):
                os.kill(os.getppid(), signal.SIGSTOP if step == 5 else signal.SIGCONT)
            work(factor * SECONDS.get(WAY, lambda step, attempt: 1.0)(step, attempt))
            exchange(other, step)
            took = time.perf_counter() - began
            clock += took * SLOW.get(WAY, 1.0)
            say(step, took * CLAIMED.get(WAY, 1.0), clock if WAY in SLOW else None)
    flush()
    end()


main()
