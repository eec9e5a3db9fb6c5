"""`evalsuite publish`: a static site out of finished reports."""

import argparse
from pathlib import Path

from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.terminal import print_json
from evalsuite.core import redaction
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.report.text import names
from evalsuite.runs import rehearsed
from evalsuite.runs.store import Store
from evalsuite.site import publishing, report_store
from evalsuite.site.publishing import Published


def run(arguments: argparse.Namespace) -> int:
    for option in ("title", "baseline"):
        if redaction.find_secret(getattr(arguments, option)):
            raise EvalsuiteError.of("commands.site_option", option=option)
    for folder in arguments.reports:
        for place in (folder, folder / "runs"):
            rehearsed.refuse(Store(place))
    about = report_store.About(title=arguments.title)
    try:
        published = publishing.publish(arguments.reports, arguments.site, about, arguments.baseline, arguments.keep)
    except OSError as error:
        raise EvalsuiteError.of("commands.site_place", path=error.filename or arguments.site, error=error) from error
    _print(published, arguments)
    return Exit.DONE


def _print(published: Published, arguments: argparse.Namespace) -> None:
    if arguments.json:
        print_json(redaction.redact_value(_facts(published, arguments.site)))
        return
    for name in published.added:
        print(i18n.say("publish.added", folder=arguments.site / "reports" / name))
    for name in published.known:
        print(i18n.say("publish.known", folder=arguments.site / "reports" / name))
    for name in published.removed:
        print(i18n.say("publish.removed", folder=arguments.site / "reports" / name))
    for stored in published.stored:
        if isinstance(stored, report_store.BrokenReport):
            print(i18n.say("publish.broken", why=i18n.worded(stored.broken)))
        elif stored.unchecked and stored.id in published.added:
            print(i18n.say("publish.unchecked", folder=arguments.site / stored.folder))
    for move in published.history.slowed_together:
        before, after = (_dated(name, published) for name in (move.before, move.after))
        print(i18n.say("publish.slower", before=before, after=after))
    if undated := len(published.history.undated):
        print(i18n.say("publish.undated", n=undated))
    regressed = len(published.history.regressions)
    print(
        i18n.say(
            "publish.site",
            page=arguments.site / "index.html",
            reports=len(published.stored),
            regressions=regressed,
        )
    )


def _dated(name: str, published: Published) -> str:
    [dated] = [stored for stored in published.stored if stored.id == name]
    period = dated.report.period if isinstance(dated, report_store.StoredReport) else None
    return f"{names.minute(period[1])} ({name[:12]})" if period else name[:12]


def _facts(published: Published, site: Path) -> dict[str, object]:
    return {
        "site": str(site),
        "added": list(published.added),
        "known": list(published.known),
        "removed": list(published.removed),
        "broken": [stored.id for stored in published.stored if isinstance(stored, report_store.BrokenReport)],
        "reports": [stored.id for stored in published.stored],
        "together": [{"before": change.before, "after": change.after} for change in published.history.slowed_together],
        "regressions": [line.case.id for line in published.history.regressions],
    }
