"""What is collected of a log apart from its records: facts of the job, incidents, scores, timers, NCCL's lines."""

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from evalsuite.contracts.dialect import ANY_DIGIT, PIECES, SCORE, Dialect, Line, Timers
from evalsuite.core import paths
from evalsuite.core.findings import BeginsAgain, LossNotANumber, Resumed
from evalsuite.core.messages import Message
from evalsuite.core.model import Breakdown, Phase, Score, Window
from evalsuite.logs.formatting import shown
from evalsuite.logs.text.intact import WIDTHS, may_be_cut, unfolded
from evalsuite.logs.text.logfile import Chunk, Piece
from evalsuite.logs.text.records import is_whole, matches, number, printer, whole

# batch and devices: by lines of the dialect, and by one list of how scripts spell them

FACT_BYTES = 1 << 20  # they are printed before or soon after the start
_GOES_ON = re.compile(rb"\d[.,]\d")  # a number after the end of a match
# the header of our own reference workloads, whatever dialect they print in
HEADER = Line(
    pattern=rb"reference workload: [^\r\n]*?\bbatch_per_device=(?P<batch_per_device>\d+) processes=(?P<devices>\d+)",
    sample=b"reference workload: framework=mxnet version=1.9.1 model=resnet50_v1.5 batch_per_device=8 processes=2",
    source="evalsuite adapters/workloads/common.py, announce_case()",
)
_OF_JOB = frozenset(
    {"devices", "mesh", "listed", "all", "total", "effective", "iteration", "accumulation", "set", "length", "epochs"}
)  # whatever else a dialect names
_ALIKE = {"total": "all", "mesh": "devices"}  # where a dialect does not tell them apart
DEVICES = frozenset({"devices", "world_size", "listed_devices", "devices_per_node"})  # facts that count them
_BATCHES = frozenset({"batch_per_device", "global_batch", "reduced_batch"})
_PARTLY = frozenset({"parts", "effective", "all", "train", "bare"})  # what a product makes a total


@cache
def _forms(of: str) -> Sequence[tuple[str, "re.Pattern[bytes]"]]:
    """Names and patterns: of what stands behind its number, or of one process and several."""
    pairs = paths.read_data("log_words.toml")[of]
    return [(name, re.compile(f"(?i){pattern}".encode())) for name, pattern in pairs]


@cache
def _fact(of: str) -> "re.Pattern[bytes]":
    return re.compile(f"(?i){paths.read_data('log_words.toml')['fact'][of]}".encode())


@cache
def _spelling() -> "re.Pattern[bytes]":
    kinds, around = (paths.read_data("log_words.toml")[of] for of in ("spelling", "around"))
    names = ["|".join(kind["names"]).replace(" ", "[_. -]") for kind in kinds]
    before = [kind.get("before", around["before"]) for kind in kinds]
    named = [f"{lead}(?P<{kind['kind']}>{name})" for kind, name, lead in zip(kinds, names, before, strict=True)]
    return re.compile(f"(?i){around['lead']}(?:{'|'.join(named)}){around['behind']}".encode())


def spelt(text: bytes) -> Iterator[tuple[str, bytes, bytes]]:
    """(kind, number, as printed) of what lines say of the job. Found by a word first: nearly no line has one."""
    low = text.lower()
    seen = b"\n".join({*low.translate(None, b"0123456789").split(b"\n")})  # most are alike; no word has a digit
    own = b"arameters:\n" in text  # of a script is a BATCH_SIZE=64 below; else MICRO_BATCH_SIZE=4 is of a shell
    untold = {"bare", "train"} if (b"type" in low or b"--problem" in low) and _fact("in_tokens").search(text) else ()
    for each in _fact("of_iteration").finditer(text) if b"accumulate grad" in low else ():
        yield "iteration", b"%d" % (int(each[2]) // max(1, int(each[1]))), each[0]
    present = [word for each in paths.read_data("log_words.toml")["sought"] if (word := each.encode()) in seen]
    lines = text.replace(b"\r", b"\n").split(b"\n") if present else []
    widest = max(map(len, lines), default=0)
    for at, (line, behind) in enumerate(itertools.pairwise([*lines, b""])):
        low = line.lower()
        cut = len(line) in WIDTHS and (len(line) == widest or behind[:1].isdigit())
        if any(word in low for word in present) and b"dataloader(" not in low:  # source that a warning quotes
            for match in _spelling().finditer(line):
                kind, name = next(pair for pair in match.groupdict().items() if pair[1] is not None)
                kind = "total" if match["product"] and kind in _PARTLY else kind
                if kind in ("bare", "train") and _fact("each").match(line, match.end()):  # 8/GPU
                    kind = "per_device"
                variable = name.isupper() and kind != "devices" and b"=" in match[0] and not own
                tested = (line[:1].isspace() or line[:1] == b"[") and _is_of_evaluation(lines, at)
                if not (variable or tested or kind in untold or (cut and match.end() == len(line))):
                    value = match["value"].replace(b",", b"") if kind in ("set", "tokens") else match["value"]
                    yield kind, value, match[0].strip(b"- ")
            for kind, form in _forms("forms"):
                if counted := form.search(line):
                    yield kind, next(filter(None, counted.groups())).replace(b",", b""), counted[0]
            if listed := _fact("listed").search(line):
                yield "listed", listed[2] or b"%d" % len(listed[1].split(b",")), listed[0]
            if mesh := _fact("mesh").search(line):
                yield "mesh", b"%d" % math.prod(int(part) for part in mesh.groups(b"1")), mesh[0]


def _is_of_evaluation(lines: Sequence[bytes], number: int) -> bool:
    """Does it stand somewhere below `TEST:`, as tables of YAML are printed?"""
    deepest = _fact("of_logger").sub(b"", lines[number])
    above = (_fact("of_logger").sub(b"", each) for each in lines[number - 1 :: -1] if number)
    for line in filter(bytes.strip, above):  # a \r\n has become two ends of lines
        depth = len(deepest) - len(deepest.lstrip())
        if not depth or _fact("of_evaluation").fullmatch(deepest):
            break
        deepest = line if len(line) - len(line.lstrip()) < depth else deepest
    return _fact("of_evaluation").fullmatch(deepest) is not None


@dataclass
class FactCollector:
    """What the log says of the job, by names of `dialect.GROUPS`; what its dialect does not name, as arguments."""

    dialect: Dialect
    said: dict[str, bytes | float] = field(default_factory=dict)
    is_altered: bool = False  # is a fact whole only where folded lines are joined?
    _begun: bool = False  # arguments are printed before the first step

    def add(self, piece: Piece) -> None:
        if piece.chunk.offset >= FACT_BYTES:
            return
        text = piece.chunk.text
        for match, line in matches(text, (HEADER, *self.dialect.facts)):
            if not is_whole(match, line) or _GOES_ON.match(text, match.end() - 1) or may_be_cut(match, line):
                continue  # 491 of 491,520
            for name, value in (line.read(match) or {}).items():
                if name == "reduced_batch" and value is not None:  # the last counts, not the first
                    self.said[name] = value
                elif value is not None:
                    self.said.setdefault(name, value)
        if not self._begun:
            free = _BATCHES.isdisjoint((*self.dialect.named_facts.values(), *self.said))
            first = next((match.start() for match, _ in matches(text, self.dialect.step)), len(text))
            begins = list(_ARGUMENTS.finditer(text, 0, first)) if text.count(b"Namespace(") > 1 else []
            again = len(begins) > 1 and begins[-1][0] == begins[0][0]  # the arguments of a later start
            for kind, value, printed in (*(spelt(text[begins[-1].start() : first]) if again else ()), *spelt(text)):
                tokens = kind == "tokens" and self.dialect.unit in PIECES  # of others a total beside the batch
                of_steps = self.dialect.named_facts.get(kind) or self.dialect.named_facts.get(_ALIKE.get(kind, ""))
                if group := "global_batch" if tokens else of_steps:
                    again = b"nstantaneous" in printed or b"otal train batch" in printed  # smaller, and fits
                    self.said[group] = value if again else self.said.get(group, value)
                    continue
                own = self.dialect.name.startswith(("no_dialect", "history_"))  # else it may be of another part
                known = kind != "sequence" or (own and self.dialect.unit in PIECES)
                name = dict(paths.read_data("log_words.toml")["said"]).get(kind, "") if known else ""
                if kind == "train" and free:
                    self.said.setdefault("train_batch", value)
                if name == "bare_batch" and self.said.get(name, value) != value:
                    self.said["bare_batches"] = value  # one may be the evaluation's
                if name == "argued_batch_per_device" and self.said.get(name, value) != value:
                    self.said[name] = b"several"
                default = value == b"1" and kind in ("accumulation", "devices", "nodes", "split")  # says nothing
                taken = (free or kind in _OF_JOB or name in ("bare_batch", "split")) and not default
                if name and taken and b"," not in value and name not in self.said:
                    self.said |= {name: value, f"{name}_text": printed} | ({} if free else {"not_named": 1.0})
            if "bare_batch" in self.said or DEVICES.isdisjoint(self.said):
                signs = ((name, seen[0]) for name, sign in _forms("processes") if (seen := sign.search(text, 0, first)))
                self.said |= itertools.islice(signs, 1)
            self._begun = bool(piece.records)
            if not self.is_altered and (whole := unfolded(text)):
                other = FactCollector(self.dialect, dict(self.said))
                other.add(Piece(chunk=replace(piece.chunk, text=whole)))
                self.is_altered = other.said.keys() != self.said.keys()


_ARGUMENTS = re.compile(rb"[^\r\n]{0,80}Namespace\(\w+=")


# a loss that is no number, a resume, a second run

QUOTED_CHARACTERS = 120
MOST_COUNTERS = 1000
SHORTEST_ANCHOR = 6  # bytes; what is shorter occurs by chance
# Loss nan (6.7e+00) · 'train_loss': nan · "loss": NaN · lm loss: INF; the best loss so far begins as inf
_NAN_LOSS = re.compile(
    rb"(?i)(?:loss[\w/-]{0,16}['\"]?[ \t:=(]{1,16}['\"]?nan|[\s{,|'\"](?<!best )(?<!min )(?:(?:train|lm)[ _])?loss"
    rb"['\"]?[ \t:=(]{1,16}['\"]?[+-]?inf(?:inity)?)\b"
)
# Resuming from checkpoint /ckpt/model.pt · resumed from epoch 3 · => loaded checkpoint 'checkpoint.pth.tar' (epoch 3)
_RESUMED = re.compile(
    rb"(?i:\bresum(?:ing|ed) (?:training )?(?:from|at)\b)[^\r\n]{0,200}|=> loaded checkpoint '[^\r\n]{0,200}"
)


_INF = (b"inf", b"Inf", b"INF")
_NOT_FINITE = (b"nan", b"NaN", b"NAN", *(lead + word for lead in (b" ", b":", b"=", b"'") for word in _INF))
_COUNTER = re.compile(rb"\bconsumed samples:\s*(\d{1,18})\b[^\r\n]{0,200}?\bglobal batch size:\s*(\d{1,9})\b")
_SIGN = r"([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|-?nan\b|[-+]?inf\b)"


@cache
def _signs() -> Mapping[str, tuple[tuple[bytes, ...], "re.Pattern[bytes]"]]:
    """Of each sign of training the bytes without which no line has it, and its pattern."""
    table = paths.read_data("training_signs.toml")
    spelt = {name: "|".join(of["patterns"]).replace("{N}", _SIGN) for name, of in table.items()}
    return {"nan": (_NOT_FINITE, _NAN_LOSS)} | {
        name: (tuple(word.encode() for word in of["words"]), re.compile(f"(?i){spelt[name]}".encode()))
        for name, of in table.items()
    }


@cache
def _leaving_out() -> Sequence[bytes]:
    """Words without which no start of a log says that the run leaves something out, without their digits."""
    flags = (flag for flag in paths.read_data("criteria/facts.toml")["flag"] if flag["key"] == "left_out")
    return [word.encode().translate(None, b"0123456789") for flag in flags for word in flag.get("pattern", ())[1:]]


@dataclass
class Incidents:
    """What happened to the run apart from its steps."""

    dialect: Dialect
    again: BeginsAgain | None = None
    resumed: Resumed | None = None
    nan: LossNotANumber | None = None
    signs: dict[str, list[bytes]] = field(default_factory=partial(defaultdict, list))  # as printed, the first values
    loss: bytes | None = None  # of the first step line, as printed
    counters: list[tuple[int, int]] = field(default_factory=list)  # of the first reports: samples so far, global batch
    may_leave_out: bool = False  # has the log's head a word for it?
    _anchor: bytes | None = None  # the first step line up to its number; b"" where that is not its place in the run
    _read: str = ""  # the sign that the first step line gives its dialect

    def add(self, piece: Piece) -> None:
        text, first = piece.chunk.text, 0 if self._anchor is not None else len(piece.chunk.text)
        present = [line for line in self.dialect.step if line.literal in text] if self._anchor is None else ()
        if hits := [match for line in present if (match := line.compiled.search(text)) is not None]:
            match = min(hits, key=re.Match.start)
            first, groups = match.start(), match.re.groupindex
            self.loss = match["loss"] if "loss" in groups else None
            self._read = "loss" if self.loss is not None else ""
            counter = "step" if "step" in groups else "consumed"
            needed = ("step", "epoch") if self.dialect.steps_restart == "epoch" else (counter,)
            told = all(name in groups and match[name] is not None for name in needed)
            begin = max(match.start(), text.rfind(b"\n", match.start(), match.start(needed[0]))) if told else 0
            anchor = text[begin : max(match.end(name) for name in needed) + 1] if told else b""
            self._anchor = anchor if len(anchor) >= SHORTEST_ANCHOR else b""
        if piece.behind is not None and self.again is None and self._anchor:
            last = self._anchor.rpartition(b"\n")[2].translate(ANY_DIGIT)
            at = text.find(self._anchor, piece.behind) if last in piece.unlike else -1
            self.again = None if at < 0 else BeginsAgain(line=_line(piece.chunk, at))
        few = b"\n".join({*piece.unlike.translate(None, b"0").split(b"\n")})  # numbers differ in length alone
        if piece.chunk.offset < FACT_BYTES and not (piece.steps_alone or self.may_leave_out):
            self.may_leave_out = any(map(few.lower().__contains__, _leaving_out()))
        others = [(name, *of) for name, of in _signs().items() if name != self._read]
        signs = {name: of for name, words, of in others if any(map(few.__contains__, words))}
        if (pattern := signs.pop("nan", None)) and self.nan is None and (nan := pattern.search(text)):
            self.nan = LossNotANumber(line=_line(piece.chunk, nan.start()))
        for name, pattern in signs.items():
            found = itertools.islice(pattern.finditer(text, first), MOST_COUNTERS - len(self.signs[name]))
            self.signs[name] += [match[match.lastindex or 0] for match in found]
            if name == "rate":
                self.signs["head_rate"] += [match[match.lastindex or 0] for match in pattern.finditer(text, 0, first)]
        if b"consumed samples" in piece.unlike and len(self.counters) < MOST_COUNTERS:
            self.counters += [(int(of[1]), int(of[2])) for of in _COUNTER.finditer(text)][:MOST_COUNTERS]
        may_resume = not piece.steps_alone and (b"esum" in piece.unlike or b"=> loaded" in piece.unlike)
        if self.resumed is None and may_resume and (resumed := _RESUMED.search(text)):
            quoted = resumed[0].decode("utf-8", "replace")[:QUOTED_CHARACTERS]
            self.resumed = Resumed(line=_line(piece.chunk, resumed.start()), text=quoted)


def _line(chunk: Chunk, at: int) -> int:
    return chunk.first_line + chunk.text.count(b"\n", 0, at)


# how good the model was after each epoch (docs/numbers.md#convergence)

MOST_SCORES = 20_000  # of one log: memory stays bounded


@dataclass
class ScoreCollector:
    dialect: Dialect
    found: list[tuple[Score, int]] = field(default_factory=list)  # with the offset after the line, for its arrival
    _reports: int = 0
    _rank: str | None = None

    def add(self, piece: Piece) -> None:
        chunk, text = piece.chunk, piece.chunk.text
        if len(self.found) >= MOST_SCORES:
            return
        for match, line in matches(text, self.dialect.scores):
            fields = (line.read(match) if is_whole(match, line) else None) or {}
            named = [(score, number(said)) for name, said in fields.items() if (score := SCORE.fullmatch(name))]
            known = [(score, value) for score, value in named if value is not None]
            rank = printer(text[text.rfind(b"\n", 0, match.start()) + 1 : match.start()])
            self._rank = self._rank if self.found or not known else rank
            if not known or rank != self._rank:  # each has its own share of the data: that which prints first is read
                continue
            self._reports += 1
            epoch, end = whole(fields.get("epoch")), text.find(b"\n", match.end()) + 1 or len(text)
            for score, value in known:
                right = 1 - value if score[3] == "_error_share" else value
                told = Score(
                    metric=score[2],
                    split="train" if score[1] == "train" else "validation",
                    value=round(right * 100, 6) if score[3] else right,  # of a share, in per cent
                    epoch=self._reports if epoch is None else epoch - self.dialect.first_epoch + 1,
                    at_s=number(fields.get("elapsed_s")),
                    line=_line(chunk, match.start()),
                )
                self.found.append((told, chunk.raw_offset(end)))

    def scores(self, arrival: Callable[[int], float | None] | None) -> tuple[Score, ...]:
        """By epoch; the first of each metric and split, where an epoch is printed again."""
        first: dict[tuple[int, str, str], Score] = {}
        for score, end in self.found:
            timed = replace(score, at_s=arrival(end)) if score.at_s is None and arrival else score
            first.setdefault((score.epoch, score.split, score.metric), timed)
        return tuple(first[key] for key in sorted(first))


# the time of a step, taken apart by the script's own timers (docs/numbers.md): our reference workloads print
# the parts of each step in one line, ElasticDL one line for each timer of a task

MOST_REPORTS = 20_000  # of one log; no window is longer, and memory stays bounded
_PAIR = re.compile(rb"(\w+)_s=([0-9.e+-]+)")

# of our own reference workloads, whatever dialect they print in
OWN_TIMERS = Timers(
    line=Line(
        pattern=rb"reference workload: step=(?P<step>\d+) (?P<timers>[^\r\n]*\bstep_s=[0-9.e+-]+)",
        sample=b"reference workload: step=3 data_s=0.001210 forward_backward_s=0.206113 optimiser_s=0.004002 "
        b"step_s=0.211325",
        source="evalsuite adapters/workloads/cifar10.py, announce_parts()",
    ),
    whole="step",
    of="step",
    phases={
        **{name: (name, None) for name in ("data", "forward_backward", "allreduce", "optimiser")},
        "tensor_copy": ("tensor_copy", "allreduce"),
    },
)


@dataclass
class TimerCollector:
    timers: Timers
    each: int = 1  # steps of a report without a number
    found: list[tuple[int | None, dict[str, float | None]]] = field(default_factory=list)  # (step, timer → seconds)

    def add(self, piece: Piece) -> None:
        if len(self.found) >= MOST_REPORTS:
            return
        for match, line in matches(piece.chunk.text, (self.timers.line,)):
            fields = line.read(match) or {}
            several, alone = fields.get("timers"), fields.get("timer")
            if isinstance(several, bytes):
                seconds = {name.decode(): number(value) for name, value in _PAIR.findall(several)}
                self.found.append((whole(fields.get("step")), seconds))
            elif isinstance(alone, bytes):
                name = alone.decode("ascii", "replace")
                if name == self.timers.whole:  # begins the next report; what precedes the first is dropped
                    self.found.append((None, {}))
                if self.found:
                    self.found[-1][1][name] = number(fields.get("timer_s"))

    def breakdown(self, window: Window | None) -> Breakdown | None:
        """Means over the measured steps; None where none was timed as a whole.

        A phase that only some steps have is left out; of a step that was trained again the last counts.
        """
        by_last: dict[int, tuple[int, Mapping[str, float]]] = {}  # last step → first step, seconds
        for place, (step, seconds) in enumerate(self.found, 1):
            known = {name: value for name, value in seconds.items() if value is not None and value >= 0}
            last = place * self.each if step is None else step
            by_last[last] = (last - self.each + 1 if step is None else step, known)
        begin, end = (window.first_step, window.last_step) if window else (-math.inf, math.inf)
        measured = [seconds for last, (first, seconds) in sorted(by_last.items()) if begin <= first <= last <= end]
        inside = [seconds for seconds in measured if seconds.get(self.timers.whole, 0) > 0]
        names = [self.timers.whole, *self.timers.phases] if inside else []
        timed = [name for name in names if all(name in seconds for seconds in inside)]
        mean = {name: math.fsum(seconds[name] for seconds in inside) / len(inside) for name in timed}
        told = [(name, mean[timer], parent) for timer, (name, parent) in self.timers.phases.items() if timer in mean]
        phases = tuple(Phase(name=name, seconds=seconds, parent=parent) for name, seconds, parent in told)
        if not phases:
            return None
        return Breakdown(seconds=mean[self.timers.whole], phases=phases, of=self.timers.of, reports=len(inside))


# what NCCL says of the way between nodes, with NCCL_DEBUG=INFO

# NVIDIA/nccl: src/transport/net_ib.cc, net_socket.cc, src/misc/ibvwrap.cc, src/init.cc
# a:9:9 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.4<0> [1]veth37669ca:fe80::9c8a%veth37669ca<0>
# a:9:9 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB ib0:10.0.0.4<0>     ← without [0] it found none
# a:9:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0
_NCCL = re.compile(
    rb"NCCL (?:INFO|WARN) (?:"
    rb"Using (?:internal )?[Nn]etwork (?P<network>\w+)|(?:Channel|Ring) [^\r\n]{1,80} via NET/(?P<via>\w+)"
    rb"|NET/Socket : Using \[0\]|NET/(?P<found>IB) : Using \[0\]"
    rb"|(?P<hindered>NCCL_IB_DISABLE set by environment to 1|NET/IB : Unable to open device|Failed to open libibverbs)"
    rb")[^\r\n]*"
)


@dataclass
class CollectiveLines:
    """The first line of each kind: its number and text."""

    said: dict[str, tuple[int, str]] = field(default_factory=dict)  # "Socket", "IB", and why not by InfiniBand: ""

    def add(self, piece: Piece) -> None:
        text = piece.chunk.text
        for match in _NCCL.finditer(text):
            kind = match["network"] or match["via"] or match["found"] or (b"" if match["hindered"] else b"Socket")
            if kind.decode() not in self.said:
                begin = text.rfind(b"\n", 0, match.start()) + 1
                self.said[kind.decode()] = _line(piece.chunk, begin), shown(text[begin : match.end()])


# a progress bar that counts on after its total

# Epoch 1: 100%|██████████| 14/14 [04:02<00:00, 17.64s/it, loss=88]
# Epoch 1: 15it [04:02, 18.76s/it, loss=88]: tqdm drops a total that was passed
_NEXT = re.compile(rb"100%\|[^|\r\n]*\| *(\d{1,18})/\1 \[[^\r\n]*[\r\n]+(?P<name>[^\r\n|]*?)(?P<count>\d{1,18})it \[")
_WORD = re.compile(rb"[A-Za-z]+")


class PastTotal:
    """Either its count or its total is not that of the batches, and nothing tells which."""

    def __init__(self) -> None:
        self._passed: re.Match[bytes] | None = None

    def add(self, text: bytes) -> None:
        for bar in _NEXT.finditer(text) if self._passed is None and b"it [" in text else ():
            at = bar.start()
            name = text[max(text.rfind(b"\r", 0, at), text.rfind(b"\n", 0, at)) + 1 : at]
            if int(bar["count"]) > int(bar[1]) and _WORD.findall(name) == _WORD.findall(bar["name"]):
                self._passed = bar
                return

    def contradiction(self, items_per_s: float) -> Message | None:
        if self._passed is None:
            return None
        return Message("logs.bar_past_total", count=int(self._passed["count"]), of=int(self._passed[1]))
