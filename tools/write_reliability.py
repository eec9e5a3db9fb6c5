"""Writes into `docs/evidence.md`, in both languages, what a night of tests counted.

python tools/write_reliability.py

`make test-nightly` leaves the figures in `build/figures`. Those of an earlier night stay, in `docs/reliability.json`.
"""

import json
import re
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
RECORD = HOUSE / "docs" / "reliability.json"

record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
record |= {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in (HOUSE / "build/figures").glob("*.json")}
RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
for page in RECORD.parent.glob("evidence*.md"):
    text = page.read_text(encoding="utf-8")
    for name, night in record.items():
        tried, bad = (f"{int(night['figures'][each]):,}" for each in ("tried", "bad"))
        text = re.sub(rf"(\| <!--{name}--> .*?) \|.*?\| (.*?) \|.*\|", rf"\1 | {tried} | \2 | {bad} |", text)
        again = " | ".join((night["date"], f"`{night['commit']}`", f"`{night['command']}`"))
        text = re.sub(rf"(\| <!--{name} again--> .*?) \|.*\|", lambda row, again=again: f"{row[1]} | {again} |", text)
    hashes = " · ".join(f"{file} `{value}`" for file, value in record["wheel"]["figures"]["hashes"].items())
    text = re.sub("<!--hashes-->.*", f"<!--hashes--> {hashes}", text)
    page.write_text(text, encoding="utf-8")
