"""What the user, a path or a table states of runs made elsewhere, and the case that it makes. Contradictions are
refused. A word without an axis ("bf16", "3090") becomes an option of the case."""

import difflib
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from evalsuite.core import layout, paths, redaction
from evalsuite.core.decode import FILLED, Mistake, decode, instant, message, read_toml, refusal, whole
from evalsuite.core.documents import STATED_FIGURES, stated_amount
from evalsuite.core.errors import EvalsuiteError, did_you_mean
from evalsuite.core.messages import Message
from evalsuite.core.model import UNKNOWN, Case, Device, Precision
from evalsuite.logs.reading import Reading

_KNOWN = paths.read_data("vocabulary.toml")
FACTS: Sequence[str] = _KNOWN["facts"]
FIELDS: Sequence[str] = _KNOWN["fields"]
Scope = Literal["global", "per_device", "own"]
SCOPES: Mapping[str, Scope] = {"global": "global", "per_device": "per_device", "own": "own"}
# any other word is a device's model
KINDS: Mapping[str, Device] = {"cpu": "cpu", "gpu": "gpu", "npu": "npu", "unknown": "unknown"}
OF_A_ROW = ("unit", "tag", "project")  # what a table or history counts, and which of them is meant
OF_ONE = ("any", "throughput", "n", "kind", "speedup", "state")  # placeholder of a pattern, cells of one row
RECORDED = (  # of a run, not of its case
    *("image", "repository", "note", "log_set", "source", "campaign", "machine", "zone", "utilisation"),
    *(*(figure.name for figure in STATED_FIGURES), *OF_A_ROW),
)
_APART = (*RECORDED, "any")  # no part of a case's name
UNNAMED = ("any", "name", "file", "log", "id", "seed")  # parts of a path that tell repeats apart
USER, PATH, TABLE, SETTINGS = "--set", "the path", "the table", "what the run recorded of itself"
RECORDS, CASE_FILE = "what the agents recorded", "the case beside them"
NEEDED = {"framework": "pytorch", "model": "resnet50_v1.5", "devices": "8", "batch": "64"}  # name → example
NEARLY = 0.8  # of difflib's ratio: two swapped letters in a word of five
LONGEST_VALUE = 80  # of an option in a folder's name; a longer one is hashed
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_POSITIVE = ("nodes", "gpus", "devices", "batch", "steps_per_report")
_COUNTED = ("repeat", "rank")  # from 0
_WHOLE, MOST_WORDS = (*_POSITIVE, *_COUNTED), 6  # placeholders of digits; others of one name of a path
_NAMES = ("framework", "model", "recipe")  # what tells a run from others
_PRECISIONS: Mapping[str, Precision] = {word: axis for axis, words in _KNOWN["precisions"].items() for word in words}
_ON, _OFF = ("on", "true", "yes", "xla"), ("off", "false", "no")  # 1 is no choice of --xla either
_UNSAFE = re.compile(r"[^A-Za-z0-9_.+]+")
# beside Latin letters, letters of Greek, Cyrillic and Armenian or of full width pass for them
_LOOKALIKE = re.compile("[\u0370-\u058f\uff21-\uff5a]")
_CLAIM = re.compile(r"(?i)(?<![a-z])(?:(?:fast|slow)(?:er|est)|best|winner|verified)(?![a-z])|\d ?[x%×](?![a-z])")
Facts = dict[str, str]


def pattern(text: str) -> "re.Pattern[str]":
    """`{framework}/{nodes}n{gpus}g/b{batch}_{precision}_{repeat}.log` as a regular expression over paths. A placeholder
    takes no `/`; those of numbers take digits. A name outside `FIELDS` becomes an option of the case. Raises
    EvalsuiteError if a placeholder is repeated, or if too many ways to divide a name had to be tried."""
    names = _PLACEHOLDER.findall(text)
    words = _PLACEHOLDER.sub(lambda met: "0" if met[1] in _WHOLE else "\0", text)
    crowded = "\0\0" in words or any(name.count("\0") > MOST_WORDS for name in words.split("/"))
    twice = sorted({name for name in names if names.count(name) > 1 and name not in UNNAMED})
    if not all(map(str.isidentifier, names)) or not names or twice or crowded:
        wrong = Message("importing.crowded", most=MOST_WORDS) if crowded else Message("importing.no_placeholder")
        error = Message("importing.got_twice", name=twice[0]) if twice else wrong
        known = (f"{{{name}}}" for name in FIELDS)
        raise EvalsuiteError.of("importing.pattern_placeholders", text=text, error=error, names=known)
    parts = _PLACEHOLDER.split(text)
    return re.compile("".join(_group(part) if number % 2 else re.escape(part) for number, part in enumerate(parts)))


def _group(name: str) -> str:
    if name in UNNAMED:
        return "[^/]*"
    text = "[0-9]+" if name in _WHOLE else "[^/]+?"
    return f"(?P<{name}>{text})"


@dataclass(frozen=True, kw_only=True)
class _FactsFile:
    facts: Annotated[Mapping[str, object], FILLED]

    def mistakes(self) -> Iterator[Mistake]:
        for name, value in self.facts.items():
            if name in _NAMES and not isinstance(value, str):
                yield Mistake(name, refusal(value, message("quoted")))
            elif isinstance(value, list | Mapping) or not str(value).strip():
                yield Mistake(name, refusal(value, message("single_value")))


def campaign_facts(file: Path) -> Facts:
    """What *file* states of all logs: a name and a value a line. Raises EvalsuiteError."""
    facts = decode(_FactsFile, {"facts": read_toml(file, "docs/contracts.md")}, file, strict=True).facts
    words = {True: "on", False: "off"}
    texts = {name: words[value] if isinstance(value, bool) else str(value) for name, value in facts.items()}
    return stated(texts.items(), file)


def merge_facts(*said: tuple[str, Mapping[str, str]]) -> Facts:
    """Raises ValueError with both of contradicting (who, what)."""
    merged: dict[str, tuple[str, str]] = {}
    for who, facts in said:
        for word, value in facts.items():
            name = _KNOWN["other_names"].get(word, word)
            first, known = merged.setdefault(name, (who, value))
            same = known.lower() == value.lower() or (whole(known) is not None and whole(known) == whole(value))
            of = {_word(known): value, _word(value): known} if name == "precision" and not same else {}
            forms = ((rf"(\w+_|pure)?{re.escape(word)}(_\w+)?", more) for word, more in of.items())
            if exact := [more for form, more in forms if re.fullmatch(form, _word(more))]:
                merged[name] = (who, exact[0])  # bf16: it may be pure_bf16 or amp-bf16
            elif not same:
                raise ValueError(
                    Message("importing.contradict", name=name, first=first, known=known, who=who, value=value)
                )
    return {name: value for name, (_, value) in merged.items()}


def check_facts(facts: Mapping[str, str], columns: Mapping[str, str] | None = None) -> None:
    """Raises ValueError for a misspelt word, with the nearest known one (`precison=amp` would become an option of its
    own), a bad name or number, or nodes and devices that do not fit. *columns*: name → header."""
    known = {*FACTS, *FIELDS, *RECORDED}
    for name, value in facts.items():
        if re.search(r"[\x00-\x1f\x7f]", value.strip()):
            raise ValueError(Message("plan.one_line", name=name, text=ascii(value)[:60]))
        if name not in known and (near := difflib.get_close_matches(name, known, n=1, cutoff=NEARLY)):
            raise ValueError(Message("importing.vocabulary_name", text=name, near=near[0]))
        words, word = _KNOWN["values"].get({"optimizer": "optimiser"}.get(name, name), ()), value.strip().lower()
        if words and word not in words and (near := difflib.get_close_matches(word, words, n=1, cutoff=NEARLY)):
            raise ValueError(Message("importing.vocabulary_value", name=name, text=value, near=near[0]))
    if secret := redaction.find_secret({name: text for name, text in facts.items() if name not in _APART}):
        raise ValueError(Message("importing.fact_secret", place=secret))
    offset_s(facts.get("zone", "UTC"))
    if "scope" in facts and facts["scope"] not in SCOPES:
        raise ValueError(Message("importing.scope", text=facts["scope"], known=tuple(SCOPES)))
    for name in _NAMES:
        bare = not _UNSAFE.sub("", facts.get(name, "a")).strip("_.")
        if bare or (_LOOKALIKE.search(facts.get(name, "")) and re.search("[A-Za-z]", facts[name])):
            raise ValueError(Message("importing.fact_latin", name=name, text=ascii(facts[name])[:60]))
    if claim := _CLAIM.search(facts.get("framework", "")):
        raise ValueError(Message("importing.fact_claim", text=ascii(facts["framework"])[:60], claim=claim[0]))
    for name in (*_POSITIVE, *_COUNTED):
        if name in facts and not is_whole(facts[name], least=0 if name in _COUNTED else 1):
            where = f'column "{columns[name]}"' if columns and name in columns else name
            least = Message("importing.whole_from") if name in _COUNTED else Message("importing.whole_above")
            raise ValueError(Message("importing.whole", where=where, text=facts[name], least=least))
    if not re.fullmatch("[0-9a-f]{12}(,[0-9a-f]{12})*", facts.get("shape", "0" * 12)):
        raise ValueError(Message("importing.shape", text=facts["shape"][:60]))
    for figure in STATED_FIGURES:
        if figure.name in facts and stated_amount(figure, facts[figure.name]) is None:
            limits = {name: vars(figure)[name] for name in ("name", "least", "most")}
            raise ValueError(Message("importing.amount", text=facts[figure.name], **limits))
    each, total = whole_number(facts, "gpus"), whole_number(facts, "devices")
    nodes = count_nodes(facts)
    if each and total and each * nodes != total:
        values = {"nodes": nodes, "each": each, "product": each * nodes, "total": total}
        raise ValueError(Message("importing.devices_contradict", **values))
    if (last := devices(facts)) and (whole_number(facts, "rank") or 0) >= last:
        raise ValueError(Message("importing.rank", rank=facts["rank"], total=last))


def offset_s(zone: str) -> float:
    """Of "UTC", "+08:00". Raises ValueError."""
    moment = instant(f"2000-01-01T00:00:00{'Z' if zone.upper() == 'UTC' else zone}")
    if moment is None or (offset := moment.utcoffset()) is None:
        raise ValueError(Message("importing.zone", text=zone))
    return offset.total_seconds()


def is_whole(text: str, least: int) -> bool:
    return (number := whole(text)) is not None and least <= number < 10**9  # more is no count of anything here


def stated(pairs: Iterable[tuple[str, str]], who: Path | str = USER) -> Facts:
    """What *who* says. Raises EvalsuiteError."""
    try:
        said = merge_facts(*((str(who), {name: value}) for name, value in pairs))
        check_facts(said)
        if one := next((name for name in said if name in OF_ONE), None):
            raise ValueError(Message("importing.of_one", name=one))
        if secret := redaction.find_secret(said):  # also in what is no part of a name, and is published
            raise ValueError(Message("importing.fact_secret", place=secret))
    except ValueError as error:
        raise EvalsuiteError.of("importing.stated", who=who, error=error) from error
    return said


def whole_number(facts: Mapping[str, str], name: str) -> int | None:
    return int(facts[name]) if name in facts else None


def scope(facts: Mapping[str, str]) -> Scope | None:
    return SCOPES[facts["scope"]] if "scope" in facts else None


def devices(facts: Mapping[str, str]) -> int | None:
    each = whole_number(facts, "gpus")
    return each * count_nodes(facts) if each else whole_number(facts, "devices")


def count_nodes(facts: Mapping[str, str]) -> int:
    each, total = whole_number(facts, "gpus"), whole_number(facts, "devices")
    return whole_number(facts, "nodes") or (max(1, total // each) if each and total else 1)


def case(facts: Mapping[str, str], known: Reading, who: str = "", common: Collection[str] = ()) -> Case:
    """The case of a log or row. Raises ValueError if *who* does not state what it needs. *common*: the names of facts
    that hold for the whole campaign, which tell no two cases apart."""
    framework = facts.get("framework") or known.framework
    model = facts.get("model") or known.model
    total = devices(facts) or known.total_devices
    batch = whole_number(facts, "batch") or known.batch_per_device
    if not (framework and model and total and batch):
        needed = {"framework": framework, "model": model, "devices": total, "batch": batch}
        absent = [name for name, value in needed.items() if not value]
        tried = " ".join(f"--set {name}={NEEDED[name]}" for name in absent)
        raise ValueError(
            Message("importing.says", who=who or Message("importing.path_nor_log"), absent=absent, tried=tried)
        )
    device = facts.get("device", facts.get("device_model", UNKNOWN)).lower()
    named = (kind for words, kind in _KNOWN["devices"].items() if re.search(words, device))
    xla = facts.get("xla", UNKNOWN).lower()
    if xla not in (*_ON, *_OFF, UNKNOWN):
        raise ValueError(Message("importing.xla_word", text=facts["xla"]))
    policy, stated = facts.get("batch_policy"), count_nodes(facts) if {"nodes", "gpus"} & facts.keys() else None
    nodes = stated or (known.nodes if known.nodes and not total % known.nodes else 1)
    if policy is not None and policy.strip().lower() != "max":
        raise ValueError(Message("importing.batch_policy", text=policy))
    if total % nodes:
        raise ValueError(Message("importing.uneven", total=total, nodes=nodes))
    imported = f"imported-{known.shape}" if known.shape else "imported"  # lines of two forms are of two scripts
    recipe = facts.get("recipe") or known.dialect or ("cited" if who else imported)
    of, plain = (re.sub(r"[\W_]", "", text.lower()) for text in (model, recipe))
    made = Case(
        framework=safe_name(framework),
        recipe=safe_name(recipe if of in plain else f"{recipe}-{model}"),
        model=safe_value(model),  # as a spec has it
        nodes=nodes,
        devices_per_node=total // nodes,
        batch_per_device=round(batch),
        batch_policy="max" if policy else None,
        nodes_unknown=True if total > 1 and not (stated or known.nodes) else None,
        precision=precision(facts.get("precision", UNKNOWN)),
        xla=None if xla == UNKNOWN else xla in _ON,
        device=KINDS[device] if device in KINDS else next(named, "gpu"),
        options=tuple(sorted(_options(facts, common))),
    )
    if wrong := layout.contradiction(layout.of_case(made), made, f"{made.framework} {made.recipe}"):
        raise ValueError(wrong)
    return made


def _options(facts: Mapping[str, str], common: Collection[str]) -> Iterator[tuple[str, str]]:
    for name, value in facts.items():
        if name not in FIELDS and name not in (*RECORDED, *common):
            yield safe_name(name), safe_value(value)
    stated = facts.get("precision", UNKNOWN)
    if _word(stated) in _KNOWN["say_more"]:
        yield "stated_precision", safe_name(stated)
    if facts.get("device", UNKNOWN).lower() not in KINDS and "device" not in common:
        yield "device_model", safe_name(facts["device"])


def recorded_facts(facts: Mapping[str, str]) -> Facts:
    kept = {name: value for name, value in facts.items() if name not in ("any", "repeat", "rank", *OF_A_ROW)}
    if kept.get("device", UNKNOWN).lower() not in KINDS:
        kept["device_model"] = kept.pop("device")
    if "version" in kept:
        kept["framework_version"] = kept["version"]
    return kept


def _word(text: str) -> str:
    return re.sub(r"[\s-]+", "_", text.strip().lower())


def is_precision(text: str) -> bool:
    return _word(text) in _PRECISIONS


def precision(text: str) -> Precision:
    """Of the words of a person, a path or a log. Raises ValueError."""
    if (word := _word(text)) in _PRECISIONS:
        return _PRECISIONS[word]
    known = ", ".join(_PRECISIONS)
    raise ValueError(Message("importing.precision_word", text=text, known=known, near=did_you_mean(word, _PRECISIONS)))


def safe_name(text: str) -> str:
    return _shortened(_UNSAFE.sub("_", str(text)), text)


def safe_value(text: str) -> str:
    """Of an option: with its hyphens, as a spec has it (`dali-gpu`, `1e-3`)."""
    return _shortened(re.sub(r"[^\w.+-]+", "_", text, flags=re.ASCII), text)


def _shortened(name: str, text: str) -> str:
    if len(name := name.strip("_.") or "unknown") <= LONGEST_VALUE:
        return name
    return f"{name[: LONGEST_VALUE - 11]}-{hashlib.sha256(str(text).encode()).hexdigest()[:10]}"
