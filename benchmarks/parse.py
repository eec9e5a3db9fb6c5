"""What reading logs costs, against the pattern engine alone: `grep -hoP` with the dialect's own pattern.

    python benchmarks/parse.py [--rounds 5] [--big-gib 2] [--noise-mb 500]

Makes 200 logs of 5,000 lines of one dialect (90 MB), then reads the folder with `parse` and with grep in turn,
start-up included. Prints both wall times, their ratio (the yardstick is 3) and the peak memory of `parse` over
all its processes (60 MiB). Then one log of `--big-gib` GiB is read, whose memory must be no more, and one whose
training lines stand behind `--noise-mb` MB of others, which should take 5 s (0 leaves either out).
"""

import argparse
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from evalsuite.logs import catalogue

LOGS, LINES = 200, 5000
WANTED_RATIO, WANTED_MIB = 3.0, 60.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--big-gib", type=float, default=2.0)
    parser.add_argument("--noise-mb", type=float, default=500.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "logs"
        folder.mkdir()
        files = [_log(folder / f"{number:03d}.log", number) for number in range(LOGS)]
        parse = [sys.executable, "-m", "evalsuite", "parse", "--devices", "8", "--batch-per-device", "64"]
        grep = ["grep", "-hoP", _pattern(), *map(str, files)]
        _compare([*parse, str(folder)], grep, arguments.rounds, sum(file.stat().st_size for file in files))
        if arguments.big_gib:
            _big(Path(name) / "big.log", files[0], int(arguments.big_gib * (1 << 30)), parse)
        if arguments.noise_mb:
            _behind_noise(Path(name) / "noise.log", files[0], int(arguments.noise_mb * 1e6), parse)


def _log(path: Path, seed: int) -> Path:
    """A log of pytorch/examples with steps of about 0.3 s."""
    draw = random.Random(seed)
    with open(path, "w") as file:
        for step in range(1, LINES + 1):
            time_s = draw.uniform(0.29, 0.31)
            file.write(
                f"Epoch: [0][{step:4d}/{LINES}]\tTime {time_s:6.3f} ({time_s:6.3f})\tData  0.002 ( 0.001)\t"
                f"Loss {draw.uniform(6, 7):.4e} (6.9078e+00)\n"
            )
    return path


def _pattern() -> str:
    """The dialect's own, without its groups: grep is not asked to hand out numbers."""
    (line,) = catalogue.discover()["pytorch_examples"].step
    return re.sub(r"\(\?P<\w+>", "(?:", line.pattern.decode())


def _compare(parse: list[str], grep: list[str], rounds: int, size: int) -> None:
    print(f"{LOGS} logs, {size / 1e6:.0f} MB")
    print("round  grep    parse   ratio   memory of parse")
    best = {"grep": float("inf"), "parse": float("inf")}
    for number in range(rounds):
        grep_s, _ = _timed(grep)
        parse_s, mib = _timed(parse)
        best = {"grep": min(best["grep"], grep_s), "parse": min(best["parse"], parse_s)}
        print(f"{number + 1:5}  {grep_s:5.2f} s {parse_s:5.2f} s {parse_s / grep_s:6.2f} {mib:8.1f} MiB", flush=True)
    ratio = best["parse"] / best["grep"]
    print(f"fastest of each: {ratio:.2f} times grep (wanted: at most {WANTED_RATIO:g}); {WANTED_MIB:g} MiB allowed")


def _big(path: Path, piece: Path, size: int, parse: list[str]) -> None:
    text = piece.read_bytes()
    with open(path, "wb") as file:
        while file.tell() < size:
            file.write(text)
    seconds, mib = _timed([*parse, str(path)])
    print(f"one log of {path.stat().st_size / (1 << 30):.1f} GiB: {seconds:.1f} s, {mib:.1f} MiB")


def _behind_noise(path: Path, log: Path, size: int, parse: list[str]) -> None:
    """Lines of words and numbers as a job prints them before it trains, then *log*."""
    draw = random.Random(0)
    words = ["loading", "shard", "dataset", "worker", "cache", "prefetch", "config", "memory", "block", "node", "image"]
    with open(path, "w") as file:
        while file.tell() < size:
            said = [f"{' '.join(draw.choices(words, k=8))} {draw.random():.4f}" for _ in range(2000)]
            stamp = f"2026-11-22 03:{draw.randrange(60):02d}:{draw.randrange(60):02d}"
            file.write("".join(f"{stamp} INFO worker[{number}] {line}\n" for number, line in enumerate(said)) * 20)
        file.write(log.read_text())
    seconds, mib = _timed([*parse, str(path)])
    print(f"training lines behind {size / 1e6:.0f} MB of others: {seconds:.1f} s (wanted: 5), {mib:.1f} MiB")


def _timed(command: list[str]) -> tuple[float, float]:
    """(wall time in seconds, peak memory in MiB of the process and its children together)."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as sink:  # not /dev/null: grep stops at the first match when it sees that
        process = subprocess.Popen(command, stdout=sink)
        peak = [0.0]
        watcher = threading.Thread(target=_watch, args=(process.pid, peak), daemon=True)
        watcher.start()
        process.wait()
        seconds = time.perf_counter() - began
    if process.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command[:4])} … ended with {process.returncode}")
    own = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return seconds, max(peak[0], min(own, peak[0] or own))


def _watch(pid: int, peak: list[float]) -> None:
    """Proportional memory of the process tree: pages that forked processes share are counted once."""
    while (total := sum(map(_pss_mib, [pid, *_children(pid)]))) or os.path.exists(f"/proc/{pid}"):
        peak[0] = max(peak[0], total)
        time.sleep(0.02)


def _children(pid: int) -> list[int]:
    try:
        return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _pss_mib(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    found = re.search(r"^Pss: +(\d+) kB", text, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


if __name__ == "__main__":
    main()
