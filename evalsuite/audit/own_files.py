"""The files of a report: what evalsuite did not write, what its manifest has another hash of, what a browser would run.
Whether their numbers are those of the raw files is told by making them again (`differences`), not by reading each
form."""

import base64
import hashlib
import html
import io
import itertools
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast

from evalsuite.core.errors import Contradicts, EvalsuiteError, Gone
from evalsuite.core.files import MOST_SUMMARY_BYTES, is_file, read_bytes, read_json, sha256
from evalsuite.core.messages import Message, message_of
from evalsuite.finished import manifest
from evalsuite.finished.finished import PAGE, SUMMARY
from evalsuite.report import forms
from evalsuite.report.book import identity
from evalsuite.report.data import tables
from evalsuite.report.text import numbers

BEFORE, SHOWN = 20, 60  # letters of a line: before its first difference, and in all
TAGS = re.compile(r"(?s)<(script|style)\b.*?</\1>|<[^>]*>")
PARTS = re.compile(r"[\n|;,:·(){}\[\]!*，；：。（）、]|\. ")  # of a text
WORD, PICTURE = re.compile(r"\w+|[✓✗⚠○●—<>%]"), re.compile(r"(?m)^(?:!\[|.*report\.html).*")
BROWSER = re.compile(rb"/(?:Creator|Producer) \(.*\)")  # of a PDF
NAMES = (*(manifest.NAME, manifest.SIGNATURE, PAGE, SUMMARY, "tables/*.csv"), *(forms.DRAWN, *forms.FILES.values()))
SEALED = (PAGE, forms.DRAWN, *(forms.FILES[name] for name in ("single", "md", "xlsx")))  # show the seal
TEXTS = frozenset({".html", ".json", ".csv", ".md", ".txt", ".svg", ".xml", ".log", ".toml", ".rels"})  # in an archive
FIGURES = (("lead", numbers.gain), ("false_exclusion", numbers.chance))  # of an answer: the page has them
ARCHIVES, BINARY = frozenset({".zip", ".xlsx"}), frozenset({".pdf", ".parquet"})
MOST_BYTES = 1 << 28  # of one file, unpacked; a report of 10,000 runs has a fifth of that
UNREADABLE = (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error)
Look = Callable[[Path, str, str], EvalsuiteError | None]  # at a text of a file, by its name

ACTIVE = {"iframe", "object", "embed", "base", "frame", "applet", "foreignobject", "handler"}
FOLLOWED = re.compile("(?:java|vb)script:|data:text")  # by a browser, when it is clicked on
PDF = re.compile(rb"/(?:JavaScript|JS|Launch|EmbeddedFile|OpenAction|SubmitForm|RichMedia|ObjStm)\b")  # active parts
POLICY_NAME = "content-security-policy"
POLICY = re.compile(
    r"default-src 'none'; script-src (?P<scripts>(?:'sha256-[\w+/=]+' ?)*); style-src (?:'sha256-[\w+/=]+' ?)*; "
    r"img-src data: blob:; base-uri 'none'; form-action 'none'"
)


def mistakes(
    folder: Path, files: Sequence[Path], look: Look = lambda file, name, text: None
) -> Iterator[EvalsuiteError]:
    """What does not hold of *files*, all in *folder*, a finished report. *look* finds what else is wrong in a text."""
    summary = read_json(folder / SUMMARY, MOST_SUMMARY_BYTES)
    listed = manifest.read(folder)
    if listed is None:
        yield Gone.of("site.no_manifest", folder=folder, name=manifest.NAME)
    if listed and listed.input_sha256 != summary["input_sha256"]:
        yield Contradicts.of("site.not_ours", path=folder / manifest.NAME, error=Message("site.other_page"))
    for path, wrong in manifest.mistakes(listed, folder, files) if listed else ():
        kind = Contradicts if path.exists() else Gone
        yield kind.of("site.not_ours", path=path, error=wrong)
    seal = sha256(folder / SUMMARY)
    for name, hashed in cast("Mapping[str, str]", summary.get("page_files", {})).items():
        if not (path := folder / name).exists():
            yield Gone.of("audit.gone", path=path)
            continue
        content = read_bytes(path, most=manifest.MOST_PAGE_BYTES).replace(seal.encode(), manifest.UNSEALED.encode())
        if hashlib.sha256(content).hexdigest() != hashed:  # as `summary.json` holds it: its own hash, the page shows
            yield Contradicts.of("site.not_ours", path=path, error=Message("report.not_as_written", name=SUMMARY))
    known = {file for name in NAMES for file in folder.glob(name)}
    page = read_bytes(folder / PAGE, most=MOST_BYTES).decode("utf-8", "replace") if is_file(folder / PAGE) else ""
    printed, whole = _parts(page), f" {_words(html.unescape(TAGS.sub(' ', page)))} "
    ahead = (each for each in cast("Sequence[Any]", summary["answers"]) if each["outcome"] == "ahead")
    leads = [way(each[name]).text for each in ahead for name, way in FIGURES if each[name] is not None]
    for case in tables.untold(folder / "tables", summary):
        yield Contradicts.of("report.not_as_tables", path=folder / SUMMARY, case=case)
    if any(f" {_words(text)} " not in whole for text in leads):
        yield Contradicts.of("site.not_ours", path=folder / PAGE, error=Message("report.not_as_written", name=SUMMARY))
    for file in files:
        try:
            if file not in known or (file.suffix == ".csv" and file.stem not in tables.COLUMNS):
                raise EvalsuiteError.of("site.kind", path=file, name=file.name, known=NAMES)
            shown = not any(file.match(name) for name in SEALED)
            for name, text in _texts(file):
                shown = shown or seal[: identity.SHOWN_DIGITS] in text
                if other := _mistake(name, text, summary):
                    yield EvalsuiteError.of("site.not_ours", path=file, error=other)
                said = _parts(PICTURE.sub("", text)) if file.suffix == ".md" else Counter[str]()
                if any(whole.count(f" {part} ") < n for part, n in (said - printed).items()):
                    error = Message("report.not_as_written", name=PAGE)
                    yield Contradicts.of("site.not_ours", path=file, error=error)
                if told := look(file, name, text):
                    yield told
            if not shown:
                yield Contradicts.of("site.not_ours", path=file, error=Message("site.other_seal", seal=seal))
        except EvalsuiteError as error:
            yield error


def _parts(text: str) -> Counter[str]:
    """Of a page or its Markdown, which has no more of each, but for its picture and where the whole report is."""
    parts = PARTS.split(html.unescape(TAGS.sub("\n", text.replace("\\", ""))))
    return Counter(filter(None, map(_words, parts)))


def _words(text: str) -> str:
    return " ".join(WORD.findall(text))


def _mistake(name: str, text: str, summary: Mapping[str, Any]) -> Message | None:
    if not name.isprintable() or name.startswith("/") or ".." in name.split("/"):
        return Message("site.name", name=ascii(name))
    if not name.endswith((".html", ".svg")):
        return None
    if name.endswith(".html") and summary["input_sha256"] not in text:
        return Message("site.other_page")
    reader = _Reader()
    reader.feed(text)
    reader.close()
    policy = POLICY.fullmatch(reader.policy or "")
    if policy is None and name.endswith(".html"):
        return Message("site.other_page")
    allowed = policy["scripts"].replace("'", "").split() if policy and name.endswith(".html") else []
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in reader.scripts)
    foreign = "script" if any(f"sha256-{digest}" not in allowed for digest in hashes) else None
    return Message("site.active", name=reader.active or foreign) if reader.active or foreign else None


class _Reader(HTMLParser):
    """The scripts of a page or a picture, its policy, and the first element that acts without one."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[str] = []
        self.policy: str | None = None
        self.active: str | None = None
        self._in_script = False

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
            self.active = self.active or tag
        self._in_script = tag == "script" and given.get("type", "") != "application/json"
        self.scripts += [""] if self._in_script else []
        if tag == "meta" and "http-equiv" in given:
            self.policy = self.policy or given.get("content", "")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = self._in_script and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data


def _texts(file: Path) -> Iterator[tuple[str, str]]:
    for name, content in _contents(file):
        text = content.decode("utf-8", "surrogateescape")
        if file.name != forms.FILES["logs"] and re.search("[\0\udc80-\udcff]", text):  # a program prints any bytes
            raise EvalsuiteError.of("site.not_ours", path=file, error=Message("site.no_utf8", name=name))
        yield name, text


def _contents(file: Path) -> Iterator[tuple[str, bytes]]:
    if file.suffix in ARCHIVES:
        yield from members(file)
        return
    try:
        content = read_bytes(file, most=MOST_BYTES)
    except OSError as error:
        raise EvalsuiteError.of("site.not_ours", path=file, error=message_of(error)) from error
    if file.suffix not in BINARY:
        yield file.name, content
    elif file.suffix == ".pdf" and (not content.startswith(b"%PDF-") or PDF.search(content)):
        raise EvalsuiteError.of("site.not_ours", path=file, error=Message("site.active", name="pdf"))


def members(file: Path) -> Iterator[tuple[str, bytes]]:
    """The texts of an archive of ours. Raises EvalsuiteError."""
    try:
        with zipfile.ZipFile(file) as archive:
            inside = [member for member in archive.infolist() if not member.is_dir()]
            if sum(member.file_size for member in inside) > MOST_BYTES:
                raise EvalsuiteError.of("site.site_large", path=file, n=MOST_BYTES >> 20)
            for member in inside:
                if not member.filename.endswith((*TEXTS,)):
                    raise EvalsuiteError.of("site.kind", path=file, name=member.filename, known=sorted(TEXTS))
                yield member.filename, archive.read(member)
    except UNREADABLE as error:
        raise EvalsuiteError.of("site.not_ours", path=file, error=error) from error


def differences(report: Path, again: Path) -> Iterator[EvalsuiteError]:
    given, made = ({file.relative_to(folder): file for file in manifest.files_of(folder)} for folder in (report, again))
    other = {name for name in given.keys() | made if _hash(given.get(name)) != _hash(made.get(name))}
    for name in sorted(other - {Path(manifest.NAME)} or other):
        if name not in made:
            yield Contradicts.of("audit.added", path=given[name])
        elif name not in given:
            yield Gone.of("audit.gone", path=report / name)
        else:
            yield _difference(given[name], made[name])


def _hash(file: Path | None) -> str:
    return sha256(file) if file else ""


def _difference(given: Path, again: Path) -> EvalsuiteError:
    if given.suffix in BINARY:
        browsers = {tuple(BROWSER.findall(read_bytes(file, most=MOST_BYTES))) for file in (given, again)}
        if len(browsers) > 1:
            return Gone.of("audit.other_browser", path=given)
        return Contradicts.of("audit.changed", path=given)
    try:
        ours, theirs = _by_name(given), _by_name(again)
    except EvalsuiteError as error:
        return Contradicts(error.message)
    name = next((name for name in sorted({*ours, *theirs}) if ours.get(name) != theirs.get(name)), None)
    if name is None:
        return Contradicts.of("audit.changed", path=given)  # nothing but the way it is packed
    texts = (texts.get(name, b"").decode("utf-8", "surrogateescape") for texts in (ours, theirs))
    lines = itertools.zip_longest(*(io.StringIO(text, newline="\n") for text in texts), fillvalue="")
    number, pair = next((number, pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1])
    same = next((at for at, letters in enumerate(zip(*pair, strict=False)) if len({*letters}) > 1), 0)
    got, expected = (text[max(0, same - BEFORE) :][:SHOWN].strip() for text in pair)
    path = Message("core.file_line", path=given / name, line=number)
    return Contradicts.of("audit.other_form", path=path, got=got, expected=expected)


def _by_name(file: Path) -> dict[str, bytes]:
    return dict(members(file)) if file.suffix in ARCHIVES else {"": read_bytes(file, most=MOST_BYTES)}
