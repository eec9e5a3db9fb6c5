"""Start-up: `python -m evalsuite --help` against a bare `python -c pass`, interleaved, as a ratio of medians.

Yardstick: the interpreter itself. The aim is at most 3.
"""

import statistics
import sys

from harness import compile_sources, measure

ROUNDS = 30
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "python -m evalsuite --help": [sys.executable, "-m", "evalsuite", "--help"],
    "python -m evalsuite plan --help": [sys.executable, "-m", "evalsuite", "plan", "--help"],
}


def main() -> None:
    compile_sources()
    costs = [{name: measure(argv) for name, argv in COMMANDS.items()} for _ in range(ROUNDS)]
    print(f"start-up, median of {ROUNDS} interleaved rounds")
    bare = statistics.median(costs_of["python -c pass"].cpu_s for costs_of in costs)
    for name in COMMANDS:
        wall_s = statistics.median(costs_of[name].wall_s for costs_of in costs)
        cpu_s = statistics.median(costs_of[name].cpu_s for costs_of in costs)
        print(f"  {name:34} {wall_s * 1000:7.1f} ms wall {cpu_s * 1000:7.1f} ms CPU   {cpu_s / bare:5.2f}x")


if __name__ == "__main__":
    main()
