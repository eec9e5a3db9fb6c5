"""What launchers write before each line, taken away where a report spans several lines.

A pattern over two lines does not fit `[1,0]<stdout>:first` and `[1,0]<stdout>:second`. Only the lines of the lowest
rank are freed: it prints what a script prints once, and the lines of the others stay told apart.
"""

import re
from collections import Counter

FEWEST = 3  # lines with one prefix; what begins fewer may be the script's own
SHARE = 0.5  # of the lines have a prefix, of whatever rank

# [1,3]<stdout>:…                      Open MPI --tag-output, horovodrun in MPI mode
# [3]<stdout>:…                        horovodrun with Gloo
# 3: …                                 srun --label
# [rank3]:… [default3]:… [trainer3|3]: torchrun --tee
_LINE = re.compile(
    rb"(?m)^(?:(?P<mpi>\[\d+,(?P<mpi_rank>\d+)\])<std(?:out|err)>:?|(?P<gloo>\[(?P<gloo_rank>\d+)\])<std(?:out|err)>:?"
    rb"|(?P<torch>\[(?:rank|default|trainer|worker)[ _]?(?P<torch_rank>\d+)(?:\|\d+)?\]:)"
    rb"|(?P<srun> *(?P<srun_rank>\d+): ))"
)
_KINDS = ("mpi", "gloo", "torch", "srun")
# with which of the two it prints, or how far a label is indented, is no matter
_REST = {"mpi": rb"<std(?:out|err)>:?", "gloo": rb"<std(?:out|err)>:?", "torch": rb"", "srun": rb""}


def lowest(text: bytes) -> "re.Pattern[bytes] | None":
    """What the lowest rank's lines of *text* begin with; None if a launcher has not marked them."""
    lines = sum(1 for line in text.split(b"\n") if line.strip())
    marked: Counter[tuple[str, int, bytes]] = Counter()
    for match in _LINE.finditer(text):
        kind = next(kind for kind in _KINDS if match[kind] is not None)
        marked[kind, int(match[f"{kind}_rank"]), match[kind].strip(b" ")] += 1
    often = [mark for mark, count in marked.items() if count >= FEWEST]
    if not often or sum(marked[mark] for mark in often) < SHARE * lines:
        return None
    kind, _, mark = min(often)
    blanks = rb" *" if kind == "srun" else b""
    after = rb" " if kind == "srun" else b""
    return re.compile(rb"(?m)(?:^|(?<=\r))" + blanks + re.escape(mark) + _REST[kind] + after)
