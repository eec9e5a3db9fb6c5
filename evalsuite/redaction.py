"""Finds secrets in what evalsuite writes for others, and names them in their place: `[secret: --password]`.

Signs are a name, the shape that an issuer gives, credentials in an address, and text that only a machine can make.
"""

import base64
import functools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from evalsuite.messages import Message

# The last word of a name decides: HF_TOKEN, db.password, --api-key. `key` alone is too common.
_WORDS = (
    r"pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|auth(?:orization)?|bearer|cookie|session[_-]?id|"
    r"(?:api|access|private|secret|signing|encryption|ssh|account|master|license|auth|jwt|wandb|comet|ucx|service)[._-]?key|"
    r"(?:client|private)[_-]key[_-]data|client[_-]?secret|connection[_-]?string|dsn|sas|signature|netrc|(?:bind|db|root)[_-]?pw"
)
_GLUED = r"pass(?:word|wd|phrase)|sshpass"  # no other word ends so: PGPASSWORD
_CHINESE = "密码|口令|密钥|令牌"
_NAME = re.compile(
    rf"(?:(?:(?:^|[_.\-])(?:{_WORDS})|{_GLUED})(?:[_-]?(?:id|value|file|b64|base64|hash))?|(?:{_CHINESE}))$",
    re.IGNORECASE | re.ASCII,
)
_HARMLESS = re.compile(  # they end alike and mean items of text
    r"(?:^|[._-])(?:next|[bes]os|pad|unk|mask|cls|sep|per|special|max|min|num|image|start|begin|end|stop|think)_token$"
)
_STEMS = ("pass", "pwd", "secret", "token", "credential", "auth", "bearer", "cookie", "session", "key", "connection",
          "dsn", "sas", "signature", "netrc", "pw", *_CHINESE.split("|"))  # fmt: skip
_WRAP = r"(?:\\?\r?\n)?"  # where a terminal or a shell broke the line


def _wrapped(length: int) -> str:
    return rf"[A-Za-z0-9](?:{_WRAP}[A-Za-z0-9]){{{length - 1}}}(?![A-Za-z0-9])"


def _is_login(match: "re.Match[str]") -> bool:
    """Whether the word behind `Basic` is user:password in base64."""
    try:
        return b":" in base64.b64decode(match["word"], validate=True)
    except ValueError:
        return False


# Prefixes of what many issuers give; the rules of gitleaks name them (tests/data/gitleaks).
_ISSUERS = """
    p8e- AGE-SECRET-KEY-1 CLOJARS_ doo_v1_ dor_v1_ dp.pt. duffel_test_ duffel_live_ dt0c01. FLWSECK_TEST- fio-u-
    glcbt- glffct- glft- glimt- glagent- gloas- glsoat- GR1348941 _gitlab_session= HRKU- api_org_ ico- s-s4t2ud-
    s-s4t2af- lin_api_ NRII- NRAK- NRJS- sha256~ pscale_tkn_ pscale_oauth_ pscale_pw_ PMAK- pnu_ pul- rdme_
    rubygems_ tk-us- xkeysib- sntrys_ sntryu_ sm_aat_ sm_pat_ sm_sat_ shpat_ shpca_ shppa_ shpss_ xapp- ops_eyJ
    sgp_ ZXlK glc_ glsa_ pplx- atlasv1.
"""
_HINTS = ("a3-", "absk", "akcp", "cmvmd", "dapi", "eaa", "ezak", "eztk", "q~", "pat", "sat.", ".acc", "v1.0-", "api-",
          "sk")  # fmt: skip
_PEM = r"(?:\s|\\[rn]|[\"',])*+"
_ISSUED: Mapping[
    str, tuple[tuple[str, ...], str]
] = {  # what issuers give → texts in every one, in small letters; shape
    "private key": (
        ("private key",),
        rf"-----BEGIN[ A-Z0-9_-]{{0,40}}PRIVATE KEY(?: BLOCK)?-----"
        rf"(?:{_PEM}(?:[A-Za-z0-9+/=]{{16,}}|(?:Proc-Type|DEK-Info): [^\n]{{0,99}}))*+"
        rf"(?:{_PEM}[A-Za-z0-9+/=]{{0,80}}{_PEM}-----END[ A-Z0-9_-]{{0,40}}PRIVATE KEY(?: BLOCK)?-----)?",
    ),
    "aws key": (("akia", "asia", "abia", "acca", "a3t"), rf"\b(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])(?-i:{_wrapped(16)})"),
    "token of an issuer": (
        tuple(_ISSUERS.lower().split()),
        rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, _ISSUERS.split()))})"
        r"(?=[A-Za-z_.-]{0,40}(?:[0-9=+/]|[a-z][A-Z]|[a-z]{30}))[\w.=~+/-]{12,}",
    ),
    "key of an issuer": (
        _HINTS,
        r"\bA3-[A-Z0-9]{6}-[A-Z0-9-]{20,}|\bABSK[\w+/]{60,}=*|\b(?:AKCp|cmVmd)\w{50,}|\bdapi[0-9a-f]{32}|"
        r"\bEAA[AMC][A-Za-z0-9_-]{22,}|\bEZ[AT]K[A-Za-z0-9]{40,}|(?<![\w~.])[\w~.]{3}\dQ~[\w~.-]{31,34}|"
        r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}|\b[ps]at\.[\w-]{22}\.\w{24}\.\w{20}|\bv1\.0-[0-9a-f]{24}-[0-9a-f]{100,}|"
        r"\b(?:sc|ext|scauth|authress)_\w{5,30}\.\w{4,6}\.acc[_-][\w-]{10,32}\.[\w+/=-]{30,}|"
        r"\bAPI-(?=[A-Z]{0,25}[0-9])[A-Z0-9]{26}\b|\bSK[0-9a-fA-F]{32}\b",
    ),
    "github token": (("gh", "github_"), rf"\bgh[pousr]_(?:{_wrapped(36)}|[A-Za-z0-9]{{20,}})|\bgithub_pat_\w{{20,}}"),
    "gitlab token": (("glpat-", "gldt-", "glrt-", "glptt-"), r"\bgl(?:pat|dt|rt|ptt)-[\w-]{16,}"),
    "huggingface token": (("hf_",), rf"\bhf_(?:{_wrapped(34)}|[A-Za-z0-9]{{16,}})"),
    "service key": (("sk", "pk", "rk"), r"\b(?:sk|pk|rk)[-_](?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{16,}"),
    "slack token": (("xox",), r"\bxox[abeoprs]-[\w-]{8,}"),
    "google key": (("aiza", "ya29."), rf"\bAIza(?:{_wrapped(35)}|[\w-]{{30,}})|\bya29\.[\w.-]{{16,}}"),
    "npm token": (("npm_", "pypi-", "dop_v1_"), r"\bnpm_[A-Za-z0-9]{30,}|\bpypi-[\w-]{16,}|\bdop_v1_[0-9a-f]{32,}"),
    "web hook": (
        ("hooks.slack.com", "/api/webhooks/", ".webhook.office.com", "/bot/v2/hook/", "webhook/send?key="),
        r"\bhooks\.slack\.com/(?:services|workflows|triggers)/[\w/+]{16,}|"
        r"https://\w+\.webhook\.office\.com/webhookb2/[\w@/-]{40,}|"
        r"\b(?:open\.feishu\.cn|open\.larksuite\.com)/open-apis/bot/v2/hook/[\w-]{16,}|"
        r"\bqyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[\w-]{16,}|"
        r"https://discord(?:app)?\.com/api/webhooks/[\w/-]{16,}",
    ),
    "bot token": ((":aa",), r"\b\d{8,10}:AA[\w-]{30,}"),
    "web token": (("eyj",), r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"),
    "sendgrid key": (("sg.",), r"\bSG\.(?=[\w=-]{0,60}[0-9.])[\w.=-]{40,}"),
    "vault token": (("hvs.", "hvb.", "hvr."), r"\bhv[sbr]\.[\w-]{20,}"),
    "langsmith key": (("lsv2_",), r"\blsv2_\w{20,}"),
    "alibaba cloud key": (("ltai",), r"\bLTAI[A-Za-z0-9]{12,30}\b"),
    "bearer": (("bearer",), r"(?i:\bbearer) {1,20}(?=[A-Za-z_+/.~-]{0,60}[0-9])[\w+/.~-]{8,}=*"),
    "basic": (("basic",), r"(?i:\bbasic) {1,20}(?P<word>[A-Za-z0-9+/]{6,}={0,2})"),
}
_SHAPES = {name: (stems, re.compile(shape, re.ASCII)) for name, (stems, shape) in _ISSUED.items()}
# By place or after a short option: (before)(secret).
_BY_PLACE = re.compile(
    r"""(?P<before>\b(?:wandb|swanlab)[ ]+login[ ]+(?:-[\w-]+[ ]+)*+|"""
    r"""\bhit enter[^:\n]{0,80}:[ ]*|\bsshpass[ ]+-p[ ]*|"""
    r"""\b(?:mysql\w*|mariadb)\b[^\n|;]{0,200}?[ ]-p|"""
    r"""(?:^|[ ])(?:-u|--user)[ =]+["']?(?!\d+:\d{1,10}(?:["'\s]|$))[\w.@-]+:)"""  # 1000:1000 are ids
    r"""(?P<value>(?!\*)[^\s"'-][^\s"']*)""",
    re.ASCII,
)
_PLACES = ("wandb", "swanlab", "hit enter", "sshpass", "mysql", "mariadb", "-u")
_COLON, _AT = "(?::|%3[Aa])", "(?:@|%40)"
_ADDRESS = re.compile(
    rf"\b[A-Za-z][A-Za-z0-9+.-]{{0,20}}{_COLON}(?://|%2[Ff]%2[Ff])"
    rf"(?P<user>(?:(?!{_COLON}|{_AT})[^\s/'\"]){{0,1000}})(?:{_COLON}(?P<word>(?:(?!{_AT})[^\s/'\"]){{0,1000}}))?{_AT}",
    re.ASCII,
)
_QUERY = re.compile(
    rf"[?&;](?P<name>(?:[\w.-]{{0,60}}[_.-])?(?:{_WORDS}|sig|x-amz-[\w-]{{1,60}}))=(?P<value>[^&\s'\"#]+)",
    re.IGNORECASE | re.ASCII,
)
_GIVEN = re.compile(  # NAME=value, "name": "value", --name value, name: value, <name>value</name>
    rf"""(?P<name>(?:(?<![A-Za-z0-9])|(?-i:(?<=[a-z0-9])(?=[A-Z])))(?:{_WORDS})|{_GLUED}|{_CHINESE})"""
    r"""(?P<between>["']\s{1,9}value\s{0,3}=\s{0,3}|"""
    r"""["']?\s{0,20}(?:=(?!=)>?|[:\N{FULLWIDTH COLON}])\s{0,20}(?:[|>][+-]?[ ]*\n\s{1,40})?|"""
    r"""(?<=\w)(?<!(?<!-)pass)(?<!(?<!-)sas)[ ]{1,40}|(?<=[\u4e00-\u9fff])(?:是|为|\s)\s{0,20}|>(?=[^<\s]{1,200}</))"""
    r"""(?P<value>"[^"\n]{0,4000}"|'[^'\n]{0,4000}'|[^\s,;"'&()\[\]{}<$][^\s,;"'&)\]}<]{0,500})""",
    re.IGNORECASE | re.ASCII,
)
_MAIL = re.compile(
    r"(?<![\w.+%/:@-])(?!(?:git|root)@)[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,5}(?:com|org|net|edu|gov|io|ai|[a-z]{2})"
    r"(?![\w.@:/-]*[\w@/])",
    re.ASCII,
)
_RANDOM = re.compile(r"(?<![\w/+.-])[A-Za-z0-9_+/-]{28,}={0,2}(?![\w/+.-])", re.ASCII)
_DIGEST = re.compile(
    r"(?:sha\d+[:-])?[0-9a-f]+|[0-9A-F]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|sha(?:256|384|512)-[\w+/]+={0,2}"
)
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[_+/-]+")  # of a name in camel case
WORDY = 3.0  # letters of a part: random text has fewer than two
LEAST_BITS = 4.2  # per character: words and file names have below 4, random text above 4.5


@functools.lru_cache(maxsize=1 << 12)
def is_secret_name(name: str) -> bool:
    """Of an option, a variable or a key: `HF_TOKEN`."""
    plain = name.strip("-\"' ")
    if _HARMLESS.search(plain.lower().replace("-", "_")):
        return False
    return bool(_NAME.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain)))


def redact(text: str) -> str:
    """*text* or the values of a message, with each secret replaced by its name."""
    return text.map(_redacted) if isinstance(text, Message) else _redacted(text)


def _redacted(text: str) -> str:
    return _redact_short(text) if len(text) < SHORT else _redact(text)


SHORT = 4096  # characters; longer texts rarely come twice


def _redact(text: str) -> str:
    out, behind = [], 0
    for start, end, name in _places(text):
        out += [text[behind:start], _mark(name)]
        behind = end
    return "".join(out) + text[behind:]


_redact_short = functools.lru_cache(maxsize=1 << 14)(_redact)


def redact_words(line: Sequence[str]) -> tuple[str, ...]:
    """A command line without secrets; an option's name marks the next word too."""
    found, before = [], ""
    for place, word in enumerate(line):
        joined = " ".join(line[max(0, place - 3) : place + 1])
        by_place = next((match for match in _BY_PLACE.finditer(joined) if match.end() == len(joined)), None)
        if before.startswith("-") and "=" not in before and is_secret_name(before) and not word.startswith("--"):
            found.append(_mark(before))
        elif by_place and word.endswith(by_place["value"]):
            found.append(word.removesuffix(by_place["value"]) + _mark(_placed(by_place)))
        else:
            found.append(redact(word))
        before = word
    return tuple(found)


def redact_variables(given: Mapping[str, str]) -> dict[str, str]:
    return {
        name: _mark(name) if value and is_secret_name(name) and not value.isdigit() else redact(value)
        for name, value in given.items()
    }


def redact_value(found: object) -> object:
    if isinstance(found, str):
        return redact(found)
    if isinstance(found, Mapping):
        return {name: redact_value(value) for name, value in found.items()}
    return [redact_value(value) for value in found] if isinstance(found, list | tuple) else found


def find_secret(found: object, key: str = "") -> str | None:
    """The key of the first secret in a JSON or TOML value."""
    if isinstance(found, str):
        return (key or "the text") if redact(found) != found or _is_named_secret(key, found) else None
    inside: Iterable[tuple[str, object]] = ()
    if isinstance(found, Mapping):
        inside = ((f"{key}.{name}" if key else str(name), value) for name, value in found.items())
    elif isinstance(found, list | tuple):
        inside = ((f"{key}[{place}]", value) for place, value in enumerate(found))
    return next((where for name, value in inside if (where := find_secret(value, redact(name)))), None)


def _is_named_secret(key: str, found: str) -> bool:
    return is_secret_name(key) and bool(found) and not found.isdigit() and not _is_hidden(found)


def _is_hidden(value: str) -> bool:
    return value.startswith("[secret:") or not value.strip("*")


def is_issued(text: str) -> bool:
    """Whether *text* certainly holds a secret, by its shape."""
    return any(certain for _, _, _, certain in _signs(text))


def mask_secrets(text: bytes) -> bytes:
    """*text* with `*` over each byte of a secret: lengths and places stay."""
    decoded = text.decode("utf-8", "surrogateescape")
    out, behind = bytearray(), 0
    for start, end, _ in _places(decoded):
        out += decoded[behind:start].encode("utf-8", "surrogateescape")
        hidden = decoded[start:end].encode("utf-8", "surrogateescape")
        out += bytes(byte if byte in b"\r\n" else ord("*") for byte in hidden)
        behind = end
    return bytes(out) + decoded[behind:].encode("utf-8", "surrogateescape")


def _places(text: str) -> list[tuple[int, int, str]]:
    """(start, end, name) of each secret, in order; of several in one place the surest sign gives the name."""
    marks = [(match.start(), match.end(), 0, "") for match in _MARK.finditer(text)] if "[secret:" in text else []
    signs = [(start, end, place, name) for place, (start, end, name, _) in enumerate(_signs(text), 1)]
    found: list[tuple[int, int, int, str]] = []
    for start, end, sure, name in sorted(signs + marks):
        if found and start < found[-1][1]:
            before = found.pop()
            start, end = before[0], max(end, before[1])
            sure, name = min((sure, name), before[2:])
        found.append((start, end, sure, name))
    return [(start, end, name) for start, end, _, name in found if name]


def _signs(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """(start, end, name, whether it is one for certain), the surest sign first. Each is one pass over *text*."""
    lowered = text.lower()
    for name, (stems, shape) in _SHAPES.items():
        if any(stem in lowered for stem in stems):
            found = (match for match in shape.finditer(text) if name != "basic" or _is_login(match))
            yield from ((*match.span(), name, True) for match in found)
    if "@" in text or "%40" in text:
        for match in filter(_is_held, _ADDRESS.finditer(text)):
            yield match.start("user"), max(match.end("user"), match.end("word")), "credentials", True
    if "=" in text:
        found = (match for match in _QUERY.finditer(text) if not _is_hidden(match["value"]))
        yield from ((*match.span("value"), match["name"], True) for match in found)
    if any(place in text for place in _PLACES):
        yield from ((*match.span("value"), _placed(match), False) for match in _BY_PLACE.finditer(text))
    if any(stem in lowered for stem in _STEMS):
        yield from _given(text)
    if "@" in text:
        yield from ((*match.span(), "e-mail", False) for match in _MAIL.finditer(text))
    yield from ((*match.span(), "random text", False) for match in _RANDOM.finditer(text) if _is_random(match[0]))


def _given(text: str) -> Iterator[tuple[int, int, str, bool]]:
    match = _GIVEN.search(text)
    while match:
        before = _RUN.search(text, max(0, match.start() - LONGEST_NAME), match.start())
        name, end = (before[0] if before else "") + match["name"], match.start("value")
        if _has_secret(name, match["between"], match["value"]):
            whole = match if match["value"][0] in "\"'" else _REST.match(text, match.end())
            end = whole.end() if whole else match.end()
            yield match.start("value"), end, name, False
        match = _GIVEN.search(text, end)


_REST = re.compile(r"""[^\s,;"'&)\]}<]*""")  # of a value
_VALUES = re.compile(
    r"[\d.,%]+|true|false|none|null|(?-i:(?:/[a-z][a-z0-9_.-]*){2,}/?(?::ro)?)", re.IGNORECASE
)  # no secrets
_MARK = re.compile(r"\[secret: [^\]\n]{1,200}\]")
_RUN = re.compile(r"[\w.-]*$", re.ASCII)
LONGEST_NAME = 60


def _placed(match: "re.Match[str]") -> str:
    return match["before"].split()[0].split("=")[0]


def _mark(name: str) -> str:
    return f"[secret: {name.strip()}]"


def _is_held(match: "re.Match[str]") -> bool:
    """Whether an address has credentials; `git@host` names an account."""
    if match["word"] is not None:
        return bool(match["word"].strip("*"))
    return len(match["user"]) >= 16 and bool(match["user"].strip("*"))


def _has_secret(name: str, between: str, given: str) -> bool:
    """Whether a secret follows, and not the rest of a sentence ("token 120", "password is wrong") or code."""
    value = given.strip("\"'")
    if not is_secret_name(name) or _is_hidden(value) or _is_prose(name, between, value):
        return False
    if _VALUES.fullmatch(value) or (name.lower().endswith("signature") and "(" in value):
        return False
    spoken = between.isspace() or any(sign in between for sign in ":\N{FULLWIDTH COLON}是为")
    return name.startswith("-") or not spoken or not value.rstrip(".:!?").isalpha()


def _is_prose(name: str, between: str, value: str) -> bool:
    """Whether a name is a word of a sentence: Chinese after an English one is no password ("每秒 token 数")."""
    return between.isspace() and name.isascii() and value > "\x7f" and not name.startswith("-")


def _is_random(word: str) -> bool:
    """Upper case, lower case and digits without a pattern, and no hash or mangled name of C++."""
    if _DIGEST.fullmatch(word) or word.count("/") > 2 or word.count("-") > 3 or word.count("_") > 3:
        return False
    kinds = (any(c.islower() for c in word), any(c.isupper() for c in word), any(c.isdigit() for c in word))
    if not all(kinds) or word.startswith("_Z") or len(word) >= WORDY * len(_PART.findall(word)):
        return False
    counts = [word.count(letter) for letter in set(word)]
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts) >= LEAST_BITS
