"""What launchers and relays write before each line, taken away where a report spans several lines.

Only the lines of the lowest rank are freed: it prints what a script prints once. Of several pods or services it is the
one that comes first by its name.
"""

import re
from collections import Counter

FEWEST = 3  # lines with one prefix; what begins fewer may be the script's own
GLANCE_BYTES = 1 << 11  # at the beginning, in the middle and at the end of a text: where none is marked, none will be
SHARE = 0.5  # of the lines have a prefix, of whatever rank

# [pod/train-worker-0/main] 2026-11-21T04:29:23.123456789Z …    kubectl logs --prefix --timestamps
# trainer-1  | 2026-11-21T04:29:23.123456789Z …                  docker compose logs -t
# Nov 21 04:29:23.123456 node7 python[4711]: …                   journalctl, also with -o short-precise
# 2026-11-21T04:29:23.123456+00:00 node7 python[4711]: …         journalctl -o short-iso-precise
_ISO = rb"\d{4}-\d\d-\d\dT[\d:]{8}(?:[.,]\d+)?"
_CLOCK = rb"(?:%b(?:Z|[+-]\d\d:?\d\d)|[A-Z][a-z]{2} [ \d]\d [\d:]{8}(?:\.\d+)?) (?:\S+ \S+\[\d+\]: )?" % _ISO
_SOURCE = rb"\[pod/[^\]\r\n]*\] |[\w.-]+[-_]\d+ +\| "
# [1,3]<stdout>:…                      Open MPI --tag-output, horovodrun in MPI mode
# [3]<stdout>:…                        horovodrun with Gloo
# 3: …                                 srun --label
# [rank3]:… [default3]:… [trainer3|3]: torchrun --tee
_LINE = re.compile(  # the line end first: the engine looks for it alone
    rb"\n(?P<source>(?:%b)?)(?P<relay>(?:%b)?)"
    % (_SOURCE, _CLOCK)
    + rb"(?:(?P<mpi>\[\d+,(?P<mpi_rank>\d+)\])<std(?:out|err)>:?|(?P<gloo>\[(?P<gloo_rank>\d+)\])<std(?:out|err)>:?"
    rb"|(?P<torch>\[(?:rank|default|trainer|worker)[ _]?(?P<torch_rank>\d+)(?:\|\d+)?\]:)"
    rb"|(?P<srun> *(?P<srun_rank>\d+): )|)(?<=[ :>])"  # which they all end with: a line without a prefix is no match
)
_KINDS = ("mpi", "gloo", "torch", "srun")
# with which of the two it prints, or how far a label is indented, is no matter
_REST = {"mpi": rb"<std(?:out|err)>:?", "gloo": rb"<std(?:out|err)>:?", "torch": rb"", "srun": rb""}


def lowest(text: bytes) -> "re.Pattern[bytes] | None":
    """What the lowest rank's lines begin with; None if nobody has marked them."""
    glances = (0, len(text) // 2, max(0, len(text) - GLANCE_BYTES))
    if not any(_LINE.search(b"\n" + text[at : at + GLANCE_BYTES]) for at in glances):
        return None
    lines = sum(1 for line in text.split(b"\n") if line.strip())
    marked = Counter(mark for found in _LINE.finditer(b"\n" + text) for mark in _marks(found))
    often = [mark for mark, count in marked.items() if count >= FEWEST]
    if not often or sum(marked[mark] for mark in often) < SHARE * lines:
        return None
    _, source, kind, _, mark = min(often)
    before = rb"(?m)(?:^|(?<=\r))" + re.escape(source) + rb"(?:%b)" % _CLOCK
    if not kind:
        return re.compile(before + (b"?" if source else b""))
    blanks = rb" *" if kind == "srun" else b""
    after = rb" " if kind == "srun" else b""
    return re.compile(before + b"?" + blanks + re.escape(mark) + _REST[kind] + after)


_Mark = tuple[bool, bytes, str, int, bytes]
"""(no launcher's, the relay's name for the source, kind of launcher, rank, what it writes): in the order of ranks."""


def _marks(match: "re.Match[bytes]") -> list[_Mark]:
    kind = next((kind for kind in _KINDS if match[kind] is not None), "")
    if kind:
        return [(False, match["source"], kind, int(match[f"{kind}_rank"]), match[kind].strip(b" "))]
    return [(True, match["source"], "", 0, b"")] if match["source"] or match["relay"] else []
