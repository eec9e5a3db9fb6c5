"""The report under axe-core (deque.com/axe): no violation of WCAG 2.2 A and AA, in both languages and themes. axe-core
is fetched with npm into a temporary folder; without npm, or where it gets no answer, the tests are skipped."""

import json
import shutil
import subprocess

import accepted
import chromium
import pytest

from evalsuite import report
from tests import sources

VERSION = "4.10.2"
PAGES = ("quick", "options", "gpu", "partial", "mixed_units", "empty", "all_failed", "hostile", "timers",
         "ladder", "training", "variants")  # fmt: skip
LOOKS = ("lang=zh&theme=light", "lang=en&theme=dark")
ONCE = [(name, LOOKS[place % 2]) for place, name in enumerate(PAGES)]  # axe takes seconds a page
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Of rows that are built alike three are enough: axe looks at every element, and the largest page has 26,000.
THREE_ALIKE = sources.text("accessibility_three_alike.js")
WIDE = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}

chromium.require()
if shutil.which("npm") is None:
    chromium.lacking("no npm here: install it to fetch axe-core")


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    folder = tmp_path_factory.mktemp("axe")
    line = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, f"axe-core@{VERSION}"]
    fetched = subprocess.run(line, capture_output=True, text=True, timeout=180)
    source = folder / "node_modules" / "axe-core" / "axe.min.js"
    if fetched.returncode or not source.is_file():
        pytest.skip(f"npm could not fetch axe-core: {fetched.stderr.strip()[-200:]}")
    return source.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def accepted_page(tmp_path_factory):
    return report.build(accepted.accepted(), tmp_path_factory.mktemp("accepted"))[0].as_uri()


@pytest.fixture(scope="module", autouse=True)
def wide(tab):
    tab.call("Emulation.setDeviceMetricsOverride", **WIDE)


@pytest.mark.parametrize(("name", "look"), [*ONCE, ("gpu", LOOKS[1]), ("options", LOOKS[0])])
def test_axe_finds_no_violation(tab, axe, address, name, look):
    tab.visit(f"{address(name)}#{look}")
    tab.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")

    assert violations(tab, axe) == []


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_no_violation_in_an_open_receipt_and_in_the_table_of_criteria(tab, axe, address, accepted_page, look):
    tab.visit(f"{address('quick')}#{look}")
    tab.evaluate("document.querySelector('table.values a.num').click()")

    assert tab.evaluate("document.querySelector('#drawer').open")
    assert violations(tab, axe, "'#drawer'") == []

    tab.visit(f"{accepted_page}#{look}")
    assert tab.evaluate("document.querySelectorAll('table.acceptance tbody tr').length") == 3
    assert violations(tab, axe, "'#verdict'") == []


def violations(tab, axe, where="document") -> list[str]:
    tab.evaluate(THREE_ALIKE)
    tab.evaluate(axe)
    options = json.dumps({"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"]})
    return tab.evaluate(
        f"axe.run({where}, {options}).then(said => said.violations.map(one => `${{one.id}}: ${{one.help}}; "
        "${one.nodes.length}, such as ${one.nodes[0].html.slice(0, 160)}`))"
    )
