"""The content policy of a page: what a browser may run, show and fetch for it."""

import base64
import hashlib
from collections.abc import Iterable


def policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """Our own styles and scripts by their hash, no request to anywhere.

    `img-src data: blob:`: the script turns a figure into a PNG through an image.
    """
    return (
        f"default-src 'none'; script-src {_hashes(scripts)}; style-src {_hashes(styles)}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hashes(texts: Iterable[str]) -> str:
    return " ".join(_hash(text) for text in texts)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
