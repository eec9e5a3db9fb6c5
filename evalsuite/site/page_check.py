"""What a page or a picture of a report may hold: scripts that its policy names by hash, and its own numbers."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from typing import Any

from evalsuite.messages import Message

ACTIVE = {"iframe", "object", "embed", "base", "frame", "applet", "foreignobject", "handler"}
DATA = {"application/json"}
FOLLOWED = re.compile("(?:java|vb)script:|data:text")  # by a browser, when it is clicked on
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
        self._kind: str | None = None  # of the script that is open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        followed = [given.get(name, "").strip().lower() for name in ("href", "xlink:href", "src", "action")]
        if (
            tag in ACTIVE
            or (tag == "script" and "src" in given)
            or any(name.startswith("on") for name in given)
            or any(FOLLOWED.match(re.sub(r"\s", "", one)) for one in followed)
        ):
            self.wrong.append(Message("site.active", name=tag))
        if tag == "script":
            self._kind = given.get("type", "")
            self.scripts += [""] if self._kind not in DATA else []
        if tag == "meta" and given.get("http-equiv", "").lower() == "content-security-policy":
            self.policy = self.policy or given.get("content", "")

    def handle_endtag(self, tag: str) -> None:
        self._kind = None if tag == "script" else self._kind

    def handle_data(self, data: str) -> None:
        if self._kind in DATA:
            self.data += data
        elif self._kind is not None:
            self.scripts[-1] += data


def mistake(text: str, summary: Mapping[str, Any] | None) -> Message | None:
    """What is wrong with a page of the report that *summary* is of; None: nothing. Without *summary*: of a picture."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    found = POLICY.fullmatch(reader.policy or "")
    allowed = found["scripts"].replace("'", "").split() if found and summary else []
    hashes = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in reader.scripts]
    if reader.wrong or any(f"sha256-{digest}" not in allowed for digest in hashes):
        return reader.wrong[0] if reader.wrong else Message("site.active", name="script")
    if summary is None:
        return None
    if found is None or summary["input_sha256"] not in text:
        return Message("site.other_page")
    known = {f"{one['throughput']['value']:.9g}" for one in summary["summaries"] if one["throughput"]}
    try:
        strange = [value for value in _values(reader.data) if f"{value:.9g}" not in known]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return Message("site.other_page")
    return Message("site.other_numbers", value=strange[0]) if strange else None


def _values(data: str) -> Iterator[float]:
    """The throughputs that the page's script shows (report/page/embedded.py)."""
    column = json.loads(data)["cases"]["values"]["value"]
    rows = [column["of"][place] for place in column["at"]] if isinstance(column, dict) else column
    yield from (float(value) for value in rows if value is not None)
