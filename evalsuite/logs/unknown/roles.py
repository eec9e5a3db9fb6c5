"""The numbers of like lines as columns, and what each is: a counter, a rate, a time."""

import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from evalsuite.contracts.dialect import NO_ITEMS, Scope
from evalsuite.logs.steps.streams import take_turns
from evalsuite.logs.unknown import words
from evalsuite.logs.unknown.words import Slot, slots

HOUR_S, DAY_S, LATE = 3600, 86_400, 100  # since the start no report is so many times as late as the later are apart
FEWEST = 3  # lines that make a group
MOST_A_SECOND = 1000  # steps of an optimiser: what is faster tokenises, converts or copies
MOST_STEPS, ROUND = 10_000, 1000  # between reports; what rises faster, and by no round number, counts items
AGREES, SCATTER = 0.1, 1.5  # with the stamps; of the ninth tenth of a column over the first
LEAST_SAMPLES, BATCH, BATCHES = 160, 16, 50  # of a report that counts samples: ten times 16; many times its first
MEANT, REGULAR, NEARLY_ALL = 0.3, 0.5, 0.9  # how far a mean may be from that of like steps; shares of the usual steps

_NUMBER = re.compile(rb"%b|%b" % (words.LASTING, words.NUMBER))
_SINCE_1970 = {"unix_s": 1e9, "unix_ms": 1e12}  # at least, and less than twice: 2001 to 2033

Column = list[Slot]
Columns = Mapping[tuple[str, str, int], Column]
Chosen = dict[str, Column]  # by names of `GROUPS`


def cells(text: bytes) -> list[bytes]:
    return [cell.strip() for cell in re.split(rb"[,;|\t]", text.strip(b" |\r"))]


def is_header(text: bytes) -> bool:
    names = cells(text)
    return len(names) >= FEWEST and all(re.fullmatch(rb"[A-Za-z][^:=\d]{0,40}", name) for name in names)


def is_row(text: bytes, names: Sequence[bytes]) -> bool:
    row = cells(text) if names else []
    return len(row) == len(names) and sum(map(bool, map(_NUMBER.fullmatch, row))) >= FEWEST


def columns_of(texts: Sequence[bytes], names: Sequence[bytes] = ()) -> Columns:
    """(label, unit, which of these) → the number in every line; what some lack is left out.

    *names*: of the columns, where they stand above rows of numbers; the start of a number is then its place.
    """
    if names:
        rows = zip(map(words.label, names), zip(*map(cells, texts), strict=True), strict=True)
        return {
            (label, "", at): [Slot(label=label, unit="", text=cell, lead=b"", tail=b"", start=at) for cell in column]
            for at, (label, column) in enumerate(rows)
            if all(map(_NUMBER.fullmatch, column))
        }
    columns: dict[tuple[str, str, int], Column] = defaultdict(list)
    for text in texts:
        seen: Counter[tuple[str, str]] = Counter()
        for slot in slots(text):
            plain = slot.label, re.sub(r"^[kmgb](?= |$)", "", slot.unit).strip()
            columns[(*plain, seen[plain])].append(slot)
            seen[plain] += 1
    return {key: column for key, column in columns.items() if len(column) == len(texts)}


def values_of(column: Sequence[Slot]) -> list[float]:
    return [value for slot in column if (value := slot.value) is not None]


def _is_whole(column: Sequence[Slot], also: bytes = b"") -> bool:
    return all(re.fullmatch(rb"[\d,_]+%b" % also, slot.text) is not None for slot in column)


def scatter(column: Column, counter: Column, stamps: Sequence[float]) -> bool:
    """As figures of single steps do, between others, and as stamps deny; the first of an epoch may be of fewer."""
    usual, steps = usual_interval(counter), _differences(counter)
    values = [value * column[0].unit_s for value in values_of(column)[1:]]
    gaps = [after - before for before, after in pairwise(stamps)]
    told = [abs(s * n - gap) < AGREES * gap for s, n, gap in zip(values, steps, gaps, strict=True)]
    alike = [value for value, step in zip(values, steps, strict=True) if step == usual]
    low, *_, high = statistics.quantiles(alike, n=10) if len(alike) >= FEWEST else (1.0, 1.0)
    return high > SCATTER * low and sum(told) <= NEARLY_ALL * len(told)


def find_batch(chosen: Chosen, kilo: float) -> dict[str, float | None]:
    """What the rate times the seconds of a step gives in nearly all lines: (533.8 examples/sec; 0.240 sec/batch)"""
    pairs = zip(values_of(chosen.get("rate", [])), values_of(chosen["seconds"]), strict=False)
    each = [kilo * rate * seconds * chosen["seconds"][0].unit_s for rate, seconds in pairs]
    batch = float(round(statistics.median(each))) if each and kilo > 0 else 0.0
    alike = sum(abs(one - batch) < AGREES * batch for one in each) >= NEARLY_ALL * len(each)
    return {"global_batch": batch} if batch and alike else {}


def is_coarse(column: Sequence[Slot]) -> bool:
    """Has it so few digits that rounding alone may be a tenth?"""
    parts = [slot.text.partition(b".")[2] for slot in column]
    return float(0.1 ** max(map(len, parts))) > statistics.median(values_of(column)) / 5


def _differences(column: Sequence[Slot]) -> list[float]:
    return [after - before for before, after in pairwise(values_of(column))]


def _rises(column: Sequence[Slot]) -> bool:
    values = values_of(column)
    return len(values) == len(column) >= FEWEST and len(set(values)) > 1 and min(_differences(column)) >= 0


def _rises_in_epochs(column: Column, counter: Column) -> bool:
    pairs = list(zip(values_of(counter), values_of(column), strict=True))
    begins = [0, *(place for place, step in enumerate(_differences(counter), 1) if step < 0), len(pairs)]
    epochs = [pairs[begin:end] for begin, end in pairwise(begins) if end - begin >= FEWEST]
    steps = [(c1 - c0, v1 - v0) for epoch in epochs for (c0, v0), (c1, v1) in pairwise(epoch)]
    shares = [(end[1] - begin[1]) / (end[0] - begin[0]) * end[0] for begin, *_, end in epochs if end[0] > begin[0]]
    alike = sum(share > epoch[-1][1] / 2 for share, epoch in zip(shares, epochs, strict=False))
    return len(steps) > 2 * FEWEST and all(value >= 0 for _, value in steps) and alike == len(epochs)


def choose_counters(columns: Columns) -> tuple[Chosen, bool]:
    """(step, epoch and items so far, as far as they are there; does the step begin anew with each epoch)"""
    epochs = next((c for c in columns.values() if words.EPOCH.search(c[0].label) and _is_whole(c)), None)
    step, restarts = _find_counter(columns, epochs)
    if step is None:
        others = [c for c in columns.values() if not words.EPOCH.search(c[0].label)]
        shares = (c for c in others if c[0].tail.strip() == b"/" and c[0].lead.rstrip()[-1:] == b"[" and _is_whole(c))
        told = (c for c in others if not epochs and words.CONSUMED.search(re.sub(" [kmgb]$", "", c[0].words)))
        samples = next((c for c in (*shares, *told) if _rises(c)), None)  # [ 6144000/12800000 · tokens seen: 4.92M
        counted = {"consumed": samples, "epoch": None if samples else epochs}
        return {name: column for name, column in counted.items() if column and _rises(column)}, False
    epochs = epochs or (_find_outer(columns, step) if restarts else None)
    if epochs and not restarts and min(_differences(epochs)) > 1:
        epochs = None  # each report is of several
    consumed = (c for c in columns.values() if words.CONSUMED.search(c[0].label) and c is not step and _rises(c))
    chosen = {"step": step, "epoch": epochs, "consumed": next(consumed, None)}
    return {name: column for name, column in chosen.items() if column}, restarts and epochs is not None


def choose_items(columns: Columns, chosen: Chosen, timed: str) -> str | None:
    """The unit of those of the report, where no rate says what it counts: Epoch 7: 8000 images in 39.71 s"""
    bare = "rate" not in chosen or (timed and not words.RATE.search(chosen["rate"][0].words))
    for column in columns.values() if bare else ():
        said = re.fullmatch(" ?([a-z]+) in ", words.translate(column[0].tail).decode("utf-8", "replace"))
        said = said or re.search(r"(?:total_num|step|batch)_([a-z]+)$", column[0].label)  # perf/total_num_tokens:800000
        match = words.RATE.search(f"{said[1]}/s") if said else None
        if match and words.items_of(match) not in NO_ITEMS and _is_whole(column, rb"(?:\.0+)?"):
            chosen.pop("rate", None)
            chosen["items"] = column
            return words.items_of(match)
    return None


def choose_unix(columns: Columns) -> Chosen:
    """1699999999.123 step 10 · "timestamp": 1699999999"""
    for place, column in enumerate(columns.values()):
        values, label = values_of(column), column[0].label
        if words.STAMP.search(label) and (label or place == 0) and _rises(column):
            for name, least in _SINCE_1970.items():
                if least < values[0] <= values[-1] < 2 * least:
                    return {name: column}
    return {}


def _find_counter(columns: Columns, epochs: Column | None) -> tuple[Column | None, bool]:
    """And whether it begins anew."""
    counters: list[tuple[int, int, bool, Column]] = []
    is_range = False  # Batch [0-20]: the second number counts
    ordered = list(columns.values())
    for place, column in enumerate(ordered):
        slot = column[0]
        second = slot.lead.rstrip().endswith(b"/")  # 40/1000; where it rises, 0/70
        lasting = slot.tail[:1].isalpha() and slot.unit in words.UNIT_S  # epoca in 65s
        other = words.EPOCH.search(slot.label) or words.REPEATED.search(slot.label) or lasting
        if not _is_whole(column) or other or (second and not _rises(column)):
            continue
        behind = ordered[place + 1][0].unit if place + 1 < len(ordered) else ""
        was_range = is_range
        is_range = slot.tail == b"-" and bool(words.COUNTER.search(slot.label) or words.COUNTER.search(behind))
        if is_range:
            continue
        percent = place + 1 < len(ordered) and ordered[place + 1][0].tail[:2] == b"%)"  # (40000 53%), 12800/60000 (21%)
        share = second or (percent and slot.tail.strip() == b"")
        share |= bool(re.match(rb"\s?(?:/|of )\s?\d|\s?/\s*$", slot.tail))
        named = was_range or bool(words.COUNTER.search(slot.label))
        named |= not slot.label and bool(words.COUNTER.fullmatch(slot.unit))  # | 0161666 updates |
        bare = not slot.label and (place == 0 or slot.lead.rstrip().endswith((b"[", b",")))  # 1278: 3.23 · [0, 1934]
        if not named and not share and not (bare and _rises(column)):
            continue
        steps = _differences(column)
        falls, rising = sum(step < 0 for step in steps), [step for step in steps if step > 0]
        usual, often = Counter(rising).most_common(1)[0] if rising else (0.0, 0)
        new = [later > 0 for later, by in zip(_differences(epochs or []), steps, strict=False) if by < 0]
        several = take_turns((0, int(value)) for value in values_of(column))
        told = several or (epochs is not None and all(new))
        many = usual % ROUND == 0 and (not falls or _begins_with_batch(column, usual))
        most = 10 * MOST_STEPS if many else MOST_STEPS
        few = usual > most or len(set(values_of(column))) < FEWEST - 1 or not falls <= len(rising) + told
        of = ordered[place + 1] if share and not second and place + 1 < len(ordered) else []
        ends = [before for before, after in pairwise(values_of(column)) if after < before]
        filled = all(end > whole / 2 for whole in values_of(of)[:1] for end in ends)  # no improve 1/10
        few |= len(rising) < (FEWEST if falls else 1) or (falls > len(steps) / 4 and not told)
        few |= falls > 0 and any(whole < FEWEST for whole in values_of(of)[:1])  # as much begins as trains
        if not few and (named or filled) and (not falls or several or often >= REGULAR * len(rising)):
            counters.append((2 * named + share, -place, falls > 0, column))
    best = max(counters, key=lambda counter: counter[:2], default=None)
    return (best[3], best[2]) if best else (None, False)


def _begins_with_batch(column: Column, usual: float) -> bool:  # [   50/206242], [10050/206242]
    begin = column[0].value or 0.0
    return column[0].lead.rstrip().endswith(b"[") and begin > 1 and begin * BATCHES <= usual and usual % begin == 0


def counts_samples(step: Column, columns: Columns, *, stamped: bool) -> bool:
    """Train Epoch: 1 [640/60000 (1%)]: by tens of batches whose size is a power of two"""
    # junyanz/pytorch-CycleGAN-and-pix2pix@0ae4f0500e, train.py: (epoch: 1, iters: 60, time: 14.259), of images
    if (step[0].lead[-8:], step[0].tail) == (b" iters: ", b", time: "):
        return True
    usual = Counter(_differences(step)).most_common(1)[0][0]
    in_percent = any((c[0].lead, c[0].tail[:2]) == (b" (", b"%)") for c in columns.values())
    told = in_percent and usual >= LEAST_SAMPLES and usual % BATCH == 0
    return (step[0].lead.rstrip().endswith(b"[") and told) or (stamped and _begins_with_batch(step, usual))


def _find_outer(columns: Columns, counter: Column) -> Column | None:
    """The number before the counter that rises where it begins anew: [14/300][150/1251]."""
    falls = [step < 0 for step in _differences(counter)]
    for column in columns.values():
        if column[0].start < counter[0].start and _is_whole(column):
            steps = _differences(column)
            with_falls = all(step > 0 or not fall for step, fall in zip(steps, falls, strict=True))
            if with_falls and min(steps) >= 0 and sum(falls) <= sum(step > 0 for step in steps) <= 2 * sum(falls):
                return column
    return None


def name_of_rate(said: str) -> str:
    return re.sub(r"\W+", " ", words.PER_DEVICE.sub(" ", said)).strip()


class Rate(NamedTuple):
    """A column of rates, by what their words say."""

    column: Column
    items: str  # a unit
    kilo: float  # in thousands; below zero: of its inverse
    each: bool  # of one device
    mean: bool
    whole: bool  # no part of a step
    name: str


def rates_of(columns: Columns, consumed: str = "samples", *, played: bool = False) -> Iterator[Rate]:
    """*consumed*: what a bare throughput counts. *played*: Steps per second, alone, are an environment's."""
    ordered = list(columns.values())
    for before, column, behind in zip([[], *ordered], ordered, [*ordered[1:], []], strict=False):
        slot = column[0]
        if before and before[0].tail == b"/" and words.RATE.search(slot.unit):
            continue  # 5092/261 tok/s: of two sides, of which the first is named
        paired = bool(behind) and slot.tail == b"/" and words.RATE.search(behind[0].unit)
        match = words.RATE.search(slot.unit) or words.RATE.search(slot.label) or paired or None
        if match is None and words.SPEED.search(slot.label) and "rate" not in slot.label and not slot.unit:
            match = words.RATE.search(f"{consumed}/s")
        each = words.PER_ITEM.search(slot.words) if match is None else None  # 4.02 ms per sample
        match = words.RATE.search(f"{each['item']}/s") if each else match
        if match is None or _is_pace(slot) or words.PART.search(slot.label):
            continue
        if re.search(r"\baverage ", slot.label) and slot.tail == b" (" and behind and behind[0].tail[:1] == b")":
            column = behind  # Average examples/sec: 211.096 (38.7693): of all, and of the last ones
        seconds = words.items_of(match) in NO_ITEMS and re.search(r"(?<!per)_s", match[0][1:])
        if seconds or any(value <= 0 for value in values_of(column)[1:]):
            continue  # step_sec=792.3 may be seconds of a step
        fast = (slot.value or 0.0) > MOST_A_SECOND or (len(ordered) == 1 and slot.label == "steps per second")
        stepped = played and words.items_of(match) in NO_ITEMS and fast
        kilo = words.SUFFIX[match["kilo"]] if match["kilo"] and not slot.scaled else 1.0
        yield Rate(
            column=column,
            items="frames/s" if stepped else words.items_of(match),
            kilo=-words.SUFFIX.get(each["kilo"], 1.0) / words.UNIT_S[each["unit"]] if each else kilo,
            each=words.PER_DEVICE.search(slot.words) is not None,
            mean=words.MEAN.search(slot.words) is not None,
            whole=words.WHOLE.search(slot.label) is not None,
            name=name_of_rate(column[0].words),
        )


def choose_rate(columns: Columns, chosen: Chosen, played: bool = False) -> tuple[str, Scope, float]:
    """(unit of items, whose, factor of a unit in thousands)"""
    consumed = chosen["consumed"][0].label if "consumed" in chosen else "samples"
    rates = list(rates_of(columns, consumed.split("_")[-1], played=played))
    of_items, of_steps = ([rate for rate in rates if (rate.items in NO_ITEMS) is steps] for steps in (False, True))
    chosen.update([("steps_per_s", rate.column) for rate in of_steps[:1] if "steps_per_s" not in chosen])
    if not of_items:
        return "tokens/s" if "tok" in consumed else "samples/s", "unstated", 1.0
    best = max(of_items, key=lambda rate: (rate.whole, not rate.mean, not rate.each))
    chosen["rate"] = best.column
    beside = any(rate.each for rate in of_items) or re.search(r"\b(?:total|global)\b", best.column[0].label)  # of all
    return best.items, "per_device" if best.each else "global" if beside else "unstated", best.kilo


def labels_of_parts(text: bytes) -> set[bytes]:
    """The words before rates of parts of a step: they are none of the line."""
    parts = (slot.label for slot in slots(text) if words.RATE.search(slot.label) and words.PART.search(slot.label))
    return {word for label in parts for word in label.encode().split()}


def usual_interval(counter: Column) -> float:
    counts = Counter(step for step in _differences(counter) if step > 0)
    return counts.most_common(1)[0][0] if counts else 0.0


def is_running_mean(column: Column, counter: Column) -> bool:
    """Does it fall as a mean over all steps does whose first was slow? 5.02 at the first, 0.66 at the tenth, 0.55, 0.47

    By what each would have been had all steps but the first been alike.
    """
    steps, values = values_of(counter), values_of(column)
    end = next((place for place, step in enumerate(_differences(counter), 1) if step <= 0), len(steps))
    told = [(step - steps[0] + 1, value) for step, value in zip(steps[:end], values[:end], strict=True)]
    if len(told) < 2 * FEWEST or steps[0] > 1 or values[0] < 2 * told[-1][1]:
        return False
    (_, first), *_, (count, mean) = told
    usual = (count * mean - first) / (count - 1)
    return usual > 0 and all(abs(value * n / (first + (n - 1) * usual) - 1) < MEANT for n, value in told)


def count_anew(column: Column, timed: str) -> dict[str, float | None]:
    """What else counts where the counter is rounded and repeats itself (600, 800, 1K, 1K, 1K, 2K), or counts samples
    beside the time of a step, and begins each epoch with the first batch (16, 1616, 3216, 16, 1616)."""
    values, steps, usual = values_of(column), _differences(column), usual_interval(column)
    if any(slot.scaled for slot in column) and 0 in steps:
        exact = {step for step, slot in zip(steps, column[1:], strict=True) if not slot.scaled}
        each = exact.pop() if len(exact) == 1 else (values[-1] - values[0]) / len(steps)
        return {"interval": each, "step": None, "epoch": None}
    begins = {values[0], *(value for value, step in zip(values[1:], steps, strict=True) if step < 0)}
    alike = timed == "seconds" and len(begins) == 1 and min(steps) < 0 and column[0].tail.strip()[:1] == b"/"
    if alike and 1 < (batch := begins.pop()) < usual and usual % batch == 0:
        return {"interval": 1.0, "step": None, "epoch": None, "global_batch": batch}
    return {}


def _is_pace(slot: Slot) -> bool:
    """[tps: 3.01s]: what is named like a rate, and is the time of a step."""
    is_time = words.UNIT_S.get(slot.unit, 60.0) <= 1 and slot.tail[:1].isalpha()
    return is_time and bool(words.SPEED.search(slot.label) or words.RATE.search(slot.label))


def _by_stamps(values: Sequence[float], stamps: Sequence[float], interval: float) -> str:
    """Of a report or of a step."""
    gaps = sorted(after - before for before, after in pairwise(stamps))
    since, middle = gaps[len(stamps) // 2 - 1], sorted(values)[len(values) // 2]
    told = {"report_s": middle, "seconds": middle * (interval or 1.0)}
    return min(told, key=lambda name: abs(told[name] - since))


def _named_unit(slot: Slot) -> bool:
    return not words.UNIT_S.keys().isdisjoint(re.findall("[a-z]+", slot.words))


def _find_agreeing(
    times: Sequence[Column], stamps: Sequence[float], interval: float, usual: Sequence[Column]
) -> tuple[str, Column] | None:
    """Of several times that which the stamps confirm, where they deny the *usual* one: a wait for data, say."""
    gap = statistics.median(after - before for before, after in pairwise(stamps))
    named = [column for column in times if words.TIME.search(column[0].label) or column in usual]
    apart = {
        (name, at): abs(math.log(statistics.median(values_of(column)) * column[0].unit_s * scale / gap))
        for at, column in enumerate(named)
        for name, scale in (("seconds", interval), ("report_s", 1.0))
        if gap > 0 and min(values_of(column)) > 0
    }
    denied = usual and apart.get(("seconds", named.index(usual[0])), 0.0) > math.log(SCATTER)
    name, at = min(apart, key=apart.__getitem__, default=("", 0))
    return (name, named[at]) if denied and apart[name, at] < AGREES else None


def _is_of_report(column: Column, counter: Column) -> bool:
    """Is what is called the time of a step so many times longer where more steps were made? 0.29 after the first"""
    interval, values = usual_interval(counter), values_of(column)
    first = [value for value, count in zip(values, values_of(counter), strict=False) if count == 1]
    longer = statistics.median(values) / statistics.median(first) if first and min(values) > 0 else 0.0
    return interval > SCATTER and interval / SCATTER < longer < interval * SCATTER


def _is_of_day(slot: Slot, values: list[float], counts: list[float]) -> bool:
    """[10:00] step 5, for a first report late · 22:00:47 beside step 440, four seconds after step 420"""
    heads = not slot.label and len(slot.lead.rpartition(b"\n")[2]) <= 1
    told = bool(counts and values) and HOUR_S < values[0] < DAY_S
    late = told and values[0] * (counts[-1] - counts[0]) > LATE * (values[-1] - values[0]) * counts[0]
    return late or (heads and slot.text.count(b":") == 1 and values[:1] > [60.0])


def choose_time(columns: Columns, chosen: Chosen, stamps: Sequence[float] | None) -> str:
    """Its kind; "" if none was found; unclear: of one step, or since the line before?"""
    counter = chosen.get("step", [])
    plain = [c for c in columns.values() if c[0].unit_s and c[0].text[:1] != b"-" and not words.PART.search(c[0].label)]
    metered = any(re.match("data", column[0].label) for column in columns.values())  # as MetricLogger prints both
    steps = (c for c in plain if words.PER_STEP.search(c[0].words) or _is_pace(c[0]))
    steps = (c for c in steps if not c[0].clock and (stamps or not _is_of_report(c, counter)))
    per_step = sorted(steps, key=lambda c: bool(words.MEAN.search(c[0].words)))
    interval = usual_interval(counter)
    pairs = [(count, c) for count, c in pairwise(columns.values()) if c[0].unit in words.UNIT_S and interval]
    alike = [(n, c) for n, c in pairs if values_of(n)[1:] in (_differences(counter), [interval] * len(n[1:]))]
    counted = [(c, m) for n, c in alike if (m := re.match(rb" ?(train )?(?:step|iter|batch)", n[0].tail))]
    if counted:  # (100 steps in 50.0 s) · Ran 100 train steps in 50.0 s · time per 100 iters: 50.0 s
        chosen["report_s"], said = counted[0]
        return "trained" if said[1] else "report_s"
    means = (c for c in (*per_step, *plain) if words.TIME.search(c[0].label) or c in per_step)
    if interval and (mean := next((c for c in means if not c[0].clock and is_running_mean(c, counter)), None)):
        chosen["mean_s"] = mean
        return "mean"
    begun = next((c for c in plain if words.TIME.search(c[0].label) and _rises(c) and c not in per_step), None)
    clock = stamps or ([value * begun[0].unit_s for value in values_of(begun)] if begun else None)
    if clock and interval and (told := _find_agreeing([c for c in plain if c is not begun], clock, interval, per_step)):
        name, chosen[name] = told if stamps or not begun else ("elapsed_s", begun)
        return "elapsed" if name == "elapsed_s" else name
    if per_step and not words.MEAN.search(per_step[0][0].words):
        chosen["seconds"] = per_step[0]
        return "seconds"
    unclear = ""
    for slot, column in [(column[0], column) for column in plain]:
        values = [value * slot.unit_s for value in values_of(column)]
        passed = slot.unit in words.UNIT_S or (slot.clock and not words.LEFT.search(slot.lead))
        alone = not slot.label and passed and ("rate" not in chosen or interval == 1)
        is_loss = words.COST.search(slot.label) and slot.unit not in words.UNIT_S
        of_day = slot.clock and _is_of_day(slot, values, values_of(counter))
        if is_loss or of_day or not (words.TIME.search(slot.label) or alone) or len(values) < len(column):
            continue
        if _rises(column) or (counter and _rises_in_epochs(column, counter)):
            unsaid = not slot.clock and not _named_unit(slot)
            if unsaid and 0 < MOST_A_SECOND * statistics.median(_differences(column)) < interval:
                unclear = "unclear"  # Wall_Time 0.035 of hours: in seconds no steps are so fast
                continue
            chosen["elapsed_s"] = column
            whole = all(math.isclose(value, round(value), abs_tol=1e-6) for value in values)  # 515.1 min, too
            return "elapsed whole" if interval and whole else "elapsed"
        name, plain_time = "", slot.unit or _named_unit(slot) or slot.label.rpartition(" ")[2] == "time"
        seldom = interval * min(values) > HOUR_S and re.search("elapsed|spent", slot.label) and not stamps  # if of one
        if slot.clock or seldom or "since_last" in slot.label:  # 0:04:19 is no time of one step
            name = "report_s"
        elif re.match(rb"\s?\(\s*$", slot.tail) or (metered and slot.label.endswith("time")):  # Time 0.400 (0.414)
            name = "seconds"
        elif stamps:
            name = _by_stamps(values, stamps, interval)
        elif interval and (slot.unit_s < 1 or (interval == 1 and plain_time)):  # many: not in ms
            name = "seconds"
        if name:
            chosen[name] = column
            return name
        unclear = "unclear"
    chosen.update([("seconds", column) for column in per_step[:1]])
    return "seconds" if per_step else unclear
