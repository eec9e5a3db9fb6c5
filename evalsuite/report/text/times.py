"""When the runs were made: 2026-11-21 10:37–10:43 (UTC+8), in the zone of their stamps."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from evalsuite.core.decode import instant
from evalsuite.report.text import names

DAY = "%Y-%m-%d"
MINUTE = "%H:%M"
EARLIEST, LATEST = 1970, 3000  # years; a stamp beyond is no time that a run began


@dataclass(frozen=True, kw_only=True)
class Period:
    first: datetime
    last: datetime

    def __str__(self) -> str:
        return f"{self.span} {self.zone}"

    @property
    def span(self) -> str:
        """2026-11-21 10:37–10:43, and over several days 2026-11-21 23:50 – 2026-11-22 00:10."""
        begin, end = f"{self.first:{DAY} {MINUTE}}", f"{self.last:{DAY} {MINUTE}}"
        if begin == end:
            return begin
        return f"{begin}–{self.last:{MINUTE}}" if self.first.date() == self.last.date() else f"{begin} – {end}"

    @property
    def zone(self) -> str:
        offset = self.first.utcoffset() or timedelta()
        minutes = abs(round(offset.total_seconds() / 60))
        if not minutes:
            return "UTC"
        sign = "+" if offset > timedelta() else "\N{MINUS SIGN}"
        return f"UTC{sign}{minutes // 60}" + (f":{minutes % 60:02d}" if minutes % 60 else "")


def period(stamps: Iterable[str]) -> Period | None:
    """In the zone of the first stamp (ISO 8601; without a zone: UTC). None where none is a time."""
    moments = sorted(moment for stamp in stamps if (moment := _moment(stamp)) is not None)
    return Period(first=moments[0], last=moments[-1].astimezone(moments[0].tzinfo)) if moments else None


def stamp(written: str) -> str:
    time = _moment(written)
    if time is None:
        return names.visible(written)
    return f"{time:{DAY} %H:%M:%S} {Period(first=time, last=time).zone}"


def _moment(stamp: str) -> datetime | None:
    time = instant(stamp)
    if time is None or not EARLIEST <= time.year < LATEST:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
