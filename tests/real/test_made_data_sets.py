"""The writers of made-up data, each in the environment of its format's library: the same items in every format."""

import gzip
import hashlib
import zipfile

import pytest

from evalsuite.core import paths
from evalsuite.launch.provision import data_manifest, made_data
from evalsuite.plan import data_sets
from tests import sources

# of seed 1 and size tiny, on any machine: by source, the hash of the items to train on; by data set, that of its files,
# recorded when each format's own reader gave those items back
TABLE = sources.table("made_data_sets.toml")
DECLARED = data_sets.declared().data_sets


def of(environment):
    return [name for name, declared in DECLARED.items() if declared.environment == environment]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """One data root for all: an index is made of the files beside it."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("data")
        patch.setenv("EVALSUITE_DATA", str(folder))
        yield folder


@pytest.mark.parametrize("name", [name for name in of("columns") if not DECLARED[name].beside] + of("mxnet"))
def test_what_is_written_is_what_the_seed_gives(name, root):
    _check(name)


@pytest.mark.parametrize("name", of("tensorflow") + [name for name in of("columns") if DECLARED[name].beside])
def test_what_tensorflow_writes_is_what_the_seed_gives(name, root):
    _check(name)


@pytest.mark.parametrize("name", ["imagenet", "imagenet-lists"])
def test_a_longer_pass_has_the_same_images_again(name, root, monkeypatch):
    monkeypatch.setenv("EVALSUITE_DATA", str(root / "longer"))
    folder = made_data.make(name, size=data_sets.TINY._replace(times=3))

    listed = folder / "train_list.txt"
    there = listed.read_text().splitlines() if listed.is_file() else [*(folder / "train").glob("*/*")]
    assert len(there) == data_manifest.training_items(name) == 3 * 256
    assert data_manifest.problem(name, thorough=True) is None
    assert data_manifest.read(name).decoded_sha256["train"] == TABLE["decoded"]["images"]


def _check(name):
    made_data.make(name)

    reading = data_manifest.read(name)
    digest = reading.decoded_sha256.get("train")
    assert digest == (TABLE["decoded"][reading.source] if reading.items else None)
    assert data_manifest.problem(name, thorough=True) is None
    assert _content_sha256(name) == TABLE["content"][name]


def _content_sha256(name):
    """Hash of what the files hold, whatever zlib packed them."""
    digest, folder = hashlib.sha256(), paths.data_sets() / name
    for file in sorted(file for file in folder.rglob("*") if file.is_file() and file.name != data_manifest.NAME):
        digest.update(f"{file.relative_to(folder)}\0".encode())
        if file.suffix == ".npz":
            with zipfile.ZipFile(file) as packed:
                digest.update(b"".join(map(packed.read, packed.namelist())))
        else:
            digest.update(gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes())
    return digest.hexdigest()


def test_another_seed_gives_other_items_and_the_same_seed_the_same_files(root):
    first = data_manifest.read("gpt2") or data_manifest.read(made_data.make("gpt2").name)

    made_data.make("gpt2", seed=2, again=True)
    other = data_manifest.read("gpt2")
    made_data.make("gpt2", again=True)

    assert other.decoded_sha256 != first.decoded_sha256
    assert data_manifest.read("gpt2").files == first.files


def test_what_was_cut_off_is_made_again(root):
    made_data.make("bert-npz")
    cut = root / "bert-npz" / "train" / "part-000.npz"
    cut.write_bytes(cut.read_bytes()[:-10])

    made_data.make("bert-npz")

    assert data_manifest.problem("bert-npz", thorough=True) is None
