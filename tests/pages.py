"""Reads a built page the way a test needs it: elements, text by language, links, numbers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
CELLS = {"td", "th"}
CLOSED_BY = {  # what HTML closes by itself where this begins
    **{tag: CELLS for tag in CELLS},
    "tr": {*CELLS, "tr"},
    **{tag: {*CELLS, "tr", "thead", "tbody"} for tag in ("thead", "tbody")},
    "li": {"li"},
}
HIDDEN = {"zh-CN": "en", "en": "zh-CN"}
NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")


@dataclass
class Element:
    """One element with its children: elements and text."""

    tag: str
    attributes: dict[str, str | None]
    children: list = field(default_factory=list)

    def all(self, tag: str | None = None, **wanted: str) -> list["Element"]:
        """Elements below this one, in order; *wanted* names attributes (class_ for class)."""
        return [each for each in self._below() if (tag is None or each.tag == tag) and each._has(wanted)]

    def _below(self) -> Iterator["Element"]:
        waiting = self.children[::-1]
        while waiting:
            one = waiting.pop()
            if isinstance(one, Element):
                yield one
                waiting.extend(reversed(one.children))

    def one(self, tag: str | None = None, **wanted: str) -> "Element":
        return self.all(tag, **wanted)[0]

    @property
    def elements(self) -> list["Element"]:
        return [child for child in self.children if isinstance(child, Element)]

    def text(self, language: str | None = None) -> str:
        """What a reader of *language* sees ("zh-CN" or "en"); all of it without one."""
        parts = []
        for child in self.children:
            if isinstance(child, str):
                parts.append(child)
            elif child.tag not in ("script", "style", "template") and not child._hidden_in(language):
                parts.append(child.text(language))
        return re.sub(r"\s+", " ", "".join(parts)).strip()

    def __getitem__(self, name: str) -> str | None:
        return self.attributes.get(name)

    def _has(self, wanted: dict[str, str]) -> bool:
        for name, value in wanted.items():
            found = self.attributes.get(name.rstrip("_").replace("_", "-"))
            if found is None or (value not in found.split() if name == "class_" else found != value):
                return False
        return True

    def _hidden_in(self, language: str | None) -> bool:
        both = "both" in (self.attributes.get("class") or "").split()
        return language is not None and not both and self.attributes.get("lang") == HIDDEN[language]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("document", {})
        self.open = [self.root]

    def handle_starttag(self, tag, attributes):
        made = Element(tag, dict(attributes))
        while self.open[-1].tag in CLOSED_BY.get(tag, ()):
            self.open.pop()
        self.open[-1].children.append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_startendtag(self, tag, attributes):
        self.open[-1].children.append(Element(tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        while self.open[-1].tag != tag and self.open[-1].tag in CLOSED_BY:
            self.open.pop()
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag} {self.open[-1].attributes}>"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].children.append(data)


def read(html: str) -> Element:
    """The page as a tree. Fails on an element that is not closed in its place."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert [element.tag for element in reader.open] == ["document"], "an element is left open"
    return reader.root


def numbers_in(text: str) -> list[str]:
    return NUMBER.findall(text)


def rows(table: Element, language: str = "en") -> list[list[str]]:
    """The cells of each row in the body of *table*, as a reader of *language* sees them."""
    return [[cell.text(language) for cell in row.elements] for row in table.one("tbody").all("tr")]
