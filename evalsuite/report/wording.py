"""The words beyond the page: site, Markdown, spreadsheet and `compare-reports`, from `data/text/publishing`."""

from collections.abc import Iterable

from evalsuite.report import words
from evalsuite.report.words import Words

FOLDER = words.FOLDER / "publishing"


def read(languages: Iterable[str] = ("zh", "en")) -> Words:
    """These words in *languages*, under the same rules as those of the page."""
    return words.read(languages, FOLDER)
