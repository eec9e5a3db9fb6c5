"""A log that no dialect fits: which is nearest, and a dialect file drafted from one of its lines."""

import json
import re
from pathlib import Path

import pytest

from evalsuite.cli import main
from evalsuite.dialect import Dialect
from evalsuite.errors import Exit
from evalsuite.logs import catalogue, sampling
from evalsuite.logs.drafting import draft
from evalsuite.logs.explaining import explained

DIALECTS = catalogue.discover()
TITAN = (
    "[titan] 2025-06-16 22:31:18,934 - root - INFO - step: {step}  loss:  6.0348  memory: 49.66GiB(52.28%)  "
    "speed: 5,868 tok/s  mfu: 34.36%\n"
)
TOY = "[toynet] epoch {epoch} step {step:4d}/100 loss 2.31 lr 1e-05 speed 812.5 img/s\n"


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "toynet.log"
    lines = (TOY.format(epoch=epoch, step=step) for epoch in range(3) for step in range(10, 101, 10))
    path.write_text("loading data\n" + "".join(lines))
    return path


def test_the_nearest_dialect_is_named_with_what_the_line_lacks(tmp_path):
    log = tmp_path / "train.log"
    log.write_text("building the model\n" + TITAN.format(step=220))

    near = explained(log, DIALECTS).nearest[0]

    assert (near.name, near.number) == ("torchtitan", 2)
    assert set(near.found) == {"step", "loss"}
    assert [(part.group, part.sample) for part in near.missing] == [("rate", "tps: 5,868")]


def test_prose_is_near_to_nothing(tmp_path):
    log = tmp_path / "notes.txt"
    log.write_text("In step 3 of the recipe 2 eggs are beaten.\nChapter 12 was at a loss for words on page 7.\n")

    assert explained(log, DIALECTS).nearest == ()


def test_the_command_says_what_is_near_and_how_to_go_on(tmp_path, capsys):
    log = tmp_path / "train.log"
    log.write_text(TITAN.format(step=220))

    assert main(["dialects", "--explain", str(log)]) == Exit.NOTHING_MEASURED
    said = capsys.readouterr().out
    assert 'has step, loss; lacks rate, there "tps: 5,868"' in said
    assert "--draft" in said


def drafted(capsys, folder: Path, log: Path, asked: str) -> Path:
    capsys.readouterr()
    assert main(["dialects", "--explain", str(log), "--draft", asked]) == Exit.DONE
    folder.mkdir(exist_ok=True)
    module = folder / "drafted.py"
    module.write_text(capsys.readouterr().out)
    return module


@pytest.mark.parametrize(
    "asked",
    [
        "speed 812.5",
        "2",
        TOY.format(epoch=0, step=40).strip(),
        r"toynet.*speed \d+",
        r"\[toynet\] epoch (?P<epoch>\d+) step +(?P<step>\d+)/(?P<of>\d+) .*speed (?P<rate>[\d.]+) img/s",
    ],
)
def test_a_draft_is_read_and_the_check_names_only_what_its_author_must_know(toy, tmp_path, capsys, asked):
    module = drafted(capsys, tmp_path / "mine", toy, asked)

    code = main(["dialects", "--check", str(module), "--log", str(toy)])
    said = capsys.readouterr().out
    main(["parse", str(toy), "--dialects", str(module.parent), "--scope", "per_device", "--devices", "2", "--json"])
    (found,) = json.loads(capsys.readouterr().out)

    assert code == Exit.UNDETERMINED
    assert said.count("missing: ") == 2
    assert "nobody knows whose rate is printed" in said
    assert "no place in a repository" in said
    assert (found["dialect"], found["throughput"], found["unit"]) == ("my_toynet", 1625.0, "images/s")


def test_a_draft_whose_two_open_places_are_filled_is_complete(toy, tmp_path, capsys):
    module = drafted(capsys, tmp_path / "mine", toy, "speed")
    text = module.read_text().replace('"unstated"', '"global"')
    module.write_text(text.replace("to be said: OWNER/REPOSITORY@COMMIT:FILE that", "a/b@1f2e3d4:train.py, which"))

    assert main(["dialects", "--check", str(module), "--log", str(toy)]) == Exit.DONE
    assert 'steps_restart="epoch"' in text  # its steps begin anew in each epoch


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            "I1109 10:43:23.5 9709 solver.cpp:219] Iteration 450 (0.170016 iter/s, 58.8181s/10 iters), loss = 0.0145",
            {"step": "450", "steps_per_s": "0.170016", "loss": "0.0145"},
        ),
        ("step 7 | train loss 3.2e-1 | dt: 338.5ms | 12.3K tok/s", {"step": "7", "loss": "3.2e-1", "ms": "338.5"}),
        ("iter: 10/500, val_loss: 3.1, loss: nan, step time: 0.25 s", {"step": "10", "of": "500", "loss": "nan"}),
        ("{'step': 40, 'loss': 2.5, 'samples_per_second': 81.5}", {"step": "40", "loss": "2.5", "rate": "81.5"}),
        ("loss=3.1 step_time=0.512 img_per_s=500.0", {"loss": "3.1", "seconds": "0.512", "rate": "500.0"}),
        ("batch 12 data time: 0.01 s, 250 ms/step", {"step": "12", "ms": "250"}),
        ("epoch 3 throughput=1,024.5", {"epoch": "3", "rate": "1,024.5"}),
        ("Step 5: elapsed time 12.5 s", {"step": "5", "elapsed_s": "12.5"}),
        ("Iter: 1000 Time(1000 iters): 3.845114s Loss: 0.129559", {"step": "1000", "loss": "0.129559"}),
        ("lr:2e-05 tokens_per_second_per_gpu:4096.0", {"rate": "4096.0"}),
        ("[Iteration 100][Epoch 1, Batch 100/115] speed: 4433.8", {"step": "100", "epoch": "1", "rate": "4433.8"}),
        ("2.0 seconds, 7.33 examples/second between steps 0 and 2", {"rate": "7.33"}),
    ],
)
def test_numbers_are_told_by_their_names_and_units(line, found):
    made = draft(line.encode(), "mine")

    assert made is not None
    assert found.items() <= made.found.items()
    assert "0.01" not in made.found.values()


@pytest.mark.parametrize(
    "line",
    ['{"datetime": "2022-10-02 07:29:43", "step": 1}', "step 3 dt=84.3", "step 2000 time 1606135175.5 loss 0.1299"],
    ids=["a date", "a time without its unit", "seconds since 1970"],
)
def test_no_other_number_is_taken_for_the_seconds_of_a_step(line):
    made = draft(line.encode(), "mine")

    assert made is not None
    assert made.found.keys() <= {"step", "loss"}
    assert "no rate and no time was recognised" in made.text


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_draft_of_any_known_line_is_a_dialect_that_reads_it(name):
    for line in DIALECTS[name].step:
        made = draft(line.sample, "mine")
        if made is None:
            continue  # a line of a kind whose numbers have no names
        module: dict[str, tuple[Dialect, ...]] = {}
        exec(made.text, module)
        (drafted,) = module["DIALECTS"]

        drafted.check("drafted.py")


def test_a_draft_holds_for_the_lines_around_the_one_it_was_made_of():
    made = draft(b"[12:00:01] step     9/500: loss 2.5, 81.5 img/s", "mine")

    assert made is not None
    assert re.search(made.pattern, b"[12:00:09] step   199/500: loss 2.25, gradient 1.0, 100.0 img/s")
    assert not re.search(made.pattern, b"[12:00:09] validation loss 2.25")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("not in it", 'no line of it holds or matches "not in it"'),
        ("loading data", "no number stands beside a name"),
        (r"speed (?P<velocity>\d+)", "unknown group velocity"),
    ],
)
def test_what_cannot_be_drafted_is_said(toy, capsys, asked, said):
    assert main(["dialects", "--explain", str(toy), "--draft", asked]) == Exit.USAGE
    assert said in capsys.readouterr().err


def test_a_draft_needs_a_log(capsys):
    assert main(["dialects", "--draft", "step"]) == Exit.USAGE
    assert "--explain LOG" in capsys.readouterr().err


def test_of_a_large_log_a_part_is_looked_at_and_its_lines_keep_their_numbers(tmp_path, monkeypatch):
    for name, size in (("WHOLE_BYTES", 4000), ("HEAD_BYTES", 1000), ("PART_BYTES", 1000), ("BLOCK_BYTES", 700)):
        monkeypatch.setattr(sampling, name, size)
    log = tmp_path / "large.log"
    lines = [f"line {number:5d} of much noise" for number in range(1, 9001)]
    log.write_text("\n".join(lines) + "\n")

    seen = {}
    for piece in sampling.pieces(log):
        for number, text in enumerate(piece.text.decode().split("\n")[:-1], piece.first_line):
            seen[number] = text

    assert {number: lines[number - 1] for number in seen} == seen
    assert {9000, 4510} <= seen.keys()
    assert len(seen) < 800
    assert "in the middle and the last" in sampling.sampled(log)


def test_how_far_a_log_is_read_is_told(toy):
    told = []

    explained(toy, DIALECTS, watcher=told.append)
    list(sampling.pieces(toy, told.append))

    assert told == [0]
