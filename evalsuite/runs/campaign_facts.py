"""What holds for all runs of a folder, stated once: `campaign.json` beside them, written once."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evalsuite.core.decode import Mistake, message, refusal
from evalsuite.core.documents import Document
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.files import read_json

NAME = "campaign.json"


@dataclass(frozen=True, kw_only=True)
class CampaignFacts(Document):
    facts: Mapping[str, str]
    sha256: str

    def mistakes(self) -> Iterator[Mistake]:
        if self.sha256 != _hash(self.facts):
            yield Mistake("sha256", refusal(self.sha256, message("hash_of_facts")))


def read(root: Path) -> dict[str, str]:
    file = root / NAME
    return dict(CampaignFacts.from_json(read_json(file), file).facts) if os.path.lexists(file) else {}


def check(root: Path, facts: Mapping[str, str]) -> bool:
    """Whether *root* has these facts already. Raises EvalsuiteError if it has others."""
    there = read(root)
    if there and there != facts:
        raise EvalsuiteError.of("runs.campaign_facts", path=root / NAME, facts=_shown(there), others=_shown(facts))
    return there == facts


def write_once(root: Path, facts: Mapping[str, str]) -> None:
    if check(root, facts):
        return
    root.mkdir(parents=True, exist_ok=True)
    CampaignFacts(facts=facts, sha256=_hash(facts)).write(root / NAME)


def _hash(facts: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(dict(facts), sort_keys=True).encode()).hexdigest()


def _shown(facts: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(facts.items()))
