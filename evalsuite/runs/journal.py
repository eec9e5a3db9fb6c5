"""The journal of a folder of runs: each start of an evaluation with its plan, and every attempt at a run.
`campaigns/<id>.json` is written once, before the first run. `attempts.jsonl` has a line for each event of an attempt,
with the hash of the line before: a missing line shows, and so does a run made again."""

import contextlib
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

from evalsuite.core import decode, files, locks
from evalsuite.core.documents import Document
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.files import read_json
from evalsuite.core.model import Attempt, Case, Run
from evalsuite.runs.planned import Planned

CAMPAIGNS = "campaigns"
ATTEMPTS = "attempts.jsonl"
PUBLISHED = "reports/*/summary.json"  # on a site
Event = Literal["started", "ended", "measured", "removed"]  # by `status --prune`: of a folder with all its files


@dataclass(frozen=True, kw_only=True)
class Campaign(Document):
    id: str
    started_at: str  # ISO 8601 with zone
    plan: Planned
    plan_sha256: str
    evalsuite: str | None = None
    elsewhere: int | None = None  # other folders of runs here in which this plan was started before; None: not counted

    @property
    def whole(self) -> bool:
        return seal(self.plan.cases, self.plan.repeats, self.plan.most_repeats) == self.plan_sha256


@dataclass(frozen=True, kw_only=True)
class JournalLine(Document):
    TRY: ClassVar[str] = "try_journal"

    event: Event
    run: str  # id
    attempt: int  # from 1
    campaign: str
    at: str  # ISO 8601 with zone
    status: Literal["completed", "stopped_as_planned", "failed", "timed_out"] | None = None  # with "ended"
    fault: Literal["infrastructure"] | None = None  # with "ended"; None: not the machines
    items_per_s: float | None = None  # with "measured"; None: no valid number
    unit: str | None = None
    counts: bool | None = None  # with "measured": whether the value enters the median of its case
    sha256: Mapping[str, str] | None = None  # with "ended": of files that the outcome has no hash of; "removed": of all
    before: str | None = None  # SHA-256; None in the first line


def seal(cases: Sequence[Case], repeats: int, most_repeats: int | None = None) -> str:
    """The hash of a plan, whatever the order of cases."""
    asked: dict[str, object] = {"repeats": repeats, "cases": sorted(json.dumps(decode.encode(case)) for case in cases)}
    if most_repeats is not None:
        asked["most_repeats"] = most_repeats
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


class Journal:
    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    def begin(self, campaign: Campaign) -> None:
        folder = self.root / CAMPAIGNS
        folder.mkdir(parents=True, exist_ok=True)
        campaign.write(folder / f"{campaign.id}.json")

    def count_elsewhere(self, plan_sha256: str) -> int:
        """In how many other folders the same plan was started: beside this one, or beside the one that holds it. A
        start whose report is on a site there hides nothing, and does not count: a nightly job has a folder a night."""
        own, sealed = self.root.resolve(), f'"plan_sha256": "{plan_sha256}"'.encode()
        beside = (*own.parent.glob(f"*/{CAMPAIGNS}"), *own.parent.parent.glob(f"*/{own.name}/{CAMPAIGNS}"))
        folders = {folder.resolve() for folder in beside} - {own / CAMPAIGNS}  # a link to this one is no other
        starts = {folder: {file.stem for file in folder.glob("*.json") if _holds(file, sealed)} for folder in folders}
        places = (own.parent, own.parent.parent) if any(starts.values()) else ()
        for summary in (each for place in places for each in place.glob(f"*/{PUBLISHED}")):
            told = {id for ids in starts.values() for id in ids if _holds(summary, f'"id": "{id}"'.encode())}
            starts = {folder: ids - told for folder, ids in starts.items()}
        return sum(map(bool, starts.values()))

    def started(self, run: Run, campaign: str, at: str) -> int:
        """Notes a start; gives the number of the attempt, from 1."""
        with self._open() as lines:
            earlier = [line.attempt for line in self._read(lines) if line.run == run.id]
            number = max(earlier, default=0) + 1
            self._append(lines, JournalLine(event="started", run=run.id, attempt=number, campaign=campaign, at=at))
        return number

    def note(self, entry: JournalLine) -> None:
        with self._open() as lines:
            self._append(lines, entry)

    @contextlib.contextmanager
    def _open(self) -> Iterator[list[str]]:
        with locks.hold_lock(self.root / f".{ATTEMPTS}.lock"):
            yield self._lines()

    def _append(self, lines: Sequence[str], entry: JournalLine) -> None:
        chained = replace(entry, before=_hash(lines[-1]) if lines else None)
        text = json.dumps(chained.to_json(), sort_keys=True)
        with open(self.root / ATTEMPTS, "ab", opener=files.open_own) as file:
            file.truncate(sum(len(line.encode("utf-8", "surrogateescape")) + 1 for line in lines))  # cut off
            file.write(f"{text}\n".encode())
            file.flush()
            os.fsync(file.fileno())

    def campaigns(self) -> tuple[Campaign, ...]:
        files = sorted((self.root / CAMPAIGNS).glob("*.json"))
        campaigns = [Campaign.from_json(read_json(file), file) for file in files]
        return tuple(sorted(campaigns, key=lambda campaign: (campaign.started_at, campaign.id)))

    def attempts(self) -> tuple[Attempt, ...]:
        found: dict[tuple[str, int], Attempt] = {}
        for row in (each for each in self._read(self._lines()) if each.event != "removed"):
            key = (row.run, row.attempt)
            known = found.get(key) or Attempt(run=row.run, number=row.attempt, campaign=row.campaign, started_at=row.at)
            said = {name: getattr(row, name) for name in ("status", "fault", "items_per_s", "unit", "counts", "sha256")}
            said |= {"ended_at": row.at if row.event == "ended" else None}
            found[key] = replace(known, **{name: value for name, value in said.items() if value is not None})
        return tuple(found.values())

    def last_hashes(self) -> dict[Path, str]:
        last = self._lines()[-1:]
        return {self.root / ATTEMPTS: _hash(last[0])} if last else {}

    @property
    def chained(self) -> bool:
        """Whether each line follows the one before, an attempt has one value, and all that was set aside had ended."""
        lines, aside = self._lines(), self.root.glob("*/[a-z]*-r[0-9]*-[0-9]*")
        hashes, rows = [None, *map(_hash, lines)][: len(lines)], self._read(lines)
        values = {(row.run, row.attempt, row.items_per_s) for row in rows if row.event == "measured"}
        ended = Counter(row.run for row in rows if row.event == "ended")
        kept = (run for run in ended if (self.root / run / "outcome.json").exists())
        held = Counter((*kept, *(f"{of.parent.name}/{of.name.split('-')[1]}" for of in aside)))
        sound = len({run[:2] for run in values}) == len(values) and all(held[run] <= n for run, n in ended.items())
        return sound and all(row.before == before for row, before in zip(rows, hashes, strict=True))

    def _lines(self) -> list[str]:
        """Without a line that was cut off by a full disk or a power failure."""
        try:
            content = files.read_bytes(self.root / ATTEMPTS)
        except FileNotFoundError:
            return []
        except OSError as error:
            text = decode.message("no_file", error=error)
            raise decode.wrong(self.root / ATTEMPTS, "", text, JournalLine.TRY) from error
        return content.decode("utf-8", "surrogateescape").split("\n")[:-1]

    def _read(self, lines: Iterable[str]) -> list[JournalLine]:
        return [self._entry(line, number) for number, line in enumerate(lines, 1)]

    def _entry(self, line: str, number: int) -> JournalLine:
        where = f"{self.root / ATTEMPTS}:{number}"
        try:
            facts = files.parse_json(line)
        except ValueError as error:
            raise decode.wrong(where, "", decode.refusal(line, decode.message("object")), JournalLine.TRY) from error
        return JournalLine.from_json(facts, where)


def _holds(file: Path, text: bytes) -> bool:
    try:
        return text in files.read_bytes(file)
    except (OSError, EvalsuiteError):  # another's
        return False


def _hash(line: str) -> str:
    return hashlib.sha256(line.encode("utf-8", "surrogateescape")).hexdigest()
