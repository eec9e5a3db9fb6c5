"""What a browser may run, show and fetch for a page."""

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
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
