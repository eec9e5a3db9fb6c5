"""An environment made twice from its lock has the same files (`make test-frameworks`: it downloads them twice)."""

import hashlib
import os

import pytest

from evalsuite.launch.provision import virtualenvs
from evalsuite.registry import discover

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not os.environ.get("EVALSUITE_FRAMEWORKS"), reason="large downloads: make test-frameworks"),
]
# what an installation writes anew: bytecode, its own list of files, first lines with a path, uv's dates and our record
OF_INSTALLATION = ("RECORD", "direct_url.json", "uv_cache.json", "pyvenv.cfg", "evalsuite.json", ".lock")


@pytest.mark.parametrize(("framework", "recipe"), [("jax", "reference-resnet50"), ("mxnet", "reference-resnet50")])
def test_an_environment_made_twice_from_its_lock_has_the_same_files(framework, recipe, tmp_path, monkeypatch):
    found = []
    for name in ("first", "second"):
        monkeypatch.setenv("EVALSUITE_CACHE", str(tmp_path / name))
        monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / f"{name}-downloads"))
        python = virtualenvs.ensure(discover()[framework].recipe(recipe))
        assert virtualenvs.lock_of(python)
        found.append(hashes(python.parent.parent))

    assert len(found[0]) > 1000
    assert found[0] == found[1]


def hashes(folder):
    packages = next((folder / "lib").iterdir()) / "site-packages"
    files = [file for file in packages.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return {
        str(file.relative_to(packages)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if file.name not in OF_INSTALLATION
    }
