"""The same page in fewer bytes: one of 500 cases holds a hundred drawings and 50,000 cells (REPORT.md §2).

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
# `<path class="line-grid" d="M1 2L3 4" fill="none" …/>` twice in a row with the same look
STROKE = re.compile(r'<path class="(line-[\w-]+)" d="([^"]+)"((?: [\w-]+="[^"]*")*)/>')
MARKS = re.compile(
    r'<use data-ref="[^"]*" class="mark ([\w -]+)"[^>]*/>(?:<use data-ref="[^"]*" class="mark \1"[^>]*/>)+'
)

# HTML Living Standard §13.1.2.4 and §13.1.2.3: the end of a cell, row or item is where the next begins, and a value
# without blanks needs no quotes. Text holds no bare quote: Jinja and the drawings escape it.
OPTIONAL_END = re.compile(r"</(?:td|th|tr|thead|tbody|li|dt|dd)>\n?")
NEEDLESS_QUOTES = re.compile(r""" ([a-z][\w-]*)="([^\s"'=<>`]+)"(?=[ >])""")
# A link says itself where it leads, and an item what it is: the page's script reads the one like the other.
LINKED_TWICE = re.compile(r'(<a class="num" href="#([\w-]+)") data-ref="\2"')
CELL_OF_A_LINK = re.compile(r'(<td class="[^"]*") data-c="([\w-]+)">(?=<a [^>]*href="#\2")')
RIGHT = "<td class=n data-v="  # the sheet sets a cell with a raw value like one of class n
MAIN = re.compile(r"<main\b.*</main>", re.DOTALL)


def page(html: str) -> str:
    """The whole page *html* with the markup of its main part as short as HTML has it."""
    return MAIN.sub(lambda found: _short(found[0]), html)


def _short(main: str) -> str:
    main = CELL_OF_A_LINK.sub(r"\1>", LINKED_TWICE.sub(r"\1", OPTIONAL_END.sub("", main)))
    return NEEDLESS_QUOTES.sub(r" \1=\2", main).replace(RIGHT, "<td data-v=")


def slim(svg: str, id: str) -> str:
    """*svg*, the drawing of the figure *id*, as the page holds it."""
    return MARKS.sub(_painted_once, _merged(_short_ids(PLACED.sub(_to_a_tenth, UNUSED.sub("", svg)), id)))


def _painted_once(found: re.Match) -> str:
    """Marks of one paint as a group that has it: they inherit it."""
    return f'<g class="{found[1]}">{found[0].replace(f"mark {found[1]}", "mark")}</g>'


def _to_a_tenth(found: re.Match) -> str:
    return f' {found[1]}="{HUNDREDTHS.sub(_tenth, found[2])}"'


def _tenth(found: re.Match) -> str:
    text = f"{float(found[0]):.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _short_ids(svg: str, id: str) -> str:
    """Clips and markers by names of seven characters; a figure's own id is long, and is said in every line."""
    stem = f"z{hashlib.sha256(id.encode()).hexdigest()[:5]}"
    for place, name in enumerate(dict.fromkeys(OWN_ID.findall(svg))):
        svg = re.sub(rf'(?<=[#"]){re.escape(name)}(?=[)"])', f"{stem}{place:x}", svg)
    return svg


def _merged(svg: str) -> str:
    """Neighbouring strokes of one look as one path: every move begins a line of its own, dashes begin anew."""
    parts, last, end = [], None, 0
    for found in STROKE.finditer(svg):
        look = (found[1], found[3]) if 'fill="none"' in found[3] and " id=" not in found[3] else None
        if look and last and look == last[0] and found.start() == end:
            last[1].append(found[2])
        else:
            parts += [_path(last), svg[end : found.start()]]
            last = (look, [found[2]], found[0])
        end = found.end()
    return "".join((*parts, _path(last), svg[end:]))


def _path(stroke: tuple | None) -> str:
    if stroke is None:
        return ""
    look, moves, whole = stroke
    if len(moves) == 1:
        return whole
    return f'<path class="{look[0]}" d="{"".join(moves)}"{look[1]}/>'
