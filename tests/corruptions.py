"""Ways to falsify a report or the run folders it was made of, each by a seed; and honest ones to start from."""

import hashlib
import json
import re
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import reports

from evalsuite import cli
from evalsuite.core.documents import CampaignPlace
from evalsuite.core.model import Run
from evalsuite.report.forms import bundle
from evalsuite.results.measure import measurement
from evalsuite.runs import journal
from evalsuite.runs.journal import ATTEMPTS, Campaign, JournalLine
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store, folder_name
from tests import runfolders
from tests.toys import CASE, COMMAND

AT = "2026-11-20T10:00:00+08:00"
CASES = (CASE, replace(CASE, framework="othernet"))
FORMS = "html,md,xlsx,parquet,zip"


@dataclass(frozen=True, kw_only=True)
class Place:
    """A folder of runs and the report made of it."""

    runs: Path
    report: Path

    @property
    def seal(self) -> str:
        return hashlib.sha256((self.report / "summary.json").read_bytes()).hexdigest()

    def write_report(self) -> None:
        words = ["--runs", str(self.runs), "--out", str(self.report), "--forms", FORMS]
        assert cli.main(["report", *words]) == 0

    def copied(self, folder: Path) -> "Place":
        shutil.copytree(self.runs, folder / "runs")
        shutil.copytree(self.report, folder / "report")
        return Place(runs=folder / "runs", report=folder / "report")


def honest(folder: Path) -> Place:
    """Two frameworks, two repeats, a journal, and their report."""
    store = Store(folder / "runs")
    planned = Planned(profile="toy", repeats=2, cases=CASES, skips=())
    sealed = journal.seal(CASES, 2)
    store.write_plan(planned)
    store.journal.begin(Campaign(id="a", started_at=AT, plan=planned, plan_sha256=sealed, evalsuite=cli.__version__))
    for order, run in enumerate(Run(case=case, repeat=repeat) for repeat in (0, 1) for case in CASES):
        with store.claim(run) as claimed:
            attempt = store.journal.started(run, "a", AT)
            place = CampaignPlace(id="a", plan_sha256=sealed, round=run.repeat, order=order, attempt=attempt)
            printed = runfolders.steps(seconds=0.5 + 0.01 * run.repeat + 0.02 * (run.case != CASE))
            host, command = runfolders.Host(printed=(printed,)), replace(COMMAND, campaign=place)
            runfolders.fill(claimed, host, run.repeat, command, started_at=AT)
            note(store, run)
    made = Place(runs=store.root, report=folder / "report")
    made.write_report()
    return made


def note(store: Store, run: Run, times: float = 1.0) -> None:
    """The end of *run* and its value in the journal. *times*: what the true one is multiplied by."""
    line = JournalLine(event="ended", run=run.id, attempt=1, campaign="a", at=AT)
    folder = store.folder(run)
    outcome = folder.outcome()
    store.journal.note(replace(line, status=outcome.status, sha256=folder.hash_records(outcome.sha256)))
    value = measurement.measurement(folder).value * times
    store.journal.note(replace(line, event="measured", items_per_s=value, unit="images/s"))


def runs_of(place: Place) -> list[Path]:
    return [folder.path for folder in Store(place.runs).finished()]


def change_byte(file: Path, random: Random) -> None:
    content = bytearray(file.read_bytes())
    at = random.randrange(len(content))
    content[at] ^= 1 << random.randrange(7)
    file.write_bytes(content)


def change_digit(file: Path, random: Random) -> None:
    text = file.read_bytes()
    at = random.choice([match.start() for match in re.finditer(rb"\d", text)])
    digit = random.choice([each for each in b"0123456789" if each != text[at]])
    file.write_bytes(text[:at] + bytes([digit]) + text[at + 1 :])


def a_byte_of_a_raw_file(place: Place, random: Random) -> None:
    files = [file for run in runs_of(place) for file in sorted(run.iterdir())]
    change_byte(random.choice(files), random)


def a_byte_beside_the_runs(place: Place, random: Random) -> None:
    change_byte(random.choice([place.runs / "plan.json", *(place.runs / "campaigns").iterdir()]), random)


def a_log_and_its_hash(place: Place, random: Random) -> None:
    run = random.choice(runs_of(place))
    change_digit(run / "log.n0.txt", random)
    hash_again(run)


def hash_again(run: Path) -> None:
    outcome = json.loads((run / "outcome.json").read_text())
    outcome["sha256"]["log.n0.txt"] = hashlib.sha256((run / "log.n0.txt").read_bytes()).hexdigest()
    (run / "outcome.json").write_text(json.dumps(outcome))


def a_changed_environment(place: Place, random: Random) -> None:
    file = random.choice(runs_of(place)) / "environment.n0.json"
    file.write_text(file.read_text().replace("EPYC", random.choice(("EPYC 2", "Xeon", "epyc"))))


def a_deleted_run(place: Place, random: Random) -> None:
    shutil.rmtree(random.choice(runs_of(place)))


def a_doubled_run(place: Place, random: Random) -> None:
    run, repeat = random.choice(runs_of(place)), random.randrange(2, 9)
    shutil.copytree(run, run.with_name(f"r{repeat}"))
    case = run.with_name(f"r{repeat}") / "case.json"
    case.write_text(json.dumps(json.loads(case.read_text()) | {"repeat": repeat}))


def exchanged_runs(place: Place, random: Random) -> None:
    repeat = random.randrange(2)
    one, other = (place.runs / folder_name(case) / f"r{repeat}" for case in CASES)
    for name in {file.name for file in one.iterdir()} - ({"case.json"} if random.random() < 0.5 else set()):
        mine, theirs = (one / name).read_bytes(), (other / name).read_bytes()
        (one / name).write_bytes(theirs)
        (other / name).write_bytes(mine)
    for case in CASES if "toynet" not in (one / "case.json").read_text() else ():
        file = place.runs / folder_name(case) / f"r{repeat}" / "case.json"
        file.write_text(re.sub("toynet|othernet", case.framework, file.read_text()))


def a_line_of_the_journal(place: Place, random: Random) -> None:
    file = place.runs / ATTEMPTS
    lines = file.read_text().splitlines(keepends=True)
    at = random.randrange(len(lines))
    file.write_text("".join([*lines[:at], *([lines[at]] * random.choice((0, 2))), *lines[at + 1 :]]))


def a_chain_made_anew(place: Place, random: Random, times: tuple[float, ...] = (0.5, 1.0, 1.1)) -> None:
    (place.runs / ATTEMPTS).unlink()
    store = Store(place.runs)
    for folder in store.finished():
        store.journal.started(folder.run(), "a", AT)
        note(store, folder.run(), random.choice(times))


def in_the_report(place: Place, random: Random, names: str) -> Path:
    files = sorted(file for pattern in names.split() for file in place.report.glob(pattern))
    return random.choice([file for file in files if re.search(rb"\d", file.read_bytes())])


def a_byte_of_the_report(place: Place, random: Random) -> None:
    change_byte(in_the_report(place, random, "*.* tables/*"), random)


def a_digit_of_the_report_and_its_hash(place: Place, random: Random) -> None:
    change_digit(in_the_report(place, random, "*.html *.md *.tex tables/*.csv"), random)
    reports.sealed(place.report)


def a_number_of_the_summary_and_its_hash(place: Place, random: Random) -> None:
    file = place.report / "summary.json"
    facts = json.loads(file.read_text())
    run = random.choice(random.choice(facts["summaries"])["runs"])
    run["started_at"] = f"2026-11-{random.randrange(21, 30)}T10:00:00+08:00"
    file.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    reports.sealed(place.report)


def a_file_put_beside_and_its_hash(place: Place, random: Random) -> None:
    name = random.choice(("tables/skips.parquet", "report.fr.md", "report.en.svg", "tables/winners.csv", "report.json"))
    (place.report / name).write_bytes((place.report / "report.en.md").read_bytes() + b"| 1 |\n")
    reports.sealed(place.report)


def a_line_behind_the_last_and_its_hash(place: Place, random: Random) -> None:
    file = in_the_report(place, random, "*.html *.md *.tex *.svg tables/*")
    file.write_bytes(file.read_bytes() + random.choice((b"\n", b"\xff", b" \n")))
    reports.sealed(place.report)


def an_archive_and_its_hash(place: Place, random: Random) -> None:
    file = in_the_report(place, random, "*.zip *.xlsx")
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = random.choice(sorted(name for name in parts if re.search(rb"\d", parts[name])))
    digit = random.choice([match.start() for match in re.finditer(rb"\d", parts[name])])
    text = parts[name]
    parts[name] = text[:digit] + (b"1" if text[digit : digit + 1] != b"1" else b"2") + text[digit + 1 :]
    file.write_bytes(bundle.zip_files(parts))
    reports.sealed(place.report)


def a_file_of_the_report_taken_away(place: Place, random: Random) -> None:
    in_the_report(place, random, "*.* tables/*").unlink()


def everything_made_anew(place: Place, random: Random) -> None:
    run = random.choice(runs_of(place))
    log, seen = run / "log.n0.txt", iter(range(random.randrange(120), -1, -1))
    log.write_text(re.sub("Loss 6.7", lambda each: each[0] if next(seen, 1) else "Loss 6.5", log.read_text()))
    hash_again(run)
    a_chain_made_anew(place, random, (1.0,))
    place.write_report()


FOUND: tuple[Callable[[Place, Random], None], ...] = (
    *(a_byte_of_a_raw_file, a_log_and_its_hash, a_changed_environment, a_deleted_run, a_doubled_run, exchanged_runs),
    *(a_line_of_the_journal, a_chain_made_anew, a_byte_of_the_report, a_digit_of_the_report_and_its_hash),
    *(a_file_put_beside_and_its_hash, a_line_behind_the_last_and_its_hash, a_byte_beside_the_runs),
    *(a_number_of_the_summary_and_its_hash, an_archive_and_its_hash, a_file_of_the_report_taken_away),
)
NEEDS_SEAL = (everything_made_anew,)  # nothing within the folders contradicts it
