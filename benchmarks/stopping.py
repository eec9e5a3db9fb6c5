"""Limits of adaptive repeats, by simulation, and what they save on recorded runs: the tables of docs/method.md.

    python benchmarks/stopping.py                       the tables, as Markdown
    python benchmarks/stopping.py --write               and data/statistics/stopping.csv
    python benchmarks/stopping.py --recorded RUNS.csv   savings on recorded repeats (columns of dlperf_runs.csv)

A limit is the mildest of a few with which equal frameworks (and efficiencies that are the threshold itself) are told
apart in no more than 5 % of evaluations over all looks: at five, six and seven repeats. Fixed seeds; the most over four
kinds of noise. The project's own rules decide: what is simulated is what is used.
"""

import argparse
import csv
import io
import math
import statistics as standard
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy
from judgement import KINDS, SEED, percent, speeds, table

from evalsuite.results.compare import significance
from evalsuite.results.judge import stopping
from evalsuite.results.measure import statistics

LOOKS = (5, 6, 7)
MOST = LOOKS[-1]
ALLOWED = 0.05
FRAMEWORKS = (2, 3, 4, 6, 8, 12, 16)
LEAD_LIMITS = (significance.LEAST_LEAD, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9)
LEVELS = (0.95, 0.98, 0.99, 0.995, 0.999, 1.0)
TRIALS = 2_500
SETTING = ("nodes", "gpus_per_node", "model", "batch_size_per_gpu", "precision", "unit")  # columns of recorded runs
Runs = Sequence[Sequence[float]]  # of each framework, by round


def adaptive(runs: Runs, limit: float) -> list[int]:
    """How many repeats each framework gets: it stops at a look where each order that it takes part in is settled."""
    made = [LOOKS[0]] * len(runs)
    for look in LOOKS[:-1]:
        going = [place for place in range(len(runs)) if made[place] == look]
        open_: set[int] = set()
        for a, b in combinations(range(len(runs)), 2):
            shared = min(made[a], made[b])
            if not stopping.settled_in_rounds(_leads(runs[a][:shared], runs[b][:shared]), limit, MOST):
                open_ |= {a, b}
        for place in open_.intersection(going):
            made[place] = look + 1
    return made


def _leads(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    return [math.log(b / a) for a, b in zip(ours, theirs, strict=True)]


def behind(runs: Runs, made: Sequence[int]) -> frozenset[int]:
    """The frameworks that the report leaves out of the winner's group."""
    first = max(range(len(runs)), key=lambda place: standard.median(runs[place][: made[place]]))
    found = set()
    for place in range(len(runs)):
        shared = min(made[place], made[first])
        pairs = list(zip(runs[place][:shared], runs[first][:shared], strict=True))
        if place != first and significance.apart_in_rounds(pairs):
            found.add(place)
    return frozenset(found)


def left_out(frameworks: int, limit: float | None, trials: int = TRIALS) -> tuple[float, float]:
    """Of equal frameworks: how often one is left out, the most over the kinds of noise, and the mean of the repeats.

    *limit* None: seven repeats of each, as in the fixed protocol.
    """
    worst, repeats = 0.0, []
    for kind in KINDS:
        random = numpy.random.default_rng([SEED, 5, frameworks, list(KINDS).index(kind)])
        out = 0
        for drawn in speeds(kind, random, trials, frameworks, MOST):
            runs = numpy.maximum(drawn, 1.0).tolist()  # heavy tails reach below any speed
            made = [MOST] * frameworks if limit is None else adaptive(runs, limit)
            out += bool(behind(runs, made))
            repeats.append(standard.fmean(made))
        worst = max(worst, out / trials)
    return worst, standard.fmean(repeats)


def at_threshold(level: float, trials: int = TRIALS) -> float:
    """How often an efficiency at the threshold is judged wrongly over all looks, at most over sides and noises.

    At the threshold itself only "below" is wrong, a hair below it only "reached": each side counts for itself.
    """
    worst = 0.0
    for kind in KINDS:
        random = numpy.random.default_rng([SEED, 6, list(KINDS).index(kind)])
        wrong = {"low": 0, "high": 0}
        for ours, base in speeds(kind, random, trials, 2, MOST).tolist():
            for side in {_side(ours[:n], base[:n], level if n < MOST else statistics.BOOTSTRAP_LEVEL) for n in LOOKS}:
                wrong[side or "low"] += side is not None
        worst = max(worst, *(count / trials for count in wrong.values()))
    return worst


def _side(ours: Sequence[float], base: Sequence[float], level: float) -> str | None:
    """On which side of 1 the whole interval of the ratio lies."""
    interval = statistics.ratio_of_medians(ours, base, level=level)
    assert interval.low is not None and interval.high is not None
    return "low" if interval.high < 1.0 else "high" if interval.low > 1.0 else None


def limits(trials: int = TRIALS) -> Iterator[tuple[str, float, float, float, float, float]]:
    """Of what, limit, error with seven repeats, with plain looks, with the limit, and the mean of the repeats."""
    for frameworks in FRAMEWORKS:
        fixed, _ = left_out(frameworks, None, trials)
        plain, _ = left_out(frameworks, LEAD_LIMITS[0], trials)
        for limit in LEAD_LIMITS:
            error, repeats = left_out(frameworks, limit, trials)
            if error <= ALLOWED:
                yield str(frameworks), limit, fixed, plain, error, repeats
                break
    some = trials // 4  # a bootstrap each
    fixed, plain = at_threshold(1.0, some), at_threshold(statistics.BOOTSTRAP_LEVEL, some)
    for level in LEVELS:
        error = at_threshold(level, some)
        if error <= ALLOWED:
            yield "efficiency", level, fixed, plain, error, math.nan
            return


def as_csv(found: Iterable[tuple[str, float, float, float, float, float]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("of", "limit", "error_fixed", "error_plain_looks", "error", "repeats"))
    for of, limit, fixed, plain, error, repeats in found:
        mean = "" if math.isnan(repeats) else f"{repeats:.2f}"
        writer.writerow((of, f"{limit:.4f}", f"{fixed:.4f}", f"{plain:.4f}", f"{error:.4f}", mean))
    return text.getvalue()


def recorded(file: Path, draws: int = 500) -> str:
    """What five to seven instead of seven repeats save on recorded runs, and what they change.

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
        (float(where[0]) * float(where[1]), [runs for runs in of.values() if len(runs) >= LOOKS[0]])
        for where, of in cases.items()
    ]
    settings = [(devices, scripts) for devices, scripts in settings if len(scripts) > 1]
    for devices, scripts in settings:
        for _ in range(draws):
            runs = [random.choice(of, MOST).tolist() for of in scripts]
            made = adaptive(runs, stopping.lead_limit(len(runs)))
            whole += MOST * len(runs) * devices
            saved += sum(MOST - n for n in made) * devices
            pairs = zip(runs, made, strict=True)
            changes += [abs(standard.median(of[:n]) / standard.median(of) - 1) for of, n in pairs]
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
    parser.add_argument("--write", action="store_true", help="write the table in data/statistics too")
    parser.add_argument("--recorded", type=Path, help="a file of recorded repeats: say what would have been saved")
    parser.add_argument("--trials", type=int, default=TRIALS)
    arguments = parser.parse_args()
    if arguments.recorded:
        print(recorded(arguments.recorded))
        return
    found = list(limits(arguments.trials))
    head = ("of", "limit", "seven repeats", "plain looks", "with the limit", "mean of the repeats")
    rows = (
        (of, f"{limit:.2f}", percent(fixed), percent(plain), percent(error), "–" if math.isnan(mean) else f"{mean:.2f}")
        for of, limit, fixed, plain, error, mean in found
    )
    print(table(head, rows))
    if arguments.write:
        stopping.LIMITS.write_text(as_csv(found), encoding="utf-8")


if __name__ == "__main__":
    main()
