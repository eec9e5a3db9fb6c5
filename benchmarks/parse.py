"""What reading logs costs, against the pattern engine alone: `grep -hoP` with the dialect's own pattern.

    python benchmarks/parse.py [--rounds 5]

Makes 200 logs of 5,000 lines of one dialect (90 MB), then reads the folder with `parse` and with grep in turn, start-up
included. Prints both times and their ratio; the yardstick is 3.
"""

import argparse
import random
import re
import sys
import tempfile
from pathlib import Path

from harness import compile_sources, measure

from evalsuite.logs import catalogue

LOGS, LINES = 200, 5000
WANTED_RATIO = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    compile_sources()
    with tempfile.TemporaryDirectory() as folder:
        files = [_write_log(Path(folder) / f"{number:03d}.log", number) for number in range(LOGS)]
        parse = [sys.executable, "-m", "evalsuite", "parse", "--devices", "8", "--batch-per-device", "64", folder]
        grep = ["grep", "-hoP", _pattern(), *map(str, files)]
        print(f"{LOGS} logs, {sum(file.stat().st_size for file in files) / 1e6:.0f} MB")
        print("round  grep    parse   ratio   memory of parse")
        best = [float("inf"), float("inf")]
        for number in range(rounds):
            by_grep, by_parse = measure(grep), measure(parse, may_end_with=(0, 3))
            best = [min(best[0], by_grep.wall_s), min(best[1], by_parse.wall_s)]
            ratio = by_parse.wall_s / by_grep.wall_s
            times = f"{by_grep.wall_s:5.2f} s {by_parse.wall_s:5.2f} s {ratio:6.2f}"
            print(f"{number + 1:5}  {times} {by_parse.peak_mib:8.1f} MiB", flush=True)
    print(f"fastest of each: {best[1] / best[0]:.2f} times grep (wanted: at most {WANTED_RATIO:g})")


def _write_log(path: Path, seed: int) -> Path:
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
    (line,) = catalogue.known()["pytorch_examples"].step
    return re.sub(r"\(\?P<\w+>", "(?:", line.pattern.decode())


if __name__ == "__main__":
    main()
