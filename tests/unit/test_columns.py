"""The packed samples: what was read comes back within the resolution, in little space, and damage is said."""

import gzip
import json
from dataclasses import fields, replace

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsuite import cli
from evalsuite.core.documents import Gpu, Interface
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Window
from evalsuite.results.samples import sample_arrays, utilisation
from evalsuite.runs import columns, samples
from evalsuite.runs.endings import Outcome
from evalsuite.runs.samples import (
    DiskCounters,
    FilesystemCounters,
    GpuReading,
    Header,
    InterfaceCounters,
    Sample,
    TreeReading,
)
from evalsuite.runs.store import RunFolder
from tests import runfolders, sources

HEADER = Header(
    hz=2.0,
    started_at_unix_s=1767225600.25,
    memory_total_bytes=512 * 2**30,
    disks=("sda",),
    interfaces={"eth0.7": Interface(speed_mbit_s=1000)},
    gpus=(Gpu(index=0), Gpu(index=7)),
)


def whole(at_s, **others):
    return replace(
        Sample(
            at_s=at_s,
            cpu_percent=12.34,
            memory_used_bytes=3 * 2**30,
            disks={"sda": DiskCounters(read_bytes=512_000, write_bytes=0, read_operations=7, write_operations=9)},
            interfaces={"eth0.7": InterfaceCounters(received_bytes=2**52 + 512, sent_bytes=512)},
            filesystems={"nfs:fs:/data": FilesystemCounters(read_bytes=2**41 + 3, write_bytes=0, operations=11)},
            tree=TreeReading(cpu_s=1.234, memory_bytes=2**20),
            gpus=(GpuReading(index=0, power_w=612.3, sm_clock_mhz=1980), GpuReading(index=7, energy_j=123456789.1)),
        ),
        **others,
    )


def written(folder, readings, header=HEADER):
    """A folder with these samples as lines, and then packed."""
    lines = [header.to_json(), *(reading.to_json() for reading in readings)]
    found = RunFolder(folder)
    found.samples_path("n").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found.pack_samples("n")
    return found


def test_what_was_read_comes_back_and_the_lines_are_gone(tmp_path):
    readings = (whole(0.000223), whole(0.5, cpu_percent=None, tree=None), whole(1.012345, gpus=()))

    folder = written(tmp_path, readings)

    assert folder.samples("n").header == HEADER
    assert runfolders.readings(folder.samples("n")) == readings
    assert [file.name for file in tmp_path.iterdir()] == ["samples.n.columns"]


def test_a_device_that_comes_late_or_is_lost_has_no_value_and_a_long_run_several_blocks(tmp_path, monkeypatch):
    late, lost = GpuReading(index=7, power_w=70.0), GpuReading(index=0, power_w=300.0)
    readings = (Sample(at_s=0.0, gpus=(lost,)), Sample(at_s=0.5, gpus=(lost, late)), Sample(at_s=1.0, gpus=(late,)))
    assert runfolders.readings(written(tmp_path, readings).samples("n")) == readings

    monkeypatch.setattr(columns, "BLOCK", 3)
    readings = tuple(Sample(at_s=place / 2, memory_used_bytes=2**16 * place**3, gpus=()) for place in range(10))
    found = written(tmp_path, readings).samples("n")
    assert runfolders.readings(found) == readings


@pytest.mark.parametrize("block", [3, columns.BLOCK])
def test_arrays_hold_what_the_lists_hold(tmp_path, monkeypatch, block):
    monkeypatch.setattr(columns, "BLOCK", block)
    readings = [whole(place / 2, memory_used_bytes=1024 * place**3) for place in range(8)]
    packed = written(tmp_path, [*readings, whole(4.0, cpu_percent=None, gpus=())]).samples("n")

    for name, rows in packed.tables.items():
        found = sample_arrays.table_of(packed, name)
        lists = numpy.where(numpy.isnan(found.values), None, found.values).tolist()

        assert dict(zip(found.of, lists, strict=True)) == rows


def test_a_file_without_a_header_stays_as_it_is(tmp_path):
    folder = RunFolder(tmp_path)
    folder.samples_path("n").write_text('{"header": tr')
    folder.pack_samples("n")
    assert [file.name for file in tmp_path.iterdir()] == ["samples.n.jsonl"]


@pytest.mark.parametrize(("line", "said"), sources.table("columns.toml")["no_readings"])
def test_a_line_that_is_no_reading_is_said_with_its_quantity_and_stays(tmp_path, line, said):
    (file := RunFolder(tmp_path).samples_path("n")).write_text(f"{json.dumps(HEADER.to_json())}\n{json.dumps(line)}\n")

    for read in (RunFolder(tmp_path).samples, RunFolder(tmp_path).pack_samples):
        with pytest.raises(EvalsuiteError) as error:
            read("n")
        assert f"samples.n.jsonl:2: {said}" in str(error.value)
    assert [file] == list(tmp_path.iterdir())


def test_of_two_devices_with_one_number_the_first_counts_and_each_quantity_has_a_resolution():
    line = {"at_s": 0.0, "gpus": [{"index": 1, "power_w": 5.0}, {"index": 1, "power_w": 7.0}]}
    assert samples.reading(line, "file:1")["gpus.power_w", "1"] == 5.0

    gpu = GpuReading(**{each.name: 1.0 for each in fields(GpuReading)})
    everything = whole(0.0, gpus=(gpu,))
    assert runfolders.sampled(HEADER, [everything]).tables.keys() == samples.SCALES.keys()


numbers = st.one_of(st.none(), st.floats(-1e12, 1e12), st.integers(-(10**18), 10**18))


@given(values=st.lists(st.tuples(numbers, st.integers(0, 2**50)), min_size=1, max_size=30))
def test_any_value_comes_back_within_half_a_resolution(tmp_path_factory, values):
    readings = [
        Sample(
            at_s=float(place),
            cpu_percent=percent,
            interfaces={"a": InterfaceCounters(received_bytes=count, sent_bytes=0)},
        )
        for place, (percent, count) in enumerate(values)
    ]

    tables = written(tmp_path_factory.mktemp("run"), readings).samples("n").tables

    for name, rows in runfolders.sampled(HEADER, readings).tables.items():
        assert tables[name].keys() == rows.keys()
        for device, row in rows.items():
            for after, before in zip(tables[name][device], row, strict=True):
                half = 0.500001 / samples.SCALES[name] + 1e-15 * abs(before or 0)
                assert (after is None) == (before is None)
                assert after is None or after == pytest.approx(before, rel=0, abs=half)


def test_any_cut_is_said_with_the_file_and_any_changed_byte_is_said_or_changes_nothing(tmp_path):
    readings = (whole(0.0), whole(0.5), whole(1.0, cpu_percent=None))
    folder = written(tmp_path, readings)
    packed = folder.packed_samples_path("n")
    content = packed.read_bytes()

    for end in range(len(content)):
        packed.write_bytes(content[:end])
        with pytest.raises(EvalsuiteError, match=r"samples\.n\.columns: .*; expected the packed samples"):
            folder.samples("n")
    for place in range(len(content)):
        packed.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        try:
            found = runfolders.readings(folder.samples("n"))
        except EvalsuiteError as error:
            assert "samples.n.columns: " in str(error)
        else:
            assert found == readings


def test_a_file_that_would_swell_or_a_quantity_of_another_length_is_refused(tmp_path, monkeypatch):
    for rows in ({"": [0]}, {"": [0, 1], "1": []}, {"": [0], "1": [0, 1, 2]}):
        lines = [HEADER.to_json(), {"readings": 2, "quantities": {"at_s": 1}}, rows]
        text = "\n".join(map(json.dumps, lines)).replace(" ", "")
        RunFolder(tmp_path).packed_samples_path("n").write_bytes(gzip.compress(text.encode()))
        with pytest.raises(EvalsuiteError, match="at_s has another number of readings than its block"):
            sample_arrays.table_of(RunFolder(tmp_path).samples("n"), "at_s")

    monkeypatch.setattr(columns, "MOST_BYTES", 100)
    written(tmp_path, [whole(0.0), whole(0.5)])
    with pytest.raises(EvalsuiteError, match="it is cut off, or holds more than it should"):
        RunFolder(tmp_path).samples("n")


def test_the_hash_of_the_packed_file_is_in_the_outcome(tmp_path):
    folder = written(tmp_path, [whole(0.0)])
    folder.write_outcome(Outcome(status="completed", reason=""))

    assert list(folder.outcome().sha256) == ["samples.n.columns"]
    folder.packed_samples_path("n").write_bytes(b"another")
    assert folder.changed(folder.outcome()) == ("samples.n.columns",)


def test_the_samples_of_a_run_are_printed_as_a_table(tmp_path, capsys):
    written(tmp_path, [Sample(at_s=0.0, cpu_percent=None), Sample(at_s=0.5, cpu_percent=7.25)])
    disk = DiskCounters(read_bytes=1024, write_bytes=0, read_operations=2, write_operations=0)
    other = {"header": True, "hz": 2.0}
    line = Sample(at_s=0.25, disks={"sda": disk}).to_json()
    RunFolder(tmp_path).samples_path("m").write_text(json.dumps(other) + "\n" + json.dumps(line) + "\n")

    assert cli.main(["sample", "--csv", str(tmp_path)]) == 0
    head, *lines = capsys.readouterr().out.splitlines()

    assert head.startswith("host,at_s,disks.read_bytes[sda],") and head.endswith(",cpu_percent")
    assert lines == ["m,0.25,1024,0,2,0,", "n,0.0,,,,,", "n,0.5,,,,,7.25"]


@pytest.mark.parametrize(("words", "said"), sources.table("columns.toml")["nothing"])
def test_a_table_of_nothing_is_said(tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)

    assert cli.main(["sample", *words]) == 2
    assert said in capsys.readouterr().err


def busy(at_s, place):
    """A sample of two devices, of which the second is not always read, every value a whole number of its resolution."""
    second = (GpuReading(index=1, utilisation_percent=40.0, power_w=0.1 * place),) if place % 5 else ()
    return Sample(
        at_s=at_s,
        cpu_percent=None if place in (0, 7) else float(place % 100),
        memory_used_bytes=2**16 * (1000 + place),
        interfaces={"eth0": InterfaceCounters(received_bytes=512 * place**3, sent_bytes=512 * 7 * place)},
        tree=TreeReading(cpu_s=place / 8, memory_bytes=2**16 * place),
        gpus=(GpuReading(index=0, utilisation_percent=90.5, pcie_sent_bytes_per_s=2**16 * place), *second),
    )


def test_packed_samples_of_several_hosts_give_the_figures_of_their_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "BLOCK", 50)
    gpus = tuple(Gpu(index=place, memory_total_bytes=2**34, power_limit_w=300.0) for place in range(2))
    lines, packed = {}, {}
    for place, host in enumerate(("a", "b", "c")):
        header = Header(
            hz=2.0,
            started_at_unix_s=1000.0 + place / 8,
            cpu_count=4.0,
            memory_total_bytes=2**30,
            interfaces={"eth0": Interface()},
            gpus=gpus,
        )
        readings = tuple(busy(number * 0.5 + 0.01 * (number % 3), number + place) for number in range(120))
        lines[host] = runfolders.sampled(header, readings)
        (tmp_path / host).mkdir()
        packed[host] = written(tmp_path / host, readings, header).samples("n")
    window = Window(first_step=1, last_step=2, steps=2, begin_s=5.2, end_s=50.1)
    planned = utilisation.Devices(nodes=3, accelerators=6)

    of_lines, said = utilisation.of_job(lines, window, planned=planned)
    of_packed, said_too = utilisation.of_job(packed, window, planned=planned)

    assert len(of_lines) == 7 and said == said_too
    for one, other in zip(of_lines, of_packed, strict=True):
        assert (other.resource, other.samples) == (one.resource, one.samples)
        assert (other.mean, other.p5, other.p95) == pytest.approx((one.mean, one.p5, one.p95), rel=1e-12)
    assert packed["c"].span_s == lines["c"].span_s == (0.0, 59.52)


@pytest.mark.parametrize("distinct", [1, 3, 10**6])
def test_a_percentile_of_many_values_is_that_of_all_of_them_sorted(distinct):
    random = numpy.random.default_rng(7)
    values, seconds = random.integers(0, distinct, 50_000) / 8, random.random(50_000) + 0.4
    order = values.argsort()

    for share in (0.05, 0.5, 0.95):
        below = seconds[order].cumsum() < share * seconds.sum()
        found = sample_arrays.percentiles(values, seconds, float(seconds.sum()), [share])[0]
        assert found == values[order][below.sum()]
