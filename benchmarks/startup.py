"""Start-up: `python -m evalsuite --help` against a bare `python -c pass`, interleaved, as a ratio of medians.

Yardstick: the interpreter itself. The aim is at most 3.
"""

import statistics
import subprocess
import sys
import time

ROUNDS = 30
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "python -m evalsuite --help": [sys.executable, "-m", "evalsuite", "--help"],
    "python -m evalsuite plan --help": [sys.executable, "-m", "evalsuite", "plan", "--help"],
}


def seconds(argv: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main() -> None:
    taken = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, argv in COMMANDS.items():
            taken[name].append(seconds(argv))
    bare = statistics.median(taken["python -c pass"])
    print(f"start-up, median of {ROUNDS} interleaved rounds")
    for name, values in taken.items():
        middle = statistics.median(values)
        print(f"  {name:34} {middle * 1000:7.1f} ms   {middle / bare:5.2f}x")


if __name__ == "__main__":
    main()
