"""Draws docs/architecture.svg: the packages of `evalsuite/` and their imports: `python tools/draw_architecture.py`.

Places are written here, arrows come from the imports. A test holds the picture equal to the code.
"""

import ast
import sys
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
PICTURE = HOUSE / "docs" / "architecture.svg"
WIDTH, HEIGHT = 920, 640
PLACES = {  # package → x, y, width, height, content
    "commands": (40, 24, 840, 56, "the doors: arguments in, exit code out"),
    "launch": (100, 130, 230, 62, "makes environments, starts runs"),
    "importing": (345, 130, 108, 62, "brings in runs"),
    "plan": (10, 270, 186, 62, "cases, skips, command lines"),
    "agent": (242, 270, 155, 62, "stamps, samples, ends"),
    "machine": (218, 370, 160, 56, "sensors, limits, cores"),
    "schedulers": (10, 440, 180, 56, "words of batch schedulers"),
    "runs": (375, 452, 170, 62, "the run folder on disk"),
    "logs": (520, 380, 190, 62, "log → steps → throughput"),
    "results": (680, 290, 210, 62, "every number, every verdict"),
    "report": (680, 110, 210, 62, "words, figures, pages"),
    "finished": (640, 204, 150, 56, "reports read back"),
    "audit": (490, 250, 110, 62, "what holds"),
    "site": (490, 110, 110, 62, "many reports"),
}
GROUND = (40, 560, 840, 56)
FLOOR = ("core", "contracts")
BENDS = {  # around what is between
    ("launch", "runs"): (430, 240),
    ("audit", "runs"): (490, 380),
    ("report", "results"): (850, 230),
    ("audit", "report"): (600, 210),
    ("results", "runs"): (770, 480),
    ("launch", "machine"): (220, 300),
    ("launch", "schedulers"): (214, 330),
    ("agent", "schedulers"): (205, 345),
    ("plan", "runs"): (230, 480),
}
WALL_X, WALL_TOP, WALL_END = 460, 100, 540
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2937; text-anchor: middle }
  .name { font-weight: 600; font-size: 15px }
  .box { fill: #f3f4f6; stroke: #6b7280 }
  .arrow { stroke: #2563eb; stroke-width: 1.6; fill: none } .tip { fill: #2563eb }
  .wall { stroke: #b45309; stroke-width: 5; stroke-dasharray: 2 6 } .said { fill: #b45309 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e5e7eb } .box { fill: #1f2937; stroke: #9ca3af }
    .arrow { stroke: #93c5fd } .tip { fill: #93c5fd } .wall { stroke: #fbbf24 } .said { fill: #fbbf24 }
  }
"""


def arrows(package: Path) -> set[tuple[str, str]]:
    """(importing package, imported package), without those of the doors and of the rehearsals beside the engine."""
    pairs = set()
    for file in sorted(package.glob("*/**/*.py")):
        here = file.relative_to(package).parts[0]
        pairs |= {(here, there) for there in _imported(file) if there in PLACES and there != here}
    return {(here, there) for here, there in pairs if here in PLACES and here != "commands"}


def _imported(file: Path) -> set[str]:
    nodes = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)]
    names = {f"{node.module}.{name.name}" for node in nodes for name in node.names}
    return {name.split(".")[1] for name in names if name.startswith("evalsuite.")}


def svg(drawn: set[tuple[str, str]], ground: str) -> str:
    """Doors above, the wall in the middle, the ground below."""
    lines = [_arrow(*pair) for pair in sorted(drawn)]
    boxes = [_box(name, place[:4], place[4]) for name, place in PLACES.items()]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            'aria-label="The packages of evalsuite and which imports which">',
            f"<style>{STYLE}</style>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" '
            'markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>',
            f'<line class="wall" x1="{WALL_X}" y1="{WALL_TOP}" x2="{WALL_X}" y2="{WALL_END}"/>',
            f'<text class="said" x="{WALL_X - 150}" y="{WALL_END - 6}">left: things happen</text>',
            f'<text class="said" x="{WALL_X + 170}" y="{WALL_END - 6}">right: only reading</text>',
            *lines,
            *boxes,
            _box(" · ".join(FLOOR), GROUND, ground),
            "</svg>",
            "",
        )
    )


def _box(name: str, place: tuple[int, int, int, int], said: str) -> str:
    x, y, width, height = place
    middle = x + width / 2
    return (
        f'<rect class="box" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>'
        f'<text class="name" x="{middle:g}" y="{y + 25}">{name}</text>'
        f'<text x="{middle:g}" y="{y + 45}">{said}</text>'
    )


def _arrow(source: str, target: str) -> str:
    over = BENDS.get((source, target))
    start, end = _edge(source, over or _middle(target)), _edge(target, over or _middle(source))
    bend = f"Q{over[0]} {over[1]} " if over else "L"
    return (
        f'<path class="arrow" marker-end="url(#tip)" '
        f'd="M{start[0]:.0f} {start[1]:.0f}{bend}{end[0]:.0f} {end[1]:.0f}">'
        f"<title>{source} imports {target}</title></path>"
    )


def _middle(name: str) -> tuple[float, float]:
    x, y, width, height, _ = PLACES[name]
    return x + width / 2, y + height / 2


def _edge(name: str, towards: tuple[float, float]) -> tuple[float, float]:
    _, _, width, height, _ = PLACES[name]
    x, y = _middle(name)
    dx, dy = towards[0] - x, towards[1] - y
    share = min(width / 2 / abs(dx) if dx else float("inf"), height / 2 / abs(dy) if dy else float("inf"))
    return x + dx * share, y + dy * share


def picture() -> str:
    package = HOUSE / "evalsuite"
    return svg(arrows(package), "nouns, words and tools of all · what adapters, dialects and launchers implement")


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print(PICTURE, file=sys.stderr)
