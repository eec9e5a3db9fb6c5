"""The data sets that training scripts read, as `data/data_sets.toml` declares them."""

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, NamedTuple, get_args

from evalsuite.contracts.adapter import Command, Recipe
from evalsuite.core import decode, paths
from evalsuite.core.decode import Constraint, Many, Word, at_least
from evalsuite.core.errors import EvalsuiteError, look_up
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

FILE = paths.DATA / "data_sets.toml"
WRITERS = paths.ADAPTERS / "data_writers"
SizeName = Literal["tiny", "full-shape"]
PART = re.compile(r"full-shape([/*])([1-9]\d{0,5})")
BATCHES = (64, 128, 512, 2048)  # some scripts have them built in
PARTS = "data_parts"  # the axis of recipes that name the number of their files; else `fewest` of the data set
Split = Literal["train", "validation"]
Counts = Mapping[Split, Annotated[int, at_least(1)]]
Shape = Mapping[str, object]  # what items are made by in addition to seed and number: {"classes": 16}
Hexadecimal = Annotated[str, Constraint("hexadecimal", re.compile(r"([0-9a-f]{2})+").fullmatch)]


@dataclass(frozen=True, kw_only=True)
class Source:
    """What the items are; from one seed they are the same in every format."""

    original: Word  # the public data whose place they take
    item_bytes: Annotated[int, at_least(1)]  # at most, for the room that is needed
    item_core_s: Annotated[float, at_least(0)]  # to make one and write it, of one core
    items: Mapping[SizeName, Counts]
    shape: Mapping[SizeName, Shape] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class WriterEnvironment:
    python: Word
    pins: Many[Word]
    import_name: Word


@dataclass(frozen=True, kw_only=True)
class DataSet:
    source: Word
    environment: Word = "columns"  # the one of no framework
    writer: Word  # a module of adapters/data_writers
    format: Word  # of that module's FORMATS
    splits: tuple[Split, ...] | None = None  # None: those of the source; (): it has no items of its own
    shape: Mapping[SizeName, Shape] = field(default_factory=dict)  # where it differs from the source's
    shards: Mapping[SizeName, Counts] = field(default_factory=dict)  # files of a split; else one
    beside: Word | None = None  # the data set that this one belongs to
    layout: Many[Word]  # patterns, each of which finds a file
    magic: Mapping[str, Hexadecimal] = field(default_factory=dict)  # pattern → how such a file begins
    listed: str = ""  # a line or a file for each item of training: "train_list.txt", "train/*/*"; "": neither
    repeats: bool = False  # whether a pass over it can be made longer, its items being listed or linked several times
    counted: Word | None = None  # pattern of the files of which each rank wants one
    fewest: Annotated[int, at_least(1)] = 1  # such files, however few the ranks
    loaders: Annotated[int, at_least(0)] = 0  # of each rank, among which the files must divide evenly; 0: they need not
    item_core_s: Annotated[float, at_least(0)] | None = None  # where its library is slower than others
    original_items: Annotated[int, at_least(1)] | None = None  # of training; None: as the full shape of the source
    holds: Word
    from_original: Word
    original_size: Word


@dataclass(frozen=True, kw_only=True)
class _Declarations:
    sources: Mapping[str, Source]
    environments: Mapping[str, WriterEnvironment]
    data_sets: Mapping[str, DataSet]


class Size(NamedTuple):
    name: SizeName
    part: int = 1  # one item of so many: the full shape is tried before it is made
    times: int = 1  # so many passes in one, by links and lists
    files: int | None = None  # of training, of a data set that has one for each rank; None: as many as are declared

    def __str__(self) -> str:
        part, times = (f"{sign}{n}" if n > 1 else "" for sign, n in (("/", self.part), ("*", self.times)))
        return f"{self.name}{part}{times}"


TINY = Size("tiny")


def size(text: str) -> Size:
    """`tiny`, `full-shape`, `full-shape/100`, `full-shape*16`."""
    if part := PART.fullmatch(text):
        return Size("full-shape", **{"part" if part[1] == "/" else "times": int(part[2])})
    for name in get_args(SizeName):
        if text == name:
            return Size(name)
    raise EvalsuiteError.of("plan.data_size", size=text, names=get_args(SizeName))


@functools.cache
def declared() -> _Declarations:
    return decode.decode(_Declarations, decode.read_toml(FILE, FILE.name), FILE, strict=True)


def data_set(name: str) -> DataSet:
    return look_up("core.unknown", declared().data_sets, name, where="data", names=sorted(declared().data_sets))


def source(of: DataSet) -> Source:
    return declared().sources[of.source]


def environment(of: DataSet) -> WriterEnvironment:
    return declared().environments[of.environment]


def counts(of: DataSet, size: Size) -> dict[Split, int]:
    whole = source(of).items[size.name]
    return {split: -(-count // size.part) for split, count in whole.items() if of.splits is None or split in of.splits}


def shards(of: DataSet, size: Size) -> dict[Split, int]:
    """Scripts that name the number of their files name one for all splits, which are declared alike."""
    asked = of.shards.get(size.name, {})
    files = size.files if of.counted else None
    given = {split: files if files and each == asked["train"] else each for split, each in asked.items()}
    return {split: min(given.get(split, 1), count) for split, count in counts(of, size).items()}


def fitting(name: str, size: Size, asked: int | None, named: int) -> Size:
    """*size* as the data set *name* can have it, with the files that are *asked* for, or *named* by a script."""
    of, files = data_set(name), asked or named
    if asked and of.counted and asked > (most := counts(of, size)["train"]):
        raise EvalsuiteError.of("plan.more_files", name=name, files=files, items=most, size=str(size))
    return size._replace(times=size.times if of.repeats else 1, files=files or None)


def shape(of: DataSet, size: Size) -> Shape:
    return of.shape.get(size.name, source(of).shape.get(size.name, {}))


def needed_bytes(of: DataSet, size: Size) -> int:
    return sum(counts(of, size).values()) * source(of).item_bytes


def core_seconds(of: DataSet, size: Size) -> float:
    return sum(counts(of, size).values()) * (of.item_core_s or source(of).item_core_s)


def read_in(recipe: Recipe, cases: Iterable[Case]) -> list[str]:
    return sorted({name for case in cases if not recipe.refusal(case) for name in names(recipe.command_of(case))})


def of_recipe(framework: str, recipe: Recipe) -> list[str]:
    """The data sets that *recipe* reads on one node or two, with each value of its axis `data`."""
    device = "gpu" if "gpu" in recipe.devices else recipe.devices[0]
    plain = Case(framework=framework, recipe=recipe.name, model=recipe.model, batch_per_device=1, device=device)
    options = ((), *((("data", value),) for value in (recipe.options or {}).get("data", ())))
    axes = itertools.product((1, 2), BATCHES, options)
    cases = (replace(plain.at_scale(n, 8), batch_per_device=batch, options=given) for n, batch, given in axes)
    return read_in(recipe, cases)


def names(command: Command) -> list[str]:
    return sorted({name for token in command.tokens for name in re.findall(r"\{data\}/([\w.+-]+)", token)})


def folders(command: Command) -> list[str]:
    """Where *command* reads its data, with targets of links; none where it reads none."""
    if not any("{data}" in token for token in command.tokens):
        return []
    place = paths.data_sets()
    linked = [str((place / name).resolve()) for name in names(command) if (place / name).is_symlink()]
    return [str(place), *dict.fromkeys(linked)]


def parts(recipe: Recipe, case: Case) -> dict[str, int]:
    """Data set → how many of its files the command names."""
    if PARTS not in (recipe.options or {}):
        return {}
    read = {name: declared().data_sets.get(name) for name in names(recipe.command_of(case))}
    return {name: int(case.option(PARTS, str(of.fewest))) for name, of in read.items() if of and of.counted}


def epoch(recipe: Recipe, case: Case, there: Callable[[str], int | None] = lambda name: None) -> tuple[int, str] | None:
    """(items, data set) of the pass in which warm-up and window must lie; None where steps are counted. *there*: how
    many training items a data set has that was made here; else they are as many as the original's."""
    given = recipe.epoch(case)
    if given is None or isinstance(given, int):
        return None if given is None else (given, "")
    of = data_set(given)
    return there(given) or of.original_items or counts(of, Size("full-shape"))["train"], given


def refusal(there: Callable[[str], int | None] = lambda name: None) -> Callable[[Case, Recipe], str | None]:
    """Why ranks have no file of their own, or the measured steps end in another pass over the data."""

    def reason(case: Case, recipe: Recipe) -> str | None:
        for name, files in parts(recipe, case).items():
            if files < case.total_devices:
                return Message("plan.few_parts", name=name, parts=files, ranks=case.total_devices, option=PARTS)
        wanted = case.protocol.total_steps + 1  # scripts print no step of the first or of the last
        found = epoch(recipe, case, there)
        if found is None or found[0] // case.global_batch >= wanted:
            return None
        items, name = found
        fitting = items // (case.batch_per_device * wanted) if case.strong_batch is None else 0
        nodes, most = divmod(fitting, case.devices_per_node)
        largest = f"{nodes}x{case.devices_per_node}" if nodes else f"1x{most}" if most else Message("plan.no_scale")
        of = Message("plan.of_data", name=name) if name else ""
        longer = ""
        if name and data_set(name).repeats:
            times = -(-wanted * case.global_batch // counts(data_set(name), Size("full-shape"))["train"])
            longer = Message("plan.longer", name=name, size=str(Size("full-shape", times=times)))
        return Message("plan.short_epoch", items=items, of=of, wanted=wanted, largest=largest, longer=longer)

    return reason
