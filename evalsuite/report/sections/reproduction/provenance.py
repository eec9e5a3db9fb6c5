"""Provenance: from a case to its runs, and from a run to file, lines, command and SHA-256 (section 16)."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from evalsuite.contracts import registry
from evalsuite.core import paths, placeholders
from evalsuite.core.documents import RunCommand, UsedRecipe
from evalsuite.core.messages import Message
from evalsuite.core.model import ARRIVALS, RATES, UNKNOWN, Case, LogLine, Measurement, Summary, by_key
from evalsuite.core.placeholders import Node
from evalsuite.report.book import states
from evalsuite.report.book.book import LARGE, Book
from evalsuite.report.book.participants import source_of
from evalsuite.report.book.states import State
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.results.compare.decisions import PUBLISHED, flags
from evalsuite.results.measure.summary import median_run

PERMALINK = re.compile(r"(?P<repository>https://[\w.-]+/[\w./-]+)/blob/(?P<commit>[0-9a-f]{40})/(?P<path>[\w./+-]+)")
SPEC, ADAPTER = "SPEC.toml", "ADAPTER.py"  # that the reader has to name
PLACES = {  # what recorded runs have in the place of a folder → where it may lie on another machine
    "python": "python3",
    "evalsuite": "$PWD",
    "cache": "$HOME/.cache/evalsuite",
    "data": "$HOME/.cache/evalsuite/data",
    "runs": "$PWD/runs-again",
}
_PLACE = re.compile(rf"<({'|'.join(PLACES)})>")
_IN_QUOTES = re.compile(r'(["\\$`])')
RELATIVE = {  # as kept runs have our own folders
    re.compile(r"(?:^|(?<=[=:]))evalsuite/(?=\.venv/|adapters/|tools/)"): "<evalsuite>/",
    re.compile(r"(?:^|(?<==))data/D/"): "<data>/",
}
USUAL_HZ = "2"  # of `compare`
COLUMNS = (  # of the runs of a series: what holds it, its words, and how it is set
    ("clock", "reproduction.clock", "n"),
    ("log", "reproduction.log", ""),
    ("lines", "reproduction.log_lines", ""),
    ("steps", "reproduction.window_steps", ""),
    ("started_at", "quality.started", ""),
    ("duration_s", "reproduction.duration", "n"),
    ("log_sha256", "reproduction.sha", ""),
)
FREE_PORT = 29500  # as PyTorch and our own documents have it


@dataclass(frozen=True, kw_only=True)
class RunProvenance:
    run: Measurement
    state: State
    value: Number | None
    clock: Number | None  # items ÷ arrival times over the same steps
    same_source: bool  # the value is that clock's, which then confirms nothing
    total: str | None  # "items/seconds", whose quotient the value is; None: there is nothing to count
    lines: str | None  # "12–47": the lines of the log that bound the window
    steps: str | None
    citations: tuple[str, ...] = ()  # rows of the tables that print a cited value, and what they say of its source

    @property
    def log(self) -> str:
        """The log's path inside the folder of its case, which is shown above it; the whole path elsewhere."""
        if published := PERMALINK.fullmatch(self.run.log or ""):
            return names.visible(f"{published['path']}@{published['commit'][:12]}")
        return names.visible((self.run.log or "").removeprefix(f"{self.run.run.case.id}/"))

    @property
    def address(self) -> str | None:
        if not PERMALINK.fullmatch(self.run.log or ""):
            return None
        line = self.run.throughput.line_first if self.run.throughput else None
        return f"{self.run.log}?plain=1" + (f"#L{line}" if line else "")


def series(book: Book) -> list[Mapping[str, Any]]:
    origins = by_key((case.series, _of_case(book, case)) for case in book.planned).values()
    return [{"first": cases[0]["case"], "cases": cases, **_again(book, cases)} for cases in origins]


def columns(series: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Those of which some run says something."""
    runs = [run for each in series for case in each["cases"] for run in case["runs"]]
    of = [{**vars(run.run), **vars(run), "log": run.log} for run in runs]
    return [each for each in COLUMNS if any(facts[each[0]] not in (None, "") for facts in of)]


def _of_case(book: Book, case: Case) -> Mapping[str, Any]:
    detailed = len(book.planned) <= LARGE  # of more cases the sums of each run are here, and the rest in the bundle
    summary = book.summary_of.get(case.id)
    runs = summary.measurements if summary else ()
    ran = next((run for run in runs if run.run.id in book.evaluation.commands), None)
    facts = book.evaluation.commands[ran.run.id] if ran else None
    machine = book.evaluation.environments.get(str(ran.environment)) if ran else None
    shown = [_of_run(run, book.evaluation.commands.get(run.run.id)) for run in runs]
    return {
        "case": case,
        "drawn": _of_drawer(summary) if isinstance(summary, Summary) else {},
        "state": book.state(case),
        "runs": shown,
        "cited": [each for each in shown if each.run.origin in PUBLISHED and not each.address],
        # the whole line that was started, from the engine inward; of the script, if that is all
        "shell": shell(facts, case, ran.run.id, machine.cores if machine else None) if ran and detailed else None,
        "made_by": names.visible(facts.recipe.made_by or "") if facts and facts.recipe else "",
        "hosts": dict(pairwise(facts.argv)).get("--hosts", "").replace(",", ", ") if facts else "",
        # what the value is counted from; None without a value or without steps
        "proof": proof(summary) if isinstance(summary, Summary) and detailed else None,
        "flags": flags(summary) if isinstance(summary, Summary) else (),  # that a reader of the value must know
    }


def _of_drawer(summary: Summary) -> Mapping[str, str]:
    """What a receipt that is opened in place says first of a value: its text and what it rests on."""
    spread = numbers.interval(summary.items_per_s, numbers.throughput)
    more = f"{names.visible(summary.unit)}{f' ({spread})' if spread else ''} · n = {summary.n}"
    return {"text": numbers.throughput(summary.items_per_s.value).text, "more": more}


def _of_run(run: Measurement, command: RunCommand | None) -> RunProvenance:
    figure = command.figure if command else None
    speed = run.throughput
    window = speed.window if speed else None
    ends = dict.fromkeys(line for line in (speed.line_first, speed.line_last) if line) if speed else {}
    return RunProvenance(
        run=run,
        state=states.run_state(run),
        value=numbers.throughput(run.value) if run.value is not None else None,
        clock=numbers.throughput(speed.clock_items_per_s) if speed and speed.clock_items_per_s else None,
        same_source=bool(speed and speed.method == ARRIVALS and speed.clock_items_per_s is not None),
        total=total(run) if run.counts else None,
        lines="–".join(map(str, ends)) or None,
        steps=f"{window.first_step}–{window.last_step}" if window else None,
        citations=tuple(
            names.visible(" · ".join(filter(None, (each.row, each.source))))
            for each in (figure.citations if figure else ())
        ),
    )


def _again(book: Book, cases: Sequence[Mapping[str, Any]]) -> Mapping[str, object]:
    """The command that repeats a series; none where evalsuite started none of it, or would not take it as it is now."""
    asked, of = book.evaluation, [origin["case"] for origin in cases]
    ran = [asked.commands[run.run.run.id] for row in cases for run in row["runs"] if run.run.run.id in asked.commands]
    if book.published or (ran and not any(each.argv for each in ran)):
        return {"again": None, "refused": None}
    titles, version = participant_titles(ran), next((each.evalsuite for each in ran if each.evalsuite), None)
    if not titles and (refused := _refused(of)):
        return {"again": None, "refused": refused, "version": version}
    repeats = f"{asked.repeats}-{asked.most_repeats}" if asked.most_repeats else asked.repeats
    words, told = rerun_command(of, repeats=repeats, participants=titles), [dict(pairwise(each.argv)) for each in ran]
    sampled = {each.get("--hz", USUAL_HZ) for each in told}
    words += ("--hz", *sampled) if len(sampled) == 1 and sampled != {USUAL_HZ} else ()
    hosts = max((each.get("--hosts", "") for each in told), key=len, default="")
    engines = {str(each.engine) for each in ran} - {"None", "local", "hosts"}
    words += ("--hosts", hosts) if hosts else ("--engine", *engines) if len(engines) == 1 else ()
    words += () if titles or of[0].framework in registry.discover() else ("--adapters", ADAPTER)
    read = {data.name: data.size or "tiny" for each in ran for data in each.data_sets or ()}  # what must lie there
    size = ("--size", *sizes) if len(sizes := {*read.values()} - {"tiny"}) == 1 else ()
    made = shlex.join(("python", "-m", "evalsuite", "data", "make", *read, *size))
    return {"again": names.visible("\n".join([made] * bool(read) + [shlex.join(words)])), "refused": None}


def _refused(cases: Iterable[Case]) -> Message | str | None:
    """Why evalsuite would not run them today; a framework that is not built in has the reader's own adapter."""
    for case in cases:
        if adapter := registry.discover().get(case.framework):
            recipe = next((each for each in adapter.recipes if each.name == case.recipe), None)
            reason = recipe.refusal(case) if recipe else Message("report.no_recipe", recipe=case.recipe)
            if reason:
                return reason
    return None


def software(book: Book) -> list[Mapping[str, Any]]:
    """What each framework's runs were made with; runs made with the same are listed once."""
    rows: dict[tuple[object, ...], Mapping[str, Any]] = {}
    for run in book.measurements:
        row = _software(run, book.evaluation.commands.get(run.run.id))
        key = (names.framework(row["framework"]).casefold(), row["recipe"], row["version"] or "")
        rows.setdefault((*key, row["commit"], row["packages"]), row)
    return [rows[key] for key in sorted(rows)]


def _software(run: Measurement, command: RunCommand | None) -> Mapping[str, Any]:
    recipe = command.recipe if command else UsedRecipe()
    packages = (command.packages if command else None) or {}
    return {
        "framework": run.run.case.framework,
        "recipe": run.run.case.recipe,
        "version": run.framework_version or (command.framework_version if command else None),
        "source": names.visible(source_of(recipe)),
        "commit": names.visible(recipe.commit or ""),
        "image": names.visible(recipe.image or ""),
        "script_sha256": command.script_sha256 if command else None,
        "packages": tuple(sorted((names.visible(name), names.visible(value)) for name, value in packages.items())),
    }


def proof(summary: Summary) -> Mapping[str, Any] | None:
    run = median_run(summary)
    if run.throughput is None or (run.throughput.counted is None and not run.lines):
        return None
    version = f"{names.framework(run.run.case.framework)} {run.framework_version}" if run.framework_version else ""
    return {
        "run": run,
        # first, middle and last of the window, each with its number and in pieces: text, and whether it was read
        "lines": [(line.number, list(_pieces(line))) for line in run.lines],
        "machine": [names.visible(text) for text in (str(run.environment or ""), version) if text],
        "by_rates": run.throughput.method == RATES,  # the value is the mean of printed rates, and no clock's
    }


def total(run: Measurement) -> str | None:
    """ "items/seconds", whose quotient the value of *run* is; None: there is nothing to count."""
    counted = run.throughput.counted if run.throughput else None
    if counted is None or run.value is None:
        return None
    return f"{sum(counted.items):.12g}/{sum(counted.seconds):.12g}"


def _pieces(line: LogLine) -> Iterator[tuple[str, bool]]:
    behind = 0
    for begin, end in (*line.read, (len(line.text), len(line.text))):
        if between := line.text[behind:begin]:
            yield _shown(between), False
        if own := line.text[begin:end]:
            yield _shown(own), True
        behind = end


def _shown(text: str) -> str:
    return "\n".join(names.visible(part).replace("\\t", "\t") for part in text.split("\n"))


def rerun_command(cases: Sequence[Case], *, repeats: int | str, participants: Sequence[str] = ()) -> tuple[str, ...]:
    """`python -m evalsuite compare …` for *cases*, which differ in framework, recipe and scale alone.
    *participants*: their titles in a spec, which the reader has to name."""
    case = cases[0]
    batch, base = case.series_batch, min(case.total_devices for case in cases)
    if participants:
        who = ["--spec", SPEC, *(word for title in participants for word in ("--participant", title))]
    else:
        frameworks, recipes = (_joined(getattr(each, name) for each in cases) for name in ("framework", "recipe"))
        who = ["--frameworks", frameworks, "--recipe", recipes]
    setting = {"precision": case.precision, "xla": "on" if case.xla else "off", "device": case.device}
    given = [
        *(*who, "--models", case.model, "--scales", _joined(case.scale for case in cases)),
        *("--batch-sizes", str(batch if case.strong_batch is None else batch // base)),
        *(word for name, value in setting.items() if value != UNKNOWN for word in (f"--{name}", value)),
        *("--steps", str(case.protocol), "--repeats", str(repeats)),
    ]
    if case.strong_batch is not None:
        given += ["--scaling", "strong"]
    if case.cores_per_device:
        given += ["--cores-per-device", str(case.cores_per_device)]
    for name, value in case.options:
        given += ["--option", f"{name}={value}"]
    return ("python", "-m", "evalsuite", "compare", *given)


def _joined(names: Iterable[str]) -> str:
    return ",".join(dict.fromkeys(names))


def participant_titles(ran: Iterable[RunCommand]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(title for command in ran if command.recipe and (title := command.recipe.participant)))


def shell(command: RunCommand | None, case: Case, run_id: str, cores: float | None) -> str | None:
    """What was run for *case*, to be run again on a machine with so many *cores* per node; None if nothing was.
    Its results go to another folder than that of the run *run_id*, which is closed."""
    given = (command.argv or command.command) if command else ()
    if command is None or not given:
        return None
    threads = case.cores_per_device or max(1, int(cores or 0) // case.devices_per_node)
    here = placeholders.of_node(Node(master_port=FREE_PORT), case.devices_per_node, threads)
    filled = here if case.nodes == 1 else {}  # of several nodes the node agent fills each one's own

    def placed(word: str) -> str:
        if run_id in word:
            word = re.sub(rf"(?:(?<==)|^)[^=]*/{re.escape(run_id)}(?=/|$)", lambda _: f"<runs>/{run_id}", word)
        for begin, place in RELATIVE.items():
            word = begin.sub(place, word)
        return placeholders.fill(word, filled)

    words = [placed(word) for word in _as_today(given)]
    settings = [(name, placed(value)) for name, value in sorted(command.environment.items())]
    texts = (*words, *(value for _, value in settings))
    used = [name for name in PLACES if any(f"<{name}>" in text for text in texts)]
    above = [f'{name.upper()}="{PLACES[name]}"' for name in used]
    above += [f"export {names.visible(name)}={_quoted(value)}" for name, value in settings]
    return "\n".join((*above, " ".join(map(_quoted, words))))


def _as_today(given: Iterable[str]) -> Iterator[str]:
    """Our own commands by their names of today, and without the search path of another machine."""
    gone, behind, command = paths.read_data("commands/gone.toml"), "", ""
    for word in given:
        instead = gone["options"].get(f"{command} {word}", word)
        if behind == "evalsuite" and not command:
            command = word
            yield gone["commands"].get(word, f"evalsuite {word}").split()[1]
        elif word != instead and instead.startswith("--"):
            yield from instead.split()
        elif instead != "> /dev/null" and not word.startswith("PATH=<home>"):
            yield word
        behind, command = word, "" if word == "--" else command


def _quoted(word: str) -> str:
    if not _PLACE.search(word):
        return names.visible(shlex.quote(word))
    escaped = _IN_QUOTES.sub(r"\\\1", word)
    return names.visible('"' + _PLACE.sub(lambda match: f"${{{match[1].upper()}}}", escaped) + '"')
