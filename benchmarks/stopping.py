"""What adaptive repeats save and what they get wrong, by simulation and on recorded runs: tables of docs/numbers.md.

    python benchmarks/stopping.py                       the tables, as Markdown
    python benchmarks/stopping.py --recorded RUNS.csv   savings on recorded repeats (columns of dlperf_runs.csv)

The yardstick is seven repeats of every case. Fixed seeds; the project's own rules decide.
"""

import argparse
import csv
import math
import statistics as standard
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy
from judgement import LOOKS, SEED, adaptive, behind, logarithms, percent, speeds, table

MOST = LOOKS[-1]
TRIALS = 2_000
SETTING = ("nodes", "gpus_per_node", "model", "batch_size_per_gpu", "precision", "unit")  # columns of recorded runs


def savings(trials: int = TRIALS) -> Iterator[tuple[int, str, float, float, float, float, float]]:
    """Frameworks, leads, noise; share of the device-hours of seven; a wrong statement by looks and by seven; told.

    "one ahead": one leads all others, which are equal; "each apart": each leads the next.
    """
    for frameworks, shape, noise, lead in product(
        (2, 4, 8), ("one ahead", "each apart"), (0.003, 0.005, 0.01, 0.02), (0.0, 0.02, 0.05, 0.1)
    ):
        if frameworks == 2 and shape == "each apart":
            continue
        random = numpy.random.default_rng([SEED, frameworks, round(1000 * noise), round(100 * lead), len(shape)])
        step = numpy.arange(frameworks) if shape == "each apart" else numpy.minimum(numpy.arange(frameworks), 1)
        runs = speeds("normal", random, max(200, trials // frameworks), frameworks, MOST, noise=noise)
        every = logarithms(runs * (1 - lead * step)[None, :, None])
        made = [adaptive(each) for each in every]
        looked = [behind(one, n) for one, n in zip(every, made, strict=True)]
        fixed = [behind(each, [MOST] * frameworks) for each in every]
        yield (
            frameworks,
            f"{shape}, {percent(lead)}",
            noise,
            standard.fmean(map(standard.fmean, made)) / MOST,
            *(standard.fmean(_is_wrong(item, lead) for item in each) for each in (looked, fixed)),
            *(standard.fmean(len(item) == frameworks - 1 for item in each) for each in (looked, fixed)),
        )


def _is_wrong(left_out: frozenset[int], lead: float) -> bool:
    return 0 in left_out if lead else bool(left_out)


def recorded(file: Path, draws: int = 500) -> str:
    """What three to seven instead of seven repeats save on recorded runs, and what they change.

    Few scripts were run seven times, and none in rounds: seven rounds are drawn from the runs of each (with
    replacement, seeded) wherever two scripts or more have five runs of one setting.
    """
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    cases: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for row in rows:
        where = tuple(row[key] for key in SETTING)
        script = f"{row['framework']} {row['log_dir']} {row['log_stem']}"
        cases.setdefault(where, {}).setdefault(script, []).append(float(row["throughput"]))
    random = numpy.random.default_rng(SEED)
    whole = saved = compared = flipped = 0.0
    changes: list[float] = []
    settings = [
        (float(where[0]) * float(where[1]), [runs for runs in of.values() if len(runs) >= 5])
        for where, of in cases.items()
    ]
    settings = [(devices, scripts) for devices, scripts in settings if len(scripts) > 1]
    for devices, scripts in settings:
        for _ in range(draws):
            runs = logarithms(numpy.array([random.choice(of, MOST) for of in scripts]))
            made = adaptive(runs)
            whole += MOST * len(runs) * devices
            saved += sum(MOST - n for n in made) * devices
            pairs = zip(runs, made, strict=True)
            changes += [abs(math.expm1(standard.median(of[:n]) - standard.median(of))) for of, n in pairs]
            compared += 1
            flipped += behind(runs, made) != behind(runs, [MOST] * len(runs))
    half, most, all_ = (float(each) for each in numpy.quantile(changes, (0.5, 0.95, 1.0)))
    return (
        f"{len(settings)} settings, {sum(len(of) for _, of in settings)} cases, {draws} draws each: "
        f"{percent(saved / whole)} of the device-hours saved against seven repeats; the median of a case moves by "
        f"{percent(half)} (half of them), {percent(most)} (95 %), {percent(all_)} (most); "
        f"{percent(flipped / compared)} of the orders differ"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recorded", type=Path, help="a file of recorded repeats: say what would have been saved")
    parser.add_argument("--trials", type=int, default=TRIALS)
    arguments = parser.parse_args()
    if arguments.recorded:
        print(recorded(arguments.recorded))
        return
    head = (
        "frameworks",
        "lead",
        "noise",
        "device-hours of seven",
        "wrong",
        "wrong by seven",
        "winner told",
        "by seven",
    )
    rows = ((k, lead, percent(noise), *map(percent, shares)) for k, lead, noise, *shares in savings(arguments.trials))
    print(table(head, rows))


if __name__ == "__main__":
    main()
