"""How often the statements of a report are wrong, by simulation: the tables of docs/method.md.

    python benchmarks/judgement.py                 every table, as Markdown
    python benchmarks/judgement.py --write         and data/statistics/ratio_coverage.csv

Each table has a fixed seed, and asks the project's own rooms: what is simulated is what is used. Noise of 1 % unless
a table says otherwise, of four kinds; one campaign's shared offset, where there is one, is as large as the noise.
"""

import argparse
import csv
import io
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations_with_replacement

import numpy

from evalsuite import paths
from evalsuite.results import statistics

Draw = Callable[["numpy.random.Generator", tuple[int, ...]], "numpy.ndarray"]

SEED = 10
NOISE = 0.01
RUNS = (5, 6, 7, 10)  # repeats of a side
KINDS: dict[str, Draw] = {
    "normal": lambda random, shape: random.standard_normal(shape),
    "lognormal": lambda random, shape: numpy.exp(0.5 * random.standard_normal(shape)) - 1,
    "heavy tails (t, 2 degrees)": lambda random, shape: random.standard_t(2, shape),
    "skewed (exponential)": lambda random, shape: -random.exponential(1.0, shape),
}
MEDIANS = {"skewed (exponential)": -numpy.log(2.0)}  # of the noise; the others have 0
COVERAGE = paths.DATA / "statistics" / "ratio_coverage.csv"
TRIALS = 4_000


def speeds(kind: str, random: numpy.random.Generator, *shape: int, noise: float = NOISE) -> numpy.ndarray:
    """Throughputs of runs whose true median is 100."""
    return 100.0 * (1 + noise * (KINDS[kind](random, shape) - MEDIANS.get(kind, 0.0)))


def ratio_coverage(trials: int = TRIALS) -> list[tuple[int, int, str, float]]:
    """How often the interval of a ratio of medians holds the true ratio, for n and m runs."""
    found = []
    for n, m in combinations_with_replacement(RUNS, 2):
        for kind in KINDS:
            random = numpy.random.default_rng([SEED, n, m, list(KINDS).index(kind)])
            held = 0
            for ours, theirs in zip(speeds(kind, random, trials, n), speeds(kind, random, trials, m), strict=True):
                interval = statistics.ratio_of_medians(list(ours), list(theirs))
                assert interval.low is not None and interval.high is not None
                held += interval.low <= 1.0 <= interval.high
            found.append((n, m, kind, held / trials))
    return found


def coverage_csv(found: Sequence[tuple[int, int, str, float]]) -> str:
    """The least coverage over the kinds of noise, for each n and m."""
    least: dict[tuple[int, int], float] = {}
    for n, m, _, share in found:
        least[n, m] = min(share, least.get((n, m), 1.0))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("n", "m", "coverage"))
    writer.writerows((n, m, f"{share:.3f}") for (n, m), share in sorted(least.items()))
    return text.getvalue()


def flagged_cases(trials: int = TRIALS) -> list[tuple[int, int, str, float, float]]:
    """In which share of sound cases D09 flags some run: by runs, cases of the block, kind and size of the noise."""
    found = []
    for n in RUNS:
        for cases in (1, 8):
            for kind in KINDS:
                for noise in (0.01, 0.03, 0.08):
                    random = numpy.random.default_rng([SEED, n, cases, list(KINDS).index(kind), round(100 * noise)])
                    blocks = speeds(kind, random, trials // 4, cases, n, noise=noise)
                    flagged = sum(_flagged(block) for block in blocks)
                    found.append((n, cases, kind, noise, flagged / (len(blocks) * cases)))
    return found


def _flagged(block: numpy.ndarray) -> int:
    scatter = [statistics.pooled(list(runs)) for runs in block]
    whole = sum(scatter, statistics.NO_RUNS)
    return sum(bool(statistics.outliers(list(runs), whole - own)) for runs, own in zip(block, scatter, strict=True))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write data/statistics/ratio_coverage.csv too")
    arguments = parser.parse_args()
    covered = ratio_coverage()
    print("## Coverage of the interval of a ratio\n")
    print(table(("n", "m", "noise", "coverage"), ((n, m, kind, percent(share)) for n, m, kind, share in covered)))
    print("\n## D09 in sound cases\n")
    head = ("n", "cases of the block", "noise", "size", "flagged")
    print(table(head, ((n, k, kind, percent(size), percent(share)) for n, k, kind, size, share in flagged_cases())))
    if arguments.write:
        COVERAGE.parent.mkdir(exist_ok=True)
        COVERAGE.write_text(coverage_csv(covered), encoding="utf-8")


if __name__ == "__main__":
    main()
