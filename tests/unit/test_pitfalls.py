"""What slows training and shows before a run (docs/clusters.md) is named, and what is sound is passed over."""

import ctypes.util
import re
import resource
from collections import namedtuple
from dataclasses import replace

import pytest

from adapters import ngc_mxnet
from evalsuite import cli
from evalsuite.core import paths
from evalsuite.core.messages import wording
from evalsuite.launch.checks import doctor
from evalsuite.machine import pitfalls
from evalsuite.machine.pitfalls import AREAS
from evalsuite.machine.sensors import system
from evalsuite.machine.sensors.network import Network
from evalsuite.machine.sensors.nvidia import DeviceSettings
from tests import sources
from tests.sources import lay
from tests.toys import CASE

State, Address = namedtuple("State", "isup"), namedtuple("Address", "family")


def seen(found):
    return [pitfall.seen.id.removeprefix("machine.") for pitfall in found]


@pytest.mark.parametrize(("names", "variables", "taken"), sources.cases("pitfalls.toml")["links"])
def test_links_of_containers_that_nccl_would_take_are_named(monkeypatch, names, variables, taken):
    devices = [DeviceSettings(index=0)]
    said = {"net_if_stats": dict.fromkeys(names.split(), State(True))}
    said["net_if_addrs"] = {name: [Address(10)] for name in names.split()}
    monkeypatch.setattr(system, "read_psutil", said.get)

    assert [tuple(pitfall.seen.values["names"]) for pitfall in pitfalls.network(variables, devices)] == list(taken)


INFINIBAND = sources.table("pitfalls.toml")["infiniband_files"]


@pytest.mark.parametrize(("files", "variables", "lacks", "names"), sources.cases("pitfalls.toml")["infiniband"])
def test_infiniband_that_is_up_and_would_not_be_used_is_named(tmp_path, monkeypatch, files, variables, lacks, names):
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None if lacks else name)
    monkeypatch.setattr(resource, "getrlimit", lambda which: (8 << 20 if lacks else resource.RLIM_INFINITY,) * 2)

    there = {name: text for of in files for name, text in INFINIBAND[of].items()}

    assert seen(pitfalls.infiniband(variables, lay(tmp_path, there))) == list(names)


def test_a_port_without_a_link_is_no_capacity(tmp_path, monkeypatch):
    monkeypatch.setattr(system, "read_psutil", lambda name: {})

    assert Network(lay(tmp_path, INFINIBAND["port"])).facts.keys() == {"mlx5_0/1"}
    assert Network(lay(tmp_path, INFINIBAND["down"])).facts == {}


@pytest.mark.parametrize(("policy", "device", "names"), sources.cases("pitfalls.toml")["clocks"])
def test_clocks_and_power_below_the_defaults_are_named(tmp_path, policy, device, names):
    files = ("scaling_governor", "scaling_driver", "energy_performance_preference")
    said = {f"{pitfalls.CPU_POLICY}/{file}": text for file, text in zip(files, policy.split(), strict=True)}

    assert seen(pitfalls.clocks([DeviceSettings(index=0, **device)], lay(tmp_path, said))) == list(names)


@pytest.mark.parametrize(("cores", "gpus"), [(range(16), [[4, 5]]), (range(12, 20), []), (range(16, 32), [[0]])])
def test_gpus_far_from_all_cores_that_may_be_used_are_named(tmp_path, cores, gpus):
    places = {0: "1a", 4: "8a", 5: "8b"}
    files = {f"sys/bus/pci/devices/{place}/numa_node": str(int(index > 0)) for index, place in places.items()}
    files |= {f"sys/bus/pci/devices/{place}/local_cpulist": "16-31" if k else "0-15" for k, place in places.items()}
    devices = [DeviceSettings(index=index, pci=places.get(index)) for index in (0, 4, 5, 6)]

    found = pitfalls.numa(devices, lay(tmp_path, files), cores)
    assert [list(pitfall.seen.values["gpus"]) for pitfall in found] == gpus


def test_doctor_has_a_line_for_each_area_and_says_what_was_found_in_both_languages(monkeypatch):
    monkeypatch.setattr(
        pitfalls, "find", lambda: [*pitfalls.clocks([DeviceSettings(index=0, persistent=False)], paths.DATA)]
    )

    checks = list(doctor.training())

    assert [check.name.id for check in checks] == [f"launch.area_{area}" for area in AREAS]
    (broken,) = (check for check in checks if check.state == "broken")
    assert "nvidia-smi -pm 1" in broken.remedy and "持久模式" in wording(broken.detail, "zh")


@pytest.mark.parametrize(("data", "image", "refused"), sources.table("pitfalls.toml")["dali"])
def test_an_image_whose_dali_lacks_the_scripts_operators_is_refused_before_the_run(data, image, refused):
    recipe = replace(ngc_mxnet.ADAPTER.recipe("resnet50-2019"), image=image)

    assert bool(recipe.refusal(replace(CASE, device="gpu", options=(("data", data),)))) == refused


@pytest.mark.parametrize(("name", "language"), [("clusters.md", "en"), ("clusters.zh.md", "zh")])
def test_every_check_and_rule_that_the_page_names_exists(name, language, capsys):
    page = (paths.DATA.parent / "docs" / name).read_text(encoding="utf-8")
    asked = set(re.findall(r"`explain (\w+)`", page))

    assert asked >= {"infiniband_unused", "loader_bound", "machine_drifts"}
    assert {cli.main(["explain", code]) for code in asked} == {0}
    for area in AREAS:
        assert f"doctor: {wording(doctor.Message(f'launch.area_{area}'), language)}" in page
