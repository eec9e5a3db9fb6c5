"""Run histories of other tools: files that real libraries wrote (`tests/exports/make.py`), and ways to spoil them."""

import json
import re
import shutil
import sqlite3
from pathlib import Path

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsuite.cli import main
from evalsuite.commands import trackers
from evalsuite.core.errors import Exit
from evalsuite.importing import histories, scalar_records
from evalsuite.results.measure.measurement import measurement
from evalsuite.runs.store import Store
from tests import runfolders

EXPORTS = Path(__file__).resolve().parents[1] / "exports"
SIZE = "--set devices=8 --set batch=4"
WHAT = f"--set framework=pytorch --set model=gpt2 {SIZE}"
OF_SEEDS = [81_000.0, 81_920.0]  # tokens/s, to a thousandth
HF = 897.563  # as it is printed
EVENTS = next((EXPORTS / "runs" / "base-seed1").iterdir())
WANDB = next(EXPORTS.glob("wandb/*/*.wandb"))


@pytest.fixture
def ask(tmp_path, capsys, monkeypatch):
    """A command in a folder of its own: (exit code, its JSON, standard error)."""
    monkeypatch.chdir(tmp_path)

    def asked(words):
        code = main([*words.split(), *(["--json"] if not words.startswith("report") else [])])
        said = capsys.readouterr()
        return code, json.loads(said.out) if said.out else [], said.err

    return asked


def panel(*columns, axis="Step", rows=160):
    """W&B's chart as CSV: columns of (run, tag, value)."""
    heads = [f'"{run} - {tag}{end}"' for run, tag, _ in columns for end in ("", "__MIN", "__MAX")]
    lines = (
        ",".join(f'"{cell}"' for cell in (10 * row, *(v + row % 3 for *_, v in columns for _ in range(3))))
        for row in range(rows)
    )
    return "\n".join([",".join([f'"{axis}"', *heads]), *lines]) + "\n"


@pytest.mark.parametrize(
    ("place", "unit", "values"),
    [
        *((place, "tokens/s", OF_SEEDS) for place in ("runs", "wandb", "mlruns", "trackio", "mlflow")),
        ("lightning_logs", "samples/s", [512.5]),
        ("hf", "samples/s", [HF]),
        ("sb3", "timesteps/s", [4096.0]),
    ],
)
def test_a_folder_of_a_tracker_holds_a_run_a_file_or_column(place, unit, values, ask):
    code, rows, _ = ask(f"parse {EXPORTS / place}")

    assert (code, {row["unit"] for row in rows}) == (Exit.DONE, {unit})
    assert sorted(row["throughput"] for row in rows) == pytest.approx(values, rel=1e-3)


@pytest.mark.parametrize("place", ["wandb", "mlruns", "trackio", "mlflow"])
def test_what_a_tracker_recorded_needs_no_option_and_seeds_are_repeats(place, ask):
    code, rows, _ = ask(f"import {EXPORTS / place}")

    assert (code, [row["run"][-3:] for row in rows]) == (Exit.DONE, ["/r0", "/r1"])
    assert {
        (case.framework, case.model, case.scale)
        for case in (folder.run().case for folder in Store(Path("runs")).finished())
    } == {("pytorch", "gpt2", "1x8")}


def test_a_run_is_the_same_wherever_it_stands(ask, tmp_path):
    shutil.copytree(EXPORTS / "wandb", tmp_path / "copy")
    ask(f"import {EXPORTS / 'wandb'}")

    _, rows, _ = ask("import copy")

    assert [row["status"] for row in rows] == ["already there", "already there"]
    assert len(Store(Path("runs")).finished()) == 2


def test_a_panel_is_a_run_a_column_and_other_names_are_other_cases(ask, tmp_path):
    (tmp_path / "panel.csv").write_text(panel(("old", "tokens_per_sec", 88e3), ("new", "tokens_per_sec", 91e3)))

    code, rows, _ = ask(f"import panel.csv {WHAT}")

    assert code == Exit.DONE
    assert [dict(folder.run().case.options) for folder in Store(Path("runs")).finished()] == [
        {"run": "new"},
        {"run": "old"},
    ]
    assert [row["source"] for row in rows] == ["panel.csv: old", "panel.csv: new"]


def test_who_says_that_runs_are_one_thing_makes_them_repeats(ask, tmp_path):
    (tmp_path / "panel.csv").write_text(panel(("old", "tokens_per_sec", 88e3), ("new", "tokens_per_sec", 91e3)))

    _, rows, _ = ask(f"import panel.csv {WHAT} --set run=nightly")

    _, named, _ = ask(f"import {EXPORTS / 'runs'} --pattern {{framework}}-seed{{repeat}} --set model=gpt2 {SIZE}")
    assert [row["run"][-3:] for row in rows] == ["/r0", "/r1"] and "run=" not in named[0]["run"]


@pytest.mark.parametrize(
    ("tag", "unit", "whose"),
    [
        ("train/tokens_per_sec", "tokens/s", None),
        ("perf/per_device_tokens_per_sec", "tokens/s", "per_device"),
        ("throughput/device/samples_per_sec", "samples/s", "per_device"),
        ("train/images/s", "images/s", None),
        ("tps", "tokens/s", None),
    ],
)
def test_a_tag_says_by_its_name_what_it_counts(tag, unit, whose):
    chosen = histories.choose([tag, "eval/samples_per_second", "loss"])

    assert chosen.series == {"rate": (tag, 1.0), "loss": ("loss", 1.0)}
    assert (chosen.unit, chosen.per_device) == (unit, whose == "per_device")


@pytest.mark.parametrize(
    "tag", ["train_loss", "eval/tokens_per_sec", "lr", "system/gpu.0.powerWatts", "grad_norm", "epoch"]
)
def test_a_tag_that_is_no_throughput_gives_none_and_says_so(tag, ask, tmp_path):
    rows = "".join(f"{1756200000.25 + 5 * place},{10 * place},{3 - place / 20}\n" for place in range(40))
    (tmp_path / f"run-1_tag-{tag.replace('/', '_')}.csv").write_text(f"Wall time,Step,Value\n{rows}")

    _, (row,), _ = ask("parse .")

    assert (row["throughput"], row["unit"]) == (pytest.approx(2.0), "steps/s")  # by its wall time
    assert row["reason"].startswith("no series is by its name a rate or the time of a step")


@pytest.mark.parametrize(
    ("tag", "seconds"),
    [("perf/step_time_seconds", 1.0), ("step_time_ms", 1e-3), ("iteration-time", 1.0), ("s_per_step", 1.0)],
)
def test_a_tag_says_that_it_is_the_time_of_a_step_and_in_what(tag, seconds):
    assert histories.choose([tag, "data_time", "epoch_time"]).series == {"seconds": (tag, seconds)}


@pytest.mark.parametrize(
    ("settings", "devices"), [("n_gpus: 4", 4), ("n_gpus: 4\nnnodes: 2", None), ("world_size: 8\nnnodes: 2", 8)]
)
def test_devices_of_a_node_are_not_taken_for_those_of_several(settings, devices, ask, tmp_path):
    rows = "".join(f"{10 * place},{500 + place % 7}\n" for place in range(40))
    (tmp_path / "metrics.csv").write_text(f"step,samples_per_sec\n{rows}")
    (tmp_path / "hparams.yaml").write_text(f"{settings}\n")

    _, (row,), _ = ask("parse .")

    assert row["total_devices"] == devices


@pytest.mark.parametrize(("logged", "scope"), [(8_192, "per_device"), (65_536, "global")])
@pytest.mark.parametrize("length", ["max_seq_length", "block_size"])
def test_whose_tokens_a_series_counts_is_told_by_batch_sequence_and_clock(logged, scope, length, ask, tmp_path):
    rows = "".join(f"{10 * place},{1790000000.25 + 5 * place},{logged}\n" for place in range(1, 41))
    (tmp_path / "metrics.csv").write_text(f"step,_timestamp,tokens_per_sec\n{rows}")
    (tmp_path / "hparams.yaml").write_text(f"world_size: 8\nper_device_train_batch_size: 4\n{length}: 1024\n")

    _, (row,), _ = ask("parse metrics.csv")

    assert (row["throughput"], row["scope"], row["certainty"]) == (pytest.approx(65_536), scope, "two clocks agree")


def test_a_figure_of_each_device_is_not_the_job_s_where_nobody_says_how_many_there_are(ask, tmp_path):
    rows = "".join(f'{{"step": {at}, "perf/step_time": 0.5, "per_device_tokens_per_sec": 4096}}\n' for at in range(150))
    (tmp_path / "metrics.jsonl").write_text(rows)

    assert ask("parse metrics.jsonl")[1][0]["unit"] == "steps/s"
    assert ask("parse metrics.jsonl --devices 8")[1][0]["throughput"] == 8 * 4096


@pytest.mark.parametrize(
    ("name", "alike"),
    [
        ("base-seed1", "base"),
        ("base run 2", "base"),
        ("a#3", "a"),
        ("resnet-r50", "resnet-r50"),
        ("run1", "run1"),
    ],
)
def test_only_a_seed_or_number_of_the_run_is_left_out_of_its_name(name, alike):
    assert histories.without_seed(name) == alike


def test_a_unit_is_not_said_against_the_name_of_the_series():
    with pytest.raises(ValueError, match='unit: --set says "samples/s", and train/tokens_per_sec says "tokens/s"'):
        histories.choose(["train/tokens_per_sec"], "train/tokens_per_sec", "samples/s")


def test_steps_that_may_count_calls_of_log_are_no_clock(ask, tmp_path):
    rows = "".join(f"{place},{1756200000.25 + 5 * place},{3 - place / 20}\n" for place in range(40))
    (tmp_path / "history.csv").write_text(f"_step,_timestamp,loss\n{rows}")

    _, (row,), _ = ask("parse history.csv --devices 8 --batch-per-device 4")

    assert row["throughput"] is None
    assert ask(f"import history.csv {WHAT}")[0] == Exit.USAGE


@pytest.mark.parametrize("kept", [0.3, 0.7, 0.999])
@pytest.mark.parametrize(("file", "read"), [(EVENTS, scalar_records.event_file), (WANDB, scalar_records.wandb_file)])
def test_a_file_that_breaks_off_is_read_as_far_as_it_is_whole(file, read, kept):
    content = file.read_bytes()
    whole, part = read(content), read(content[: int(kept * len(content))])

    assert (whole[1], part[1]) == (False, True)
    assert part[0] == whole[0][: len(part[0])]


@given(st.binary(max_size=200), st.integers(0, 20_000))
def test_no_bytes_are_an_error_of_ours(spoilt, at):
    for file, read in ((EVENTS, scalar_records.event_file), (WANDB, scalar_records.wandb_file)):
        content = file.read_bytes()
        read(content[:16] + content[16:at] + spoilt + content[at + len(spoilt) :])


@pytest.mark.parametrize(
    "spoil", [lambda content: b"", lambda content: bytes(len(content)), lambda c: c[::-1], lambda c: c[:9]]
)
@pytest.mark.parametrize(("place", "files"), [("wandb", "*/*.wandb"), ("runs", "*/*tfevents*")])
def test_a_damaged_run_beside_others_is_named_and_they_are_read(place, files, spoil, ask, tmp_path):
    shutil.copytree(EXPORTS / place, tmp_path / "all")
    first, *_ = sorted((tmp_path / "all").glob(files))
    first.write_bytes(spoil(first.read_bytes()))

    code, rows, _ = ask("import all" if place == "wandb" else f"import all {WHAT}")

    assert (code, sum(row["run"] is None for row in rows)) == (Exit.SOME_FAILED, 1)
    (named,) = (row for row in rows if row["run"] is None)
    assert first.parent.name in named["source"] and "copy or export it again" in named["reason"].lower()
    assert ask(f"parse {first}")[0] == Exit.USAGE


@pytest.mark.parametrize("step", ["x", "1,000", "nan"])
def test_a_step_that_is_no_number_is_refused_and_not_counted_anew(step, ask, tmp_path):
    rows = "".join(f'"{step}",{1756200000.25 + 5 * place},512\n' for place in range(40))
    (tmp_path / "history.csv").write_text(f"step,_timestamp,samples_per_second\n{rows}")

    code, _, said = ask(f"import history.csv {WHAT}")

    assert code == Exit.USAGE and f'"{step}" as a step' in said


def test_a_view_without_end_in_a_tracker_s_place_is_not_read(ask, tmp_path):
    with sqlite3.connect(tmp_path / "a.db") as base:
        endless = "with recursive r(step) as (select 1 union all select step + 1 from r) select * from r"
        base.execute(f"create view metrics as {endless}")
    base.close()

    code, _, said = ask("import a.db")

    assert code == Exit.USAGE and "metrics is a view" in said


def test_fifty_runs_of_which_three_are_of_another_project_are_asked_for_once(ask, tmp_path):
    rows = [
        f"run-{place},{'other' if place % 20 == 1 else 'pretrain'},hf,gpt2,8,4,{500 + place}.5" for place in range(50)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["Name,Project,framework,model,n_gpus,batch,samples_per_sec", *rows]))

    code, _, said = ask("import t.csv")

    assert code == Exit.USAGE and not Path("runs").exists()
    assert "50 runs of several projects: pretrain (47), other (3); nothing was written" in said
    assert len(ask("import t.csv --set project=pretrain")[1]) == 47


def test_what_is_missing_is_asked_once_for_all(ask):
    code, rows, _ = ask(f"import {EXPORTS / 'runs'}")
    asked, _, line = ask(f"report {EXPORTS / 'runs'}")

    assert (code, asked) == (Exit.USAGE, Exit.USAGE) and not Path("runs").exists()
    assert len({row["reason"] for row in rows}) == 1 == line.count("--set 'framework=")


def test_one_that_lacks_an_answer_keeps_all_from_being_written(ask, tmp_path):
    shutil.copytree(EXPORTS / "mlruns", tmp_path / "mlruns")
    next((tmp_path / "mlruns").rglob("params/model")).unlink()

    code, rows, _ = ask("import mlruns")

    assert code == Exit.USAGE and not Path("runs").exists()
    assert sorted(row["reason"].partition(";")[0] for row in rows) == [
        "neither path nor log says model",
        "nothing is written before the others have what they lack",
    ]


def test_what_is_said_against_a_tracker_is_refused(ask):
    code, (row, *_), _ = ask(f"import {EXPORTS / 'wandb'} --set model=bert")

    assert code == Exit.USAGE and 'model: --set says "bert", and what the run recorded of' in row["reason"]


# tables of figures

HEAD = ["framework", "model", "devices", "batch_per_device", "precision", "throughput"]
ROWS = [["hf", "gpt2", 8, 8, "amp", 500.1], ["hf", "gpt2", 8, 8, "amp", 503.2], ["orca", "gpt2", 8, 8, "amp", 610.5]]
RUNS_TABLE = """Name,State,Created,Runtime,world_size,per_device_batch_size,model_name,train/tokens_per_sec,eval/loss
base-seed1,finished,2026-03-01T10:00:00.000Z,3600,8,4,gpt2,81920.5,2.5
base-seed2,finished,2026-03-01T12:00:00.000Z,3600,8,4,gpt2,81000.5,2.5
lost,crashed,2026-03-01T12:00:00.000Z,36,8,4,gpt2,1.5,2.5
"""
MLFLOW_TABLE = """status,metrics.samples_per_sec,params.framework,params.model,n_gpus,params.batch,tags.mlflow.runName
FINISHED,512.5,pytorch,gpt2,8,4,a
FINISHED,513.5,pytorch,gpt2,8,4,b
"""


def frame(rows=ROWS, head=HEAD):
    return pandas.DataFrame(rows, columns=head)


WRITTEN = {
    "csv": lambda file: frame().to_csv(file, index=False),
    "tsv": lambda file: frame().to_csv(file, index=False, sep="\t"),
    "xlsx": lambda file: frame().to_excel(file, index=False),
    "parquet": lambda file: frame().to_parquet(file),
    "titled.csv": lambda file: file.write_text("Measured in March,,,,,\n\n" + frame().to_csv(index=False)),
    "titled.xlsx": lambda file: frame([["Measured in March", *[None] * 5], HEAD, *ROWS], None).to_excel(
        file, index=False, header=False
    ),
    "semicolons.csv": lambda file: frame().to_csv(file, index=False, sep=";"),
    "spaced.csv": lambda file: frame(head=[*HEAD[:2], "# GPUs", "Batch per GPU", *HEAD[4:]]).to_csv(file, index=False),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_table_is_a_table_in_every_form(name, ask, tmp_path):
    WRITTEN[name](tmp_path / f"table.{name}")

    code, rows, _ = ask(f"import table.{name} --set unit=samples/s")

    assert (code, [row["run"][:4] + row["run"][-2:] for row in rows]) == (Exit.DONE, ["hf-cr0", "hf-cr1", "orcar0"])
    assert {folder.run().case.known_nodes for folder in Store(Path("runs")).finished()} == {None}


@pytest.mark.parametrize(("n", "taken"), [("nan", False), ("0", False), ("5", True), ("5.0", True), ("", True)])
def test_a_median_of_no_number_of_runs_is_not_taken(n, taken, ask, tmp_path):
    frame([[*ROWS[0], "median", n], [*ROWS[2], "run", ""]], [*HEAD, "kind", "n"]).to_csv("t.csv", index=False)

    _, (first, _), _ = ask("import t.csv --set unit=samples/s")

    assert bool(first["run"]) == taken == ('column "n": got' not in first["reason"])


def test_a_workbook_that_was_damaged_on_its_way_is_refused(ask, tmp_path):
    WRITTEN["xlsx"](tmp_path / "table.xlsx")
    whole = (tmp_path / "table.xlsx").read_bytes()
    for at in range(40, len(whole) - 40, 160):
        spoilt = bytes(byte ^ 0xFF for byte in whole[at : at + 40])
        (tmp_path / "table.xlsx").write_bytes(whole[:at] + spoilt + whole[at + 40 :])
        assert ask("import table.xlsx --set unit=samples/s")[0] in (Exit.DONE, Exit.USAGE)
        shutil.rmtree("runs", ignore_errors=True)


@pytest.mark.parametrize(
    ("text", "words", "code", "cases"),
    [
        (RUNS_TABLE, "--set framework=pytorch", Exit.SOME_FAILED, [{"run": "base"}] * 2),
        (MLFLOW_TABLE, "", Exit.DONE, [{"run": "a"}, {"run": "b"}]),
    ],
)
def test_a_tracker_s_table_of_runs_is_read_by_the_names_of_its_columns(text, words, code, cases, ask, tmp_path):
    (tmp_path / "runs.csv").write_text(text)

    assert ask(f"import runs.csv {words}")[0] == code
    made = [folder.run() for folder in Store(Path("runs")).finished()]
    assert [dict(run.case.options) for run in made] == cases
    assert {(run.case.total_devices, run.case.batch_per_device) for run in made} == {(8, 4)}


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"throughput": "500,1"}, 'got "500,1"; expected a throughput above 0, written as 1234.5'),
        ({"throughput": "2026-03-01"}, 'got "2026-03-01"'),
        ({"throughput": "500.1 img/s"}, 'got "500.1 img/s"'),
        ({"framework": ""}, "(a cell merged over several is of the first alone) nor --set says framework"),
    ],
)
def test_a_row_that_must_be_mended_keeps_all_from_being_written(cells, told, ask, tmp_path):
    frame([ROWS[0], [cells.get(name, value) for name, value in zip(HEAD, ROWS[1], strict=True)]]).to_csv(
        "t.csv", sep=";"
    )

    code, rows, _ = ask("import t.csv --set unit=samples/s")

    assert code == Exit.USAGE and not Path("runs").exists()
    assert told in rows[1]["reason"] and rows[0]["reason"].startswith("nothing is written before")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("framework,Speed,,\n,1 GPU,8 GPUs,\nhf,1,8,\n", "column 3 has values and no name: a head of merged cells"),
        (",".join(f"c{place}" for place in range(1000)) + "\n" + "1," * 999 + "1\n", "no column is called throughput"),
        ("framework,tokens_per_sec_per_gpu\nhf,3\n", "is of one device; expected figures of the whole job"),
        ("framework;model;speed\nhf;gpt2;1.500\norca;gpt2;1.612\n", "where its point may part thousands"),
    ],
)
def test_a_head_that_says_too_little_is_one_sentence(text, told, ask, tmp_path):
    (tmp_path / "t.csv").write_text(text)

    code, _, said = ask("import t.csv")

    assert (code, said.count("\n")) == (Exit.USAGE, 1) and told in said and len(said) < 600


@pytest.mark.parametrize("door", ["import", "report"])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git lfs pull"),
        (b"<!DOCTYPE html><html><body>Sign in, please</body></html>", "a file of the format HTML"),
        (b"\x80\x04\x95\x0b\0\0\0\0\0\0\0}\x94\x8c\x01a\x94K\x01s.", "a file of the format pickle"),
        (
            WANDB.read_bytes()[:4] + b"\xe1\xbe\x07" + WANDB.read_bytes()[7:],
            "a version of W&B's file that is not known",
        ),
        (b"\x1f\x8b\x08\0\0\0\0\0torn", "its end is missing"),
        (b"SQLite format 3\0" + b"\x10\0\x01\x01" * 40, "expected a run history as its library wrote it"),
    ],
    ids=["lfs", "html", "pickle", "version", "gzip", "database"],
)
def test_what_is_no_export_is_refused_with_what_to_do(content, told, door, ask, tmp_path, capsys):
    (tmp_path / "metrics.csv").write_bytes(content)

    code = main([door, "metrics.csv"])

    assert code == Exit.USAGE and not Path("runs").exists()
    assert told in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("devices", "words", "shown"),
    [(16, "", "?×? = 16"), (16, "--set nodes=2", "2×8"), (16, "--set gpus=8", "2×8"), (1, "", "1×1")],
)
def test_nodes_that_nobody_states_are_unknown_and_not_one(devices, words, shown, ask, tmp_path):
    frame([[*ROWS[0][:2], devices, *ROWS[0][3:]]]).to_csv("t.csv", index=False)
    ask(f"import t.csv --set unit=samples/s {words}")

    main(["report", "--lang", "en"])

    (row,) = pandas.read_csv("report/tables/summaries.csv").itertuples()
    page = Path("report/report.html").read_text()
    assert shown in page and ("?" not in shown or f"1×{devices}" not in page)
    assert (row.nodes == row.nodes, row.total_devices) == ("?" not in shown, devices)
    main(["diff", "report", "report"])  # it is read again


# report --to


@pytest.fixture
def handed(monkeypatch):
    """What the writer of a tracker, here the library `json`, is given of each run."""
    runs = []
    monkeypatch.setitem(trackers.WRITERS, "mlflow", (lambda made, out: runs.extend(made), "json"))
    return runs


def test_a_run_goes_to_a_tracker_with_its_steps_figures_and_settings(handed, ask, tmp_path):
    for repeat in range(2):
        runfolders.finished(tmp_path / "runs", repeat=repeat)

    assert main(["report", "--to", "mlflow", "histories"]) == Exit.DONE and (tmp_path / "histories").is_dir()
    assert [each.run[-5:] for each in handed] == ["-run0", "-run1"]
    *steps, last = handed[0].points
    assert {tag for point in steps for tag in point.values} == {"train/images_per_sec", "train/loss"}
    assert steps == sorted(steps, key=lambda point: (point.step, point.at_s))
    assert steps[0].at_s == pytest.approx(1_795_140_000 + runfolders.BEGAN_S + 0.5)  # 10:00:00+08:00
    assert [tag.partition("/")[0] for tag in last.values] == ["run", "case"]
    assert handed[0].settings.items() >= {"framework": "toynet", "world_size": 1}.items()


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("tensorbord new", Exit.USAGE, "Did you mean tensorboard?"),
        ("mlflow full", Exit.USAGE, "full is there and holds something"),
        ("trackio new", Exit.NOTHING_MEASURED, "pip install 'evalsuite[no_such_library]'"),
    ],
)
def test_where_histories_cannot_be_written_nothing_is_done(words, code, told, handed, ask, tmp_path, monkeypatch):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    monkeypatch.setitem(trackers.WRITERS, "trackio", (print, "no_such_library"))

    assert (ended := ask(f"report --to {words}"))[0] == code and told in ended[2]
    assert not Path("report").exists()


# --utilisation

BEGAN_S, ENDED_S = 1_790_000_000, 1_790_001_130  # of the runs, one after the other


def scrapes(begin_s=BEGAN_S, end_s=ENDED_S, devices=8, stamped=False):
    """What DCGM's exporter says of a host's devices every five seconds, each behind its time."""
    lines = ["# TYPE DCGM_FI_DEV_GPU_UTIL gauge"]
    for at in range(begin_s, end_s, 5):
        lines += [] if stamped else [f"{at}"]
        of = (f'DCGM_FI_DEV_GPU_UTIL{{gpu="{g}",UUID="GPU-{g}",Hostname="n1"}} {90 + g}' for g in range(devices))
        lines += [f"{each} {at}000" if stamped else each for each in of]
    return "\n".join([*lines, ""])


AGAIN = re.sub(r"(\d{10})\n(.*) 90(?=\n)", lambda m: f"{m[1]}\n{m[2]} {80 + int(m[1]) // 5 % 7}", scrapes())


def query(begin_s=BEGAN_S, end_s=ENDED_S, devices=8):
    """The same as Prometheus answers for a range."""
    name = {"__name__": "DCGM_FI_DEV_GPU_UTIL", "instance": "n1:9400"}
    times = range(begin_s, end_s, 5)
    result = [
        {"metric": {**name, "gpu": f"{g}"}, "values": [[at, f"{90 + g}"] for at in times]} for g in range(devices)
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


@pytest.mark.parametrize("text", [scrapes(), scrapes(stamped=True), query()])
def test_what_an_exporter_told_meanwhile_is_the_utilisation_of_a_run(text, ask, tmp_path):
    (tmp_path / "dcgm.prom").write_text(text)

    assert ask(f"import {EXPORTS / 'wandb'} --utilisation dcgm.prom")[0] == Exit.DONE
    first, _ = (measurement(folder) for folder in Store(Path("runs")).finished())
    (gpu,) = first.utilisation
    assert (gpu.resource, gpu.mean, gpu.coverage) == ("gpu", pytest.approx(93.5), pytest.approx(1.0))
    ask(f"import {EXPORTS / 'wandb'} --runs without")
    again = ask(f"import {EXPORTS / 'wandb'} --runs without --utilisation dcgm.prom")[1]
    assert [row["status"] for row in again] == ["skipped", "skipped"]  # a run is written once
    assert main(["report", "--forms", "html"]) == Exit.DONE
    assert "are those of an exporter’s file" in Path("report/report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "words", "told"),
    [
        (scrapes(BEGAN_S - 86_400, ENDED_S - 86_400), "", "no two scrapes lie inside"),
        (scrapes(devices=16), "", "tells of 16 devices of n1 at that time and the run has 8"),
        (scrapes(BEGAN_S, BEGAN_S + 5), "", "no two scrapes lie inside"),
        (AGAIN, "", "comes again to the digit after every 7 scrapes"),
        (scrapes().replace("UUID", 'quantile="0.99",UUID'), "", 'quantile="0.99": a part of a device'),
        (scrapes() + scrapes().replace("GPU_UTIL", "TOTAL_ENERGY_CONSUMPTION"), "", "stands still or goes back"),
        (scrapes().replace("UUID", 'GPU_I_PROFILE="1g.10gb",UUID'), "", "a summary of its readings"),
        ("DCGM_FI_DEV_GPU_UTIL{gpu='0'} 3\n", "", "has no reading of a device with its time"),
        ("{", "", "expected scrapes of an exporter"),
        (scrapes(), "--set zone=berlin", "expected UTC, or hours and minutes from it"),
        (scrapes(), "--set zone=+08:00", "no two scrapes lie inside"),
    ],
)
def test_an_exporter_that_tells_of_others_or_another_time_is_refused(text, words, told, ask, tmp_path):
    (tmp_path / "dcgm.prom").write_text(text)

    code, rows, said = ask(f"import {EXPORTS / 'wandb'} --utilisation dcgm.prom {words}")

    assert code == Exit.USAGE and told in "".join([said, *(row["reason"] for row in rows)])
    assert not Store(Path("runs")).finished()


def test_a_log_whose_times_have_no_zone_is_asked_for_it(ask, tmp_path):
    (tmp_path / "dcgm.prom").write_text(scrapes())
    when = (f"2026-09-21 14:{at // 60:02}:{at % 60:02},000" for at in range(150))
    lines = [f"{day} step {at} loss {3 - at / 99:.4f} 160.0 samples/sec" for at, day in enumerate(when)]
    (tmp_path / "a.log").write_text("\n".join(lines))
    shape = ask("parse a.log")[1][0]["shape"]

    _, (row,), _ = ask(f"import a.log {WHAT} --set shape={shape} --set scope=global --utilisation dcgm.prom")

    assert "the log's times have no zone" in row["reason"]
