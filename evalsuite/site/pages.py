"""The index of a site, and a page of each model's history."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from evalsuite import __version__
from evalsuite.core import paths
from evalsuite.finished.history import History, HistoryLine, StoredReport
from evalsuite.report.book import heading
from evalsuite.report.page import assets, templates
from evalsuite.report.sections.verdict import verdict as verdict_room
from evalsuite.report.sections.verdict.verdict import ModelFinding
from evalsuite.report.text import names, numbers, words
from evalsuite.report.text.words import HTML_LANG, Rendered
from evalsuite.site import timechart

SCHEMA_VERSION = 2  # of site.json
MOST_FOUND = 3  # models of a report whose leaders the index names
SAFE_NAME = re.compile(r"^[a-z0-9][a-z0-9._-]*$")


def pages(stored: Sequence[StoredReport], history: History) -> dict[str, bytes]:
    site = Site(stored, history)
    texts = {  # site.json comes first: its presence says whose folder it is, also to a publisher that comes meanwhile
        "site.json": json.dumps(site.facts(), indent=1, ensure_ascii=False) + "\n",
        "index.html": site.page("index.html.j2", root="", title=site.words("site.reports")),
        **{f"history/{slug(model)}.html": site.model(model) for model in site.models},
        ".nojekyll": "",  # GitHub Pages then serves the files as they are
    }
    return {name: names.without_unseen(text).encode("utf-8", "backslashreplace") for name, text in texts.items()}


class Site:
    def __init__(self, stored: Sequence[StoredReport], history: History) -> None:
        self.stored, self.history = tuple(stored), history
        self.words, self.report_words = words.read_beyond_the_page(), words.read()
        self.title = self.words("site.kicker")
        models = {line.case.model for line in (*history.lines, *history.undated)}
        self.models = tuple(sorted(models, key=names.model_order))
        self.environment = _environment(self)

    def page(self, template: str, *, root: str, **facts: Any) -> str:
        return str(self.environment.get_template(template).render(root=root, **facts))

    def model(self, model: str) -> str:
        """Its cases that were measured more than once, the worst first, then the others."""
        own = [line for line in self.history.lines if line.case.model == model]
        several = timechart.worst_first([line for line in own if len(line.points) > 1])
        axes = timechart.frame(several) if several else None
        return self.page(
            "model.html.j2",
            root="../",
            title=self.words("history.model_title", model=names.model(model)),
            lines=[(line, timechart.svg(line, axes)) for line in several if axes],
            once=[line for line in own if len(line.points) == 1],
            undated=[line for line in self.history.undated if line.case.model == model],
        )

    def found(self, entry: StoredReport) -> tuple[Sequence[ModelFinding], int]:
        """What leads in the first models of a report, and how many models more it has."""
        every = verdict_room.model_findings(entry.report, self.report_words) if entry.report else ()
        return every[:MOST_FOUND], max(0, len(every) - MOST_FOUND)

    def into(self, entry: StoredReport, sentence: Rendered) -> Markup:
        return Markup(str(Markup(sentence)).replace('href="#', f'href="{entry.folder}/report.html#'))

    def facts(self) -> Mapping[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "evalsuite": __version__,
            "reports": [self._report_facts(entry) for entry in self.stored],
            "regressions": [_regression_facts(line) for line in self.history.regressions],
            "tested": self.history.tested,
        }

    def _report_facts(self, entry: StoredReport) -> Mapping[str, Any]:
        report = entry.report
        if report is None:
            return {"id": entry.id, "folder": entry.folder, "broken": entry.broken}
        return {
            **{"id": entry.id, "folder": entry.folder},
            "title": heading.title(report, self.report_words).plain("en"),
            "period": list(report.period) if report.period else None,
            "input_sha256": report.input_sha256,
            **{"seal": entry.seal, "journal_sha256": report.journal_sha256},
        }


def _regression_facts(line: HistoryLine) -> Mapping[str, Any]:
    ratio = line.slowed.ratio if line.slowed else None
    return {
        "case": line.case.id,
        "environment": line.environment or None,
        "report": line.judged.report if line.judged else None,
        "ratio": ratio and {"value": ratio.value, "low": ratio.low, "high": ratio.high},
        "against": "best" if line.since_best else "previous",
    }


def slug(model: str) -> str:
    return model if SAFE_NAME.match(model) else names.anchor("m", model)


def _environment(site: Site) -> templates.Environment:
    environment = templates.environment([paths.TEMPLATES / "site", paths.TEMPLATES])
    style, boot, script = (assets.style("site.css"), assets.script("boot.js"), assets.script("site.js"))
    environment.globals |= {
        "site": site,
        "t": site.words,
        "w": site.report_words,
        "names": names,
        "numbers": numbers,
        "heading": heading,
        "HTML_LANG": HTML_LANG,
        "version": __version__,
        "style": Markup(style),
        "boot": Markup(boot),
        "script": Markup(script),
        "policy": assets.policy([style], [boot, script]),
        "dict_of": dict,
        "Markup": Markup,
        "slug": slug,
        "anchor": lambda line: names.anchor("l", f"{line.case.id} {line.environment} {line.unit} {line.origin}"),
    }
    environment.filters |= {
        "visible": names.visible,
        "listed": lambda texts: ", ".join(names.visible(str(text)) for text in texts),
    }
    return environment
