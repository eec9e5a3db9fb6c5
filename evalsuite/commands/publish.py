"""`evalsuite publish`: a static site out of finished reports."""

import argparse

from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.terminal import line, print_json
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.logs.text.disclosure import disclosed
from evalsuite.runs import rehearsed
from evalsuite.runs.store import Store
from evalsuite.site import publishing


def run(arguments: argparse.Namespace) -> int:
    site = arguments.site
    for folder in arguments.reports:
        for place in (folder, folder / "runs"):
            rehearsed.refuse(Store(place))
    try:
        published = publishing.publish(arguments.reports, site, arguments.keep)
    except OSError as error:
        raise EvalsuiteError.of("commands.site_place", path=error.filename or site, error=error) from error
    history, stored = published.history, published.stored
    if arguments.json:
        facts = {
            "site": str(site),
            **{name: list(getattr(published, name)) for name in ("added", "known", "removed")},
            "broken": [entry.id for entry in stored if entry.broken],
            "reports": [entry.id for entry in stored],
            "regressions": [line.case.id for line in history.regressions],
            "not_compared": published.uncompared,
        }
        print_json(disclosed(facts))
        return Exit.DONE
    ids = {"publish.added": published.added, "publish.known": published.known, "publish.removed": published.removed}
    for key, name in ((key, name) for key, found in ids.items() for name in found):
        line(i18n.say(key, folder=site / "reports" / name))
    for entry in stored:
        if entry.broken:
            line(i18n.say("publish.broken", why=i18n.worded(entry.broken)))
        if entry.report and entry.report.lacking and entry.id in published.added:
            values = {"n": entry.report.lacking, "all": entry.report.quality["runs_planned"]}
            line(i18n.say("publish.lacking", **values, folder=entry.folder))
    for id, n in published.uncompared.items():
        line(i18n.say("publish.uncompared", n=n, folder=site / "reports" / id))
    if undated := len(history.undated):
        line(i18n.say("publish.undated", n=undated))
    counts = {"reports": len(stored), "regressions": len(history.regressions)}
    line(i18n.say("publish.site", page=site / "index.html", **counts))
    return Exit.DONE
