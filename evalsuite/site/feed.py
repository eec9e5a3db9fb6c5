"""Atom feeds of a published site, one per language (RFC 4287)."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from evalsuite.report.data.finished import instant
from evalsuite.report.text import names
from evalsuite.report.text.words import HTML_LANG, Rendered

NEWEST = 50  # entries


@dataclass(frozen=True, kw_only=True)
class Entry:
    id: str  # of the report on the site
    at: str  # ISO 8601 with zone
    title: Rendered
    address: str  # of its page, without the language
    sentences: tuple[Rendered, ...]  # verdicts, regressions, coverage


@dataclass(frozen=True, kw_only=True)
class Feed:
    title: Rendered  # of the feed
    author: Rendered
    url: str  # where the site is served, with a slash at the end; "" makes relative addresses
    entries: Sequence[Entry]  # newest first


def atom(feed: Feed, language: str) -> str:
    """Reports without a date are not in it: Atom wants a time."""
    newest = feed.entries[:NEWEST]
    updated = _stamp(newest[0].at) if newest else "1970-01-01T00:00:00Z"
    title = feed.title.plain(language)
    entries = "".join(_entry(entry, language) for entry in newest)
    own, page = f"{feed.url}feed.{language}.xml", f"{feed.url}index.html"
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{HTML_LANG[language]}">\n'
        f"<id>{_urn(f'site {feed.url or title}')}</id>\n"
        f"<title>{_text(title)}</title>\n"
        f"<updated>{updated}</updated>\n"
        f"<author><name>{_text(feed.author.plain(language))}</name></author>\n"
        f'<link rel="self" type="application/atom+xml" href={quoteattr(own)}/>\n'
        f'<link rel="alternate" type="text/html" href={quoteattr(page)}/>\n'
        f"{entries}</feed>\n"
    )


def _entry(entry: Entry, language: str) -> str:
    text = "; ".join(sentence.plain(language) for sentence in entry.sentences)
    return (
        "<entry>\n"
        f"<id>{_urn(f'report {entry.id}')}</id>\n"
        f"<title>{_text(entry.title.plain(language))}</title>\n"
        f"<updated>{_stamp(entry.at)}</updated>\n"
        f'<link rel="alternate" type="text/html" href={quoteattr(f"{entry.address}#lang={language}")}/>\n'
        f"<summary>{_text(text)}</summary>\n"
        "</entry>\n"
    )


def _stamp(text: str) -> str:
    return instant(text).strftime("%Y-%m-%dT%H:%M:%SZ")


def _urn(name: str) -> str:
    """A name that stays the same (RFC 4122, version 5)."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"evalsuite:{name}").urn


def _text(text: str) -> str:
    return escape(names.visible(text))
