"""What the node agent costs: a CPU workload on every core, with the agent and without, in turn.

    python benchmarks/agent.py [--rounds 7] [--seconds 3] [--hz 2]

Each round runs the workload alone, under the agent, and alone again. Prints the throughput under the agent as
a ratio to the mean of the two beside it (1.0 = no cost), the ratio of those two to each other (how much the
machine itself wavers: a cost smaller than that cannot be seen), the agent's own CPU time as a share of one
core, and how long after it was printed a line was stamped, with every core busy.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from evalsuite.runs.store import RunFolder

# One process per core hashes for the time given and prints a line every 50 steps, like a chatty training log.
WORKLOAD = """
import hashlib, multiprocessing, os, sys, time
def steps(seconds, loud):
    data, done, end = bytes(1 << 18), 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        hashlib.sha256(data).digest()
        done += 1
        if loud and done % 50 == 0:
            print(f"step {done} printed at {time.time()!r}", file=sys.stderr, flush=True)
    return done
if __name__ == "__main__":
    cores = len(os.sched_getaffinity(0))
    with multiprocessing.Pool(cores) as pool:
        calls = [(float(sys.argv[1]), core == 0) for core in range(cores)]
        print("total", sum(pool.starmap(steps, calls)))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--hz", type=float, default=2.0)
    arguments = parser.parse_args()
    ratios, waverings, shares, lags_ms = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "workload.py"
        script.write_text(WORKLOAD)
        line = [sys.executable, str(script), str(arguments.seconds)]
        print("round  agent ÷ alone  alone ÷ alone  agent's CPU")
        for number in range(arguments.rounds):
            before = alone(line)
            out = Path(folder) / str(number)
            sampled, share = under_agent(line, out, arguments.hz)
            lags_ms += stamp_lags_ms(out)
            after = alone(line)
            ratios.append(2 * sampled / (before + after))
            waverings.append(after / before)
            shares.append(share)
            print(f"{number + 1:5}  {ratios[-1]:13.4f}  {waverings[-1]:13.4f}  {share:11.3%}", flush=True)
    print(f"\nload of the machine now (1 min): {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"throughput, agent ÷ alone: {spread(ratios, '.4f')}")
    print(f"throughput, alone ÷ alone: {spread(waverings, '.4f')}")
    print(f"agent's CPU, of one core:  {spread(shares, '.3%')} at {arguments.hz:g} Hz")
    print(f"a line is stamped after:   {spread(lags_ms, '.2f')} ms")


def alone(line: list[str]) -> int:
    done = subprocess.run(line, capture_output=True, check=True)
    return total(done.stdout)


def under_agent(line: list[str], out: Path, hz: float) -> tuple[int, float]:
    agent = [
        "env",
        "EVALSUITE_HOST=n",
        sys.executable,
        "-m",
        "evalsuite",
        "sample",
        "-o",
        str(out),
        "--hz",
        str(hz),
        "--for-run",
        "all",
    ]
    subprocess.run([*agent, "--", *line], check=True)
    facts = json.loads((out / "agent.n.json").read_bytes())
    return total((out / "log.n.txt").read_bytes()), facts["cpu_s"] / facts["duration_s"]


def stamp_lags_ms(out: Path) -> list[float]:
    """For each chunk of one line: from the time in the line to its stamp."""
    log = (out / "log.n.txt").read_bytes()
    start_s = RunFolder(out).samples("n").header.started_at_unix_s
    lags_ms, begin = [], 0
    for row in (out / "arrivals.n.csv").read_text().splitlines()[1:]:
        end, at_s = row.split(",")
        chunk, begin = log[begin : int(end)], int(end)
        if chunk.startswith(b"step") and chunk.count(b"\n") == 1:
            lags_ms.append(1000 * (start_s + float(at_s) - float(chunk.rsplit(None, 1)[1])))
    return lags_ms


def total(output: bytes) -> int:
    return int(output.split(b"total ")[1])


def spread(values: list[float], form: str) -> str:
    least, greatest = min(values), max(values)
    return f"median {statistics.median(values):{form}} ({least:{form}} to {greatest:{form}}, n = {len(values)})"


if __name__ == "__main__":
    main()
