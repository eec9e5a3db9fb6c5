"""The writers of made-up data, each in the environment of its format's library: the same items in every format."""

import os

import pytest

from evalsuite.launch.provision import data_manifest, made_data
from evalsuite.plan import data_sets

LARGE = pytest.mark.skipif(
    not os.environ.get("EVALSUITE_FRAMEWORKS"),
    reason="TensorFlow's environment of 1 GB, with EVALSUITE_FRAMEWORKS=1 (make test-frameworks)",
)
# by source: the hash of the items to train on, of seed 1 and size tiny, on any machine
DECODED = {
    "images": "b86c59ab9acb12dd92c0c95ccc2f1f76b6f1cb597e7f02d9024bccd25612a394",
    "faces": "73b8ad440675e15a6983ae497ea9204919369c2a9be114dd99c145be87ac3df3",
    "sentences": "72e39a0a162feb6aeb20eb5b4d2529fd81f15fa1bb63577ee66931d46286bd11",
    "documents": "aa1cbe846f32da1614729f9701d78a5c65dafe3bd67122d9655a5f95926c1e0e",
    "clicks": "c610dc412f2cb77f54400a7b6d953edb2ac426da31dc8545a4e7df5b84ba2cb6",
    "digits": "8746b4574ceb842dcf0adfe8796e19a91c1b0e90f234791a6e9a2074384407e0",
    "small_images": "4234d5586cdd495822617c6f0b5fd7f21600eb9ddc3561cd8b5fcd050d29b0b9",
}
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
def test_what_is_read_back_is_what_the_seed_gives(name, root):
    _check(name)


@LARGE
@pytest.mark.parametrize("name", of("tensorflow") + [name for name in of("columns") if DECLARED[name].beside])
def test_what_tensorflow_reads_back_is_what_the_seed_gives(name, root):
    _check(name)


def _check(name):
    made_data.make(name)

    found = data_manifest.read(name)
    digest = found.decoded_sha256.get("train")
    assert digest == (DECODED[found.source] if found.items else None)
    assert data_manifest.problem(name, thorough=True) is None


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
