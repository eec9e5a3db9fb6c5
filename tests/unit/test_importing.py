"""`evalsuite import`: run folders out of logs and tables."""

import json

import pytest

from evalsuite.cli import main
from evalsuite.errors import EvalsuiteError, Exit
from evalsuite.importing import published_tables, user_facts
from evalsuite.results.measure.measurement import measurement
from evalsuite.runs.store import Store

LINE = "Epoch: [0][{step:3d}/200]\tTime  0.500 ( 0.600)\tData  0.002 ( 0.001)\tLoss 6.7e+00\n"
LOG = "".join(LINE.format(step=step) for step in range(1, 131))
PATTERN = "{framework}/{nodes}n{gpus}g/b{batch}_{precision}_{repeat}.log"
TABLE = """framework,model,nodes,gpus_per_node,total_gpus,batch_size_per_gpu,precision,xla,features,throughput,unit
NGC MXNet,ResNet50-v1.5,1,8,8,128,fp32,na,DALI+Horovod,3006.02,images/sec
NGC MXNet,ResNet50-v1.5,4,8,32,128,fp16,na,DALI+Horovod,-,images/sec
NGC MXNet,ResNet50-v1.5,4,8,32,128,fp32,na,DALI+Horovod,11758.0,furlongs/sec
"""


RESNET = ("--set", "model=resnet50")


@pytest.fixture
def logs(tmp_path):
    for name in ("pytorch/1n1g/b64_fp32_1.log", "pytorch/1n1g/b64_fp32_2.log", "pytorch/2n8g/b64_fp16_1.log"):
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"started from {name}\n{LOG}")
    return tmp_path / "logs"


@pytest.fixture
def imported(tmp_path):
    """`import` into tmp_path/runs, or another folder."""

    def run(*arguments, into="runs"):
        return main(["import", *map(str, arguments), "--runs", str(tmp_path / into)])

    return run


def written(runs):
    """The only run folder there."""
    (folder,) = Store(runs).finished()
    return folder


def test_paths_say_what_logs_do_not_logs_are_kept_byte_for_byte_and_nothing_is_made_twice(
    logs, imported, tmp_path, capsys
):
    code = imported(logs, "--pattern", PATTERN, *RESNET)

    folders = Store(tmp_path / "runs").finished()
    values = {(folder.run().case.scale, folder.run().repeat): measurement(folder) for folder in folders}
    assert code == Exit.DONE
    assert {key: found.value for key, found in values.items()} == pytest.approx(
        {("1x1", 1): 128.0, ("1x1", 2): 128.0, ("2x8", 1): 128.0 * 16}
    )
    assert {found.origin for found in values.values()} == {"imported"}
    assert values["2x8", 1].run.case.precision == "amp"
    assert {one.logs()[0].path.read_bytes() for one in folders} == {path.read_bytes() for path in logs.rglob("*.log")}
    capsys.readouterr()
    assert imported(logs, "--pattern", PATTERN, *RESNET) == Exit.DONE
    assert capsys.readouterr().out.count("already there") == 4


def test_what_nobody_says_is_named(logs, imported, tmp_path, capsys):
    assert imported(logs / "pytorch/1n1g/b64_fp32_1.log") == Exit.USAGE
    assert "neither path nor log says model, devices, batch" in capsys.readouterr().out
    assert not Store(tmp_path / "runs").finished()


def test_a_mapping_file_says_it_for_some_logs(logs, imported, tmp_path):
    some = '[[runs]]\npath = "*/1n1g/*.log"\ngpus = 1\nxla = true\n'
    (tmp_path / "map.toml").write_text(f'[defaults]\nmodel = "resnet50"\nbatch = 64\n{some}')

    code = imported(logs, "--map", tmp_path / "map.toml")

    cases = {folder.run().case for folder in Store(tmp_path / "runs").finished()}
    assert code == Exit.SOME_FAILED  # the third log has no [[runs]]
    assert [(case.scale, case.xla, case.batch_per_device) for case in cases] == [("1x1", True, 64)]


def test_the_logs_of_the_ranks_of_a_run_make_one_run(imported, tmp_path):
    for rank in (0, 1):
        (tmp_path / f"run_r{rank}.log").write_text(LOG)

    imported(tmp_path, "--pattern", "run_r{rank}.log", *RESNET, "--set", "gpus=2", "--set", "batch=8")

    folder = written(tmp_path / "runs")
    assert [log.rank for log in folder.logs()] == [0, 1]
    assert measurement(folder).value == pytest.approx(32.0)


def test_a_row_of_a_table_is_cited_and_never_measured(imported, tmp_path, capsys):
    (tmp_path / "table.csv").write_text(TABLE)

    code = imported(tmp_path / "table.csv", "--json")

    folder = written(tmp_path / "runs")
    found = measurement(folder)
    assert code == Exit.SOME_FAILED
    assert [result["reason"] for result in json.loads(capsys.readouterr().out)[1:]] == [
        "no throughput is recorded",
        'unknown unit "furlongs/sec"; expected one of images/s, sentences/s, sequences/s, samples/s, tokens/s, words/s',
    ]
    assert (found.origin, found.value, found.throughput.unit) == ("cited", 3006.02, "images/s")
    assert found.run.case.options == (("features", "DALI+Horovod"),)
    assert TABLE.splitlines()[1] in folder.logs()[0].path.read_text()


SIZED = """framework,model,nodes,gpus_per_node,batch_size_per_gpu,precision,deep_vocab_size,latency_ms,memory_mib
OneFlow,wide_and_deep,1,8,2048,fp32,3200000,13.837,"1,533"
OneFlow,wide_and_deep,1,8,2048,fp32,6400000,13.948,1613
"""


def test_a_printed_step_time_is_a_throughput_where_somebody_says_what_a_step_counts(imported, tmp_path, capsys):
    (tmp_path / "table.csv").write_text(SIZED)

    assert imported(tmp_path / "table.csv") == Exit.NOTHING_MEASURED
    assert "--set unit=samples/s" in capsys.readouterr().out
    assert imported(tmp_path / "table.csv", "--set", "unit=samples/s") == Exit.DONE
    found = [measurement(folder) for folder in Store(tmp_path / "runs").finished()]
    of_size = {one.run.case.option("deep_vocabulary"): one for one in found}
    assert of_size["3200000"].value == pytest.approx(16_384 / 0.013837)
    assert dict(of_size["3200000"].figures) == pytest.approx(
        {"step_time_stated_s": 0.013837, "peak_memory_stated_bytes": 1533 * 1024**2}
    )
    assert of_size.keys() == {"3200000", "6400000"}


def test_what_a_source_prints_beside_a_rate_is_of_the_run_and_makes_no_other_case(logs, imported, tmp_path):
    asked = [pair for name in ("spread=12.5", "hours=6.1", "accuracy=75.9") for pair in ("--set", name)]

    imported(
        logs / "pytorch/1n1g", "--pattern", "b{batch}_{precision}_{repeat}.log", *RESNET, "--set", "gpus=1", *asked
    )

    found = [measurement(folder) for folder in Store(tmp_path / "runs").finished()]
    stated = {"stated_spread_items_per_s": 12.5, "training_stated_h": 6.1, "accuracy_stated_percent": 75.9}
    assert len({one.run.case for one in found}) == 1 and [dict(one.figures) for one in found] == [stated] * 2


@pytest.mark.parametrize("amount", ["0", "-1", "nan", "inf", "12 ms", "1_2", "１２"])
def test_an_amount_that_is_none_is_refused(amount, logs, imported, capsys):
    assert imported(logs, "--set", f"latency={amount}") == Exit.USAGE
    assert "expected an amount above 0" in capsys.readouterr().err


@pytest.fixture
def workbook(tmp_path):
    """Writes table.xlsx with these rows."""

    def write(rows):
        book = pytest.importorskip("openpyxl").Workbook()
        for row in rows:
            book.active.append(row)
        book.save(tmp_path / "table.xlsx")
        return tmp_path / "table.xlsx"

    return write


def test_a_workbook_is_read_as_its_first_sheet(imported, workbook, tmp_path, capsys):
    lines = [line.split(",") for line in TABLE.splitlines()]
    file = workbook([float(cell) if cell.replace(".", "").isdigit() else cell for cell in line] for line in lines)

    imported(file, "--json")

    found = measurement(written(tmp_path / "runs"))
    assert json.loads(capsys.readouterr().out)[0]["source"].endswith("table.xlsx:2")
    assert (found.value, found.run.case.scale) == (3006.02, "1x8")


def test_a_cell_with_an_error_is_empty_and_touched_cells_behind_the_table_are_no_rows(workbook):
    rows = (["throughput", "nodes", None], [None, None, None], ["#N/A", 8.0, ""], [1.5, "a\nb", None], [None])

    assert published_tables._spreadsheet(workbook(rows)) == "throughput,nodes\n,\n,8\n1.5,a b\n"


def test_a_table_saved_in_the_chinese_code_page_is_read(imported, tmp_path):
    (tmp_path / "表.csv").write_bytes(TABLE.replace("DALI+Horovod", "数据增强").encode("gb18030"))

    imported(tmp_path / "表.csv")

    assert "数据增强" in written(tmp_path / "runs").logs()[0].path.read_text(encoding="utf-8")


@pytest.mark.parametrize("content", [b"", b"no workbook", b"PK\x03\x04 cut off"])
def test_what_is_called_a_workbook_and_is_none_is_said_in_one_line(content, imported, tmp_path, capsys):
    (tmp_path / "table.xlsx").write_bytes(content)

    assert imported(tmp_path / "table.xlsx") == Exit.USAGE
    said = capsys.readouterr().err
    assert "table.xlsx" in said and "expected a workbook" in said and "Traceback" not in said


@pytest.mark.parametrize("text", ["logs/*.log", "{batch}/{batch}.log"])
def test_a_pattern_that_says_nothing_or_twice_is_refused(text):
    with pytest.raises(EvalsuiteError, match="the placeholders are"):
        user_facts.pattern(text)


@pytest.mark.parametrize("content", ["[runs", "[[runs]]\nmodel = 'x'\n", "runs = 1\n"])
def test_a_mapping_file_that_is_none_is_refused(tmp_path, content):
    (tmp_path / "map.toml").write_text(content)

    with pytest.raises(EvalsuiteError, match=r"map\.toml: .*expected"):
        user_facts.mapping(tmp_path / "map.toml")


def campaigns(runs):
    return {measurement(folder).campaign for folder in Store(runs).finished()}


def test_a_campaign_that_is_said_is_kept_makes_no_other_case_and_is_corrected_only_where_that_is_asked_for(
    logs, imported, tmp_path, capsys
):
    said, tuesday = [logs, "--pattern", PATTERN, *RESNET], ["--campaign", "tuesday"]
    imported(*said)
    imported(*said, *tuesday, into="named")

    cases = [{folder.run().id for folder in Store(tmp_path / name).finished()} for name in ("runs", "named")]
    assert cases[0] == cases[1]
    assert (campaigns(tmp_path / "runs"), campaigns(tmp_path / "named")) == ({None}, {"tuesday"})
    imported(*said, *tuesday)
    assert 'campaign "tuesday" (recorded: not said)' in capsys.readouterr().out
    assert campaigns(tmp_path / "runs") == {None}
    imported(*said, *tuesday, "--amend")
    assert campaigns(tmp_path / "runs") == {"tuesday"}


def test_a_path_can_say_the_campaign_and_may_not_contradict_what_is_said_nor_may_it_be_empty(
    logs, imported, tmp_path, capsys
):
    of_path = [logs, "--pattern", PATTERN.replace("framework", "campaign"), *RESNET, "--set", "framework=pytorch"]
    imported(*of_path)
    assert campaigns(tmp_path / "runs") == {"pytorch"}

    imported(*of_path, "--campaign", "other", into="none")
    assert 'campaign: --set says "other", and the path says "pytorch"' in capsys.readouterr().out
    assert imported(logs, "--pattern", PATTERN, "--campaign", " ") == Exit.USAGE
    assert "--campaign" in capsys.readouterr().err


@pytest.mark.parametrize(("scope", "images_per_s"), [("global", 1580.0), ("per_device", 16 * 1580.0)])
def test_it_can_be_said_whose_rate_a_table_of_a_tensorboard_holds(imported, tmp_path, scope, images_per_s):
    rows = "".join(f"{1581280498.5 + 810 * epoch},{epoch},1580.0\n" for epoch in range(1, 91))
    (tmp_path / "16gpu_b208.csv").write_text(f"Wall time,Step,Value\n{rows}")

    code = imported(
        *(tmp_path / "16gpu_b208.csv", "--pattern", "{devices}gpu_b{batch}.csv", "--set", "gpus=8"),
        *("--scope", scope, "--set", "framework=pytorch", *RESNET),
    )

    found = written(tmp_path / "runs")
    assert (code, found.run().case.scale) == (Exit.DONE, "2x8")  # as many nodes as the job's devices make
    assert measurement(found).value == pytest.approx(images_per_s)


def test_a_scope_that_is_none_is_refused(imported, logs, capsys):
    assert imported(logs, "--pattern", PATTERN, *RESNET, "--set", "scope=all") == Exit.USAGE
    assert 'scope "all": expected global, per_device' in capsys.readouterr().err
