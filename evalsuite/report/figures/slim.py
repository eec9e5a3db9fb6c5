"""The same page in fewer bytes: one of 500 cases holds a hundred drawings and 50,000 cells (docs/report.md#size).

What a reader sees stays. In drawings coordinates keep a tenth of a pixel, strokes drawn alike become one path, and
the ids inside are short; ids that the page asks for (`<id>-svg`, `data-ref`, `data-series`) are not touched. Of the
markup of a large page goes what HTML lets a writer leave out.
"""

import hashlib
import re

# ids and rows that only a file of its own would need: the page finds marks by their data-ref
UNUSED = re.compile(r' (?:id="[^"]*-m\d+"|data-row="\d+")')
PLACED = re.compile(r' (d|x|y|x1|x2|y1|y2|cx|cy|points|width|height)="([^"]*\.\d\d[^"]*)"')
HUNDREDTHS = re.compile(r"-?\d*\.\d\d+")
OWN_ID = re.compile(r'\bid="([\w-]+-d\d+)"')
NAMED_ID = re.compile(r'(?<=[#"])[\w-]+-d\d+(?=[)"])')
# `<path class="line-grid" d="M1 2L3 4" fill="none" …/>` twice in a row with the same look
STROKE = re.compile(r'<path class="(line-[\w-]+)" d="([^"]+)"((?: [\w-]+="[^"]*")*)/>')
MARKS = re.compile(
    r'<use data-ref="[^"]*" class="mark ([\w -]+)"[^>]*/>(?:<use data-ref="[^"]*" class="mark \1"[^>]*/>)+'
)

Stroke = tuple[tuple[str, str] | None, list[str], str]  # its class and the rest of its look, its moves, as it stood


def slim(svg: str, id: str) -> str:
    """*svg*, the drawing of the figure *id*, as the page holds it."""
    return MARKS.sub(_painted_once, _merged(_short_ids(PLACED.sub(_to_a_tenth, UNUSED.sub("", svg)), id)))


def _painted_once(found: re.Match[str]) -> str:
    """Marks of one paint as a group that has it: they inherit it."""
    return f'<g class="{found[1]}">{found[0].replace(f"mark {found[1]}", "mark")}</g>'


def _to_a_tenth(found: re.Match[str]) -> str:
    return f' {found[1]}="{HUNDREDTHS.sub(_tenth, found[2])}"'


def _tenth(found: re.Match[str]) -> str:
    text = f"{float(found[0]):.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _short_ids(svg: str, id: str) -> str:
    """Clips and markers by names of seven characters; a figure's own id is long, and is said in every line."""
    stem = f"z{hashlib.sha256(id.encode()).hexdigest()[:5]}"
    short = {name: f"{stem}{place:x}" for place, name in enumerate(dict.fromkeys(OWN_ID.findall(svg)))}
    return NAMED_ID.sub(lambda found: short.get(found[0], found[0]), svg)


def _merged(svg: str) -> str:
    """Neighbouring strokes of one look as one path: every move begins a line of its own, dashes begin anew."""
    parts: list[str] = []
    last: Stroke | None = None
    end = 0
    for found in STROKE.finditer(svg):
        look = (found[1], found[3]) if 'fill="none"' in found[3] and " id=" not in found[3] else None
        if look and last and look == last[0] and found.start() == end:
            last[1].append(found[2])
        else:
            parts += [_path(last), svg[end : found.start()]]
            last = (look, [found[2]], found[0])
        end = found.end()
    return "".join((*parts, _path(last), svg[end:]))


def _path(stroke: Stroke | None) -> str:
    if stroke is None:
        return ""
    look, moves, whole = stroke
    if look is None or len(moves) == 1:
        return whole
    return f'<path class="{look[0]}" d="{"".join(moves)}"{look[1]}/>'
