"""What a page or a picture of a report may hold: scripts that its policy names by hash, and its own numbers."""

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import partial
from html.parser import HTMLParser
from typing import Any

from evalsuite.audit import agreement
from evalsuite.core.messages import Message
from evalsuite.report.text import names, numbers

ACTIVE = {"iframe", "object", "embed", "base", "frame", "applet", "foreignobject", "handler"}
DATA = {"application/json"}
FOLLOWED = re.compile("(?:java|vb)script:|data:text")  # by a browser, when it is clicked on
PDF = re.compile(rb"/(?:JavaScript|JS|Launch|EmbeddedFile|OpenAction|SubmitForm|RichMedia|ObjStm)\b")  # active parts
POLICY_NAME = "content-security-policy"
POLICY = re.compile(
    r"default-src 'none'; script-src (?P<scripts>(?:'sha256-[\w+/=]+' ?)*); style-src (?:'sha256-[\w+/=]+' ?)*; "
    r"img-src data: blob:; base-uri 'none'; form-action 'none'"
)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[str] = []
        self.data = ""
        self.policy: str | None = None
        self.wrong: list[Message] = []
        self.cells: set[str] = set()  # what each cell of a table says first
        self.linked: list[tuple[str, str]] = []  # the anchor of a case, and the number that leads there
        self._kind: str | None = None  # of the script that is open
        self._link, self._in_cell = "", False  # what was just opened

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        followed = [given.get(name, "").strip().lower() for name in ("href", "xlink:href", "src", "action")]
        if (
            tag in ACTIVE
            or (tag == "script" and "src" in given)
            or any(name.startswith("on") for name in given)
            or given.get("http-equiv", POLICY_NAME).lower() != POLICY_NAME
            or any(FOLLOWED.match(re.sub(r"\s", "", link)) for link in followed)
        ):
            self.wrong.append(Message("site.active", name=tag))
        self._link = given.get("href", "") if given.get("class") == "num" else ""
        self._in_cell = tag == "td" or (self._in_cell and tag != "tr")
        if tag == "script":
            self._kind = given.get("type", "")
            self.scripts += [""] if self._kind not in DATA else []
        if tag == "meta" and "http-equiv" in given:
            self.policy = self.policy or given.get("content", "")

    def handle_endtag(self, tag: str) -> None:
        self._kind = None if tag == "script" else self._kind

    def handle_data(self, data: str) -> None:
        if self._kind in DATA:
            self.data += data
        elif self._kind is not None:
            self.scripts[-1] += data
        elif text := data.strip():
            self.cells |= {text} if self._in_cell else set()
            self.linked += [(self._link.removeprefix("#"), text)] if self._link else []
            self._link, self._in_cell = "", False


def mistake(text: str, summary: Mapping[str, Any] | None, *, part: bool = False) -> Message | None:
    """What is wrong with a page of the report that *summary* is of; None: nothing. Without *summary*: of a picture.

    *part*: it has some of the cases. Raises one of agreement.NONE where it is no such page.
    """
    reader = _Reader()
    reader.feed(text)
    reader.close()
    policy = POLICY.fullmatch(reader.policy or "")
    allowed = policy["scripts"].replace("'", "").split() if policy and summary else []
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in reader.scripts]
    if reader.wrong or any(f"sha256-{digest}" not in allowed for digest in hashes):
        return reader.wrong[0] if reader.wrong else Message("site.active", name="script")
    if summary is None:
        return None
    if policy is None or summary["input_sha256"] not in text:
        return Message("site.other_page")
    known = {f"{row['throughput']['value']:.9g}" for row in agreement.valid(summary)}
    shown = {f"{value:.9g}" for value in _values(reader.data)}
    printed = {numbers.throughput(row["throughput"]["value"]).text for row in agreement.valid(summary)}
    lacking = () if part else ((known - shown) | (printed - reader.cells))
    strange = [*(shown - known), *_strange(reader, summary), *sorted(lacking)]
    return Message("site.other_numbers", value=strange[0]) if strange else None


def _values(data: str) -> Iterator[float]:
    column = json.loads(data)["cases"]["values"]["value"]
    rows = [column["of"][place] for place in column["at"]] if isinstance(column, dict) else column
    yield from (float(value) for value in rows if value is not None)


def _strange(reader: _Reader, summary: Mapping[str, Any]) -> Iterator[str]:
    own = {names.anchor("c", row["id"]): _numbers(row) for row in agreement.valid(summary)}
    for anchor, text in reader.linked:
        if anchor in own and not text.endswith("%") and text not in own[anchor]:
            yield text


def _numbers(summary: Mapping[str, Any]) -> set[str]:
    rates = [summary["throughput_per_device"], *(summary["throughput"][name] for name in ("value", "low", "high"))]
    forms = (numbers.throughput, numbers.rounded, partial(numbers.rounded, beside=math.inf))
    rates_shown = {form(rate).text for rate in rates if rate is not None for form in forms}
    speedup = {numbers.speedup(summary["speedup"]["value"]).text} if summary["speedup"] else set()
    return rates_shown | speedup | {str(summary["case"]["batch_per_device"])}
