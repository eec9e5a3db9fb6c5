"""How often the statements of a report are wrong, by simulation: the tables of docs/numbers.md.

    python benchmarks/judgement.py                 every table, as Markdown
    python benchmarks/judgement.py --write         and the tables in data/statistics

Each table has a fixed seed, and asks the project's own rooms: what is simulated is what is used. Noise of 1 % unless
a table says otherwise, of five kinds; one campaign's shared offset, where there is one, is as large as the noise.
"""

import argparse
import csv
import functools
import io
import statistics as standard
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations_with_replacement, product

import numpy

from evalsuite.core import paths
from evalsuite.core.model import Case, Machine, Measurement, Run, Throughput
from evalsuite.finished.history import HistoryPoint, line
from evalsuite.results.compare import changes, significance
from evalsuite.results.judge import stopping
from evalsuite.results.measure import statistics
from evalsuite.results.measure.summary import summary

Runs = Sequence[Sequence[float]]  # the logarithm of the throughput, of each framework by round
Draw = Callable[["numpy.random.Generator", tuple[int, ...]], "numpy.ndarray"]

SEED = 10
NOISE = 0.01
RUNS = (5, 6, 7, 10)  # repeats of a side
KINDS: dict[str, Draw] = {
    "normal": lambda random, shape: random.standard_normal(shape),
    "lognormal": lambda random, shape: numpy.exp(0.5 * random.standard_normal(shape)) - 1,
    "heavy tails (t, 2 degrees)": lambda random, shape: random.standard_t(2, shape),
    "skewed (exponential)": lambda random, shape: -random.exponential(1.0, shape),
    "bimodal": lambda random, shape: 3.0 * (random.random(shape) < 0.5) - 1.5 + 0.3 * random.standard_normal(shape),
}
MEDIANS = {"skewed (exponential)": -numpy.log(2.0)}  # of the noise; the others have 0
COVERAGE = paths.DATA / "statistics" / "ratio_coverage.csv"
EQUAL_FRAMEWORKS = paths.DATA / "statistics" / "equal_frameworks.csv"
FRAMEWORKS = (2, 3, 4, 6, 8, 12, 16, 32)
LOOKS = (3, 4, 5, 6, 7)  # of adaptive repeats
MOST_ADAPTIVE = 8  # frameworks; more take hours to simulate
SCATTERS = (0.01, 0.03)
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


def adaptive(runs: Runs, looks: Sequence[int] = LOOKS) -> list[int]:
    """How many repeats each framework gets: it stops at a look where each order that it takes part in is settled."""
    made = [looks[0]] * len(runs)
    for look in looks[:-1]:
        going = [place for place in range(len(runs)) if made[place] == look]
        pairs = stopping.open_pairs(_rounds(runs, made), _first(runs, made))
        for place in {place for pair in pairs for place in pair}.intersection(going):
            made[place] = look + 1
    return made


def behind(runs: Runs, made: Sequence[int]) -> frozenset[int]:
    """The frameworks that the report leaves out of the winner's group, all of one campaign and in rounds."""
    rivals, of_first = _rounds(runs, made), _first(runs, made)
    scatter = functools.cache(lambda places: significance.scatter(rivals, places))

    def is_behind(rival: significance.Rounds) -> bool:
        places = frozenset(rival.keys() & rivals[of_first].keys())
        leads = significance.leads(rival, rivals[of_first], places)
        rule = significance.is_lead if len(leads) >= 5 else significance.is_early_lead
        return rule(leads, scatter(places), len(rivals))

    return frozenset(place for place, rival in enumerate(rivals) if place != of_first and is_behind(rival))


def _first(runs: Runs, made: Sequence[int]) -> int:
    return max(range(len(runs)), key=lambda place: standard.median(runs[place][: made[place]]))


def _rounds(runs: Runs, made: Sequence[int]) -> list[significance.Rounds]:
    return [{("", place): of[place] for place in range(n)} for of, n in zip(runs, made, strict=True)]


def logarithms(runs: numpy.ndarray) -> list[Runs]:
    return numpy.log(numpy.maximum(runs, 1.0)).tolist()  # heavy tails reach below any speed


def _draw(kind: str, frameworks: int, n: int, trials: int, noise: float, seed: int, own: float = 0.0) -> list[Runs]:
    """Rounds of equal frameworks; *own*: the scatter of each one's level in the campaign."""
    random = numpy.random.default_rng([SEED, seed, frameworks, n, list(KINDS).index(kind), round(1000 * noise)])
    runs = speeds(kind, random, trials, frameworks, n, noise=noise)
    runs = runs * (1 + own * random.standard_normal((trials, frameworks, 1)))
    return logarithms(runs)


def _share(found: Iterable[Runs], n: int) -> float:
    """Of the evaluations *found*: in which one framework at least is left out; *n* 3: by adaptive repeats."""
    out = [bool(behind(runs, adaptive(runs) if n == LOOKS[0] else [n] * len(runs))) for runs in found]
    return standard.fmean(out)


def _out_in_each(one: Runs, other: Runs) -> bool:
    first = max(range(len(one)), key=lambda place: standard.median([*one[place], *other[place]]))
    both = [_rounds(runs, [len(runs[0])] * len(runs)) for runs in (one, other)]
    places = both[0][0].keys()
    of_all = [significance.scatter(rivals, places) for rivals in both]
    return any(
        all(
            significance.is_lead(significance.leads(rivals[place], rivals[first], places), of, len(one))
            for rivals, of in zip(both, of_all, strict=True)
        )
        for place in range(len(one))
    )


def power(trials: int = TRIALS) -> list[tuple[int, float, float, int, float, float]]:
    """How often a framework that leads 1, 3 or 7 equal others is told alone, and in a campaign that drifts."""
    found = []
    for frameworks, (noise, lead), n in product((2, 4, 8), ((0.01, 0.02), (0.01, 0.05), (0.03, 0.05)), RUNS):
        random = numpy.random.default_rng([SEED, n, round(1000 * noise), round(100 * lead), frameworks])
        runs = speeds("normal", random, 2 * trials // frameworks, frameworks, n, noise=noise)
        runs[:, 0] *= 1 + lead
        drifted, whole = runs * (1 - DRIFT * numpy.arange(n) / (n - 1)), frozenset(range(1, frameworks))
        told = (
            standard.fmean(behind(of, [n] * frameworks) == whole for of in logarithms(each)) for each in (runs, drifted)
        )
        found.append((frameworks, noise, lead, n, *told))
    return found


def equal_frameworks(trials: int = TRIALS) -> list[tuple[int, int, float, float, float]]:
    """Of equal frameworks, how often one at least leaves the winner's group: by frameworks and runs of each.

    The most over noises; the same where each has a level of its own in the campaign, as large as the noise; and where
    it must be left out in each of two such campaigns. Three runs: adaptive repeats, from three to seven.
    """
    found = []
    for frameworks, n in product(FRAMEWORKS, (LOOKS[0], *RUNS)):
        if n == LOOKS[0] and frameworks > MOST_ADAPTIVE:
            continue
        made, some = LOOKS[-1] if n == LOOKS[0] else n, max(2 * trials // frameworks, 500)
        worst = max(_share(_draw(kind, frameworks, made, some, noise, 1), n) for kind in KINDS for noise in SCATTERS)
        own = [_draw("normal", frameworks, made, some, NOISE, seed, own=NOISE) for seed in (2, 3)]
        twice = standard.fmean(_out_in_each(*pair) for pair in zip(*own, strict=True)) if n >= 5 else _share(own[0], n)
        found.append((frameworks, n, worst, _share(own[0], n), twice))
    return found


def left_out_csv(found: Sequence[tuple[int, int, float, float, float]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("frameworks", "n", "left_out", "own_level", "several_campaigns"))
    writer.writerows((frameworks, n, *(f"{share:.4f}" for share in shares)) for frameworks, n, *shares in found)
    return text.getvalue()


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
                    differs = bool(significance.differ(list(before), list(slower)))
                    tested += differs
                    share = abs(numpy.median(slower) / numpy.median(before) - 1)
                    seen += differs and share >= changes.LEAST_EFFECT
                found.append((n, noise, campaigns, effect, tested / len(pairs), seen / len(pairs)))
    return found


def nights(trials: int = 60) -> list[tuple[str, float, int, float]]:
    """How often the last of some nights is called a regression: what is true, scatter of nights, nights, share."""
    found = []
    for what, scatter, number in product(NIGHTS, (0.005, 0.01, 0.02, 0.03), (2, 3, 4, 5, 10, 20, 40)):
        levels_of, numbers = NIGHTS[what]
        if number not in numbers:
            continue
        random = numpy.random.default_rng([SEED, list(NIGHTS).index(what), round(1000 * scatter), number])
        called = 0
        made = 4 * trials if what == "nothing" else trials
        for _ in range(made):
            levels = levels_of(number) + scatter * random.standard_normal(number)
            runs = 100 * numpy.exp(levels)[:, None] * (1 + NOISE * random.standard_normal((number, 5)))
            called += line([_point(day, list(of_day)) for day, of_day in enumerate(runs)]).slowed is not None
        found.append((what, scatter, number, called / made))
    return found


def _last(share: float, number: int) -> "numpy.ndarray":
    return numpy.where(numpy.arange(number) == number - 1, numpy.log(1 - share), 0.0)


Levels = Callable[[int], "numpy.ndarray"]  # the logarithm of each night's true level
NIGHTS: dict[str, tuple[Levels, Sequence[int]]] = {
    "nothing": (functools.partial(_last, 0.0), (2, 5, 10, 20, 40)),
    **{f"{loss} % lost in the last night": (functools.partial(_last, loss / 100), (10,)) for loss in (5, 8, 12, 20)},
    "4.5 % lost every night": (lambda n: numpy.arange(n) * numpy.log(1 - 0.045), (3, 4, 5, 10)),
}


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
    return HistoryPoint(report=str(day), started_at=f"2026-01-01T00:{day:02d}:00+00:00", summary=summary(case, of))


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
    equals = equal_frameworks()
    print("\n## Equal frameworks: one at least is left out\n")
    head = ("frameworks", "n", "the most over noises", "own levels in a campaign", "in each of two such")
    print(table(head, ((k, "3 to 7" if n == LOOKS[0] else n, *map(percent, shares)) for k, n, *shares in equals)))
    print("\n## A true lead of one framework over the others, which are equal\n")
    head = ("frameworks", "noise", "lead", "n", "told", "told, machine drifts by 5 %")
    rows = ((k, percent(a), percent(b), n, *map(percent, shares)) for k, a, b, n, *shares in power())
    print(table(head, rows))
    print("\n## Two results\n")
    head = ("n", "noise", "scatter of campaigns", "true loss", "test over runs", "said to be slower or faster")
    print(table(head, ((n, *map(percent, shares)) for n, *shares in told_apart())))
    print("\n## Nights: the last is called a regression, of 60 histories\n")
    head = ("true", "scatter of nights", "nights", "called")
    print(table(head, ((what, percent(scatter), n, f"{share:.2f}") for what, scatter, n, share in nights())))
    if arguments.write:
        COVERAGE.parent.mkdir(exist_ok=True)
        COVERAGE.write_text(coverage_csv(covered), encoding="utf-8")
        EQUAL_FRAMEWORKS.write_text(left_out_csv(equals), encoding="utf-8")


if __name__ == "__main__":
    main()
