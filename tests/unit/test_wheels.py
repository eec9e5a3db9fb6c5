"""Wheels by the compute capability of the machine's devices."""

from dataclasses import replace

import pytest

from evalsuite.contracts import registry
from evalsuite.core.errors import EvalsuiteError
from evalsuite.launch.provision import virtualenvs
from tests import sources
from tests.toys import toynet

RECIPES = [(name, recipe) for name, each in registry.discover().items() for recipe in each.recipes]
# Whose makers' pages do not say with which CUDA the wheel of the default index was built.
UNKNOWN = ("chainer==", "elasticdl_client==", "oneflow==", "paddlepaddle-gpu==")


@pytest.fixture
def devices(monkeypatch):
    """Sets the compute capabilities that the machine is said to have."""

    def there(text: str) -> None:
        monkeypatch.setenv(virtualenvs.CAPABILITY, text)
        virtualenvs.capabilities.cache_clear()

    yield there
    virtualenvs.capabilities.cache_clear()


@pytest.mark.parametrize(("pin", "served", "unserved"), sources.cases("wheels.toml")["served"])
def test_a_wheel_serves_what_the_cuda_of_its_build_compiles_for(pin, served, unserved):
    wheel = virtualenvs.find_wheel(("numpy==1.23.5", pin))

    assert [each for each in (*served, *unserved) if wheel.serves(each)] == list(served)


@pytest.mark.parametrize(
    ("capabilities", "first"),
    [("7.0", "torch==2.7.1"), ("8.0", "torch==2.13.0"), ("", "torch==2.13.0"), ("7.0,9.0", "torch==2.7.1")],
)
def test_the_first_wheels_that_serve_every_device_are_taken(capabilities, first, devices):
    devices(capabilities)
    recipe = registry.discover()["pytorch"].recipe("reference-resnet50")

    assert virtualenvs.pins(recipe, "gpu")[0] == first
    assert virtualenvs.pins(recipe, "cpu")[0] == "torch==2.13.0"


def test_an_environment_without_a_wheel_for_the_device_or_a_capability_that_is_none_is_refused_by_name(devices):
    devices("8.0")
    (recipe,) = toynet(requirements=("torch==1.12.1",), image="lab/torch:1").recipes

    refused = virtualenvs.refusal(recipe, "managed", "gpu")

    assert "torch==1.12.1 is built with CUDA 10.2, for devices of compute capability 3.0 to 7.5" in refused
    assert "has 8.0" in refused and "lab/torch:1" in refused
    assert virtualenvs.existing(recipe, device="gpu") is None

    devices("sm_70")
    with pytest.raises(EvalsuiteError, match=r"got sm_70; expected compute capabilities such as 7\.0"):
        virtualenvs.capabilities()


def test_an_image_that_does_not_serve_the_devices_is_refused_with_the_nearest_that_does(devices):
    devices("7.0")
    late = "nvcr.io/nvidia/pytorch:26.06-py3"
    (both,) = toynet(requirements=("torch==2.13.0",), other_wheels=(("torch==2.7.1",),), image=late).recipes

    refused = str(virtualenvs.image_refusal(both, "gpu"))

    assert f"{late} is built with CUDA 13.0, for devices of compute capability 7.5 to 12.1" in refused
    assert "=nvcr.io/nvidia/pytorch:24.06-py3 / --environment managed (torch==2.7.1)" in refused
    for served in ("nvcr.io/nvidia/tensorflow:20.03-tf1-py3", "lab/torch:1"):
        assert virtualenvs.image_refusal(replace(both, image=served), "gpu") is None
    alone = replace(both, other_wheels=())
    assert "the image nvcr.io/nvidia/pytorch:24.06-py3" in str(virtualenvs.refusal(alone, "managed", "gpu"))


def test_what_no_index_holds_is_refused_with_where_its_repository_has_it():
    (apex,) = toynet(requirements=("torch==1.6.0",), off_index=("APEX",), image="lab/apex:1").recipes
    (cpu_alone,) = toynet(requirements=("paddlepaddle==1.8.5",), requirements_gpu=None).recipes

    assert "APEX, which is on no package index" in virtualenvs.refusal(apex, "managed", "gpu")
    assert "no requirements for a virtual environment on a gpu" in virtualenvs.refusal(cpu_alone, "managed", "gpu")
    assert virtualenvs.refusal(cpu_alone, "managed", "cpu") is None

    recipe = registry.discover()["oneflow"].recipe("benchmark-resnet50-2020")
    refused = virtualenvs.refusal(recipe, "managed", "gpu")
    assert "OneFlow 0.2 (Classification/cnns/README.md)" in refused
    assert "--image FRAMEWORK=IMAGE" in refused


@pytest.mark.parametrize(("framework", "recipe"), RECIPES, ids=[f"{name}.{recipe.name}" for name, recipe in RECIPES])
def test_a_recipe_has_wheels_for_gpus_that_are_known_or_none(framework, recipe):
    for pins in (recipe.pins("gpu"), *recipe.other_wheels):
        assert not pins or virtualenvs.find_wheel(pins) or pins[0].startswith(UNKNOWN)
