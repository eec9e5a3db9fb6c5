"""A log in no known dialect: its lines grouped by their words, and in one group a counter, a rate or time, a stamp.

What it finds becomes a `Dialect` of this log alone, so that records, windows and clocks are those of every other log.
"""

import hashlib
import math
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from re import Match, Pattern
from types import MappingProxyType
from typing import NamedTuple

from evalsuite.contracts.dialect import NO_ITEMS, Dialect, Fields, Line, Scope, line
from evalsuite.core.messages import Message, join
from evalsuite.logs.formatting import shown
from evalsuite.logs.scan.collectors import PastTotal
from evalsuite.logs.text.logfile import chunks, prefix_of_lowest
from evalsuite.logs.text.records import COMPACT, stamp_s
from evalsuite.logs.unknown import roles, words

HEAD_BYTES, PART_BYTES = 1 << 19, 1 << 11  # of a log, and of each later piece: groups are found in these
MOST_LINES, LINE_BYTES, STAMP_BYTES, MOST_GROUPS, MOST_OF_EACH = 12_000, 6000, 120, 40, 300
SOURCE = "OWNER/REPOSITORY@COMMIT:FILE"
LONGEST_TITLE, MOST_SHOWN = 3, 240  # words; frames a second, of a screen or a video
SHORT, FEWEST_STEPS = 200, 5  # lines, one or two of which may be all reports; to which a bar counts that says not what
ALIKE, LEFT_OUT = 0.8, 0.98  # of as many lines; of what stamps tell: less leaves evaluations out
LATE, ENDED = 0.6, 0.2  # of the log: a group that ends before weighs less, since it is not what goes on to its end
_BAR, _FORM, _EPOCH, _OF_EPOCHS, _EVALUATION = (form.encode() for form in words.FORMS["bars"].values())
_STATED, _SCALED, _OTHER_TIME, _RELAYED, _FAILS = (re.compile(form.encode()) for form in words.FORMS["lines"].values())
_LOSS, _COUNTED, _SCORE, _OVER, _SAVED, *_PLAYED = words.LOG
_FEW, _OTHER_WORK = Message("logs.shape_few", least=roles.FEWEST), Message("logs.shape_other")
_NO_COUNTER, _NO_TRAINING = Message("logs.shape_no_counter"), Message("logs.shape_no_training")
_NO_CLOCK, _UNCLEAR = Message("logs.shape_no_clock"), Message("logs.shape_unclear")
_EPOCHS = Message("logs.shape_epochs")
_REMOTE = (_NO_COUNTER, _NO_TRAINING, _OTHER_WORK, _FEW)  # the last the furthest

Lines = Sequence[tuple[int, bytes]]
Length = Mapping[str, float | None]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Lines with the same words: how many, one of them, and what their numbers were taken for."""

    count: int
    line: int
    text: str
    last: int
    roles: Mapping[str, str] = field(default_factory=dict)  # by names of `GROUPS`
    dialect: Dialect | None = None
    lacks: str = ""
    doubt: str = ""  # of what is read

    @property
    def outline(self) -> str:
        return join(*(Message(f"logs.role_{name}", label=label) for name, label in self.roles.items()))

    @property
    def weight(self) -> int:
        """Of one line: that of a rate counts for two, of the whole for four, of all devices for one more."""
        label, whose = self.roles.get("rate"), self.dialect.scope if self.dialect else ""
        return 1 if label is None else 2 + 2 * bool(words.WHOLE.search(label)) + (whose != "per_device")

    @property
    def per_epoch(self) -> bool:
        return self.dialect is not None and self.dialect.per_epoch

    @property
    def remote(self) -> int:
        return 0 if self.dialect else next((at for at, lack in enumerate(_REMOTE, 2) if lack == self.lacks), 1)

    @property
    def shape(self) -> str:
        """By which an accepted reading is recognised again."""
        texts = [self.dialect.unit.encode(), self.dialect.step[0].pattern] if self.dialect else []
        return hashlib.sha256(b"\n".join(texts)).hexdigest()[:12]


def groups(path: Path, *, few: bool = True) -> list[Group]:
    """The heaviest first; those that can be read before all others. Raises Unreadable.

    Where no line can be read alone, pairs are: of a counter and of the time.
    """
    sampled = list(_sample(path))
    found = _groups_of(sampled)
    once = [of for of in _groups_of(sampled, few=few) if of.dialect] if len(sampled) < SHORT else []
    if any(group.dialect and not group.per_epoch for group in found):
        rated = not few or any("rate" in of.roles for of in found if of.dialect)
        return found if rated else [*found, *(of for of in once if words.RATE.search(of.roles.get("rate", "")))]
    near = [(a, b) for a, b in pairwise(sampled) if b[0] - a[0] <= 2 and not (_bar(a[1]) or _bar(b[1]))]
    unlike = [(a, b) for a, b in near if words.WORD.findall(a[1]) != words.WORD.findall(b[1])]
    pairs = [(number, text + b"\n" + behind) for (number, text), (_, behind) in unlike]
    paired = [group for group in _groups_of(pairs) if group.dialect]
    found = found if paired or any(group.dialect for group in found) else once or found
    return sorted([*paired, *found], key=lambda group: (group.dialect is None, group.per_epoch))


def _groups_of(sampled: Lines, *, few: bool | None = None) -> list[Group]:
    by_words: dict[tuple[bytes, ...], list[tuple[int, bytes]]] = defaultdict(list)
    title, names = b"", list[bytes]()
    for number, text in sampled:
        bar = _bar(text)
        if re.search(rb"\d", text):
            spoken = words.WORD.findall(bar["desc"] if bar else _SCALED.sub(b"", words.mask(text)))
            if bar and not spoken and not re.search(rb"\d", title) and not _OVER.search(words.translate(title)):
                above = words.WORD.findall(title)  # the short line above a bar that has no words: Evaluating...
                spoken = above if len(above) <= LONGEST_TITLE else []
            key = (b"%|", *spoken, bar["of"]) if bar else tuple(spoken)
            by_words[(b",", *names) if not bar and roles.is_row(text, names) else key].append((number, text))
        title = title if bar else text
        names = roles.cells(text) if roles.is_header(text) else names
    ends = sampled[-1][0] if sampled else 0
    alone = all(key[:1] == (b"%|",) and len(key) == 2 for key in by_words)  # bars without a word
    trains = alone or any(_LOSS.search(words.translate(text)) for _, text in sampled)
    played = all(any(form.search(text) for _, text in sampled) for form in _PLAYED)
    often = sorted(by_words.items(), key=lambda pair: -len(pair[1]))[:MOST_GROUPS]
    told = {number + 1 for number, text in sampled if re.search(rb"(?i)\b(?:step|iter)[a-z]*\W{0,9}\d", text)}
    grouped = [_group(k, of, trains, played, few, once=of[0][0] in told or b"|" in of[0][1][:4]) for k, of in often]
    grouped = [_refuse_alike(group, grouped, sampled) for group in grouped]
    stated = {match[1] for _, text in sampled for match in _STATED.finditer(text)}
    grouped = [replace(of, dialect=None, lacks=_EPOCHS) if _is_of_epochs(of, stated) else of for of in grouped]
    rated = [(group.dialect.scope, group.roles["rate"]) for group in grouped if group.dialect and "rate" in group.roles]
    each = {roles.name_of_rate(label) for scope, label in rated if scope == "per_device"}
    for place, group in enumerate(grouped):
        label = roles.name_of_rate(group.roles.get("rate", ""))
        if group.dialect and group.dialect.scope == "unstated" and label in each:  # of one
            group = replace(group, dialect=replace(group.dialect, scope="global"))
        grouped[place] = replace(group, doubt=Message("logs.shape_bars_alone")) if alone else group
    grouped.sort(key=lambda group: -group.count * group.weight * (ENDED if group.last < LATE * ends else 1))
    return sorted(grouped, key=lambda group: (group.remote, group.per_epoch))


def _is_of_epochs(group: Group, stated: Container[bytes]) -> bool:
    """Net[ 8/50] where the arguments say epochs=50"""
    share = re.search(rb"\d ?/ ?(\d+)", group.text.encode())
    named = words.COUNTER.search(group.roles.get("step", "step")) or "epoch" in group.roles
    return share is not None and share[1] in stated and not named and _bar(group.text.encode()) is None


def _refuse_alike(group: Group, others: Sequence[Group], sampled: Lines) -> Group:
    """Refuses lines whose pattern finds those of another group, too, where no word before it tells them apart, and bars
    beside others that count other steps."""
    text = group.text.encode()
    if group.dialect is None:
        return group
    bar, step = _bar(text), group.dialect.step[0]
    bars = ((other, other.dialect and _bar(other.text.encode())) for other in others if other is not group)
    drawn = [(of, it, of.dialect is not None and of.dialect.redrawn) for of, it in bars]
    rest = [of for of, it, again in drawn if not (bar and it and (it["of"] == bar["of"] or not again))]
    found = [each.text.encode() for each in rest if bar or each.lacks == _OTHER_WORK]
    alike = [each for each in found if step.compiled.search(each)]
    match = None if bar or step.pattern.startswith(b"(?m)") else step.compiled.search(text)
    before = words.WORD.findall(text[: match.start()]) if match else []
    if alike and (own := {*before}.difference(*map(words.WORD.findall, alike))):
        begin = max(own, key=len)  # [10:00:05] train | step 10, and valid | step 10
        step = replace(step, pattern=begin + rb"[^\r\n]*?" + step.pattern)
        return replace(group, dialect=replace(group.dialect, step=(step,)))
    trains = words.LEARNING.search(text[: text.find(b"%|")]) or re.search(_OF_EPOCHS, text)
    unsaid = bar and any("step" in of.roles for of in rest) and not trains
    if bar and unsaid:  # [TRAIN] Iter: 4500 above 4500/200000
        counts = re.compile(rb"(?i)\b(?:step|iter)[a-z]*\W{0,3}(?:%b|%d)\b" % (bar["n"], _count(bar["n"]) + 1))
        total = re.compile(rb"(?i)\b(?:optimi[sz]ation|train|max)[a-z]*[ _]steps?\W{1,3}%b\b" % bar["of"])
        unsaid = not any((counts if abs(at - group.line) <= 1 else total).search(t) for at, t in sampled if not _bar(t))
    refused = (alike and (bar or re.match(rb"\W?[A-Za-z_]{2,}\W", text))) or unsaid
    return replace(group, dialect=None, lacks=_UNCLEAR) if refused else group


def _sample(path: Path) -> Iterator[tuple[int, bytes]]:
    """(line, text) of the beginning and of a part of each later piece; bars that begin anew are lines."""
    taken = lines = 0
    prefix = None
    for chunk in chunks(path):
        prefix = prefix or prefix_of_lowest(chunk.text)
        part = chunk.text if taken <= HEAD_BYTES else chunk.text[:PART_BYTES]
        text = part[: max(part.rfind(b"\n"), part.rfind(b"\r")) + 1] if len(part) < len(chunk.text) else part
        taken += len(text)
        for number, long in enumerate(text.split(b"\n"), chunk.first_line):
            for part in long.split(b"\r"):
                if part.strip() and lines < MOST_LINES:
                    lines += taken <= HEAD_BYTES
                    yield number, _bare(part[:LINE_BYTES], prefix)


def _bare(text: bytes, prefix: Pattern[bytes] | None) -> bytes:
    before = prefix.match(text) if prefix else None
    clock = _RELAYED.search(before[0]) if before else None
    return (clock[0] + b" " if clock else b"") + text[before.end() if before else 0 :]


def _group(key: tuple[bytes, ...], lines: Lines, trains: bool, played: bool, few: bool | None, *, once: bool) -> Group:
    number, text = lines[len(lines) // 2]
    plain = Group(count=len(lines), line=number, text=shown(text), last=lines[-1][0])
    texts = [text for _, text in (*lines[:MOST_OF_EACH], *lines[MOST_OF_EACH:][-MOST_OF_EACH:])]
    is_bar = key[:1] == (b"%|",)
    said = words.translate(b" ".join(key[1:-1] if is_bar else key))
    others = words.translate(b" ".join(word for word in key if not _SCORE.match(word)))  # loss, val_loss
    said = others if not is_bar and _LOSS.search(others) else said
    if not is_bar and (parts := roles.labels_of_parts(texts[len(texts) // 2])):
        said = b" ".join(word for word in said.split(b" ") if word not in parts)
    training = words.TRAINING.search(said) is not None or (is_bar and _LOSS.search(texts[len(texts) // 2]))
    rates = roles.rates_of(roles.columns_of(texts[: roles.FEWEST]), played=True) if played and not is_bar else ()
    framed = any(u == "frames/s" and ("step" in c[0].label or (c[0].value or 0) > MOST_SHOWN) for c, u, *_ in rates)
    least = 1 if (few is not None and trains and once) or (few and training) else roles.FEWEST
    if len(lines) < least and not framed:
        return replace(plain, lacks=_FEW)
    tested = words.EVALUATION.search(said) and not words.LEARNING.search(said)
    if tested or _SAVED.search(said) or _FAILS.search(text) or (words.NOT_TRAINING.search(said) and not training):
        return replace(plain, lacks=_OTHER_WORK)
    names = key[1:] if key[:1] == (b",",) else ()
    group = _read_bars(plain, texts) if is_bar else _read_lines(plain, texts, names, played)
    counts = is_bar and _count(key[-1]) >= FEWEST_STEPS and (not said or _COUNTED.search(text[: text.find(b"%|")]))
    rated = "rate" in group.roles
    timed = "step" in group.roles and (rated or (trains and "steps_per_s" in group.roles))
    timed |= rated and ("epoch" in group.roles or b"epoch" in said.lower())
    timed |= bool(trains or framed) and bool({"rate", "seconds"} & group.roles.keys())  # alone, where one has a loss
    if not training and not ((trains or re.search(_OF_EPOCHS, text)) and counts) and (is_bar or not timed):
        return replace(group, dialect=None, lacks=_NO_TRAINING)
    return group


# bars


def _bar(text: bytes) -> Match[bytes] | None:
    return re.search(_BAR, text) if b"%|" in text or b"% " in text or b"Progress on:" in text else None


def _read_bars(group: Group, texts: Sequence[bytes]) -> Group:
    bars = [bar for text in texts if (bar := _bar(text))]
    first = bars[len(bars) // 2]
    fast = [bar for bar in bars if _count(bar["n"]) > roles.MOST_A_SECOND * (words.read_number(bar["elapsed"]) or 1.0)]
    if len(fast) > len(bars) / 2 or any(_counts_items(bar["unit"]) for bar in bars if bar["unit"]):
        return replace(group, lacks=_OTHER_WORK)
    alike = [text for text in texts if words.WORD.findall(text) == words.WORD.findall(texts[-1])]
    if any(rate.items not in NO_ITEMS for rate in roles.rates_of(roles.columns_of(alike))):
        return _read_lines(group, alike, (), False)  # 3.00it/s, wps=10500
    begins = (_EPOCH, rb"^\s*(?P<epoch>\d+)/\d+\s")
    epoch = next((form for form in begins if re.search(form, first["desc"])), None)
    if not epoch and re.search(rb"(?i)\bepochs?\W*$", first["desc"]):
        return replace(group, lacks=_EPOCHS)
    places = {(bar["n"], epoch and (match := re.search(epoch, bar["desc"])) and match[0]) for bar in bars}
    ends = len(places) < roles.FEWEST  # then whole bars tell how long so many steps took
    if ends and sum(bar["n"] == bar["of"] for bar in bars) < roles.FEWEST:
        return replace(group, lacks=_NO_COUNTER)
    name = first["desc"].strip(b" :\0").split()[:1]
    begin = re.escape(name[0]) + rb"[^\r\n|%]{0,60}?" if name and name[0].isalpha() and not epoch else b""
    lead = epoch.lstrip(b"^") + rb"[^\r\n|]{0,120}?" if epoch else b""
    sample = max(bars, key=lambda bar: words.read_number(bar["elapsed"]) or 0.0)[0]  # of which a time is told
    read = read_whole_bar if ends else read_bar
    made = declare(begin + lead + _FORM % re.escape(first["of"]), sample, read, restart=bool(epoch) and not ends)
    group = replace(group, roles={"step": "n/total", "elapsed_s": "[elapsed<"})
    if ends:  # of several the longest are of the training; half as long, of something else
        spent = sorted(words.read_number(bar["elapsed"]) or 0.0 for bar in bars if bar["n"] == bar["of"])
        low, _, high = statistics.quantiles(spent, method="inclusive")
        even = made if high <= roles.SCATTER * low else None
        return replace(group, dialect=even, count=round(math.fsum(spent)), lacks=_UNCLEAR)
    made = replace(made, clock_s=1.0, averaging="cumulative", zero_based=False, redrawn=True, second=PastTotal)
    if sum(bar["n"] == bar["of"] for bar in bars) < ALIKE * len(bars):  # a full one ends before the evaluation
        made = _with_evaluations(made, first[0])
    return replace(group, dialect=made)


def read_bar(match: Match[bytes]) -> Fields | None:
    step, of, elapsed_s = _count(match["step"]), _count(match["of"]), words.read_number(match["elapsed_s"])
    counted = {**match.groupdict(), "step": step, "of": of, "elapsed_s": None}
    if not (step and elapsed_s):
        return None
    own = float((match["own"] or b"0")[:-4]) if step == of else 0.0  # a full bar shows its mean, in finer digits
    mean_s = 1 / own if own and match["own"].endswith(b"t/s") else own
    return {**counted, "mean_s": mean_s if elapsed_s <= mean_s * step < elapsed_s + 1 else elapsed_s / step}


def read_whole_bar(match: Match[bytes]) -> Fields | None:
    told, of = read_bar(match), _count(match["of"])
    return {"interval": of, "report_s": float(told["mean_s"] or 0.0) * of} if told and told["step"] == of else None


def _count(text: bytes) -> int:
    """Of 61, 7.00 and 12.3k, as tqdm writes them with unit_scale."""
    return round(min(words.read_number(text) or 0.0, 1e18))


def _counts_items(unit: bytes) -> bool:
    """True of img/s and s/img, and of what is no training."""
    named = unit.decode().lower().removeprefix("s/").removesuffix("/s")
    match = words.RATE.fullmatch(f"{named}/s")
    return named not in ("epoch", "ba") and (match is None or words.items_of(match) not in NO_ITEMS)


# lines of words and numbers


class _Clock(NamedTuple):
    stamps: list[float]
    head: bytes  # the first stamp as printed
    columns: roles.Columns
    chosen: roles.Chosen  # counters
    restarts: bool
    unix: roles.Chosen  # stamps that are no head of their line


def _find_clock(texts: Sequence[bytes], columns: roles.Columns) -> _Clock:
    heads = [text[: _head_end(text)] for text in texts if b"\n" not in text]
    stamps = [stamp for head in heads if (stamp := stamp_s(head)) is not None]
    unix = {} if stamps else roles.choose_unix(columns)
    if unix:
        ((name, at),) = unix.items()
        stamps = [value / (1000 if name == "unix_ms" else 1) for value in roles.values_of(at)]
        columns, heads = {key: column for key, column in columns.items() if column is not at}, [at[0].text]
    elif len(stamps) == len(texts):  # then the time of day is no time of its own
        ends = list(map(len, heads))
        columns = {key: of for key, of in columns.items() if [at.start + len(at.text) for at in of] != ends}
    chosen, restarts = roles.choose_counters(columns)
    return _Clock(stamps, next(iter(heads), b""), columns, chosen, restarts, unix)


def _read_lines(group: Group, texts: Sequence[bytes], names: Sequence[bytes], played: bool) -> Group:
    found = _find_clock(texts, roles.columns_of(texts, names))
    stamps, columns, chosen = found.stamps, found.columns, found.chosen
    bare = chosen.keys() == {"epoch"} and not any(roles.rates_of(columns))
    apart = [b - a for a, b in pairwise(roles.values_of(chosen["epoch"]))] if bare else []
    if per_epoch := min(apart, default=0.0) == 1.0:
        chosen = {"step": chosen["epoch"]}
    stamped = len(stamps) == len(texts) and len(set(stamps)) > 1
    of_items = "step" in chosen and roles.counts_samples(chosen["step"], columns, stamped=stamped)
    unit, scope, kilo = roles.choose_rate(columns, chosen, played)
    timed = roles.choose_time(columns, chosen, stamps if stamped else None)
    between = math.fsum(roles.values_of(chosen["report_s"])[1:]) if timed == "report_s" and stamped else math.inf
    less = timed == "trained" or (stamped and between < LEFT_OUT * (stamps[-1] - stamps[0]))  # than lies between
    if unit not in ("samples/s", "tokens/s"):
        chosen.pop("consumed", None)
    unit = roles.choose_items(columns, chosen, timed) or unit
    same: dict[str, float | None] = {}
    if stamped and timed == "seconds" and "step" in chosen and roles.scatter(chosen["seconds"], chosen["step"], stamps):
        same = roles.find_batch(chosen, kilo) if scope != "per_device" else {}
        chosen = {name: column for name, column in chosen.items() if name not in ("seconds", "rate", "steps_per_s")}
        unit, timed = unit if same else "samples/s", ""  # figures of single batches, between which others lie
    named = ({**chosen, "epoch": chosen["step"]} if per_epoch else chosen).items()
    slots = [(name, at[0]) for name, at in named if not (per_epoch and name == "step")]  # [205000] has no words
    said = {name: at.words or shown(at.lead.strip()[-1:] + at.text + at.tail.strip()[:1]) for name, at in slots}
    clocked = replace(group, roles=said | ({"stamp": shown(found.head)} if stamped else {}))
    rated = bool({"rate", "steps_per_s"} & chosen.keys())
    each = words.PER_STEP.search(chosen["seconds"][0].words) if "seconds" in chosen else None
    trained = words.LEARNING.search(chosen["rate"][0].label.encode()) if "rate" in chosen else each and each["unit"]
    if of_items and stamped:
        chosen["consumed"] = chosen.pop("step")
    if b"\n" in texts[0] and len({slot.start < texts[0].find(b"\n") for _, slot in slots}) < 2:
        return replace(clocked, lacks=_NO_CLOCK)  # of the two lines one says nothing
    if per_epoch and timed not in ("seconds", "report_s", "elapsed"):
        return replace(clocked, lacks=_EPOCHS)
    if len(texts) < roles.FEWEST and "rate" in chosen and "step" not in chosen:  # of a table that is printed once, say
        chosen = {name: chosen[name] for name in ("rate", "seconds") if name in chosen}
    elif (of_items and not stamped) or (
        not {"step", "consumed"} & chosen.keys()
        and (not ("rate" in chosen or each) or len(texts) < (1 if "epoch" in chosen or trained else 2) * roles.FEWEST)
    ):
        return replace(clocked, lacks=_NO_COUNTER)
    elif "step" not in chosen and len({at.text for at in chosen.get("epoch", ())}) < len(texts):
        chosen.pop("epoch", None)  # lines of one epoch are no ranks side by side
    if timed in ("", "unclear") and not rated and not stamped:
        has_time = timed or any(words.TIME.search(column[0].label) for column in columns.values())
        return replace(clocked, lacks=_UNCLEAR if has_time else _NO_CLOCK)
    if timed == "seconds" and not stamped and not rated and roles.is_coarse(chosen["seconds"]):
        return replace(clocked, lacks=Message("logs.shape_coarse"))
    coarse = stamped and timed in ("", "unclear") and not rated and all(stamp % 1 == 0 for stamp in stamps)
    same |= roles.count_anew(chosen["step"][:MOST_OF_EACH], timed) if "step" in chosen else {}
    fields, chosen = scale_to_groups(chosen, kilo, same)
    pattern = pattern_of(chosen := chosen | found.unix, names, texts[0].find(b"\n"))
    made = declare(pattern, middle := texts[len(texts) // 2], fields, unit=unit, scope=scope, restart=found.restarts)
    if not names and not _finds(made.step[0].compiled, texts, chosen):
        return replace(clocked, lacks=_UNCLEAR)
    whole = coarse or timed == "elapsed whole"
    made = replace(made, per_epoch=per_epoch, epochs_are_steps=per_epoch, clock_s=float(whole))
    made = replace(made, trust_stamps=not (coarse or (per_epoch and timed == "report_s")))
    made = replace(made, averaging="cumulative") if whole else made
    return replace(clocked, dialect=_with_evaluations(made, middle, inside=timed != "seconds" and not less))


def _finds(pattern: Pattern[bytes], texts: Sequence[bytes], chosen: roles.Chosen) -> bool:
    """Does *pattern* find in nearly all lines the numbers of which it was made?"""
    found = enumerate(map(pattern.search, texts))
    told = [m and all(m[name].startswith(at[place].text) for name, at in chosen.items()) for place, m in found]
    return sum(map(bool, told)) >= ALIKE * len(told)


def scale_to_groups(
    chosen: roles.Chosen, kilo: float, same: Length = MappingProxyType({})
) -> tuple[Callable[[Match[bytes]], Fields | None] | None, roles.Chosen]:
    """What reads numbers that no group takes as they are printed, and *chosen* by names of groups."""
    scales = {name: column[0].unit_s for name, column in chosen.items() if name in _TIMES} | {"rate": kilo}
    others = {name: scale for name, scale in scales.items() if scale != 1.0 and (name, scale) not in _UNITS}
    scaled = any(slot.clock or slot.scaled for column in chosen.values() for slot in column)
    fields = partial(read_fields, others, same) if others or scaled or same else None
    return fields, {_UNITS.get((name, scales.get(name, 1.0)), name): column for name, column in chosen.items()}


def _with_evaluations(dialect: Dialect, text: bytes, *, inside: bool = True) -> Dialect:
    if words.NOT_TRAINING.search(b" ".join(words.WORD.findall(text))) or re.search(_EVALUATION, text):
        return dialect
    return replace(dialect, evaluation=line(_EVALUATION, b"Evaluation", SOURCE), evaluation_inside=inside)


def _head_end(text: bytes) -> int:
    times = re.finditer(rb"\d:\d\d(?::\d\d)*(?:[.,]\d+)?|%b" % COMPACT, text[:STAMP_BYTES])
    own = (time for time in times if not _OTHER_TIME.search(text, max(0, time.start() - 14), time.start()))
    return next((time.end() for time in own), 0)


# from columns to a dialect

_TIMES = frozenset({"seconds", "report_s", "elapsed_s", "mean_s"})
_UNITS = {("seconds", 1e-3): "ms", ("seconds", 1e-6): "us", ("report_s", 1e-3): "report_ms", ("rate", 1e3): "rate_k"}
_UNITS |= {("elapsed_s", 1e-3): "elapsed_ms"}


def pattern_of(chosen: roles.Chosen, names: Sequence[bytes], cut: int = -1) -> bytes:
    """The roles in the order of the line, each with the words before and behind it, or by their places in a row.

    *cut*: where the first of two lines ends.
    """
    if names:
        row = [rb"[^,;|\t\r\n]*"] * len(names)
        for name, column in chosen.items():
            row[column[0].start] = rb"(?P<%b>%b)" % (name.encode(), _number_pattern(name, column))
        return rb"(?m)^[ |]*" + rb" *[,;|\t] *".join(row) + rb"(?=[ |\r]*$)"
    parts: list[bytes] = []
    before = 0
    for name, column in sorted(chosen.items(), key=lambda pair: pair[1][0].start):
        lead = _common([slot.lead for slot in column], backwards=True)
        tail = _common([slot.tail[1:] if slot.scaled else slot.tail for slot in column])
        tail = b"" if len({slot.scaled for slot in column}) > 1 else tail
        if word := re.match(rb"[A-Za-z_]+", lead):  # first, so that it is looked for as text
            begin, lead = word[0] + rb"(?<![A-Za-z_]%b)" % word[0], lead[word.end() :]
        else:
            begin = b"" if lead or parts else rb"(?<![\w.])"
        value = _number_pattern(name, column)
        crosses = before < cut <= column[0].start
        parts += [rb"[^\r\n]*[\r\n]+[^\r\n]*?" if crosses else rb"[^\r\n]*?"] if parts else []
        before = column[0].start
        parts.append(begin + lead + b"(?P<%b>%b)" % (name.encode(), value) + (b"(?=%b)" % tail if tail else b""))
    return b"".join(parts)


def _number_pattern(name: str, column: roles.Column) -> bytes:
    if column[0].clock:
        return rb"(?:\d+ days?, )?\d+:[\d:.]*\d" if all(b":" in slot.text for slot in column) else words.LASTING
    if not all(re.fullmatch(rb"[\d.,]+(?:[eE][-+]?\d+)?", slot.text) for slot in column):
        return words.NUMBER
    many = rb"(?:[kKMGB](?![A-Za-z]))?" if name in ("rate", "consumed") or any(slot.scaled for slot in column) else b""
    counts = name in ("step", "epoch") and not many and all(slot.text.isdigit() for slot in column)
    return rb"\d+" if counts else rb"[\d.,]*\d(?:[eE][-+]?\d+)?" + many


def _common(texts: Iterable[bytes], *, backwards: bool = False) -> bytes:
    """A pattern of the last word before a number (or the unit behind it) that all lines have."""
    cut = [re.sub(rb"[^\S\n]+", b" ", text.replace(b"\0", b"\n")).strip(b" ") for text in texts]
    ends = [text[::-1] if backwards else text for text in cut]
    size = 0
    while size < 40 and all(size < len(text) for text in ends) and len({text[size] for text in ends}) == 1:
        size += 1
    same = ends[0][:size]
    if backwards:
        spoken = {match[1] if (match := re.search(rb"([A-Za-z_]+)[=: ]*$", text)) else b"" for text in cut}
        if not same and len(spoken) == 1 and b"" not in spoken:  # wps=12811 beside wps 12876
            return spoken.pop() + rb"[=:\s]*"
        cut_within = any(re.match(rb"[A-Za-z_]", text[size : size + 1]) for text in ends)
        same = re.sub(rb"^[A-Za-z_]+", b"", same[::-1]) if cut_within else same[::-1]
        match = re.search(rb"[A-Za-z_/()\[ ]*[^A-Za-z\d\n]*$", same)
        kept = match[0].lstrip() + b" " if match and match[0].strip() else b""
    else:
        match = re.match(rb"[^A-Za-z\d\n]{0,2}[A-Za-z_/]*(?:/[A-Za-z]+)*", same)
        kept = b" " + match[0].rstrip() if match and match[0].strip() else b""
    return re.sub(rb"(?:\\ )+", rb"\\s*", re.escape(kept))


def read_fields(scales: Mapping[str, float], same: Length, match: Match[bytes]) -> Fields | None:
    said: dict[str, float | None] = {}
    for name, text in match.groupdict().items():
        value = words.read_number(text)
        scale = scales.get(name, 1.0)
        said[name] = None if value is None else value * scale if scale > 0 else -scale / value if value else None
    return {**said, **same}


def declare(
    pattern: bytes, sample: bytes, fields: object, *, unit: str = "samples/s", scope: Scope = "unstated", restart: bool
) -> Dialect:
    step = Line(pattern=pattern, sample=sample, source=SOURCE, fields=fields, sure=True)  # type: ignore[arg-type]
    restarts = "epoch" if restart else "never" if b"(?P<epoch>" in pattern else "unnumbered"
    told = {"name": "no_dialect", "title": "a log in no known dialect", "framework": None, "averaging": "interval"}
    return Dialect(**told, unit=unit, step=(step,), scope=scope, steps_restart=restarts)  # type: ignore[arg-type]
