"""The pages of a published site: index, history and feeds, from the reports that stand on it."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evalsuite import __version__, paths
from evalsuite.changes import Change
from evalsuite.history import History, Line, Point
from evalsuite.model import Verdict
from evalsuite.publishing import About, Shelved
from evalsuite.report import feed, names, numbers, render, timechart, wording, words
from evalsuite.report.numbers import Number
from evalsuite.report.words import HTML_LANG, Rendered, Words

SCHEMA_VERSION = 1  # of site.json
FULL_WINDOW = (20, 100)
SAFE_NAME = re.compile(r"^[a-z0-9][a-z0-9._-]*$")


def pages(shelf: Sequence[Shelved], found: History, about: About) -> dict[str, bytes]:
    """Every file of the site but the reports: path → content."""
    site = Site(shelf, found, about)
    texts = {
        "index.html": site.page("index.html.j2", root="", title=site.words("site.reports")),
        "history.html": site.page("history.html.j2", root="", title=site.words("history.title")),
        **{f"history/{slug(model)}.html": site.model(model) for model in site.models},
        **{f"feed.{language}.xml": feed.atom(site, language) for language in site.words.languages},
        "site.json": json.dumps(site.facts(), indent=1, ensure_ascii=False) + "\n",
        ".nojekyll": "",  # GitHub Pages then serves the files as they are
    }
    return {name: text.encode("utf-8", "backslashreplace") for name, text in texts.items()}


class Site:
    """What every page of the site is made of."""

    def __init__(self, shelf: Sequence[Shelved], found: History, about: About) -> None:
        self.shelf, self.history, self.about = tuple(shelf), found, about
        self.words, self.report_words = wording.read(), words.read()
        self.by_id = {one.id: one for one in shelf}
        self.environment = _environment(self)

    @property
    def title(self) -> Rendered:
        if self.about.title is None:
            return self.words("site.kicker")
        return render.same(self.words, self.about.title)

    @property
    def models(self) -> tuple[str, ...]:
        lines = (*self.history.lines, *self.history.undated)
        return tuple(sorted({line.case.model for line in lines}, key=names.model_order))

    def page(self, template: str, *, root: str, **facts: Any) -> str:
        """One HTML page; *root* leads from it to the site's folder."""
        return self.environment.get_template(template).render(root=root, **facts)

    def model(self, model: str) -> str:
        found = self.history.in_model(model)
        lines = [(line, timechart.svg(line)) for line in found if len(line.points) > 1]
        once = [line for line in found if len(line.points) == 1]
        undated = self.history.undated_in_model(model)
        title = self.words("history.model_title", model=names.model(model))
        return self.page("model.html.j2", root="../", title=title, lines=lines, once=once, undated=undated)

    def report_title(self, one: Shelved) -> Rendered:
        return render.title(one.report, self.report_words)

    def verdict_name(self, verdict: Verdict) -> Rendered:
        key = f"criteria_short.{verdict.criterion}"
        if key in self.report_words:
            return self.report_words(key)
        return self.report_words("criteria_short.other", name=names.visible(verdict.criterion))

    def address(self, path: str) -> str:
        """Where *path* is served: whole where the site's address is known, else relative to the site."""
        return f"{self.about.url or ''}{path}"

    def facts(self) -> Mapping[str, Any]:
        """`site.json`: the index for other programs."""
        return {
            "schema_version": SCHEMA_VERSION,
            "evalsuite": __version__,
            "reports": [self._report_facts(one) for one in self.shelf],
            "regressions": [_regression_facts(line) for line in self.history.regressions],
            "tested": self.history.tested,
            "expected_by_chance": self.history.expected_by_chance,
        }

    def _report_facts(self, one: Shelved) -> Mapping[str, Any]:
        if one.report is None:
            return {"id": one.id, "folder": one.folder, "broken": one.broken}
        return {
            "id": one.id,
            "folder": one.folder,
            "title": self.report_title(one).plain("en"),
            "period": list(one.report.period) if one.report.period else None,
            "input_sha256": one.report.input_sha256,
            "superseded": one.superseded,
            "verdicts": {verdict.criterion: verdict.outcome for verdict in one.report.verdicts},
            "framework_versions": {name: list(found) for name, found in one.report.versions.items()},
        }


def _regression_facts(line: Line) -> Mapping[str, Any]:
    change = line.since_best or line.judged.change
    return {
        "case": line.case.id,
        "environment": line.environment,
        "report": line.judged.report,
        "ratio": {"value": change.ratio.value, "low": change.ratio.low, "high": change.ratio.high},
        "against": "best" if line.since_best else "previous",
    }


def slug(model: str) -> str:
    """The file name of a model's page."""
    return model if SAFE_NAME.match(model) else names.anchor("m", model)


def change_number(ratio: float) -> Number:
    """A ratio as a change in percent: 0.9 → −10.0%."""
    text = f"{(ratio - 1) * 100:+.1f}%"
    return Number(text=text.replace("-", "−") if text.strip("+-0.%") else "0.0%", raw=ratio - 1)


def change_text(change: Change, words: Words) -> Rendered:
    """The change with its interval, if there is one."""
    value = change_number(change.ratio.value)
    if change.ratio.low is None or change.ratio.high is None:
        return render.same(words, value.text)
    return words(
        "history.ratio_interval",
        ratio=value,
        low=change_number(change.ratio.low),
        high=change_number(change.ratio.high),
    )


def case_name(line: Line, words: Words) -> Rendered:
    """The case in words; what is unusual about it (XLA, options, a short protocol) in brackets."""
    case = line.case
    plain = words(
        "history.case",
        framework=names.framework(case.framework),
        precision=names.precision(case.precision),
        batch=numbers.plain(case.batch_per_device),
        nodes=numbers.count(case.nodes),
        devices=numbers.count(case.total_devices),
    )
    more: list[Any] = [words("history.xla")] if case.xla else []
    more += [f"{names.visible(name)} = {names.visible(value)}" for name, value in case.options]
    steps = (case.protocol.warmup_steps, case.protocol.measured_steps)
    if steps != FULL_WINDOW:
        more.append(words("history.steps", warmup=str(steps[0]), measured=str(steps[1])))
    return words("history.case_more", case_text=plain, more=words.listed(more)) if more else plain


def versions(found: Mapping[str, Sequence[str]] | Point) -> str:
    if isinstance(found, Point):
        return ", ".join(names.visible(version) for version in found.versions)
    return " · ".join(
        f"{names.framework(name)} {', '.join(names.visible(v) for v in each)}" for name, each in found.items()
    )


def _environment(site: Site) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([paths.TEMPLATES / "site", paths.TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, boot, script = _static("report.css") + _static("site/site.css"), _static("boot.js"), _static("site/site.js")
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
        "policy": render.policy([style], [boot, script]),
        "day": feed.day,
        "dict_of": dict,
        "Markup": Markup,
        "slug": slug,
        "versions": versions,
        "case_name": lambda line: case_name(line, site.words),
        "change_text": lambda change: change_text(change, site.words),
        "anchor": lambda line: names.anchor("l", f"{line.case.id} {line.environment} {line.unit} {line.origin}"),
    }
    environment.filters["visible"] = names.visible
    return environment


def _static(name: str) -> str:
    return (paths.TEMPLATES / name).read_text(encoding="utf-8")
