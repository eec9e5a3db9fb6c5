"""How often the statements of a report are wrong, by simulation: the tables of docs/method.md.

    python benchmarks/judgement.py                 every table, as Markdown
    python benchmarks/judgement.py --write         and the tables in data/statistics

Each table has a fixed seed, and asks the project's own rooms: what is simulated is what is used. Noise of 1 % unless
a table says otherwise, of four kinds; one campaign's shared offset, where there is one, is as large as the noise.
"""

import argparse
import csv
import io
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations_with_replacement, product

import numpy

from evalsuite import paths
from evalsuite.model import Case, Machine, Measurement, Run, Throughput
from evalsuite.results.compare import changes, significance
from evalsuite.results.measure import statistics
from evalsuite.results.measure.summary import summary
from evalsuite.site.history import HistoryLine, HistoryPoint, line

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
EQUAL_FRAMEWORKS = paths.DATA / "statistics" / "equal_frameworks.csv"
FRAMEWORKS = (2, 3, 4, 6, 8, 12, 16, 32)
DRIFT = 0.05  # of a machine that gets slower from the first round of a campaign to the last
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


def winners_table(trials: int = TRIALS) -> list[tuple[int, int, str, float, float, float, float]]:
    """Of equal frameworks: how often one at least leaves the winner's group, by all runs and within rounds.

    And how often the first is called the fastest of all, and pairwise tests at 5 % would drop one. By frameworks, runs
    of each and kind of noise.
    """
    found = []
    for frameworks, n, kind in product((2, 8), (3, 4, 5, 6, 7), ("normal", "lognormal", "heavy tails (t, 2 degrees)")):
        random = numpy.random.default_rng([SEED, frameworks, n, list(KINDS).index(kind)])
        left = alone = tests = in_rounds = 0
        some = trials // 16  # the exact test takes its time
        for trial, runs in enumerate(speeds(kind, random, trials // 4, frameworks, n)):
            first, *others = sorted(map(list, runs), key=numpy.median, reverse=True)
            behind = [significance.apart(other, first) for other in others]
            left += any(behind)
            alone += all(behind)
            in_rounds += n >= 5 and any(_in_rounds(other, first) for other in others)
            if n >= 5 and trial < some:
                tests += any(statistics.permutation_p(other, first) < 0.05 for other in others)
        shares = (4 * left / trials, 4 * in_rounds / trials, 4 * alone / trials, tests / some)
        found.append((frameworks, n, kind, *shares))
    return found


def _in_rounds(other: Sequence[float], first: Sequence[float]) -> bool:
    pairs = list(zip(other, first, strict=True))
    return min(map(min, pairs)) > 0 and significance.apart_in_rounds(pairs)  # heavy tails reach below any speed


def left_out(trials: int = TRIALS) -> list[tuple[int, int, float]]:
    """How often some one of equal frameworks leaves the group: the most over ways and noises."""
    found = []
    for frameworks, n in product(FRAMEWORKS, RUNS):
        worst = 0.0
        for kind in ("normal", "lognormal", "heavy tails (t, 2 degrees)"):
            random = numpy.random.default_rng([SEED, frameworks, n, list(KINDS).index(kind), 1])
            by_runs = in_rounds = 0
            for runs in speeds(kind, random, trials, frameworks, n):
                first, *others = sorted(map(list, runs), key=numpy.median, reverse=True)
                by_runs += any(significance.apart(other, first) for other in others)
                in_rounds += any(_in_rounds(other, first) for other in others)
            worst = max(worst, by_runs / trials, in_rounds / trials)
        found.append((frameworks, n, worst))
    return found


def left_out_csv(found: Sequence[tuple[int, int, float]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("frameworks", "n", "left_out"))
    writer.writerows((frameworks, n, f"{share:.4f}") for frameworks, n, share in found)
    return text.getvalue()


def drifting(trials: int = TRIALS) -> list[tuple[int, float, float, float, float]]:
    """How often a true lead is told, by all runs and within rounds: by runs, drift of the campaign and lead."""
    found = []
    for n, drift, lead in product((5, 7), (0.0, DRIFT), (0.02, 0.03, 0.05)):
        random = numpy.random.default_rng([SEED, n, round(100 * drift), round(100 * lead)])
        runs = speeds("normal", random, trials, 2, n) * (1 - drift * numpy.arange(n) / (n - 1))
        pairs = [(list(slower), list(faster * (1 + lead))) for slower, faster in runs]
        by_runs = sum(significance.apart(slower, faster) for slower, faster in pairs)
        in_rounds = sum(_in_rounds(slower, faster) for slower, faster in pairs)
        found.append((n, drift, lead, by_runs / trials, in_rounds / trials))
    return found


def told_apart(trials: int = TRIALS) -> list[tuple[int, float, float, float, float, float]]:
    """Power and false alarms of a pair of results, of one campaign or of two whose offsets differ."""
    found = []
    for n in (5, 7):
        for noise, campaigns in ((0.01, 0.0), (0.01, 0.01), (0.03, 0.0)):
            for effect in (0.0, 0.01, 0.02, 0.05, 0.1):
                random = numpy.random.default_rng([SEED, n, round(1000 * noise), round(1000 * effect)])
                pairs = speeds("normal", random, trials // 4, 2, n, noise=noise)
                pairs = pairs * (1 + campaigns * random.standard_normal((len(pairs), 2, 1)))
                tested = seen = 0
                for before, after in pairs:
                    slower = after * (1 - effect)
                    differs = bool(statistics.differ(list(before), list(slower)))
                    tested += differs
                    share = abs(numpy.median(slower) / numpy.median(before) - 1)
                    seen += differs and share >= changes.LEAST_EFFECT
                found.append((n, noise, campaigns, effect, tested / len(pairs), seen / len(pairs)))
    return found


def histories(trials: int = 200) -> list[tuple[float, int, float]]:
    """How often the last point of an unchanged history is called a regression: scatter of campaigns, points, share."""
    found = []
    for scatter in (0.0, 0.005, 0.01, 0.02, 0.03):
        for points in (2, 5, 10, 20):
            random = numpy.random.default_rng([SEED, round(1000 * scatter), points])
            levels = 100 * (1 + scatter * random.standard_normal((trials, points, 1)))
            runs = levels * (1 + NOISE * random.standard_normal((trials, points, 5)))
            found.append((scatter, points, sum(_history(one).regressed for one in runs) / trials))
    return found


def _history(days: numpy.ndarray) -> HistoryLine:
    return line([_point(day, list(runs)) for day, runs in enumerate(days)])


def _point(day: int, runs: Sequence[float]) -> HistoryPoint:
    case = Case(framework="any", recipe="any", model="any", batch_per_device=1)
    of = [
        Measurement(
            run=Run(case=case, repeat=k),
            status="ok",
            throughput=Throughput(items_per_s=speed, unit="images/s", method="", window=None),
            environment=Machine(name="any"),
            log_sha256=f"{day} {k}",
        )
        for k, speed in enumerate(runs)
    ]
    return HistoryPoint(report=str(day), started_at=str(day), summary=summary(case, of))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the tables in data/statistics too")
    arguments = parser.parse_args()
    covered = ratio_coverage()
    print("## Coverage of the interval of a ratio\n")
    print(table(("n", "m", "noise", "coverage"), ((n, m, kind, percent(share)) for n, m, kind, share in covered)))
    print("\n## D09 in sound cases\n")
    head = ("n", "cases of the block", "noise", "size", "flagged")
    print(table(head, ((n, k, kind, percent(size), percent(share)) for n, k, kind, size, share in flagged_cases())))
    print("\n## Equal frameworks\n")
    head = ("frameworks", "n", "noise", "one left out", "within rounds", "one alone ahead", "by tests at 5 %")
    rows = ((k, n, kind, *map(percent, shares)) for k, n, kind, *shares in winners_table())
    print(table(head, rows))
    equals = left_out()
    print("\n## Equal frameworks, the most over ways and noises\n")
    print(table(("frameworks", "n", "one left out"), ((k, n, percent(share)) for k, n, share in equals)))
    print("\n## A lead in a campaign that drifts\n")
    head = ("n", "drift", "lead", "told by all runs", "within rounds")
    print(table(head, ((n, *map(percent, shares)) for n, *shares in drifting())))
    print("\n## Two results\n")
    head = ("n", "noise", "scatter of campaigns", "true loss", "test over runs", "said to be slower or faster")
    print(table(head, ((n, *map(percent, shares)) for n, *shares in told_apart())))
    print("\n## Unchanged histories\n")
    head = ("scatter of campaigns", "points", "last called a regression")
    print(table(head, ((percent(scatter), n, percent(share)) for scatter, n, share in histories())))
    if arguments.write:
        COVERAGE.parent.mkdir(exist_ok=True)
        COVERAGE.write_text(coverage_csv(covered), encoding="utf-8")
        EQUAL_FRAMEWORKS.write_text(left_out_csv(equals), encoding="utf-8")


if __name__ == "__main__":
    main()
