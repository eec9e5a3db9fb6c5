"""Atom feeds of a published site, one per language (RFC 4287)."""

import uuid
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from evalsuite.finished import moment
from evalsuite.publishing import Shelved
from evalsuite.report import names, numbers
from evalsuite.report.words import HTML_LANG

if TYPE_CHECKING:
    from evalsuite.report.site import Site

NEWEST = 50  # entries; a reader that has not looked for fifty reports wants the site


def atom(site: "Site", language: str) -> str:
    """The feed of the newest reports. Reports without a date are on the site and not here: Atom wants a time."""
    dated = [one for one in site.shelf if one.report and one.report.period and not one.superseded][:NEWEST]
    updated = _stamp(dated[0].report.period[1]) if dated else "1970-01-01T00:00:00Z"
    title = site.words("feed.title", site_text=site.title).plain(language)
    entries = "".join(_entry(site, one, language) for one in dated)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{HTML_LANG[language]}">\n'
        f"<id>{_urn(f'site {site.about.url or title}')}</id>\n"
        f"<title>{_text(title)}</title>\n"
        f"<updated>{updated}</updated>\n"
        f"<author><name>{_text(site.title.plain(language))}</name></author>\n"
        f'<link rel="self" type="application/atom+xml" href={quoteattr(site.address(f"feed.{language}.xml"))}/>\n'
        f'<link rel="alternate" type="text/html" href={quoteattr(site.address("index.html"))}/>\n'
        f"{entries}</feed>\n"
    )


def _entry(site: "Site", one: Shelved, language: str) -> str:
    stamp = _stamp(one.report.period[1])
    title = site.words("feed.entry", title=site.report_title(one), date=day(one.report.period[1])).plain(language)
    address = site.address(f"{one.folder}/report.html#lang={language}")
    return (
        "<entry>\n"
        f"<id>{_urn(f'report {one.id}')}</id>\n"
        f"<title>{_text(title)}</title>\n"
        f"<updated>{stamp}</updated>\n"
        f'<link rel="alternate" type="text/html" href={quoteattr(address)}/>\n'
        f"<summary>{_text('; '.join(_said(site, one, language)))}</summary>\n"
        "</entry>\n"
    )


def _said(site: "Site", one: Shelved, language: str) -> list[str]:
    """What an entry says: the verdicts, the regressions that came with this report, how much is valid."""
    found = [
        site.words(
            "feed.verdict",
            criterion=names.visible(verdict.criterion),
            name=site.verdict_name(verdict),
            outcome=site.report_words(f"verdict.{verdict.outcome}"),
        )
        for verdict in one.report.verdicts
    ]
    regressed = site.history.in_report(one.id)
    if regressed:
        found.append(site.words("feed.regressions", n=numbers.count(len(regressed))))
    quality = one.report.quality
    found.append(site.words("feed.coverage", planned=quality["cases_planned"], valid=quality["cases_valid"]))
    return [sentence.plain(language) for sentence in found]


def day(stamp: str) -> str:
    """The calendar day of a stamp, in the zone that it was written in."""
    return names.visible(stamp.partition("T")[0])


def _stamp(text: str) -> str:
    return moment(text).strftime("%Y-%m-%dT%H:%M:%SZ")


def _urn(name: str) -> str:
    """A name that stays the same (RFC 4122, version 5)."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"evalsuite:{name}").urn


def _text(text: str) -> str:
    return escape(names.visible(text))
