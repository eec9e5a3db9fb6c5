"""`report-logs.zip`: every log less its secrets, and a manifest of hashes."""

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.files import replacing, sha256, zip_entry
from evalsuite.report.forms import bundle
from evalsuite.report.forms.material import Material
from evalsuite.results.publish.log_copies import LogCopy

NAME = "report-logs.zip"
MANIFEST = "manifest.json"


def write(material: Material) -> list[Path]:
    if material.logs is None:
        raise EvalsuiteError.of("report.logs_no_runs")
    path = material.out / NAME
    copies = sorted(material.logs(material.book.measurements), key=lambda copy: copy.name)
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        manifest = {"build": material.build_hash, "logs": [_copy(copy, archive) for copy in copies]}
        archive.writestr(zip_entry(MANIFEST), json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
        archive.writestr(zip_entry(bundle.README), bundle.readme("bundle.logs_readme", material))
    return [path]


def _copy(copy: LogCopy, archive: zipfile.ZipFile) -> dict[str, Any]:
    facts = {"run_id": copy.run_id, "log": copy.name, "sha256": sha256(copy.file), "bytes": copy.file.stat().st_size}
    hashed, size = hashlib.sha256(), 0
    try:
        with archive.open(zip_entry(copy.name), "w", force_zip64=True) as into:
            for piece in copy.pieces():
                into.write(piece)
                hashed.update(piece)
                size += len(piece)
    except EvalsuiteError as error:
        return {**facts, "cut_off": str(error), "masked_sha256": hashed.hexdigest(), "masked_bytes": size}
    return {**facts, "masked_sha256": hashed.hexdigest(), "masked_bytes": size}
