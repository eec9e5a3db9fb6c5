import base64
import json
import random
import re
import string
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsuite.core import redaction
from tests import sources
from tests.planted import LINES


@pytest.mark.parametrize("kind", LINES)
def test_no_secret_of_a_command_line_is_shown_and_a_copy_of_a_log_keeps_every_length(kind):
    line, secret = LINES[kind]
    log = f"begin\n{' '.join(line)}\nend\n".encode()

    assert secret not in " ".join(redaction.redact_words(line))
    assert secret not in redaction.redact(" ".join(line))
    assert "[secret: " in " ".join(redaction.redact_words(line))
    masked = redaction.mask_secrets(log)
    assert secret.encode() not in masked
    assert len(masked) == len(log) and masked.count(b"\n") == log.count(b"\n")
    assert masked.startswith(b"begin\n") and masked.endswith(b"\nend\n")


REPEATED = sources.table("redaction.toml")["repeated"]


@pytest.mark.parametrize("part", REPEATED)
def test_a_long_text_takes_as_long_as_its_parts(part):
    text = part * (300_000 // len(part))
    begin = time.process_time()
    redaction.redact(text)

    assert time.process_time() - begin < 2  # 0.3 s by a machine with nothing else to do; squared it would be minutes


@given(st.lists(st.text(max_size=60), max_size=6))
def test_what_was_redacted_stays_as_it_is(line):
    once = redaction.redact_words(line)

    assert redaction.redact_words(once) == once


DATA = Path(__file__).parents[1] / "data"
MIXED = string.ascii_letters + string.digits
WORDS = {"any": MIXED, "hex": string.hexdigits[:16], "up": MIXED[26:]}


def drawn(kind, chance):
    """(a text of *kind*, the secret in it): <any40> are 40 letters and digits, <b64:…> is what it says in base64."""
    draw = lambda match: "".join(chance.choices(WORDS[match[1]], k=int(match[2])))  # noqa: E731
    parts = re.split(r"(?s)\[\[(.*?)\]\]", re.sub(r"<(any|hex|up)(\d+)>", draw, kind))
    encoded = base64.b64encode(parts[1][4:].encode()).decode() if parts[1].startswith("b64:") else parts[1]
    return parts[0] + encoded + parts[2], encoded


def test_of_two_hundred_kinds_of_secrets_hardly_any_is_shown():
    kinds = json.loads((DATA / "secrets.json").read_text(encoding="utf-8"))
    found = [drawn(kind, random.Random(seed)) for kind in kinds for seed in range(5)]
    shown = [
        text for text, secret in found if secret in f"{redaction.redact(text)}{redaction.mask_secrets(text.encode())!r}"
    ]

    sources.leave("secrets", "tests/unit/test_redaction.py -k hundred", tried=len(found), bad=len(shown))
    assert len(kinds) >= 240 and len(shown) <= len(found) * 0.033


def test_of_harmless_strings_and_of_honest_logs_hardly_any_is_blanked():
    strings = (DATA / "harmless.txt").read_text(encoding="utf-8").splitlines()
    blanked = [text for text in strings if {redaction.redact(text), *redaction.redact_words((text, text))} != {text}]

    sources.leave("false_alarms", "tests/unit/test_redaction.py -k harmless", tried=len(strings), bad=len(blanked))
    assert len(strings) >= 470 and len(blanked) <= len(strings) // 100

    house = Path(__file__).parents[2]
    logs = [*house.glob("data/recorded/**/log.*.txt"), *house.glob("tests/logs/**/*.log")]
    lines = [line for log in logs for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]

    assert len(lines) > 10_000
    assert len([line for line in lines if redaction.redact(line) != line]) <= 5
