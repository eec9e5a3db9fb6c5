"""A log in no known dialect: its lines grouped by their words, and in one group a counter, a rate or time, a stamp.

What it finds becomes a `Dialect` of this log alone, so that records, windows and clocks are those of every other log.
"""

import bisect
import hashlib
import itertools
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from re import Match, Pattern
from typing import Any, Literal, NamedTuple

from evalsuite.contracts.dialect import NO_ITEMS, Dialect, Fields, Line, Scope, line
from evalsuite.core.messages import Message, join
from evalsuite.logs.formatting import shown
from evalsuite.logs.scan.collectors import PastTotal, spelt
from evalsuite.logs.text.logfile import chunks, prefix_of_lowest
from evalsuite.logs.text.records import COMPACT, stamp_s
from evalsuite.logs.unknown import roles, tables, words
from evalsuite.logs.unknown.starts import find_starts
from evalsuite.logs.unknown.words import Slot

HEAD_BYTES, PART_BYTES = 1 << 19, 1 << 11  # of a log, and of each later piece: groups are found in these
MOST_LINES, HEAD_LINES, LINE_BYTES, STAMP_BYTES, MOST_GROUPS, MOST_OF_EACH = 12_000, 500, 1500, 120, 40, 300
SOURCE = "OWNER/REPOSITORY@COMMIT:FILE"
MOST_COUNTERS, MOST_APART = 3, 9  # of groups whose clock is sought in other lines, and how far
LONGEST_TITLE = 3  # words
FEWEST_STEPS = 5  # to which a bar counts that does not say what
ALIKE = 0.8  # of as many lines
COARSE_S, WHOLE = 50, 1e-6  # of which a second is a fiftieth; of rounding
LATE = 0.6  # of the log: a group that ends before is not what goes on to its end
# 12%|█▏        | 61/500 [00:31<03:42,  1.97it/s, loss=2.31]
_BAR = re.compile(
    rb"(?P<desc>[^\r\n|]{0,120}?)\b\d{1,3}%(?:\|[^|\r\n]*\| *| )(?P<n>[\d.]+[kMG]?)/(?P<of>[\d.]+[kMG]?) ?\["
    rb"(?P<elapsed>[\d:]+)<[\d:?]+"
    rb"(?:, *(?P<rate>[\d.]+|\?) ?(?P<unit>[A-Za-z]+/[A-Za-z]+))?"
)
# Progress on:train 50.0it/200kit rate:2.1s/it remaining:83:15:01 elapsed:01:45 postfix:loss=2.31, of tqdm_loggable
_LOGGED = re.compile(
    rb"Progress on:(?P<desc>[^\r\n]*?) (?P<n>[\d.]+[kMG]?)it/(?P<of>[\w.]+?)(?:it)? rate:(?P<rate>[\d.]+|-)"
    rb"(?P<unit>[A-Za-z]+/[A-Za-z]+)? remaining:\S+ elapsed:(?P<elapsed>[\d:]+)"
)
# Epoch [2/5]: [237/469]  50%|███       , batch loss=5.315 [00:12<00:11]
_IGNITE = re.compile(
    rb"(?P<desc>[^\r\n|]{0,120}?)\[(?P<n>\d+)/(?P<of>\d+)\] +\d{1,3}%\|"
    rb"[^\r\n]*?\[(?P<elapsed>[\d:]+)<(?P<rate>)(?P<unit>)"
)
# [=========== 391/391 =====>]  Step: 53ms | Tot: 1m2s | Loss: 0.31, of a terminal: xlua's, and kuangliu's pytorch-cifar
_UNNAMED = rb"(?P<desc>)(?P<unit>)(?P<rate>)\["
_DRAWN = re.compile(_UNNAMED + rb"[=>.]* (?P<n>\d+)/(?P<of>\d+) [=>.]*\][^\r\n]*?Tot: (?P<elapsed>[\dDhms]+)")
_REDRAWN = re.compile(  # the same in a file, where it goes back to its middle
    _UNNAMED + rb"[=>.]*\][^\r\n]*?Tot: (?P<elapsed>[\dDhms]+)[^\r\n]*?\x08 *(?P<n>\d+)/(?P<of>\d+)"
)
_FORMS = {
    _DRAWN: rb"\[[=>.]* (?P<step>\d+)/(?P<of>%b) [=>.]*\][^\r\n]*?Tot: (?P<elapsed_s>[\dDhms]+)",
    _REDRAWN: rb"\[[=>.]*\][^\r\n]*?Tot: (?P<elapsed_s>[\dDhms]+)[^\r\n]*?\x08 *(?P<step>\d+)/(?P<of>%b)",
    _BAR: rb"\d%%(?:\|[^|\r\n]*\| *| )(?P<step>[\d.]+[kMG]?)/(?P<of>%b) ?\[(?P<elapsed_s>[\d:]+)<",
    _LOGGED: rb"Progress on:[^\r\n]*? (?P<step>[\d.]+[kMG]?)it/(?P<of>%b)[^\r\n]*? elapsed:(?P<elapsed_s>[\d:]+)",
    _IGNITE: rb"\[(?P<step>\d+)/(?P<of>%b)\] +\d+%%\|[^\r\n]*?\[(?P<elapsed_s>[\d:]+)<",
}
_RATE = re.compile(rb"[\d:?]+, *([\d.]+) ?(\w+)/\w")
_EPOCH = rb"(?i:\bepoch)\W{0,3}(?P<epoch>\d+)"
_DIGIT, _DECIMAL, _LETTER = re.compile(rb"\d"), re.compile(rb"\d\.\d+"), re.compile(rb"[A-Za-z]")
_SCALED = re.compile(rb"[kKM](?:(?<=[:= ]\d[kKM])|(?<=\d\d[kKM]))(?= )")  # step:800 smpl:26K · step:1K smpl:2M
# 1m 23s (- 20m 3s) (5000 6%) 2.8500 · 5000 5% (0m 9s) 2.2208, as PyTorch's tutorials print them
_SINCE = re.compile(rb"^\d+m \d+s \(- \d+m \d+s\) \(\d+ \d+%\) \d|^\d+ \d+% \(\d+m \d+s\) \d")
_OTHER_TIME = re.compile(rb"(?i)eta|elapsed|time|took|<|remain|end|finish|until")  # before one that is no stamp
_RELAYED = re.compile(rb"(?:\d{4}-\d\d-\d\dT|[A-Z][a-z]{2} [ \d]\d )[\d:]{8}(?:[.,]\d+)?")
_OTHER = re.compile(rb"%\||\d ?[kKMGT]i?B/s|[\[|-] ?(?:ERROR|CRITICAL) ?[\]|-]")  # other bars, bytes, complaints
_EXAMPLES, _BATCHES, _LOSS, _BEGINS, _EPOCH_BEGINS, _COUNTED, _SCORE, _TO_COME, _OVER, _SAVED, _VALIDATED = words.LOG
_LENGTHS = {"examples": _EXAMPLES, "steps": _BATCHES}  # of an epoch
_TABLE = b"\n"
_FEW, _OTHER_WORK = Message("logs.shape_few", least=roles.FEWEST), Message("logs.shape_other")
_NO_COUNTER, _NO_TRAINING = Message("logs.shape_no_counter"), Message("logs.shape_no_training")
_NO_CLOCK, _UNCLEAR = Message("logs.shape_no_clock"), Message("logs.shape_unclear")
_TIMED = {"rate", "pace", "steps_per_s", "seconds", "report_s", "mean_s", "elapsed_s", "stamp"}
_REMOTE = (_NO_COUNTER, _NO_TRAINING, _OTHER_WORK, _FEW)  # the last the furthest
_EVALUATION = rb"(?<![A-Za-z])(?:Eval|eval|Valid|valid|[Vv]al[ _]|Test:|test:)[a-z]*"


Lines = Sequence[tuple[int, bytes]]
Length = Mapping[str, float | None]
Keyed = tuple[tuple[bytes, ...], Lines]  # by its words


@dataclass(frozen=True, kw_only=True)
class Group:
    """Lines with the same words: how many, one of them, and what their numbers were taken for."""

    count: int
    line: int
    text: str
    last: int
    roles: Mapping[str, str] = field(default_factory=dict)  # by names of `GROUPS`
    dialect: Dialect | None = None
    unsaid: Dialect | None = None  # by which it is read, if lines beside it speak of training
    by_epoch: Dialect | None = None  # where each line is an epoch, and one must say how many steps that has
    lacks: str = ""
    bar: tuple[float, float] = (0.0, 0.0)  # its total and the longest time that it shows

    @property
    def outline(self) -> str:
        return join(*(Message(f"logs.role_{name}", label=label) for name, label in self.roles.items()))

    @property
    def remote(self) -> int:
        return 0 if self.dialect else next((at for at, lack in enumerate(_REMOTE, 2) if lack == self.lacks), 1)

    @property
    def shape(self) -> str:
        """By which an accepted reading is recognised again."""
        texts = [self.dialect.unit.encode(), self.dialect.step[0].pattern] if self.dialect else []
        return hashlib.sha256(b"\n".join(texts)).hexdigest()[:12]


def groups(path: Path) -> list[Group]:
    """The heaviest first; those that can be read before all others. Raises Unreadable."""
    sampled = list(_sample(path))
    by_words: dict[tuple[bytes, ...], list[tuple[int, bytes]]] = defaultdict(list)
    title = header = opens = b""
    names = (0, b"")
    for number, text in sampled:
        bar = _bar(text)
        opens = (opens or bar["of"]) if bar else b""
        if _DIGIT.search(text):
            spoken = words.WORD.findall(bar["desc"] if bar else _SCALED.sub(b"", words.mask(text)))
            key = (b"%|", *spoken, *_told_above(bar, title, opens), bar["of"]) if bar else tuple(spoken)
            header = names[1] if 0 < number - names[0] < tables.APART and tables.is_row(text, names[1]) else header
            in_table = header and not bar and tables.is_row(text, header)
            by_words[(_TABLE, header) if in_table else key].append((number, text))
        title = title if bar else text
        names = (number, text) if tables.is_header(text) else names
    ends = sampled[-1][0] if sampled else 0
    trains = any(_LOSS.search(words.translate(text)) for _, text in sampled)
    weighed = sorted(by_words.items(), key=lambda pair: -len(pair[1]))
    rarer = (pair for pair in weighed[MOST_GROUPS:] if words.TRAINING.search(b" ".join(pair[0])))
    often = [*weighed[:MOST_GROUPS], *itertools.islice(rarer, MOST_GROUPS)]
    head = words.translate(b"\n".join(text for _, text in sampled[:HEAD_LINES]))
    length = {
        name: words.read_number(told[told.lastindex or 1])
        for name, form in _LENGTHS.items()
        if (told := form.search(head))
    }
    titles = (words.translate(text) for _, text in sampled if len(text) <= STAMP_BYTES)
    if any(_BEGINS.fullmatch(title) or _EPOCH_BEGINS.fullmatch(title) for title in titles):
        length["begins"] = 1.0
    grouped = [_group(key, lines, trains, length) for key, lines in often]
    grouped = _held_against_epochs(grouped, often, trains, length)
    if not any(group.dialect for group in grouped):
        grouped += _joined(grouped, [lines for _, lines in often], trains)
    if not any(group.dialect for group in grouped):
        grouped = [_beside(group, grouped) for group in grouped]
    grouped = [_apart(group, grouped) for group in grouped]
    in_tokens = any(kind == "tokens" for kind, _, _ in spelt(head))
    grouped = [
        replace(group, dialect=replace(group.dialect, unit="tokens/s"))
        if in_tokens and group.dialect and group.dialect.unit == "samples/s" and "rate" not in group.roles
        else group
        for group in grouped
    ]
    unlike = max((group.count for group in grouped if group.bar[1] and group.lacks == _NO_COUNTER), default=0)
    grouped = [
        replace(group, dialect=None, lacks=_NO_COUNTER) if group.bar[1] and ALIKE * group.count < unlike else group
        for group in grouped
    ]  # full bars beside others of unlike length
    bars = {group.bar for group in grouped if group.dialect}
    within = {bar for bar in bars if any(bar[0] < more and 2 * bar[1] < longer for more, longer in bars if bar[1])}
    grouped.sort(key=lambda group: -group.count * (1 + ("rate" in group.roles)))

    def behind(group: Group) -> bool:  # a bar, or (epoch: 51, iters: 700, time: 0.079) of one batch: others have all
        return group.bar in within or group.roles.keys() >= {"consumed", "seconds"}

    return sorted(grouped, key=lambda group: (group.remote, behind(group), group.last < LATE * ends))


def _apart(group: Group, others: Sequence[Group]) -> Group:
    """By how its lines begin, where those of another group have its words too: [train] step: 5 · step: 5"""
    if not group.dialect or not (lead := re.match(r"[^\w\s]?[A-Za-z_]{2,}\W", group.text)):
        return group
    pattern, begin = group.dialect.step[0].pattern, lead[0].encode()
    alike = [other for other in others if other is not group and re.search(pattern, other.text.encode())]
    if (
        not alike
        or all(other.text.startswith(lead[0]) for other in alike)
        or re.match(rb"\W*" + re.sub(rb"\W", b"", begin), pattern)
    ):
        return group
    only = replace(group.dialect.step[0], pattern=re.escape(begin) + rb"[^\r\n]*?" + pattern)
    return replace(group, dialect=replace(group.dialect, step=(only,)))


def _held_against_epochs(grouped: list[Group], keyed: Sequence[Keyed], trains: bool, length: Length) -> list[Group]:
    """By a line behind each end of a counter: Epoch 1 took 4730.2s. Is a time of a step, or missing, or of a part?"""
    tested = any(group.lacks == _OTHER_WORK for group in grouped)
    of_part = (group.roles.keys() & _TIMED == {"seconds"} and group.dialect and not tested for group in grouped)
    lacking = ("step" in group.roles and group.lacks in (_NO_CLOCK, _UNCLEAR) for group in grouped)
    place = next((at for at, asked in enumerate(map(any, zip(of_part, lacking, strict=True))) if asked), None)
    if place is None:
        return grouped
    places, texts = zip(*keyed[place][1], strict=True)
    of, error, ends = roles.total_of(columns := roles.columns_of(texts))
    counted = grouped[place]
    single = next((column for column in columns.values() if column[0].words == counted.roles.get("seconds")), None)
    for at, (_, lines) in enumerate(keyed):
        own = roles.choose_epoch_time([text for _, text in lines[-MOST_OF_EACH:]])
        follow = {bisect.bisect(places, number) for number, _ in lines}
        often = len(follow) == len(lines) and len(follow & ends) >= roles.MOSTLY * len(lines)
        if not (own and of and often) or grouped[at].lacks == _OTHER_WORK:
            continue
        seconds = statistics.median(roles.values_of(own)) * own[0].unit_s / of
        if counted.lacks == _UNCLEAR:
            grouped[place] = _group(*keyed[place], trains, {**length, "at_most": seconds})
            return grouped
        most = roles.SCATTER * statistics.median(roles.values_of(single)) * single[0].unit_s if single else 0.0
        if len(own) >= roles.FEWEST and seconds > most:
            fields = partial(read_fields, {"report_s": own[0].unit_s}, {"interval": of})
            made = _dialect(_pattern({"report_s": own}, b""), lines[-1][1], fields, restart=False)
            said = {"report_s": own[0].words, "step": counted.roles["step"]}
            said |= {"steps_about": f"{of:,.0f} ± {error:,.0f}"} if error else {}
            grouped[place] = replace(counted, dialect=None, lacks=_UNCLEAR)
            return [replace(grouped[at], dialect=made, lacks="", roles=said), *grouped]
    return grouped


def _beside(group: Group, others: Sequence[Group]) -> Group:
    """A counter with its clock in a line of its own, as often as a line of losses."""
    losses = (each for each in others if each.lacks == _NO_COUNTER and _LOSS.search(each.text.encode()))
    often = any(ALIKE < each.count / group.count < 1 / ALIKE for each in losses)
    return replace(group, dialect=group.unsaid, lacks="") if group.unsaid and often else group


def _ends(items: Sequence[Any]) -> Sequence[Any]:
    return (*items[:MOST_OF_EACH], *items[MOST_OF_EACH:][-MOST_OF_EACH:])


def _joined(grouped: Sequence[Group], lines: Sequence[Lines], trains: bool) -> Iterator[Group]:
    """A counter in one line and its time in another, always as many lines apart."""
    lacks = [_NO_CLOCK, _NO_TRAINING][: 1 + trains]
    counters = [place for place, group in enumerate(grouped) if "step" in group.roles and group.lacks in lacks]
    for counter, time in itertools.product(counters[:MOST_COUNTERS], range(len(lines))):
        said = b" ".join(text for _, text in lines[time][:1])
        if time == counter or grouped[time].roles.keys() & {"step"} or words.NOT_TRAINING.search(said):
            continue
        counted = dict(lines[counter])
        for apart in (*range(1, MOST_APART), *range(-1, -MOST_APART, -1)):  # lines from the counter to the time
            seen = lines[time][:MOST_OF_EACH]
            if sum(number - apart in counted for number, _ in seen) < max(2 * roles.FEWEST, roles.MOSTLY * len(seen)):
                continue
            pairs = [(counted[number - apart], text) for number, text in lines[time] if number - apart in counted]
            texts = [(b"\n" * abs(apart)).join(pair if apart > 0 else pair[::-1]) for pair in _ends(pairs)]
            joined = _read_lines(replace(grouped[counter], count=len(pairs), lacks=""), texts, {})
            if joined.dialect and rb"(?:\n" in joined.dialect.step[0].pattern:
                yield replace(joined, text=f"{joined.text} ⏎ {grouped[time].text}")
                return


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
    if prefix is None or not (before := prefix.match(text)):
        return text
    clock = _RELAYED.search(before[0])
    return (clock[0] + b" " if clock else b"") + text[before.end() :]


def _group(key: tuple[bytes, ...], lines: Lines, trains: bool, length: Length) -> Group:
    number, text = lines[len(lines) // 2]
    plain = Group(count=len(lines), line=number, text=shown(text), last=lines[-1][0])
    texts = [text for _, text in _ends(lines)]
    is_bar, header = key[:1] == (b"%|",), key[1] if key[:1] == (_TABLE,) else b""
    spoken = [name for name in tables.split(header) if not words.EVALUATION.search(name)] if header else key
    said = words.translate(b" ".join(key[1:-1] if is_bar else spoken))
    others = words.translate(b" ".join(word for word in spoken if not _SCORE.match(word)))  # loss, val_loss
    said = others if not is_bar and _LOSS.search(others) else said
    training = words.TRAINING.search(said) is not None or (is_bar and _tells_scores(texts)) or _SINCE.search(text)
    if len(lines) < roles.FEWEST:
        return replace(plain, lacks=_FEW)
    tested = words.EVALUATION.search(said) and not words.LEARNING.search(said)
    saves = _SAVED.search(said) and not _LOSS.search(said)
    if tested or saves or (not is_bar and _OTHER.search(text)) or (words.NOT_TRAINING.search(said) and not training):
        return replace(plain, lacks=_OTHER_WORK)
    group = _read_bars(plain, texts) if is_bar else _read_lines(plain, texts, length, header)
    counts = is_bar and _count(key[-1]) >= FEWEST_STEPS and (not said or _COUNTED.search(text[: text.find(b"%|")]))
    begun = (re.search(_EPOCH, bar["desc"]) for text in texts if (bar := _bar(text)))
    goes_through_again = len({match[1] for match in begun if match}) > 1  # Epoch 5/200:  41%|████      | 74/180
    of_epochs = (trains or goes_through_again) and (counts or re.search(rb"(?i)(?<![a-z])epochs?(?![a-z])", said))
    clocks = {"steps_per_s", "elapsed_s"} if length.get("begins") else {"steps_per_s"}
    timed = "step" in group.roles and ("rate" in group.roles or (trains and clocks & group.roles.keys()))
    again = "epoch" in group.roles and group.dialect is not None and group.dialect.steps_restart == "epoch"
    if not training and not of_epochs and (is_bar or not (timed or again)):
        unsaid = group.dialect if trains and "step" in group.roles and not is_bar else None
        return replace(group, dialect=None, by_epoch=None, unsaid=unsaid, lacks=_NO_TRAINING)
    if is_bar and not training:
        group = replace(group, count=1 + sum(b" 0/" in text for _, text in lines))
    return group


# bars


def _bar(text: bytes) -> Match[bytes] | None:
    if b"] " in text and b"Tot: " in text:
        return _DRAWN.search(text) or _REDRAWN.search(text)
    if b"%|" in text or b"% " in text:
        return _BAR.search(text) or _IGNITE.search(text)
    return _LOGGED.search(text) if b"Progress on:" in text else None


def _tells_scores(texts: Sequence[bytes]) -> bool:
    """A loss, or decimals before the percents that change: d: -12.467;gen: -0.141:   5%|▌"""
    before = {b" ".join(_DECIMAL.findall(bar["desc"])) for text in texts if (bar := _bar(text))}
    return len(before) >= roles.FEWEST or _LOSS.search(texts[len(texts) // 2]) is not None


def _read_bars(group: Group, texts: Sequence[bytes]) -> Group:
    bars = [bar for text in texts if (bar := _bar(text))]
    first = bars[len(bars) // 2]
    fast = [bar for bar in bars if _count(bar["n"]) > roles.MOST_A_SECOND * (words.read_number(bar["elapsed"]) or 1.0)]
    items = {_unit_of(bar["unit"]) for bar in bars if bar["unit"]} - {*NO_ITEMS}
    of_items = len(items) == 1 and "" not in items and _tells_scores(texts)
    if (len(fast) > len(bars) / 2 or items) and not of_items:
        return replace(group, lacks=_OTHER_WORK)
    begins = (_EPOCH, rb"^\s*(?P<epoch>\d+)/\d+\s")
    epoch = next((form for form in begins if re.search(form, first["desc"])), None)
    places = {(bar["n"], match and match[0]) for bar in bars for match in (re.search(epoch or b"$", bar["desc"]),)}
    name = first["desc"].strip(b" :\0").split()[:1]
    named = first.re is not _LOGGED and name and name[0].isalpha() and not epoch
    begin = re.escape(name[0]) + rb"[^\r\n|%]{0,60}?" if named else b""
    longest = max(words.read_number(bar["elapsed"]) or 0.0 for bar in bars)
    shown_by = words.read_number(first["of"]) or 0.0, longest
    if len(places) < roles.FEWEST:
        full = first.re in (_BAR, _DRAWN, _REDRAWN) and all(bar["n"] == bar["of"] for bar in bars)
        times = [words.read_number(bar["elapsed"]) or 0.0 for bar in bars]
        if not full or len(bars) < roles.FEWEST or roles.scatters(times):
            return replace(group, lacks=_NO_COUNTER, bar=shown_by if full else group.bar)
        made = _dialect(begin + _FORMS[first.re] % re.escape(first["of"]), first[0], read_full, restart=False)
        told = {"step": "total", "report_s": "[elapsed<"}
        return replace(group, roles=told, dialect=replace(made, redrawn=True), bar=shown_by)
    lead = epoch.lstrip(b"^") + rb"[^\r\n|]{0,120}?" if epoch and first.re is not _LOGGED else b""
    pattern = begin + lead + _FORMS[first.re] % re.escape(first["of"])
    unit = items.pop() if of_items else "samples/s"
    sample = max(bars, key=lambda bar: words.read_number(bar["elapsed"]) or 0.0)[0]  # of which a time is told
    made = _dialect(pattern, sample, read_items if of_items else read_bar, unit=unit, restart=bool(epoch))
    made = replace(made, clock_s=1.0, averaging="cumulative", zero_based=False, redrawn=True, second=PastTotal)
    if not epoch and (
        re.search(rb"(?i)\bepochs?\W*$", first["desc"]) or any(b"epoch" in (b["unit"] or b"") for b in bars)
    ):
        told = {"epoch": "n/total", "elapsed_s": "[elapsed<"}
        return replace(group, roles=told, by_epoch=made, lacks=Message("logs.shape_epochs"))
    said = {"step": "n/total", "elapsed_s": "[elapsed<"}
    if sum(bar["n"] == bar["of"] for bar in bars) < ALIKE * len(bars):  # a full one ends before the evaluation
        made = _with_evaluations(made, first[0])
    return replace(group, roles=said, dialect=made, bar=shown_by)


def _evaluation_of(bar: bytes, title: bytes) -> list[bytes]:
    """The words of the line before a bar without any: ---Start validation---, Evaluating..."""
    other = _DIGIT.search(title) or _LETTER.search(bar) or not words.EVALUATION.search(title)
    spoken = [] if other or _OVER.search(title) else words.WORD.findall(title)
    return spoken if len(spoken) <= LONGEST_TITLE else []


def _told_above(bar: Match[bytes], title: bytes, opens: bytes) -> list[bytes]:
    """Of a bar without a name: Epoch 5, and behind the bar that *opens* it another; training the last 15 blocks ..."""
    if not _LETTER.search(bar["desc"]):
        said = words.translate(title)
        if bar["of"] != opens and _EPOCH_BEGINS.fullmatch(said):
            return [b"validation"]
        if _BEGINS.fullmatch(said) and not _OVER.search(said) and not words.NOT_TRAINING.search(said):
            return [b"training"]
    return _evaluation_of(bar["desc"], title)


def _is_evaluation(match: Match[bytes]) -> bool:
    text, start = match.string, match.start()
    begin = text.rfind(b"\n", 0, start) + 1
    before = text[max(0, begin - LINE_BYTES) : begin].rstrip()
    title = before[max(before.rfind(b"\n"), before.rfind(b"\r")) + 1 :]
    bar = text[max(text.rfind(b"\r", begin, start) + 1, begin) : start] + match[0].partition(b"|")[0]
    return bool(_evaluation_of(bar, title))


def read_full(match: Match[bytes]) -> Fields | None:
    """Of each epoch the full bar alone, with parts of a second: 100%|██████████| 125/125 [00:06<00:00, 19.97it/s]"""
    if match["step"] != match["of"] or not (fields := read_bar(match)):
        return None
    seconds = float(fields["step"] or 0) * float(fields["mean_s"] or 0)
    fine = abs(seconds - round(seconds)) > WHOLE or seconds > COARSE_S
    return {"interval": fields["step"], "report_s": seconds} if fine else None


def read_bar(match: Match[bytes]) -> Fields | None:
    if _is_evaluation(match):
        return None
    step, of, elapsed_s = _count(match["step"]), _count(match["of"]), words.read_number(match["elapsed_s"])
    if step == of and elapsed_s and (rate := _RATE.match(match.string, match.end())):
        exact = of * float(rate[1]) ** (1 if rate[2] == b"s" else -1)
        elapsed_s = exact if elapsed_s <= exact < elapsed_s + 1 else elapsed_s
    counted = {**match.groupdict(), "step": step, "of": of, "elapsed_s": None}
    return {**counted, "mean_s": elapsed_s / step} if step and elapsed_s else None


def _count(text: bytes) -> int:
    """Of 61, 7.00 and 12.3k, as tqdm writes them with unit_scale."""
    return int(text) if text.isdigit() else round(words.read_number(text) or 0.0)


def _unit_of(unit: bytes) -> str:
    """img/s · s/img; "" of what is no training"""
    named = unit.decode().lower().removeprefix("s/").removesuffix("/s")
    match = words.RATE.fullmatch(f"{named}/s")
    return "steps/s" if named in ("epoch", "ba") else words.items_of(match) if match else ""


def read_items(match: Match[bytes]) -> Fields | None:
    return (fields := read_bar(match)) and {**fields, "global_batch": 1.0}


# lines of words and numbers


class _Clock(NamedTuple):
    stamps: list[float]
    head: bytes  # the first stamp as printed
    columns: roles.Columns
    chosen: roles.Chosen  # counters
    restarts: bool
    unix: roles.Chosen  # stamps that are no head of their line


def _find_clock(texts: Sequence[bytes], columns: roles.Columns, header: bytes) -> _Clock:
    heads = [text[: _head_end(text.partition(b"\n")[0])] for text in texts]
    stamps = [stamp for head in heads if (stamp := stamp_s(head)) is not None]
    unix, timed = {} if stamps else roles.choose_unix(columns), columns
    if unix:
        ((name, at),) = unix.items()
        stamps = [value / (1000 if name == "unix_ms" else 1) for value in roles.values_of(at)]
        columns, heads = {key: column for key, column in columns.items() if column is not at}, [at[0].text]
    elif len(stamps) == len(texts):  # then the time of day is no time of its own
        ends = list(map(len, heads))
        columns = {key: column for key, column in columns.items() if [slot.end for slot in column] != ends}
    chosen, restarts = roles.choose_counters(columns)
    first = min((column[0].start for column in chosen.values()), default=0)
    if header and (dates := tables.stamps_of(texts, header)):
        unix, stamps = {"stamp": dates}, [stamp_s(date.text) or 0.0 for date in dates]
        heads = [date.text for date in dates]
    elif chosen and not unix and not header and first < (len(heads[0]) if stamps else len(texts[0])):
        unix, stamps = _stamps_behind(texts, first)
        columns = columns if stamps else timed
        heads = [slot.text for slot in unix.get("stamp", [])]
    return _Clock(stamps, next(iter(heads), b""), columns, chosen, restarts, unix)


def _of_one_start(
    texts: Sequence[bytes], columns_of: Callable[[Sequence[bytes]], roles.Columns]
) -> tuple[Sequence[bytes], roles.Columns]:
    columns = columns_of(texts)
    begins = find_starts(roles.places_of(columns))
    if not begins:
        return texts, columns
    parts = [texts[begin:end] for begin, end in itertools.pairwise((0, *begins, len(texts)))]
    told = (part for least in roles.FEWEST_OF_START for part in reversed(parts) if len(part) >= least)
    texts = next(told, texts)
    return texts, columns_of(texts)


def _read_lines(group: Group, texts: Sequence[bytes], length: Length, header: bytes = b"") -> Group:
    texts, columns = _of_one_start(texts, partial(tables.columns_of, header=header) if header else roles.columns_of)
    found = _find_clock(texts, columns, header)
    stamps, columns, chosen = found.stamps, found.columns, found.chosen
    stamped, examples = len(stamps) == len(texts) and len(set(stamps)) > 1, length.get("examples")
    if "step" not in chosen and examples:
        chosen |= roles.choose_epochs(columns)
    of_items = "step" in chosen and roles.counts_samples(chosen["step"], columns)
    unit, scope, kilo = roles.choose_rate(columns, chosen)
    pace, per, many = roles.choose_pace(columns) if "rate" not in chosen else ({}, "", 1.0)
    chosen, unit = chosen | pace, per or unit
    each = [] if {"step", "consumed"} & chosen.keys() else roles.choose_each_epoch(columns)
    chosen |= {"step": each} if each else {}
    timed = roles.choose_time(columns, chosen, stamps if stamped else None, length.get("at_most"))
    if unit not in ("samples/s", "tokens/s"):
        chosen.pop("consumed", None)
    if stamped and timed == "seconds" and "step" in chosen and roles.scatters(roles.values_of(chosen["seconds"])):
        chosen = {name: column for name, column in chosen.items() if name not in ("seconds", "rate", "steps_per_s")}
        unit, timed = "samples/s", ""  # figures of single batches, between which others lie
    of_epochs = bool(each and chosen.pop("step"))
    if "step" not in chosen and (shares := roles.count_shares(columns)):
        of_epochs, examples = True, examples or shares
    said = {name: column[0].words or _unnamed(column[0]) for name, column in chosen.items()}
    said |= {"consumed": said.pop("step")} if of_items else {}
    clocked = replace(group, roles=said | ({"stamp": shown(found.head)} if stamped else {}))
    rated = bool({"rate", "pace", "steps_per_s"} & chosen.keys())
    per_step = "seconds" in chosen and words.PER_STEP.search(chosen["seconds"][0].words)
    alone = not {"rate", "pace"}.isdisjoint(chosen) or per_step
    counted = not chosen.keys().isdisjoint({"step", "consumed"})
    epochs = of_epochs and timed in _OF_REPORT and examples is not None
    by_epoch = bool(each and not (epochs or alone)) and (timed in (*_OF_REPORT, "elapsed", "elapsed whole") or stamped)
    if by_epoch:
        chosen, clocked = {**chosen, "step": each}, replace(clocked, lacks=Message("logs.shape_epochs"))
    elif not counted and not epochs and (not alone or len(texts) < 2 * roles.FEWEST):
        return replace(clocked, lacks=_NO_COUNTER)
    if timed in ("", "unclear") and not rated and not stamped:
        return replace(clocked, lacks=_UNCLEAR if timed else _NO_CLOCK)
    if timed == "seconds" and not stamped and not rated and roles.is_coarse(chosen["seconds"]):
        return replace(clocked, lacks=Message("logs.shape_coarse"))
    coarse = stamped and timed in ("", "unclear") and not rated and all(stamp % 1 == 0 for stamp in stamps)
    scales = {name: column[0].unit_s for name, column in chosen.items() if name in _TIMES}
    scales |= {"rate": kilo, "pace": many} | ({"consumed": examples} if examples and "step" not in chosen else {})
    middle = texts[len(texts) // 2]
    others = {name: scale for name, scale in scales.items() if scale != 1.0 and (name, scale) not in _UNITS}
    scaled = any(slot.clock or slot.scaled for column in chosen.values() for slot in column)
    known = {"items": examples} if epochs and examples else {"global_batch": 1.0} if of_items else {}
    same = _of_each_report(known, chosen, middle, timed if not (rated or of_epochs or by_epoch) else "seconds")
    chosen |= found.unix
    fields = partial(read_fields, others, same) if others or scaled or same or pace else None
    tick_s = roles.tick_s(chosen["elapsed_s"]) if timed == "elapsed whole" else float(coarse)
    chosen = {_UNITS.get((name, scales.get(name, 1.0)), name): column for name, column in chosen.items()}
    made = _dialect(_pattern(chosen, header), middle, fields, unit=unit, scope=scope, restart=found.restarts)
    made = replace(made, clock_s=tick_s, trust_stamps=not coarse)
    made = replace(made, averaging="cumulative") if tick_s or timed == "mean_s" else made
    if by_epoch and (steps := length.get("steps") or roles.count_epoch(columns)):
        told = {"step": each[0].words, **clocked.roles}
        return replace(clocked, lacks="", dialect=replace(made, each=int(steps)), roles=told)
    if by_epoch:
        return replace(clocked, by_epoch=made, roles={"epoch": each[0].words, **clocked.roles})
    return replace(clocked, dialect=_with_evaluations(made, middle, inside=timed not in ("seconds", "mean_s")))


def _of_each_report(same: Mapping[str, float], chosen: roles.Chosen, text: bytes, timed: str) -> Length:
    said: dict[str, float | None] = {**same}
    if b"\n" in text and "report_s" in chosen:  # a pair may be lost
        said |= {"interval": roles.usual_interval(chosen)}
    if timed not in ("seconds", "mean_s") and _VALIDATED.search(words.translate(text)):
        said |= {"evaluated": 1.0}  # Iter: 600, Train Loss: 1.5, Val Loss: 1.4, Time: 0:04:20
    if "step" in chosen and (stride := roles.stride_of_rounded(chosen["step"][:MOST_OF_EACH])):
        said |= {"interval": stride, "step": None, "epoch": None}
    return said


def _unnamed(slot: Slot) -> str:
    """[205000] · 3904/"""
    return shown(slot.lead.strip()[-1:] + slot.text + slot.tail.strip()[:1])


def _with_evaluations(dialect: Dialect, text: bytes, *, inside: bool = True) -> Dialect:
    if words.NOT_TRAINING.search(b" ".join(words.WORD.findall(text))) or re.search(_EVALUATION, text):
        return dialect
    return replace(dialect, evaluation=line(_EVALUATION, b"Evaluation", SOURCE), evaluation_inside=inside)


def begun_by_evaluations(dialect: Dialect) -> Dialect:
    """Where each report follows one whose figures have a stamp: 05:43:56.69: Step 450: Validation accuracy = 88.0%"""
    pattern = rb"(?P<begins>%b)[^\n]*(?:[=:]\s*|\d\.)\d" % _EVALUATION
    begins = Line(pattern=pattern, sample=b"10:00:00 Validation accuracy = 88.0%", source=SOURCE)
    return replace(dialect, step=(*dialect.step, begins), evaluation=(), trust_stamps=False, clock_s=0.0)


def _head_end(text: bytes) -> int:
    times = re.finditer(rb"\d:\d\d(?::\d\d)*(?:[.,]\d+)?|%b" % COMPACT, text[:STAMP_BYTES])
    own = (time for time in times if not _OTHER_TIME.search(text, max(0, time.start() - 14), time.start()))
    return next((time.end() for time in own), 0)


def _stamps_behind(texts: Sequence[bytes], first: int) -> tuple[roles.Chosen, list[float]]:
    """iter: 5000, loss: 0.1249 | 2021-12-01 12:00:16.343"""
    dates = [date for text in texts if (date := words.DATE.search(text.partition(b"\n")[0], first))]
    stamps = [stamp_s(date[0]) or 0.0 for date in dates]
    to_come = any(_TO_COME.search(date.string[: date.start()][-14:]) for date in dates)
    if to_come or len(dates) < len(texts) or stamps != sorted(stamps):
        return {}, []
    return {"stamp": [Slot(label="", unit="", text=d[0], lead=b"", tail=b"", start=d.start()) for d in dates]}, stamps


# from columns to a dialect

_OF_REPORT = ("report_s", "seconds")
_TIMES = frozenset({"seconds", "report_s", "elapsed_s", "mean_s"})
_UNITS = {("seconds", 1e-3): "ms", ("seconds", 1e-6): "us", ("report_s", 1e-3): "report_ms", ("rate", 1e3): "rate_k"}
_UNITS |= {("elapsed_s", 1e-3): "elapsed_ms"}


def _pattern(chosen: roles.Chosen, header: bytes) -> bytes:
    """The roles in the order of the line, each with the words before and behind it."""
    if header:
        named = (
            (at[0].line, rb"(?P<%b>%b)" % (name.encode(), _number_pattern(name, at))) for name, at in chosen.items()
        )
        return tables.pattern(named, header)
    parts: list[bytes] = []
    line = 0
    for name, column in sorted(chosen.items(), key=lambda pair: pair[1][0].start):
        lead = _common([slot.lead for slot in column], backwards=True)
        tail = _common([slot.tail[1:] if slot.scaled else slot.tail for slot in column])
        tail = b"" if len({slot.scaled for slot in column}) > 1 else tail
        if word := re.match(rb"[A-Za-z_]+", lead):  # first, so that it is looked for as text
            begin, lead = word[0] + rb"(?<![A-Za-z_]%b)" % word[0], lead[word.end() :]
        else:
            begin = b"" if lead or parts else rb"(?<![\w.])"
        value = _number_pattern(name, column)
        below = column[0].line - line if parts else 0
        line = column[0].line
        parts += [rb"[^\n]*(?:\n[^\n]*){%d}\n[^\r\n]*?" % (below - 1) if below else rb"[^\r\n]*?"] if parts else []
        parts.append(begin + lead + b"(?P<%b>%b)" % (name.encode(), value) + (b"(?=%b)" % tail if tail else b""))
    return b"".join(parts)


def _number_pattern(name: str, column: roles.Column) -> bytes:
    if name == "stamp":
        return words.DATE.pattern
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
        cut_within = any(re.match(rb"[A-Za-z_]", text[size : size + 1]) for text in ends)
        same = re.sub(rb"^[A-Za-z_]+", b"", same[::-1]) if cut_within else same[::-1]
        match = re.search(rb"[A-Za-z_/()\[ ]*[^A-Za-z\d\n]*$", same)
        kept = match[0].lstrip() + b" " if match and match[0].strip() else b""
    else:
        match = re.match(rb"[^A-Za-z\d\n]{0,2}[A-Za-z_/]*(?:/[A-Za-z]+)*", same)
        kept = b" " + match[0].rstrip() if match and match[0].strip() else b""
    return re.sub(rb"(?:\\ )+", rb"\\s*", re.escape(kept))


def read_fields(scales: Mapping[str, float], same: Length, match: Match[bytes]) -> Fields | None:
    said: dict[str, bytes | float | None] = {}
    for name, text in match.groupdict().items():
        value = None if name == "stamp" else words.read_number(text)
        said[name] = None if value is None else value * scales.get(name, 1.0)
        said |= {"rate": scales.get(name, 1.0) / value} if name == "pace" and value else {}
        said |= {name: text} if name == "stamp" else {}
    return {**said, **same}


def _dialect(
    pattern: bytes, sample: bytes, fields: object, *, unit: str = "samples/s", scope: Scope = "unstated", restart: bool
) -> Dialect:
    step = Line(pattern=pattern, sample=sample, source=SOURCE, fields=fields, sure=True)  # type: ignore[arg-type]
    alone: Literal["never", "unnumbered"] = "never" if b"(?P<epoch>" in pattern else "unnumbered"
    restarts: Literal["epoch", "never", "unnumbered"] = "epoch" if restart else alone
    told = {"name": "no_dialect", "title": "a log in no known dialect", "framework": None, "averaging": "interval"}
    return Dialect(**told, unit=unit, step=(step,), scope=scope, steps_restart=restarts)  # type: ignore[arg-type]
