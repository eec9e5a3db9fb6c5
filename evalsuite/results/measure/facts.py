"""What is stated of a run, with its source (`data/criteria/facts.toml`)."""

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, groupby
from pathlib import Path
from typing import Literal

from evalsuite.contracts.adapter import exact_amp
from evalsuite.core import layout, paths
from evalsuite.core.decode import decode, whole
from evalsuite.core.decode import number as decimal
from evalsuite.core.documents import HostEnvironment, RunCommand, UsedRecipe
from evalsuite.core.findings import ClaimDenied, FactsDisagree, LayoutImpossible
from evalsuite.core.model import UNKNOWN, Case, Device, Fact, FactSource, Finding, Measurement, by_key
from evalsuite.logs import options
from evalsuite.logs.extra_metrics import AlsoPrinted
from evalsuite.logs.scan import collectors
from evalsuite.results.measure import flops

FILE = paths.DATA / "criteria" / "facts.toml"
Kind = Literal["workload", "environment", "compiler", "choice"]
Job = Mapping[str, Sequence[int]]  # what lines say of it: kind → numbers
Unknown = Literal["unranked", "preliminary", "both", "alone", "ranked"]
LABELS = ("framework_version", "version", "run")  # options of an import that are a framework's own: no condition
AUTHORITY: tuple[FactSource, ...] = ("log", "command_line", "environment", "recipe", "stated", "case")
"""Who is believed first: what ran says more than what was meant to run."""
MEANT = ("command_line", "case")  # beside what a log says itself
NONE_SET = "none set"
STATEMENT, LONGEST_STATEMENT = "statement", 300
MOST = "≤"  # before a value
UNPARTED = ("-1", "0", "1", "no_shard")  # of a parallel layout: that way nothing is split
APART = {"parameters": 1.5, "vocab_size": 1.2, "classes": 1.2}  # definitions count differently, or pad
TEXTS = ("tokens/s", "sequences/s", "sentences/s")  # units of what language models are trained on
OF_MODEL = {"num_layers": "num_hidden_layers", "hidden_size": "hidden_size", "vocabulary": "vocab_size"}
NEUTRAL = ("0", "0.0", "-1", "none", "off", "no", "false", "[]")  # with them an option states nothing
ALIKE = 8  # lines
_DIGITS = str.maketrans(dict.fromkeys("0123456789", "1"))
_TIMES = {"k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9}  # 11.7M weights


@dataclass(frozen=True, kw_only=True)
class FactRule:
    key: str
    reason: str
    kind: Kind = "workload"
    unknown: Unknown = "ranked"
    applies: Literal["everywhere", "gpu", "fp32_on_gpu", "several_devices"] = "everywhere"
    checked: bool = True  # whether two sources that differ are a finding
    steady: bool = False  # whether all runs of a case must say one
    conditions: tuple[str, ...] = ()  # of `fairness.conditions`, that say the same
    ambiguous: tuple[str, ...] = ()  # values that do not say which of several is meant

    def concerns(self, of: Case) -> bool:
        return {
            "everywhere": True,
            "gpu": of.device != "cpu",
            "fp32_on_gpu": of.device in ("gpu", UNKNOWN) and of.precision == "fp32",
            "several_devices": of.total_devices > 1,
        }[self.applies]


@dataclass(frozen=True, kw_only=True)
class Flag:
    key: str
    names: tuple[str, ...] = ()
    value: str | None = None  # what the option states; None: its own value
    words: Mapping[str, str] = field(default_factory=dict)  # its values → those of evalsuite
    part: str = ""  # one number of a parallel layout: "TP"
    pattern: tuple[str, ...] = ()  # of a head: it states *value*, else its first group; then words, of which it has one
    always: bool = False  # whether *pattern* is sought in every log
    shape: str = ""  # of the names of options that are no *names*, with a number that is neither 0 nor 1, or alone


@dataclass(frozen=True, kw_only=True)
class FactRules:
    fact: tuple[FactRule, ...]
    flag: tuple[Flag, ...]
    words: Mapping[str, str]
    sets: Mapping[str, tuple[str, ...]]
    named: Mapping[str, tuple[str, ...]]
    says: Mapping[str, Mapping[str, tuple[str, ...]]]
    parts: Mapping[str, tuple[str, ...]]
    usual: Mapping[str, str]
    frameworks: Mapping[str, str]
    options: Mapping[str, str]
    loosely: Mapping[str, str]
    meanings: Mapping[str, tuple[str, ...]]
    axis: Mapping[str, tuple[str, ...]]
    precisions: Mapping[str, tuple[str, ...]]
    optimisers: Mapping[str, tuple[str, ...]]


@functools.cache
def rules() -> FactRules:
    return decode(FactRules, paths.read_data("criteria/facts.toml"), FILE)


@functools.cache
def _precisions() -> Mapping[str, str]:
    return {word: ours for ours, words in rules().precisions.items() for word in words}


@functools.cache
def _flags() -> Mapping[str, Flag]:
    said, of = rules().says, [*rules().flag, *(Flag(key=key, names=names) for key, names in rules().named.items())]
    of += [Flag(key=key, value=value, names=names) for key, each in said.items() for value, names in each.items()]
    of += [Flag(key="parallel_layout", names=names, part=part) for part, names in rules().parts.items()]
    flags = {name: flag for flag in of for name in flag.names}
    return {**{f"--{name[2:].replace('-', '_')}": flag for name, flag in flags.items() if name[:2] == "--"}, **flags}


def of_run(
    case: Case,
    command: RunCommand,
    environments: Mapping[str, HostEnvironment],
    printed: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
    tokens: str | None = None,
) -> tuple[Fact, ...]:
    """Every statement on a run of *case*: of one fact there may be several, by as many sources. *tokens*: which of them
    its dialect counts. *printed* is what its log says, by the names of `data/criteria/facts.toml`; *options* are those
    it prints, as words."""
    made_up, said, given = _made_up(command), command.stated or {}, _of_words(command.command)
    batch = _batch(case, _job(" ".join(command.command).encode()), given, either=True)
    hosts = [host.environment_variables or {} for host in environments.values()]
    variables = [f"--{name}={value}" for variables in hosts for name, value in variables.items()]
    stated = _known(said)
    if "precision" in said:
        stated["precision"] = said_precision(said["precision"]) or said["precision"].strip().lower()
    facts_of = (
        *_facts("log", {**({"token_kind": tokens} if tokens else {}), **_of_words(options), **(printed or {})}),
        *_facts("command_line", {**given, **batch}),
        *_facts("environment", {**_of_words(variables), **_of_hosts(case.device, environments), **made_up}),
        *_facts("recipe", _of_recipe(case, command)),
        *_facts("stated", stated),
        *(fact for fact in of_case(case) if fact.key != "compiler" or command.stated is None or "xla" in said),
    )
    meant = ("command_line", "recipe", "case")  # that it is ImageNet, say
    packed = any(fact.key == "packing" and fact.value.lower() not in NEUTRAL for fact in facts_of)
    told = (replace(fact, value="packed") if packed and fact.key == "token_kind" else fact for fact in facts_of)
    return tuple(dict.fromkeys(fact for fact in told if fact.key not in made_up or fact.source not in meant))


def _made_up(command: RunCommand) -> dict[str, str]:
    """By the manifests of `evalsuite data make`. The same items have one hash in every file format."""
    hashes = (((data_set.decoded_sha256 or {}).get("train"), data_set) for data_set in command.data_sets or ())
    items = {digest: data_set for digest, data_set in hashes if digest}
    if not items:
        return {}
    sources = sorted({str(data_set.source) for data_set in items.values()})
    each = (f"{made.source}, {made.size}, seed {made.seed} ({digest[:12]})" for digest, made in items.items())
    return {"data": f"made-up {' and '.join(sources)}", "data_source": "; ".join(sorted(each))}


def of_case(case: Case) -> tuple[Fact, ...]:
    """What the axes of the matrix say; the word for a precision that none of them has is in an option."""
    word = case.option("stated_precision")
    values = {
        "model_variant": case.model,
        "precision": _precisions().get(case.precision.replace("-", "_")) if word is None else said_precision(word),
        "batch_per_device": str(case.batch_per_device),
        "global_batch": str(case.global_batch),
        "compiler": None if case.xla is None else "on" if case.xla else "off",
        **_known(dict(case.options)),
    }
    return tuple(_facts("case", values))


def printed_facts(log: Path) -> Mapping[str, str]:
    return _of_words(options.printed(options.head(log)))


def said_precision(text: str) -> str | None:
    """Our word for a precision as a person, a path or a table has it: "fp16" alone does not say pure or AMP."""
    word = re.sub(r"[\s-]+", "_", text.strip().lower())
    known = _precisions().get(word)
    return known if known is None or word.startswith("pure") else rules().loosely.get(known, known)


def of_measurement(run: Measurement) -> dict[str, Fact]:
    stated = tuple(fact for fact in run.facts if fact.key != STATEMENT)
    return _of_measurement(run.run.case, stated, run.environment and str(run.environment), run.framework_version)


@functools.lru_cache(maxsize=20_000)  # the runs of a case mostly say the same
def _of_measurement(case: Case, stated: tuple[Fact, ...], machine: str | None, version: str | None) -> dict[str, Fact]:
    whole = any(fact.source == "case" for fact in stated)  # as `of_run` gives them
    facts = stated if whole else (*stated, *of_case(case))
    keys = {fact.key for fact in facts}
    beside = {**({} if "machine" in keys else {"device_model": machine}), "framework_version": version}
    return believed((*facts, *_facts("environment", {key: value for key, value in beside.items() if key not in keys})))


def believed(facts: Iterable[Fact]) -> dict[str, Fact]:
    """One statement for each fact: of the first in AUTHORITY, or one that says the same more exactly."""
    by_key: dict[str, Fact] = {}
    for fact in sorted(facts, key=lambda fact: AUTHORITY.index(fact.source)):
        first = by_key.setdefault(fact.key, fact)
        if fact.value in rules().meanings.get(first.value, ()):
            by_key[fact.key] = fact
    return by_key


def of_runs(runs: Iterable[Measurement], *, meant: bool = False) -> dict[str, tuple[Fact, ...]]:
    """What counts for all *runs* of a case; several where they differ, none where one run does not state it; *meant*:
    also a word that leaves open which of a few it means."""
    each = [known for known, _ in groupby(map(of_measurement, runs))]
    facts, open_words = {}, rules().meanings if meant else ()
    for rule in rules().fact:
        values = [known.get(rule.key) for known in each]
        if rule.unknown == "alone" and any(values):
            values = [fact or Fact(key=rule.key, value="none", source="case") for fact in values]
        ambiguous = {*rule.ambiguous}.difference(open_words)
        if values and all(fact and fact.value.lower() not in ambiguous for fact in values):
            facts[rule.key] = tuple({fact.value: fact for fact in values if fact}.values())
    return facts


def disagreements(
    facts: Sequence[Fact], case: Case | None = None, named: Sequence[Fact] | None = None, *, elsewhere: bool = True
) -> Iterator[Finding]:
    """*named*: by the head of its log; *elsewhere*: of a run that nobody but its user describes."""
    parted = any(fact.key == "parallel_layout" and not re.match(r"dp\d*$", _bare(fact.value)) for fact in facts)
    roomy = any(fact.value[:1] == MOST for fact in named or ())  # of all devices, however the model is parted
    beside = {*(() if elsewhere else ("vocab_size", "classes")), *(("parameters",) if parted and not roomy else ())}
    sizes = [fact for fact in _facts("case", _sizes(case) if case else {}) if fact.key not in beside]
    if case and named is not None:
        said = {fact.key for fact in facts if fact.source in ("stated", "case")}
        said |= {"experts"} if (model := model_of(case)) and model.idle else set()
        usual = {**(rules().usual if sizes else {}), "devices": str(case.total_devices), "framework": case.framework}
        asked = any((fact.key, fact.source) == ("accumulation", "command_line") for fact in facts)
        usual |= {} if elsewhere or asked else {"accumulation": "1"}
        sizes += _facts("case", {key: value for key, value in usual.items() if key not in said})
    laid = [(fact, layout.of_text(fact.value)) for fact in facts if fact.key == "parallel_layout"]
    stack = f"{case.framework} {case.recipe}" if case else ""
    against = (layout.contradiction(parts, case, stack) for _, parts in laid if case and parts)
    yield from (LayoutImpossible(said=said) for said in dict.fromkeys(against) if said)
    of_key = by_key((fact.key, fact) for fact in (*(named or ()), *facts, *sizes))
    for rule in (each for each in rules().fact if each.checked and (case is None or each.concerns(case))):
        apart = [(a, b) for a, b in combinations(of_key.get(rule.key, ()), 2) if _contradict(a, b)]
        meant = (*MEANT, "environment") if rule.key == "precision" else MEANT
        beside = {frozenset({"log", source}) for source in meant}
        denied = [(a, b) for a, b in apart if "stated" in (two := {a.source, b.source}) or two in beside]
        for a, b in (denied or apart)[:1]:  # else what ran counts, whatever was meant
            kind = ClaimDenied if denied else FactsDisagree
            yield kind(fact=rule.key, source=a.source, value=a.value, other_source=b.source, other_value=b.value)


@functools.cache
def model_of(case: Case) -> flops.Transformer | None:
    """By the name of its model, with the layers, the hidden size and the vocabulary that are options of *case*."""
    sizes = {field: size for name, field in OF_MODEL.items() if (size := whole(case.option(name, "")))}
    for each in flops.listed()["transformers"]:
        if flops.plain(case.model) in map(flops.plain, each["names"]) and {*each.get("options", ())} <= {*sizes}:
            return flops.from_config({**each["config"], **sizes}, case.model, each["source"])
    return None


def other_items(case: Case, unit: str | None) -> Iterator[Finding]:
    """A network of convolutions whose log counts tokens, a language model whose log counts images: which it was."""
    images = any(flops.plain(case.model) in map(flops.plain, each["names"]) for each in flops.listed()["convolutions"])
    own = ("images/s",) if images else TEXTS if model_of(case) else ()
    if own and unit in {"images/s", *TEXTS} - {*own}:
        yield ClaimDenied(fact="unit", source="log", value=str(unit), other_source="case", other_value=own[0])


def _sizes(case: Case) -> dict[str, str | None]:
    """Of the model that *case* names, as it is published, or by the options of the case."""
    known, layers = model_of(case), whole(case.option("num_layers", ""))
    if known is None:
        named = (each for each in flops.listed()["convolutions"] if case.model in each["names"])
        listed: Mapping[str, int] = next(named, {})
        sizes = {name: listed.get(name) for name in ("layers", "parameters", "classes")}
        sizes |= {"hidden_size": whole(case.option("hidden_size", "")), "layers": layers or sizes["layers"]}
    else:
        sizes = {"layers": len(known.windows), "hidden_size": known.hidden, "parameters": known.parameters}
        sizes |= {"vocab_size": known.vocabulary, "ffn_size": known.width, "kv_heads": known.groups}
        spans, tied = [each for each in known.windows if each], "on" if known.tied else "off"
        words = {"attention_window": min(spans, default="none"), "tied_embeddings": None if known.tower else tied}
        return {name: str(size) for name, size in {**sizes, **words}.items() if size}
    return {name: str(size) for name, size in sizes.items() if size}


def spoken(head: bytes, *, stated: bool) -> dict[str, str]:
    """What sentences of *head* say, where that is one thing; *stated*: all, of a run that its user describes."""
    small, said = (text := sentences(head)).lower(), dict[str, dict[str, None]]()
    asked = (flag for flag in rules().flag if flag.always or stated)
    likely = [flag for flag in asked if any(map(small.__contains__, flag.pattern[1:]))]
    lines = [*zip(text.split("\n"), small.split("\n"), strict=True)]
    for flag in likely:
        alike = (line for line, low in lines if any(word in low for word in flag.pattern[1:]))
        whole = text if flag.pattern[0].startswith("(?s)") else "\n".join(alike)
        for found in _pattern(flag.pattern[0]).finditer(whole):
            number, *power = filter(None, found.groups()) if not flag.value else ("",)  # or a power of ten beside it
            times = _TIMES.get(power[0].lower()) if power else None
            words = f"{float(number) * times:.0f}" if times else number
            if value := flag.value or _in_our_words(flag, words):
                said.setdefault(flag.key, {}).setdefault(value)
    if "amp" in (both := said.get("precision", {})):  # "autocast enabled: dtype=bfloat16"
        said["precision"] = {_together(both): None}
    open_words = rules().meanings.get  # "mixed precision" beside "O2"
    exact = {key: [v for v in of if not {*of} & {*open_words(v, ())}] for key, of in said.items()}
    return {key: of[0] for key, of in exact.items() if len(of) == 1 or key in rules().usual}


def statements(head: bytes) -> Iterator[Fact]:
    """Its lines, whatever they mean: `data_rules` asks who else prints them. Two of one shape are no total."""
    around, said = _pattern("{around}"), Counter[str]()
    for line in sentences(head).split("\n"):
        said[of := _shape((told := line.strip()[:LONGEST_STATEMENT]).translate(_DIGITS))] += 1
        if of and said[of] <= 2 and not around.search(line):
            yield Fact(key=STATEMENT, value=told, source="log")


def statements_of(run: Measurement) -> dict[str, list[str]]:  # its statements, by their words
    return by_key((_shape(fact.value.translate(_DIGITS)), fact.value) for fact in run.facts if fact.key == STATEMENT)


@functools.lru_cache(maxsize=10_000)  # runs of one script print the same lines with other numbers
def _shape(statement: str) -> str:
    """Its words, without numbers, dates, paths and what stands in quotes."""
    return " ".join(re.findall(r"[a-z]{3,}|[\u4e00-\u9fff]+", _pattern("{passing}").sub(" ", statement.lower())))


def numbers(word: str, text: str) -> list[float]:
    return [float(found[1].replace(",", "")) for found in _pattern(rules().words[word]).finditer(text)]


@functools.cache
def _pattern(text: str) -> "re.Pattern[str]":
    while known := re.search(r"{([a-z]+)}", text):  # a word may hold another
        text = text.replace(known[0], rules().words[known[1]])
    return re.compile(text)


def noted(command: RunCommand) -> bytes:
    """What a note, a set of logs, an image's tag or the name of a log or machine says, as a head would: "2 nodes"."""
    stated, log = command.stated or {}, command.imported[0].path if command.imported else ""
    image, _, tag = stated.get("image", "").rpartition("/")[2].partition(":")
    named = {word for word in re.split(r"[_.-]", log.rpartition("/")[2].lower()) if word in _precisions()}
    named = named if command.recipe.kind == "imported" else set()
    tags = [*tag.split("-")[1:], *(named if len(named) == 1 else ())]  # of "fp32_fp16.log" nobody knows which
    note = "\nwith ".join(filter(None, (stated.get("note"), stated.get("log_set"), *tags)))
    cards = rf"(?i)(?<![\w.])(?!(?:19|20)\d\d )(\d+) ?[x×]? ?(?:GPUs|devices|cards|{rules().words['product']})"
    hosts, devices = re.findall(r"(?i)\b(\d+) ?(?:nodes|hosts|machines|servers)\b", note), re.findall(cards, note)
    spelt = re.sub(r"[_.-]", " ", f"{log.rpartition('/')[2]} {stated.get('machine', '')}".upper())
    spelt = spelt if command.stated is not None else ""
    products = [f"GPU: {name}" for name in _pattern(r"\b({product})\b").findall(f"{note}\n{spelt}")]
    note = re.sub(r"(?i)\bbatch (?=\d)", "batch size ", note)
    counts = [f"num_nodes: {n}" for n in hosts] + [f"world size: {n}" for n in devices if not hosts]
    made_for = [f"using {image} backend"] if image in rules().frameworks else []
    return "\n".join([f"with {note}", *products, *counts, *made_for]).encode() if note or made_for or products else b""


@functools.lru_cache(maxsize=1)  # of the log that is judged
def sentences(head: bytes) -> str:
    """The lines of *head* that are of its training and no advice; of those that differ in numbers alone the first."""
    alike, kept = Counter[bytes](), list[str]()
    lines = head.splitlines()
    for line, shape in zip(lines, b"\n".join(lines).translate(None, b"0123456789").split(b"\n"), strict=False):
        alike[shape] += 1
        if alike[shape] <= ALIKE and not _pattern("{beside}").match((text := line.decode("utf-8", "replace")).lower()):
            kept.append(text)
    return "\n".join(kept)


def of_head(case: Case, head: bytes, facts: Sequence[Fact], printed: AlsoPrinted) -> tuple[Fact, ...]:
    """What *head* prints in any shape; device, size of the model and batch only where others are stated."""
    text = sentences(head)
    words = options.loosely_printed(text.encode())
    stated = (" ".join(fact.value for fact in facts if fact.key == "device_model") or case.device).upper()
    asked = stated == "CPU" or _pattern(r"\b({product})\b").search(stated)
    devices = {*map(str.upper, _pattern("{device}").findall(text))} if asked else set[str]()
    device = devices.pop() if len(devices) == 1 and not any(each in stated for each in devices) else None
    values = {**(worded := spoken(head, stated=True)), **_of_words(words)}
    tensor = {"input_size": values.pop("input_tensor", None)}
    if held := re.search(r"(\d+\.\d+) ?GiB ?\((\d\d\.\d+) ?%\)", text):  # memory: 49.66GiB(52.28%)
        values.setdefault("device_memory", f"{100 * float(held[1]) / float(held[2]):.0f} GiB")
    if (whole(values.get("attention_window", "")) or 0) >= (whole(case.option("sequence_length", "")) or 0):
        values.pop("attention_window", None)
    known_as = rules().frameworks
    told = [*((name, "") for name in _pattern("{backend}").findall(text)), *_pattern("{version}").findall(text)]
    versions = {known_as[_bare(name)]: number for name, number in told if _bare(name) in known_as}
    if versions and (framework := known_as.get(_bare(case.framework))):
        said = versions.get(framework)
        values |= {"framework_version": said} if said else {"framework": next(iter(versions))}
    job = _job(text.encode())
    of_nodes = (n * case.devices_per_node for n in job.get("nodes", ()))
    ranks = max([*job.get("devices", ()), *job.get("ranks", ()), *of_nodes], default=0)
    more = str(ranks) if ranks > case.total_devices else None  # of one node the world may be 1
    if model_of(case) and len(lengths := {*job.get("sequence", ())}) == 1:
        values.setdefault("input_size", str(*lengths))
    of = {"device_model": device, "model_variant": _other_model(case, text.lower(), words), "devices": more}
    denied = {key: value for key, value in worded.items() if values.get(key) != value and decimal(value) is None}
    named = (*_facts("log", {**values, **of, **_batch(case, job, values)}), *_facts("log", denied | tensor))
    return (*named, *_room(case, head, printed.memory_gib, believed((*named, *facts))))


def _room(case: Case, head: bytes, gib: float | None, known: Mapping[str, Fact]) -> Iterator[Fact]:
    """The weights that checkpoints and memory have room for, where they are too few: a byte of each, beside gradients
    and moments two at least. What is trained in part or kept elsewhere says nothing."""
    found = (match.groups() for match in _pattern("{saved}").finditer(sentences(head)))
    saved = max((float(number) * _TIMES[power.lower()] for number, power in found), default=None)
    moments = 8 if "optimiser" in known and known["optimiser"].value in ("adam", "lamb") else 4
    rooms = [each for each in (saved, gib and gib * 2**30 / moments) if each]
    most, weights = min(rooms, default=0.0) * case.total_devices, whole(_sizes(case).get("parameters") or "")
    if weights and 0 < most * APART["parameters"] < weights and not {"trained_part", "offload"} & {*known}:
        yield Fact(key="parameters", value=f"{MOST} {most:.0f}", source="log")


def _job(text: bytes) -> Job:
    return by_key((kind, int(number.replace(b",", b""))) for kind, number, _ in collectors.spelt(text))


def _weights(name: str) -> list[float]:
    return [float(number) * _TIMES[power] for number, power in _pattern("{weights}").findall(name.lower())]


def _other_model(case: Case, text: str, words: Sequence[str]) -> str | None:
    """The model that *text* names instead: one that is created, or a size of its family that no line has as its own;
    or one of *words*, options, with other billions of weights."""
    own, stated = _pattern("{model}").match(case.model.lower()), _weights(case.model)
    asked = (given for name, _, given in (word.partition("=") for word in words) if _pattern("{named}").match(name))
    for given, weights in ((given, _weights(given)) for given in asked if stated):
        if weights and all(max(a, b) > 1.1 * min(a, b) for a in stated for b in weights):
            return given
    if own is None:
        return None
    made = any(word in text for word in ("creating", "created", "definition"))
    named_so = _pattern("{created}").findall(text) if made else ()
    created = [found[0] for each in named_so if (found := _pattern("{model}").match("".join(each)))]
    family = rf"(?<![\w/.-]){re.escape(own[1])}{rules().words['size']}(?!/)"
    alike = [found[0] for found in re.finditer(family, text)] if own[1] in text else []
    sized = [name for name in alike if own[0][-1].isdigit() or not re.fullmatch(r"[a-z]+\d+", name)]  # llama3 is none
    named = [*created, *([] if _bare(own[0]) in map(_bare, alike) else sized)]
    return next((name for name in named if _bare(name) != _bare(own[0])), None)


def _batch(case: Case, job: Job, values: Mapping[str, str], *, either: bool = False) -> dict[str, str | None]:
    """The batch of an optimiser step, and how many passes make one where the printed sizes say it. *either*: it may be
    that of a pass."""
    total, passes = {*job.get("all", ()), *job.get("total", ())}, {*job.get("accumulation", ())}
    micro, parts = whole(values.get("micro_batch", "")), layout.of_text(values.get("parallel_layout", ""))
    copies = case.total_devices // math.prod(parts.get(part, 1) for part in ("TP", "PP", "CP"))
    if micro and copies and len(total) == 1 and not (passes or "accumulation" in values):
        whole_batch = total.pop()
        return {"accumulation": str(whole_batch // (micro * copies))} if whole_batch % (micro * copies) == 0 else {}
    accumulated = passes.pop() if len(passes) == 1 else whole(values.get("accumulation", "")) or 1
    sizes = (*job.get("bare", ()), *job.get("per_device", ()), whole(values.get("batch_per_device", "")))
    printed = {size * accumulated for size in sizes if size} | {*job.get("train", ())}
    tokens = whole(case.option("sequence_length", "")) or 1
    known = {case.batch_per_device * n for n in (1, case.devices_per_node, case.total_devices, tokens)}
    other = known.isdisjoint([*printed, *(sizes if either else ())]) and total != {case.global_batch}
    batch = str(*printed) if other and len(printed) == 1 else None
    return {"batch_per_device": batch, **({"accumulation": str(accumulated)} if accumulated > 1 else {})}


def _contradict(a: Fact, b: Fact) -> bool:
    numbers, words = (decimal(a.value), decimal(b.value)), {a.value.lower(), b.value.lower()}
    equal = _bare(a.value) == _bare(b.value) or (numbers[0] is not None and numbers[0] == numbers[1])
    if a.source == b.source or equal or words <= {*NEUTRAL}:
        return False
    if a.key in APART:
        low, high = sorted(whole(each.value.lstrip(f"{MOST} ")) or 0 for each in (a, b))
        return 0 < low * APART[a.key] < high
    if a.key in ("device_model", "data") and (_bare(a.value) in _bare(b.value) or _bare(b.value) in _bare(a.value)):
        return False
    if a.key in ("framework_version", "driver_generation"):  # one may say more digits
        return not (a.value.startswith(b.value) or b.value.startswith(a.value))
    if a.key == "host_kind":
        return "virtual machine" in words and "bare metal" in words
    if a.key != "precision":
        return True
    for ours, other in ((a, b), (b, a)):
        if ours.source in ("case", "stated") and _meanings(other) & {*rules().axis.get(ours.value, ())}:
            return False
    return not _meanings(a) & _meanings(b)


def _meanings(fact: Fact) -> frozenset[str]:
    return frozenset(rules().meanings.get(fact.value, (fact.value,)))


def _bare(value: str) -> str:
    """*value* without what the name of a folder cannot hold: "Tesla V100" and "Tesla_V100" are one."""
    return re.sub(r"[\W_]+", "", value.lower())


def _facts(source: FactSource, values: Mapping[str, str | None]) -> Iterator[Fact]:
    return (Fact(key=key, value=value, source=source) for key, value in values.items() if value)


def _of_words(argv: Sequence[str]) -> dict[str, str]:
    values, parts, precisions = dict[str, str](), dict[str, str](), dict[str, None]()
    for place, token in enumerate(argv):
        name, equals, given = token.partition("=")
        flag = _flags().get(name) or _shaped(name, given)
        of_one = flag and not flag.value and flag.key in rules().usual  # of a factor, or of experts
        if flag is None or ((flag.value or of_one) and given.lower() in (*NEUTRAL, *(("1", "1.0") if of_one else ()))):
            continue
        following = argv[place + 1] if place + 1 < len(argv) else ""
        value = flag.value or _in_our_words(flag, given if equals else following)
        if flag.part and value:
            parts[flag.part] = value.lower()
        elif flag.key == "precision" and value:
            precisions[value] = None
        elif value and value[0] not in "{[" and not (value == "none" and flag.key in values):  # an object is no word
            values[flag.key] = value
    if precisions:
        values["precision"] = _together(precisions)
    if parts:
        values["parallel_layout"] = _layout(parts)
    return values


@functools.lru_cache(maxsize=10_000)
def _shaped(name: str, given: str) -> Flag | None:
    plain, number = f"--{name[2:].lower().replace('-', '_')}", decimal(given or "2")
    shaped = (flag for flag in rules().flag if flag.shape and re.search(flag.shape, plain))
    return next((f for f in shaped if (given in f.words if f.words else number not in (None, 0.0, 1.0))), None)


def _layout(parts: Mapping[str, str]) -> str:
    known = [f"{part} {value}" for part, value in sorted(parts.items()) if value not in UNPARTED and part != "DP"]
    return " · ".join(known) or "DP"


def _together(precisions: Iterable[str]) -> str:
    """What several options say as one: `--amp --dtype bfloat16` is bf16_amp; else the last one counts."""
    said = list(precisions)
    small = 1 if "fp8" in said else -1  # else a recipe that is printed and not used
    *_, last = said = sorted(said, key=lambda word: small * ("fp8" in word or word == "nvfp4"))
    exact = [f"{word[:4]}_amp" for word in said if word[:4] in rules().loosely]
    if "amp" in said and "fp8" not in said:
        return exact[-1] if exact else "amp"
    return last


def _in_our_words(flag: Flag, given: str) -> str | None:
    if not given or (given.startswith("-") and not given[1:].isdigit()):
        return None
    if flag.words:
        return flag.words.get(given)
    if flag.key == "precision":
        return said_precision(given)  # `--dtype float16` is AMP in one script, and pure in the other
    if flag.key == "parameters":
        return given.replace(",", "")
    if flag.key == "clipping" and re.fullmatch(r"0*(\.0*)?", given):
        return "none"
    return _optimiser(given) if flag.key == "optimiser" else given.lower() if flag.key == "data" else given


def _optimiser(given: str) -> str:
    return next((ours for ours, words in rules().optimisers.items() if given.lower() in words), given.lower())


def _of_hosts(device: Device, environments: Mapping[str, HostEnvironment]) -> dict[str, str]:
    hosts = list(environments.values())
    if not hosts:
        return {}
    gpus = [gpu for host in hosts for gpu in host.gpus or ()]
    kinds = (host.cpu_model and host.cpu_model + (f" ({host.cores:g} cores)" if host.cores else "") for host in hosts)
    memories = {gpu.memory_total_bytes for gpu in gpus if gpu.memory_total_bytes}
    return {
        "device_model": _each(gpu.name for gpu in gpus) if device != "cpu" else _each(host.cpu_model for host in hosts),
        "device_memory": ", ".join(f"{size / 2**30:.0f} GiB" for size in sorted(memories)),
        "driver_generation": _each(host.driver and host.driver.partition(".")[0] for host in hosts),
        "host_kind": _each(kinds),
        "cuda": _each(host.cuda_driver for host in hosts) if device == "gpu" else "",
        "tf32": "off" if all(map(_has_no_tf32, hosts)) else "",
        "hosts": str(len(hosts)),
        "system": _each(h.kernel and f"{h.kernel}, {h.memory_total_bytes} B, Python {h.python}" for h in hosts),
        **_switches([host.environment_variables for host in hosts]),
    }


def _has_no_tf32(host: HostEnvironment) -> bool:
    names = [gpu.name or "" for gpu in host.gpus or ()]
    old = bool(names) and all(any(part in name for part in rules().sets["without_tf32"]) for name in names)
    return old or (host.environment_variables or {}).get(rules().words["tf32_variable"]) == "0"


def _switches(recorded: Sequence[Mapping[str, str] | None]) -> dict[str, str]:
    if any(variables is None for variables in recorded):
        return {}
    settings, switches = rules(), {key: dict[str, None]() for key in ("communication", "kernel_switches")}
    for variables in recorded:
        for name, value in sorted((variables or {}).items()):
            if not name.startswith(settings.sets["ignored"]):
                key = "communication" if name.startswith(settings.sets["communication"]) else "kernel_switches"
                switches[key][f"{name}={value}"] = None
    slowing = [each for of in switches.values() for each in of if re.search(settings.words["slowing"], each)]
    return {
        **({"watched": " ".join(slowing)} if slowing else {}),
        **{key: " ".join(values) or NONE_SET for key, values in switches.items()},
    }


def _each(values: Iterable[str | None]) -> str:
    each = list(values)
    return "" if None in each else ", ".join(dict.fromkeys(value for value in each if value))


def _of_recipe(case: Case, command: RunCommand) -> dict[str, str | None]:
    recipe, chosen = command.recipe, _known(dict(case.options))
    nccl = (version for name, version in (command.packages or {}).items() if name.startswith("nvidia-nccl"))
    return {
        **_of_amp(case, recipe),
        **{key: value for key, value in _known(recipe.facts or {}).items() if key not in chosen},
        "image": recipe.image,
        "image_digest": command.image_digest,
        "framework_version": command.framework_version,
        "nccl": next(nccl, None),
    }


def _of_amp(case: Case, recipe: UsedRecipe) -> dict[str, str | None]:
    exact = exact_amp(recipe.amp, case.device)
    if case.precision not in ("amp", exact) or not recipe.amp:
        return {}
    text, precision = recipe.amp.lower(), exact and _precisions()[exact.replace("-", "_")]
    scaling = re.search(r"(dynamic|static) loss scale( \d+)?", text)
    return {"precision": precision, "loss_scaling": scaling and scaling[0].replace(" loss scale", "")}


def _known(named: Mapping[str, str]) -> dict[str, str]:
    keys = {rule.key for rule in rules().fact}
    facts = {rules().options.get(name, name): value for name, value in named.items()}
    ours = {("clipping", "off"): "none", ("recomputation", "on"): "full"}
    values = {key: ours.get((key, value.lower()), value) for key, value in facts.items() if key in keys}
    if "optimiser" in values:
        values["optimiser"] = _optimiser(values["optimiser"])
    parts_of = {"zero_stage": "ZeRO", **layout.table()["parts"]}
    if parts := {parts_of[name]: value for name, value in named.items() if name in parts_of}:
        values.setdefault("parallel_layout", _layout(parts))
    if values.get("data") in rules().sets["loaders"]:
        values = {"loader": values["data"], **values, "data": rules().words["read_by_loaders"]}
    return values
