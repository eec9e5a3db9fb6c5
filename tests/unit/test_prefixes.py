"""What launchers write before each line does not break a report that spans several lines."""

from pathlib import Path

import pytest

from evalsuite.logs import catalogue
from evalsuite.logs.reading import Reading, read_file
from evalsuite.logs.text.logfile import chunks, prefix_of_lowest

LOGS = Path(__file__).resolve().parents[1] / "logs"
DIALECTS = catalogue.discover()
LAUNCHERS = {
    "mpirun --tag-output": "[1,{rank}]<stdout>:",
    "mpirun --tag-output, standard error": "[1,{rank}]<stderr>:",
    "horovodrun --gloo": "[{rank}]<stdout>:",
    "srun --label": "{rank}: ",
    "srun --label of many": " {rank}: ",
    "torchrun --tee": "[default{rank}]:",
    "torchrun's ranks": "[rank{rank}]: ",
}
SPANNING = [
    *("composer.log", "olmo_core.log", "mindformers.log", "hf_trainer.log", "trl.log", "metric_logger_dino.log"),
    "swin.log",
]


def read(path: Path) -> Reading:
    return read_file(path, dialects=DIALECTS, devices=8, batch_per_device=4)


@pytest.mark.parametrize("name", SPANNING)
@pytest.mark.parametrize("prefix", LAUNCHERS.values(), ids=LAUNCHERS)
def test_a_log_behind_a_prefix_is_read_as_without(tmp_path, name, prefix):
    plain = read(LOGS / name)
    log = tmp_path / name
    lines = (LOGS / name).read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(prefix.format(rank=0).encode() + line for line in lines))

    found = read(log)

    assert found.dialect == plain.dialect
    assert found.throughput.items_per_s == pytest.approx(plain.throughput.items_per_s)
    assert [step.line for step in found.steps] == [step.line for step in plain.steps]


@pytest.mark.parametrize("prefix", LAUNCHERS.values(), ids=LAUNCHERS)
def test_what_other_ranks_say_between_reports_is_in_nobodys_way(tmp_path, prefix):
    text = (LOGS / "composer.log").read_text()
    marked = [prefix.format(rank=0) + line for line in text.splitlines()]
    warned = [prefix.format(rank=rank) + "a warning of another rank" for rank in (3, 7)]
    begins = [place for place, line in enumerate(marked) if line.endswith("]:")]
    for place in reversed(begins[10::10]):
        marked[place:place] = warned
    log = tmp_path / "train.log"
    log.write_text("\n".join(marked) + "\n")

    assert read(log).throughput.items_per_s == pytest.approx(read(LOGS / "composer.log").throughput.items_per_s)


def test_where_a_line_stood_in_the_file_is_not_forgotten(tmp_path):
    log = tmp_path / "train.log"
    lines = [f"[1,0]<stdout>:\x1b[32mstep {number}\x1b[0m of many\n" for number in range(20)]
    log.write_text("".join(lines))

    (chunk,) = chunks(log, bare=True)

    assert chunk.text == b"".join(b"step %d of many\n" % number for number in range(20))
    ends = [chunk.raw_offset(place + 1) for place, byte in enumerate(chunk.text) if byte == ord("\n")]
    assert ends == [sum(map(len, lines[: number + 1])) for number in range(20)]


@pytest.mark.parametrize(
    "text",
    [
        "957: 0.660188, 0.689227 avg loss\n958: 0.6, 0.6 avg loss\n959: 0.5, 0.5 avg loss\n960: 0.4, 0.4 avg loss\n",
        "0: one\nmuch else\nmuch else\nmuch else\nmuch else\n0: two\n0: three\nmuch else\n",
        "[rank 0] said\n[rank 0] this\n[rank 0] itself\n",
        "",
    ],
    ids=["step numbers", "a few lines alone", "a script's own tag", "nothing"],
)
def test_what_no_launcher_wrote_stays(text):
    assert prefix_of_lowest(text.encode()) is None


def test_the_lines_of_other_ranks_keep_their_mark():
    text = b"".join(b"[default%d]:loss 1.0\n" % rank for rank in (5, 2, 5, 2, 5, 2, 5))

    assert prefix_of_lowest(text).sub(b"", text).splitlines() == [b"[default5]:loss 1.0", b"loss 1.0"] * 3 + [
        b"[default5]:loss 1.0"
    ]


def test_a_dialect_spans_lines_if_its_samples_do():
    assert (DIALECTS["composer"].spans_lines, DIALECTS["torchtitan"].spans_lines) == (True, False)
