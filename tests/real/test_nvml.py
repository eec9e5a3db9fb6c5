"""Reading NVIDIA devices, through a small library of our own that stands in for NVML. The library is compiled here and
answers fixed values, so what is tested is the way from NVML's C interface to our samples: units, fields, and functions
that an older driver does not have. Its values are no measurements."""

import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from evalsuite.contracts import registry
from evalsuite.core.documents import Gpu
from evalsuite.core.findings import ThinSamples
from evalsuite.core.model import Window
from evalsuite.launch.provision import virtualenvs
from evalsuite.results.samples import utilisation
from evalsuite.runs.samples import GpuReading
from evalsuite.runs.store import RunFolder
from tests import processes, runfolders

pytestmark = pytest.mark.skipif(not processes.COMPILER, reason="there is no C compiler to make the stand-in for NVML")

PARTS = dict(
    part.split("\n", 1) for part in (Path(__file__).parent / "stand_in_nvml.c").read_text().split("// part ")[1:]
)
LOST = "ret nvmlDeviceGetUtilizationRates(void *device, busy *rates) { return 15; }"  # NVML_ERROR_GPU_IS_LOST


def stand_in(tmp_path, source):
    """The environment of a process that finds a library of these functions."""
    return processes.with_library("libnvidia-ml.so.1", source, tmp_path)


@pytest.fixture
def sampled(tmp_path):
    """Header, samples and environment of a short run with a library of the given functions."""
    return lambda source, seconds="1.2", **variables: processes.sampled(
        stand_in(tmp_path, source) | variables, tmp_path, seconds
    )


def looked_at(tmp_path, source) -> dict:
    """The facts of this node as doctor has them, with that library."""
    words = ("doctor", "--hosts", "localhost", "--runs", str(tmp_path / "runs"), "--json")
    line = [sys.executable, "-m", "evalsuite", *words]
    said = subprocess.run(line, env=stand_in(tmp_path, source), capture_output=True, text=True, timeout=400)
    assert said.returncode == 0, said.stdout + said.stderr
    return json.loads(said.stdout)["nodes"][0]


def library(*parts, init=0, devices=2, denied=99):
    defined = f"#define INIT {init}\n#define DEVICES {devices}\n#define DENIED {denied}\n"
    return defined + "".join(PARTS.get(part, part) for part in ("ALWAYS", *parts))


LOOK = """
import json, time
from evalsuite.machine.sensors import accelerators, nvidia
sensor = accelerators.open_accelerators(awaited=True)
devices, _, _, now = sensor.facts(), sensor.reading(), time.sleep(0.15), sensor.reading()
print(json.dumps({
    "uuid": {device.index: device.uuid for device in devices},
    "name": [device.name for device in devices],
    "limit": [device.power_limit_w for device in devices],
    **{name: [getattr(reading, name) for reading in now] for name in (
        "utilisation_percent", "memory_used_bytes", "power_w", "temperature_c", "driver_errors")},
    "bus": {each.index: each.pci[-4:] for each in nvidia.settings() if each.pci},
    "slices": [each.slices for each in nvidia.settings()],
    "on": [[each.device, each.pid, each.memory_bytes] for each in sensor.processes() or ()],
}))
"""
EIGHT = {str(index): f"GPU-0000{index}" for index in range(8)}
SLOW = PARTS["READINGS"].replace("*milliwatts = 250500;", "usleep(40000); *milliwatts = 250500;")
BROKEN = PARTS["READINGS"].replace("ret nvmlDeviceGetTemperature", "ret unused")
NAMELESS = PARTS["ALWAYS"].replace('"Stand-in %u"', '"\\xff %u"')
NODES = {  # the library of a node → what is seen there
    "eight devices": (
        library("READINGS", "PROCESSES", devices=8),
        {"uuid": EIGHT, "utilisation_percent": [90, 91, 92, 93, 94, 95, 96, 97], "slices": [None] * 8},
    ),
    "a denied device shifts no name": (
        library("READINGS", "PROCESSES", "SETTINGS", devices=4, denied=1),
        {
            "uuid": {"0": "GPU-00000", "1": "GPU-00002", "2": "GPU-00003"},
            "utilisation_percent": [90, 92, 93],
            "bus": {"0": "00.0", "1": "02.0", "2": "03.0"},
            "on": [[0, 1, 3 << 30], [1, 3, None], [2, 4, None]],
        },
    ),
    "a device in slices": (
        library("READINGS", "PROCESSES", "GPM", "MIG"),
        {
            "uuid": {"1": "GPU-00001", "2": "MIG-000080", "3": "MIG-000081"},
            "name": ["Stand-in 1", "Stand-in 80 MIG", "Stand-in 81 MIG"],
            "utilisation_percent": [91, 10.0, 10.0],
            "memory_used_bytes": [4 << 30] * 3,
            "power_w": [250.5, None, None],
            "limit": [300.0, None, None],
            "slices": [2, None],
        },
    ),
    "slices before Hopper": (library("READINGS", "MIG"), {"utilisation_percent": [91, None, None]}),
    "driver 440": (
        library("READINGS", "PROCESSES_440", "BEYOND", PARTS["XIDS"].replace("SetWait_v2", "SetWait")),
        {"on": [[0, 1, 3 << 30], [1, 2, None]], "power_w": [250.5, 250.5], "driver_errors": [None, None]},
    ),
    "a missing symbol, and a name that is no text": (
        library(BROKEN).replace(PARTS["ALWAYS"], NAMELESS),
        {"name": [None, None], "temperature_c": [None, None], "power_w": [250.5, 250.5]},
    ),
    "slow answers": ("#include <unistd.h>\n" + library(SLOW, devices=8), {"uuid": EIGHT, "power_w": [250.5] * 8}),
    "a driver that wakes late": (library("READINGS", init="(seconds() < 1 ? 9 : 0)"), {"power_w": [250.5, 250.5]}),
}


@pytest.mark.parametrize("name", NODES)
def test_a_node_is_read_as_far_as_its_driver_tells_and_the_run_ends_well(tmp_path, name):
    source, expected = NODES[name]
    environment = stand_in(tmp_path, source) | {"EVALSUITE_HOST": "n"}
    words = ("-o", str(tmp_path / "run"), "--device", "gpu", "--share", "--hz", "10", "--", "sleep", "0.5")

    said = subprocess.run([sys.executable, "-c", LOOK], env=environment, capture_output=True, text=True, timeout=60)
    run = [sys.executable, "-m", "evalsuite", "sample", *words]
    subprocess.run(run, env=environment, check=True, timeout=120)

    assert said.returncode == 0, said.stderr
    seen = json.loads(said.stdout)
    assert {key: seen[key] for key in expected} == expected
    samples, agent = RunFolder(tmp_path / "run").samples("n"), RunFolder(tmp_path / "run").agents()["n"]
    assert {str(gpu.index): gpu.uuid for gpu in samples.header.gpus} == seen["uuid"]
    assert [gpu.of_job for gpu in samples.header.gpus] == [True] + [False] * (len(seen["uuid"]) - 1)
    assert (agent.reading_s > 0.3) is (name == "slow answers")
    assert agent.samples_missed or name != "slow answers"


def test_every_value_is_read_with_its_unit_the_driver_is_named_and_the_json_holds_all(sampled):
    header, samples, environment = sampled(library("READINGS"))
    device = Gpu(index=1, kind="gpu", vendor="NVIDIA", uuid="GPU-00001", name="Stand-in 1", compute_capability="7.0")
    last = replace(samples[-2].gpus[1], pcie_received_bytes_per_s=None, pcie_sent_bytes_per_s=None)
    pcie = {(gpu.pcie_received_bytes_per_s, gpu.pcie_sent_bytes_per_s) for sample in samples for gpu in sample.gpus}

    assert header.gpus[1] == replace(device, memory_total_bytes=16 << 30, power_limit_w=300.0, of_job=False)
    assert last == GpuReading(
        index=1, utilisation_percent=91, memory_used_bytes=4 << 30, power_w=250.5,
        temperature_c=61, sm_clock_mhz=1410, memory_clock_mhz=1215,
    )  # fmt: skip
    assert pcie - {(None, None)} == {(31 << 16, 16 << 16)}  # kept in 64 KiB/s
    assert (environment.driver, environment.cuda_driver) == ("550.54.15", "12.4")
    assert [gpu.name for gpu in environment.gpus] == ["Stand-in 0", "Stand-in 1"]
    assert type(header).from_json(json.loads(json.dumps(header.to_json(), allow_nan=False)), "n") == header
    assert all(json.dumps(asdict(sample), allow_nan=False) for sample in samples)


def test_what_the_driver_does_not_have_is_absent_and_without_it_there_is_no_device(sampled):
    header, samples, environment = sampled(library(), seconds="0.1")
    assert all(gpu == GpuReading(index=0) for gpu in samples[0].gpus or ())
    assert (header.gpus[0].memory_total_bytes, environment.driver) == (None, None)

    driver_not_loaded = 9
    header, samples, _ = sampled(library("READINGS", init=driver_not_loaded), seconds="0.1")
    assert header.gpus == ()
    assert samples[0].gpus == ()


def test_what_the_driver_keeps_for_itself_is_not_used_memory_and_a_lost_device_gives_no_value(sampled):
    _, samples, _ = sampled(library("READINGS", "NEWER_MEMORY"), seconds="0.1")
    assert samples[0].gpus[0].memory_used_bytes == 3 << 30

    source = library(PARTS["READINGS"].replace("ret nvmlDeviceGetUtilizationRates", "ret unused"), LOST)
    _, samples, _ = sampled(source, seconds="0.1")
    assert samples[0].gpus[0].utilisation_percent is None
    assert samples[0].gpus[0].power_w == pytest.approx(250.5)


def test_only_the_devices_of_the_job_count_as_used(sampled):
    header, samples, _ = sampled(library("READINGS"), CUDA_VISIBLE_DEVICES="1")

    used, findings = utilisation.of_job(
        {"n": runfolders.sampled(header, samples)}, Window(first_step=1, last_step=2, steps=2, begin_s=0.1, end_s=1.1)
    )
    figures = {reading.resource: reading for reading in used}
    assert [gpu.of_job for gpu in header.gpus] == [False, True]
    assert figures["gpu"].mean == pytest.approx(91)
    assert figures["gpu_memory"].mean == pytest.approx(25.0)
    assert (figures["gpu_power"].mean, figures["gpu_power"].capacity) == (pytest.approx(250.5), pytest.approx(300.0))
    assert [each for each in findings if not isinstance(each, ThinSamples)] == []  # a busy machine samples late


def test_what_newer_devices_tell_is_read_and_absent_on_those_that_do_not(sampled):
    header, samples, _ = sampled(library("READINGS", "BEYOND", "XIDS", "GPM"), CUDA_VISIBLE_DEVICES="0")

    told, silent = samples[-1].gpus
    assert (told.energy_j, told.clock_limits) == (5.0, 0x44)
    own = [(sample.gpus[0].utilisation_mean_percent, sample.gpus[0].utilisation_samples) for sample in samples[:3]]
    assert own == [(None, None), (62, 0), (63.5, 2)]  # the newest holds until the next
    window = Window(first_step=1, last_step=2, steps=2, begin_s=samples[1].at_s, end_s=samples[3].at_s)
    used, _ = utilisation.of_job({"n": runfolders.sampled(header, samples)}, window)
    (gpu,) = (each for each in used if each.resource == "gpu")
    assert (gpu.samples, 63 < gpu.mean < 66) == (4, True)  # of its own samples, not of the moments (90 %)
    assert gpu.coverage == pytest.approx(1.0)
    assert silent.utilisation_mean_percent is silent.utilisation_samples is None
    first = samples[0].gpus[0]  # told every few seconds
    assert (first.memory_errors_uncorrected, told.memory_errors_uncorrected) == (1, None)
    assert (told.link_received_bytes, told.link_sent_bytes) == (8 << 10, 16 << 10)
    assert told.driver_errors == 2
    assert (told.tensor_active_percent, told.memory_bandwidth_percent) == (50.0, 100.0)
    assert silent.driver_errors is silent.tensor_active_percent is None
    assert silent.energy_j == 5.0
    assert first.tensor_active_percent is None  # nothing from before the run


def test_the_look_at_a_node_names_what_is_on_its_devices_as_far_as_the_driver_tells(tmp_path):
    node = looked_at(tmp_path, library("READINGS", "PROCESSES"))
    found = [(device["device"], device["pid"], device.get("memory_bytes")) for device in node["facts"]["on_devices"]]
    assert found == [(0, 1, 3 << 30), (1, 2, None)]
    assert "nodes.on_devices" in [check["detail"]["id"] for check in node["checks"]]

    node = looked_at(tmp_path, library("READINGS"))
    assert node["facts"]["devices"] == 2 and "on_devices" not in node["facts"]


def test_the_look_at_a_node_says_how_its_devices_are_set(tmp_path):
    node = looked_at(tmp_path, library("READINGS", "SETTINGS"))

    found = [(pitfall["seen"]["id"], pitfall["seen"]["values"]["gpus"]) for pitfall in node["facts"]["pitfalls"]]
    assert found == [("machine.sm_clock_mhz_lowered", [0, 1]), ("machine.not_persistent", [0])]
    assert [check["detail"] for check in node["checks"]].count(node["facts"]["pitfalls"][0]["seen"]) == 1


@pytest.fixture
def shown(tmp_path):
    """What a command prints that the agent shows so many of the node's devices, and the run's folder."""

    def run(asked, *command, devices=2):
        environment, folder = stand_in(tmp_path, library("READINGS", devices=devices)), tmp_path / asked
        words = ("-o", str(folder), "--device", "gpu", "--devices-per-node", asked, "--", *command)
        line = ["env", "EVALSUITE_HOST=n", sys.executable, "-m", "evalsuite", "sample", *words]
        return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300), folder

    return run


def test_a_command_is_shown_its_devices_by_uuid_and_one_that_needs_more_is_not_started(shown):
    said, headers = {}, {}
    for asked in ("1", "2", "3"):
        ended, folder = shown(asked, "printenv", "CUDA_VISIBLE_DEVICES")
        said[asked] = (ended.returncode, ended.stdout.strip())
        headers[asked] = ended.stderr if ended.returncode else RunFolder(folder).samples("n").header

    assert said == {"1": (0, "GPU-00000"), "2": (0, "GPU-00000,GPU-00001"), "3": (126, "")}
    assert [gpu.of_job for gpu in headers["1"].gpus] == [True, False]
    assert "this host shows 2 devices; the case needs 3" in headers["3"]


def test_pytorch_counts_of_eight_devices_those_that_it_is_shown(shown):
    """Its own reading of UUIDs and of NVML, by which `torch.cuda.device_count` begins; a build for CPUs has it, too."""
    python = virtualenvs.ensure(registry.discover()["pytorch"].recipe("reference-face-tiny-split"), progress=print)
    words = (python, "-W", "ignore", "-c", "import torch; print(torch.cuda._device_count_nvml())")

    assert [shown(asked, *words, devices=8)[0].stdout.strip() for asked in ("1", "2", "8")] == ["1", "2", "8"]
