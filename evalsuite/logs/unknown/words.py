"""The words around the numbers of a line: what scripts call a step, a rate, a time, and the numbers themselves."""

import functools
import math
import re
from dataclasses import dataclass
from functools import cached_property

from evalsuite.core import paths
from evalsuite.logs.text.records import COMPACT, TO_COME

_WORDS = paths.read_data("log_words.toml")
ITEMS, SHORT, FORMS = _WORDS["items"], _WORDS["short"], _WORDS["form"]
_MASKED = re.compile(b"|".join((TO_COME, COMPACT, *map(str.encode, FORMS["masked"]))))
NUMBER = rb"[-+]?(?:\d+(?:[,_]\d+)*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_HOUR_MIN = rb"\d+ ?h[a-z]*,? ?\d+ ?m(?:in[a-z]*)?(?![A-Za-z/]|,? *\d)"  # 2h 5min
_COMPACT = rb"(?:\d+[Ddhms])+\d+(?:ms|[hms])(?![A-Za-z\d])|%b" % _HOUR_MIN  # 3s512ms
_HOURS, _SECONDS = rb"(?:\d+ ?h[a-z]*,? *)?", rb"\d+(?:\.\d+)? ?s(?:ec[a-z]*)?(?: +\d+ ?ms)?\b"
_MINUTES = "(?:[\\d.]+ ?(?:小时|時間) ?)?\\d+ ?分(?:钟)? ?[\\d.]+ ?秒".encode()
_WORDED = rb"%b|%b\d+ ?m(?:in[a-z]*)?,? *%b|%b" % (_COMPACT, _HOURS, _SECONDS, _MINUTES)
DURATION = rb"(?:\d+ days?, )?\d+(?::\d{1,2}(?!\d))+(?:\.\d+)?|" + _WORDED
LASTING = DURATION + rb"|" + _SECONDS  # of which "39s" is one where "1m 8s" is
_GLUED = rb"|".join(
    rb"(?<=\b[%b%b]%b)" % (word[:1], word[:1].upper(), word[1:]) for word in (b"ep", b"epoch", b"step", b"iter")
)
_TOKEN = re.compile(rb"(?:(?<![A-Za-z\d.])|%b)(?:%b|%b|(?:nan|inf|NaN)(?![A-Za-z]))" % (_GLUED, DURATION, NUMBER))
LEFT = re.compile(rb"(?:<|\( *-) *$")  # 1m 30s (- 21m 2s)
_LETTER = rb"[A-Za-z]|[\xc3\xd0\xd1][\x80-\xbf]|[\xe3-\xed][\x80-\xbf]{2}"
WORD = re.compile(rb"(?:%b)(?:[_/]|%b)*" % (_LETTER, _LETTER))
_ENGLISH = {spelt: english for english, *foreign in _WORDS["foreign"] for spelt in foreign}
_NTH = "第".encode()
_SPELT = [rf"(?<!\w){word}(?!\w)" if word < "\u1000" else re.escape(word) for word in _ENGLISH]
_FOREIGN = re.compile("(?i)" + "|".join(sorted(_SPELT, key=len, reverse=True)))
UNIT_S = {unit: float(seconds) for seconds, units in _WORDS["unit_s"].items() for unit in units.split()}
EVALUATION, LEARNING, NOT_TRAINING, TRAINING = (re.compile(f"(?i){of}".encode()) for of in _WORDS["line"].values())
LOG = [re.compile(f"(?i){words}".encode()) for words in _WORDS["log"].values()]
_LABELS = map(re.compile, _WORDS["label"].values())
COST, COUNTER, REPEATED, EPOCH, TIME, PART, WHOLE, SPEED, CONSUMED, PER_STEP, PER_ITEM, STAMP = _LABELS
_EACH, _SECOND, OF_ONE = _WORDS["device"].values()
RATE = re.compile(
    r"(?:^|[^a-z])(?:(?P<kilo>[km])[ _]?)?(?:"
    + "|".join(f"(?P<u{place}>{words})" for place, words in enumerate(ITEMS.values()))
    + rf")(?:[ _]?(?:/|per)[ _]?{_EACH}(?=\W|_))?(?:[ _]?/[ _]?|[ _]?per[ _]?|_){_SECOND}(?:$|[^a-z])"
    + rf"|(?:^|[^a-z])(?P<short>{'|'.join(SHORT)})(?:$|[^a-z])"
    + rf"|(?:^|[^a-z])(?P<noun>(?!{_WORDS['no_items']})[a-z]{{4,}}s)/{_SECOND}$"
)


def items_of(rate: re.Match[str]) -> str:
    long = (name for place, name in enumerate(ITEMS) if rate[f"u{place}"])
    return f"{rate['noun']}/s" if rate["noun"] else str(SHORT[rate["short"]] if rate["short"] else next(long))


MEAN = re.compile("avg|average|mean|running")
PER_DEVICE = re.compile(rf"(?:/|per|_)[ _]?{_EACH}(?:$|[^a-z])|(?:^|[^a-z])tgs(?:$|[^a-z])")
_PART_S = {b"ms": 1e-3, b"s": 1, b"m": 60, b"h": 3600, b"d": 86_400, b"D": 86_400}
_PART_S |= {"秒".encode(): 1, "分".encode(): 60, "小".encode(): 3600, "時".encode(): 3600}
_PART_OF_TIME = re.compile(rb"(\d[\d.]*) ?(ms|[smhdD]|%b)" % b"|".join(list(_PART_S)[6:]))
SUFFIX = {"k": 1e3, "m": 1e6, "g": 1e9, "b": 1e9}


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A number of a line, with the words before and the unit behind it."""

    label: str
    unit: str
    text: bytes
    lead: bytes  # up to the number before
    tail: bytes
    start: int

    @property
    def clock(self) -> bool:
        return bool(re.search(rb"[:hms\xe7]", self.text))

    @property
    def words(self) -> str:
        return f"{self.label} {self.unit}".strip()

    @cached_property
    def value(self) -> float | None:
        return read_number(self.text + self.scaled.encode())

    @property
    def scaled(self) -> str:  # 22.8K, 1.2M tokens
        return self.tail[:1].decode().lower() if re.match(rb"[kKMGB](?![A-Za-z/])", self.tail) else ""

    @property
    def unit_s(self) -> float:
        """Seconds in one of its unit; 0: not known."""
        if self.clock:
            return 1.0
        named = [UNIT_S[word] for word in re.findall("[a-z]+", self.label) if word in UNIT_S]
        said = [UNIT_S.get(word, 0.0) for word in re.findall("[a-z]+", self.unit)] or named
        return said[0] if said else float(b"." in self.text)


def read_number(text: bytes) -> float | None:
    """Of 1,024, 22.8K, 1:02:03 and 1h 2m 3s 40ms."""
    if text.replace(b".", b"", 1).isdigit():
        return float(text)
    if days := re.match(rb"(\d+) days?, ", text):
        return 86_400 * float(days[1]) + (read_number(text[days.end() :]) or 0.0)
    if re.search(rb"[Ddhs\x80-\xff]", text):
        units = _PART_OF_TIME.findall(text)
        return math.fsum(float(part) * _PART_S[unit] for part, unit in units)
    try:
        parts = [float(part) for part in re.sub(rb"[,_]|[kKMGBgmb]+$", b"", text).split(b":")]
    except ValueError:
        return None
    return functools.reduce(lambda whole, part: 60 * whole + part, parts) * SUFFIX.get(text[-1:].lower().decode(), 1.0)


def translate(text: bytes) -> bytes:
    """Into English: 步骤 5，用时 → step 5,time"""
    if text.isascii():
        return text
    plain = _FOREIGN.sub(lambda match: f"\1{_ENGLISH[match[0].lower()]}\1", text.decode("utf-8", "replace"))
    return re.sub("\1+", " ", re.sub("\1+(?![\\w\1])|(?<![\\w\1])\1+", "", plain)).encode()


def mask(text: bytes) -> bytes:
    """Without what is no figure of training; as long as before."""
    return _MASKED.sub(lambda match: b"\0" * len(match[0]), text)


def slots(text: bytes) -> list[Slot]:
    masked = mask(text)
    tokens = list(_TOKEN.finditer(masked))
    ends, begins = [0, *(token.end() for token in tokens)], [*(token.start() for token in tokens), len(masked)]
    between = [masked[end:begin] for end, begin in zip(ends, begins, strict=True)]
    parts: list[Slot] = []
    carried = label(translate(between[0]))
    for place, (token, lead, tail) in enumerate(zip(tokens, between, between[1:], strict=False), 1):
        two = re.fullmatch(r"(.*epoch) and (\w+)", carried)  # Epoch and iter 28 1899
        named = two[1] if two else carried
        unit, carried = _divide(translate(tail), named, last=place == len(tokens), opened=lead.endswith(b"("))
        carried = carried or (two[2] if two else "")
        if lead.endswith((_NTH, _NTH + b" ")):  # 第 3/10 轮
            named = unit or _divide(translate(between[min(place + 1, len(tokens))]), "", last=False, opened=False)[0]
        behind = lead[bool(parts and parts[-1].scaled) :]  # 12.3k tok/s | 0.666 s/step: the k is of the number before
        parts.append(Slot(label=named, unit=unit, text=token[0], lead=behind, tail=tail, start=token.start()))
    return parts


@functools.lru_cache(maxsize=1024)
def _divide(between: bytes, before: str, *, last: bool, opened: bool) -> tuple[str, str]:
    between = re.sub(rb"\s*[\[(]\s*([A-Za-z]+(?:/[A-Za-z]+)?)\s*[\])](?=\s*[:=]|\s+$)", rb" \1", between)  # (min)
    between = re.sub(rb"(?<=[A-Za-z]) *([:=]) *[\[(]?\s*$", rb"\1 ", between)  # Epoch: [109] · iteration:   100
    parts = re.split(rb"[,;|\t\n\0\]\[(){}]+|  +", between, maxsplit=1)
    head = parts[0]
    if not head.strip() and len(parts) > 1 and re.match(rb"[\[(]", between.strip()):  # 4433.848 [imgs/sec], 0.31 (s)
        inner = re.match(rb"\s*[\[(]([A-Za-z/ ]+)[\])]", between)
        return (label(inner[1]), label(between[inner.end() :])) if inner else ("", label(parts[1]))
    if len(parts) > 1 and not parts[1].strip() and b"/" not in head and COUNTER.search(label(head)):  # ep050 step 0/171
        return "", label(head)
    if len(parts) > 1 or last:
        return label(head), label(parts[1]) if len(parts) > 1 else ""
    word = re.match(rb"(\s?)([A-Za-z%]+(?:\s?/\s?[A-Za-z]+)*)(?=[\s.:]|$)\.?(.*)", head, re.DOTALL)
    if word is None:
        return "", label(head)
    unit, rest = label(word[2]), label(word[3])
    named = bool(before) and not SPEED.search(before)
    spoken = bool(RATE.search(unit) or PER_STEP.search(unit) or PER_ITEM.search(unit))
    apart = bool(rest) or not (before or word[3].strip()) or (opened and not named)
    is_unit = not word[1] or unit in UNIT_S or (spoken and apart)
    is_unit = is_unit and not (RATE.search(before) and RATE.search(unit))  # fps step: 119958 fps total: 80263
    return (unit, rest) if is_unit and (rest or not (word[1] and named)) else ("", label(head))


def label(text: bytes) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text.decode("utf-8", "replace")).lower()
    words = re.split(r"[,;|\t\n\0\]\[{}]+|  +(?=\S)", words.strip(" :=([{<>|-*~#'\"\t\0"))[-1]
    plain = re.sub(r"['\":=<>*#\s]+", " ", words).strip(" .-([{)\ufffd")[-40:]
    return re.sub(r"^(?:(?:info|debug|warning|root|[ap]m)[ -]*)+(?= |$|\b)", "", plain)  # of loggers
