"""Index and history of a site."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

from markupsafe import Markup

from evalsuite import __version__
from evalsuite.core import paths
from evalsuite.core.model import Verdict, by_key
from evalsuite.report.book import heading
from evalsuite.report.page import assets, policy, templates
from evalsuite.report.sections.verdict import acceptance, answers, matrix
from evalsuite.report.sections.verdict import verdict as verdict_room
from evalsuite.report.sections.verdict.matrix import Standings
from evalsuite.report.sections.verdict.verdict import ModelFinding
from evalsuite.report.text import campaigns, names, numbers, words
from evalsuite.report.text.words import HTML_LANG, Rendered
from evalsuite.results.compare.changes import Change
from evalsuite.site import timechart
from evalsuite.site.history import History, HistoryLine, HistoryPoint, Move, nearest
from evalsuite.site.report_store import About, BrokenReport, Stored, StoredReport
from evalsuite.site.words import case_name, change_text, machine, slug, versions

SCHEMA_VERSION = 1  # of site.json


def pages(stored: Sequence[Stored], history: History, about: About) -> dict[str, bytes]:
    site = Site(stored, history, about)
    texts = {  # site.json comes first: its presence says whose folder it is, also to a publisher that comes meanwhile
        "site.json": json.dumps(site.facts(), indent=1, ensure_ascii=False) + "\n",
        "index.html": site.page("index.html.j2", root="", title=site.words("site.reports")),
        "history.html": site.page("history.html.j2", root="", title=site.words("history.title")),
        **{f"history/{slug(model)}.html": site.model(model) for model in site.models},
        ".nojekyll": "",  # GitHub Pages then serves the files as they are
    }
    return {name: names.without_unseen(text).encode("utf-8", "backslashreplace") for name, text in texts.items()}


class Site:
    def __init__(self, stored: Sequence[Stored], history: History, about: About) -> None:
        self.stored, self.history, self.about = tuple(stored), history, about
        self.words, self.report_words = words.read_beyond_the_page(), words.read()
        self.environment = _environment(self)

    @property
    def title(self) -> Rendered:
        if self.about.title is None:
            return self.words("site.kicker")
        return self.words.same(self.about.title)

    @property
    def models(self) -> tuple[str, ...]:
        lines = (*self.history.lines, *self.history.undated)
        return tuple(sorted({line.case.model for line in lines}, key=names.model_order))

    def page(self, template: str, *, root: str, **facts: Any) -> str:
        return str(self.environment.get_template(template).render(root=root, **facts))

    def model(self, model: str) -> str:
        own = self.history.in_model(model)
        several = timechart.worst_first([line for line in own if len(line.points) > 1])
        axes = timechart.frame(several) if several else None
        lines = [(line, timechart.svg(line, axes)) for line in several if axes]
        once = [line for line in own if len(line.points) == 1]
        undated = self.history.undated_in_model(model)
        title = self.words("history.model_title", model=names.model(model))
        return self.page("model.html.j2", root="../", title=title, lines=lines, once=once, undated=undated)

    @cached_property
    def newest(self) -> tuple[StoredReport, Standings] | None:
        """Of the newest report where frameworks stand side by side: all of them at the scale that it shows first."""
        for entry in self.stored:
            if isinstance(entry, StoredReport) and (standings := matrix.standings(entry.report, self.report_words)):
                return entry, next(each for each in standings if each.chosen)
        return None

    def named(self, id: str) -> StoredReport:
        return next(entry for entry in self.stored if isinstance(entry, StoredReport) and entry.id == id)

    def model_findings(self, entry: StoredReport) -> tuple[ModelFinding, ...]:
        return verdict_room.model_findings(entry.report, self.report_words)

    @cached_property
    def several_scripts(self) -> frozenset[tuple[str, str]]:
        cases = (line.case for line in (*self.history.lines, *self.history.undated))
        scripts = by_key(((case.framework, case.model), case.recipe) for case in cases)
        return frozenset(key for key, hashes in scripts.items() if len({*hashes}) > 1)

    def case_name(self, line: HistoryLine) -> Rendered:
        several = (line.case.framework, line.case.model) in self.several_scripts
        return case_name(line, self.words, named_scripts=several)

    def into(self, entry: StoredReport, sentence: Rendered) -> Markup:
        return Markup(str(Markup(sentence)).replace('href="#', f'href="{entry.folder}/report.html#'))

    def since(self, entry: StoredReport) -> Rendered | None:
        move = nearest(self.history.moves, entry.id)
        if move is None:
            return None
        period = self.named(move.before).report.period
        date = names.minute(period[1]) if period else self.words("site.undated")
        together = move.together
        if together:
            slower = together.outcome == "slower"
            key = "site.since_together_slower" if slower else "site.since_together_faster"
            return self.words(key, date=date, n=numbers.count(together.cases), change=campaigns.span(together))
        return self.words("site.since", date=date, changes_text=self.words.listed(self._counted(move)))

    def _counted(self, move: Move) -> Iterator[Rendered]:
        for outcome in move.changes.outcomes:
            n = numbers.count(len(move.changes.those(outcome)))
            yield self.words("site.since_counted", n=n, outcome_text=self.words(f"outcome.{outcome}"))

    def disturbances(self, move: Move) -> Rendered | None:
        before, after = (self.named(id).report.disturbed for id in (move.before, move.after))
        return campaigns.disturbances(before, after, self.words)

    def moved_together(self, move: Move) -> Rendered | None:
        return campaigns.moved_together(move.together, self.words) if move.together else None

    def report_title(self, entry: StoredReport) -> Rendered:
        return heading.title(entry.report, self.report_words)

    def verdict_name(self, verdict: Verdict) -> Rendered:
        key = f"criteria_short.{verdict.criterion}"
        if key in self.report_words:
            return self.report_words(key)
        return self.report_words("criteria_short.other", name=names.visible(verdict.criterion))

    def facts(self) -> Mapping[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "evalsuite": __version__,
            "reports": [self._report_facts(entry) for entry in self.stored],
            "regressions": [
                _regression_facts(line, *slowed) for line in self.history.regressions if (slowed := line.slowed)
            ],
            "together": [self._together_facts(move) for move in self.history.slowed_together],
            "tested": self.history.tested,
            "expected_by_chance": self.history.expected_by_chance,
        }

    def _together_facts(self, move: Move) -> Mapping[str, Any]:
        disturbed = {name: self.named(getattr(move, name)).report.disturbed for name in ("before", "after")}
        moved = asdict(move.together) if move.together else {}
        return {"before": move.before, "after": move.after, **moved, "disturbed_runs": disturbed}

    def _report_facts(self, entry: Stored) -> Mapping[str, Any]:
        if isinstance(entry, BrokenReport):
            return {"id": entry.id, "folder": entry.folder, "broken": entry.broken}
        return {
            "id": entry.id,
            "folder": entry.folder,
            "title": self.report_title(entry).plain("en"),
            "period": list(entry.report.period) if entry.report.period else None,
            "input_sha256": entry.report.input_sha256,
            "seal": entry.seal,
            "journal_sha256": entry.report.journal_sha256,
            "unchecked": entry.unchecked,
            "superseded": entry.superseded,
            "found": [
                {"model": each.setting.model, "said": each.said, "cases": [of.summary.case.id for of in each.ranked]}
                for each in answers.headlines(entry.report)
            ],
            "verdicts": {verdict.criterion: verdict.outcome for verdict in entry.report.verdicts},
            "framework_versions": {name: list(versions) for name, versions in entry.report.versions.items()},
        }


def _regression_facts(line: HistoryLine, judged: HistoryPoint, change: Change) -> Mapping[str, Any]:
    return {
        "case": line.case.id,
        "environment": line.environment or None,
        "report": judged.report,
        "ratio": {"value": change.ratio.value, "low": change.ratio.low, "high": change.ratio.high},
        "against": "best" if line.since_best else "previous",
    }


def _environment(site: Site) -> templates.Environment:
    environment = templates.environment([paths.TEMPLATES / "site", paths.TEMPLATES])
    style, boot, script = (assets.style("site.css"), assets.script("boot.js"), assets.script("site.js"))
    environment.globals |= {
        "site": site,
        "t": site.words,
        "w": site.report_words,
        "names": names,
        "numbers": numbers,
        "HTML_LANG": HTML_LANG,
        "version": __version__,
        "style": Markup(style),
        "boot": Markup(boot),
        "script": Markup(script),
        "policy": policy.policy([style], [boot, script]),
        "applies": acceptance.applies,
        "choose_open": verdict_room.choose_open,
        "minute": names.minute,
        "dict_of": dict,
        "Markup": Markup,
        "slug": slug,
        "versions": versions,
        "machine": lambda named: machine(named, site.words),
        "case_name": site.case_name,
        "change_text": lambda change: change_text(change, site.words),
        "anchor": lambda line: names.anchor("l", f"{line.case.id} {line.environment} {line.unit} {line.origin}"),
    }
    environment.filters["visible"] = names.visible
    return environment
