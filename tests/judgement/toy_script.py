"""A training script of the judgement cases: `toy_script.py WAY STEPS STEP_S`. It works by keeping its core busy."""

import os
import sys
import time

WAY, STEPS, STEP_S = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
RANK, WORLD = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
WARMUP = 20
LINE = "Epoch: [0][{step:4d}/{steps}]\tTime {seconds:.6f} ({seconds:.6f})\tLoss 6.7e+00\n"
SECONDS = {  # of a step and an attempt, as shares of an honest one
    "queued": lambda step, attempt: 0.25,
    "warm-up": lambda step, attempt: 4.0 if step < WARMUP else 0.4,
    "every second": lambda step, attempt: step % 2,
    "half batch": lambda step, attempt: 0.5,
    "before": lambda step, attempt: 0.5,
    "survivor": lambda step, attempt: 0.5,
    "attempts": lambda step, attempt: 0.5 if attempt == 1 else 1.0,
    "slow base": lambda step, attempt: 2.0 if WORLD == 1 else 1.0,
}
CLAIMED = {"one write": 0.25, "ten lines": 0.4, "claims": 1 / 1.15}
AT_ONCE = {"one write": STEPS, "ten lines": 10, "buffered": 10}
held: list[str] = []


def work(seconds: float) -> None:
    ends = time.perf_counter() + seconds
    time.sleep(seconds * (1.0 if WAY == "sleeps" else 0.4))  # a core that others want, too, keeps the time better so
    while time.perf_counter() < ends:
        pass


def say(step: int, seconds: float, at_once: int = 1, stamp_s: float | None = None) -> None:
    """Rank 0 speaks for all."""
    stamp = ""
    if stamp_s is not None:
        stamp = f"2026-11-20 10:{int(stamp_s // 60):02d}:{stamp_s % 60:06.3f} "
    held.append(stamp + LINE.format(step=step, steps=STEPS, seconds=seconds))
    if len(held) >= at_once:
        flush()


def flush() -> None:
    if RANK == 0:
        sys.stdout.write("".join(held))
        sys.stdout.flush()
    held.clear()


def exchange(connection: "list") -> None:
    """A gradient of 50 kB over loopback, as a reduction would."""
    if connection:
        connection[0].sendall(bytes(50_000))
        left = 50_000
        while left:
            left -= len(connection[0].recv(left))


def connect() -> "list":
    if WORLD < 2 or WAY == "alone":
        return []
    import socket

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


def main() -> None:
    other, clock = connect(), 0.0
    window = STEPS - WARMUP
    if WAY == "before":  # half of the work
        work(window * STEP_S / 2)
    if WAY == "long start":
        work(3 * window * STEP_S)
    if WAY == "survivor" and os.urandom(1)[0] < 128:
        work(STEPS * STEP_S / 2)
        raise SystemExit("CUDA error: unspecified launch failure")
    for attempt in range(3 if WAY == "attempts" else 1):
        steps = STEPS if attempt == 1 or WAY != "attempts" else STEPS - 1
        for step in range(steps):
            began = time.perf_counter()
            work(STEP_S * SECONDS.get(WAY, lambda step, attempt: 1.0)(step, attempt))
            exchange(other)
            took = time.perf_counter() - began
            clock = clock + took * 0.83
            say(step, took * CLAIMED.get(WAY, 1.0), AT_ONCE.get(WAY, 1), clock if WAY == "stamps" else None)
    flush()
    if WAY == "queued":
        work(max(12.0, 3 * STEPS * STEP_S / 4))
    if WAY == "evaluates":
        work(12.0)
        print(" * Acc@1 76.100 Acc@5 92.900", flush=True)


main()
