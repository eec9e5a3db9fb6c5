"""Ways to make an import say something wrong: the table or the logs that did it, and what is said now."""

import json
import shutil
from dataclasses import replace

import pytest

from evalsuite import paths, registry
from evalsuite.cli import main
from evalsuite.commands.arguments.import_ import EXAMPLES
from evalsuite.errors import Exit
from evalsuite.importing import published_tables, user_facts, vocabulary
from evalsuite.report.text.findings import english
from evalsuite.results.compare import fairness
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure import facts
from evalsuite.results.measure.summary import valid
from evalsuite.results.rules.data_rules import cited_figure
from evalsuite.runs.store import Store

LINE = "Epoch: [0][{step:3d}/200]\tTime  {seconds:.3f} ( 0.600)\tData  0.002 ( 0.001)\tLoss 6.7e+00\n"
HEAD = "framework,model,nodes,gpus_per_node,batch_size_per_gpu,precision,throughput,unit"
WHAT = ("--set", "framework=pytorch", "--set", "model=resnet50", "--set", "devices=1", "--set", "batch=64")
ROWS = paths.DATA.parent / "tests" / "published" / "dlperf_rows.csv"  # DLPerf's wrong cells and what they rest on
WRONG = {"27.33", "10.2", "7.55", "7.79", "29.75", "25.59", "28.67"}  # docs/published-figures.md


def log(file, seconds=0.5, before=""):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(before + "".join(LINE.format(step=step, seconds=seconds) for step in range(1, 131)))
    return file


def table(tmp_path, *rows, head=HEAD, name="table.csv"):
    file = tmp_path / name
    file.write_text("\n".join((head, *rows)) + "\n")
    return file


@pytest.fixture
def bring(tmp_path, capsys):
    """`import` into a folder of its own: (exit code, the answers, what it says on standard error)."""

    def brought(*arguments):
        code = main(["import", *map(str, arguments), "--runs", str(tmp_path / "runs"), "--json"])
        said = capsys.readouterr()
        return code, json.loads(said.out) if said.out else [], said.err

    brought.store = Store(tmp_path / "runs")
    return brought


def repeats(store):
    """Case → how many runs it has."""
    found = {}
    for folder in store.finished():
        found[folder.path.parent.name] = found.get(folder.path.parent.name, 0) + 1
    return sorted(found.values())


def _of_one_name(one):
    """*one* without the word for its precision in its case: only what it states is left to keep it apart."""
    return replace(one, case=replace(one.case, options=()))


def wrong(store):
    """What is found wrong in cited figures, without the page around it."""
    for folder in store.finished():
        yield from cited_figure(folder.command().figure, folder.run().case.id)


ROW = "pytorch,resnet50,1,8,64,fp32,100,images/s"
LONG = "framework,model,nodes,gpus_per_node,batch_size_per_gpu,precision,unit,throughput"
NO_COUNT = 'got "{0}"; expected a whole number above 0, such as 8'
REFUSED_TABLES = [  # row, header, options, what is said
    *(
        (f"pytorch,resnet50,{nodes},8,64,fp32,100,images/s", HEAD, (), f'column "nodes": {NO_COUNT.format(nodes)}')
        for nodes in ("2.0", "four", "0", "-1", "1.5", "１")
    ),
    *(
        (f"pytorch,resnet50,1,{devices},64,fp32,100,images/s", HEAD, (), f'column "gpus_per_node": got "{devices}"')
        for devices in ("8.0", "eight", "0")
    ),
    (
        *("pytorch,resnet50,4,8,64,fp32,100,images/s,16", f"{HEAD},total_gpus", ()),
        "4 nodes of 8 devices are 32, and devices says 16",
    ),
    (ROW, HEAD, ("--map", "throughput=speed"), 'no column is called "speed"'),
    (ROW, HEAD, ("--map", "=x"), "expected a file or NAME=COLUMN"),
    ("a,b", "throughput,Throughput", (), 'got the column "throughput" twice'),
    # a thousands comma without quotes moved the figures a column on: 1,234 images/s became 1
    ("pytorch,resnet50,1,8,64,fp32,images/s,1,234", LONG, (), "got 1 cell more than the header has columns"),
    *(
        (
            mark.join(["pytorch", "resnet50", *"1114", "fp32", "100,5"]),
            *(HEAD.replace(",", mark), (), f"its columns are separated by {name}"),
        )
        for mark, name in ((";", "semicolons"), ("\t", "tabs"))
    ),
    ("", HEAD, (), "no row below its header"),
]
REFUSED_LOGS = [  # its name, options, what is said
    ("a", ("--set", "nodes=four"), 'nodes: got "four"'),
    ("a", ("--set", "xla=maybe"), 'xla: got "maybe"; expected on or off'),
    ("a", ("--set", "precision=fb16"), 'unknown precision "fb16"'),
    ("a", ("--set", "precision=fb16"), "Did you mean"),
    ("a", ("--set", "batch=32"), 'batch: --set says "64", and --set says "32"'),
    ("b32", ("--pattern", "b{batch}.log"), 'batch: --set says "64", and the path says "32"; leave one of them out'),
    # `precison=amp` was an option of that name, and the precision stayed unknown
    ("a", ("--set", "precison=amp"), "expected precision, or a"),
    ("a", ("--set", "bacth=64"), "expected batch, or a"),
    ("a", ("--set", "node=2"), "expected nodes, or a"),
    ("a", ("--set", "optimiser=adamm"), "expected adam, or a"),
    ("a", ("--set", "data=syntethic"), "expected synthetic, or a"),
    ("amp", ("--pattern", "{precison}.log"), "expected precision"),
]


class TestWhatIsRefused:
    """nodes 2.0, "four", 0 and −1 all became one node."""

    @pytest.mark.parametrize(("row", "head", "options", "told"), REFUSED_TABLES)
    def test_a_table_with_a_wrong_cell_column_or_option_is_refused_and_no_run_made(
        self, row, head, options, told, tmp_path, bring
    ):
        file = table(tmp_path, *filter(None, [row]), head=head)

        code, answers, said = bring(file, *options)

        assert code == Exit.USAGE and not list(bring.store.finished())
        assert told in said + "".join(f"{answer['source']} {answer['reason']}" for answer in answers)
        assert [answer["source"] for answer in answers] in ([], [f"{file}:2"])

    @pytest.mark.parametrize(("name", "options", "told"), REFUSED_LOGS)
    def test_a_log_with_a_wrong_or_contradicted_word_is_refused_and_no_run_made(
        self, name, options, told, tmp_path, bring
    ):
        code, answers, said = bring(log(tmp_path / f"{name}.log"), *WHAT, *options)

        assert code == Exit.USAGE and not list(bring.store.finished())
        assert told in said + "".join(answer["reason"] for answer in answers)

    def test_a_value_too_long_for_a_folder_s_name_goes_by_its_hash(self, tmp_path, bring):
        rows = [f"{ROW},{'x' * 400}{end}" for end in "ab"]

        code, _, _ = bring(table(tmp_path, *rows, head=f"{HEAD},features"))

        assert (code, repeats(bring.store)) == (Exit.DONE, [1, 1])

    def test_unicode_text_is_read(self, tmp_path, bring):
        file = table(tmp_path, ROW)
        file.write_text(file.read_text(), encoding="utf-16")

        assert bring(file)[0] == Exit.DONE


class TestARunIsItsBytes:
    """Three logs by a shell's glob became one run, and copies of one log three."""

    @pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2)])
    def test_other_bytes_are_other_repeats_in_any_order_and_spelling(self, order, tmp_path, bring):
        files = [log(tmp_path / f"a/job-{number}.log", seconds=0.5 + number / 100) for number in order]

        code, _, _ = bring(*files, *WHAT)
        again, answers, _ = bring(tmp_path / "a", *WHAT)

        assert (code, again) == (Exit.DONE, Exit.DONE)
        assert repeats(bring.store) == [3]
        assert {answer["status"] for answer in answers} == {"already there"}

    def test_the_same_path_given_twice_is_one_log(self, tmp_path, bring):
        file = log(tmp_path / "a/job.log")

        code, answers, _ = bring(file, tmp_path / "a", tmp_path / "a/../a/job.log", *WHAT)

        assert (code, len(answers), repeats(bring.store)) == (Exit.DONE, 1, [1])

    def test_a_copy_of_a_log_is_no_repeat_and_is_named(self, tmp_path, bring):
        first = log(tmp_path / "job-1.log")
        shutil.copy(first, tmp_path / "job-2.log")

        code, answers, _ = bring(tmp_path, "--pattern", "job-{repeat}.log", *WHAT)

        assert code == Exit.SOME_FAILED
        assert answers[1]["status"] == "duplicate"
        assert answers[1]["reason"] == f"the same bytes as {first}: one run, and no repeat of it"
        assert repeats(bring.store) == [1]

    def test_a_repeat_number_that_is_taken_by_another_log_is_not_lost(self, tmp_path, bring):
        for place, seconds in (("a", 0.5), ("b", 0.6)):
            log(tmp_path / f"logs/{place}/r1.log", seconds)

        code, _, _ = bring(tmp_path / "logs", "--pattern", "{any}/r{repeat}.log", *WHAT)

        assert (code, repeats(bring.store)) == (Exit.DONE, [2])


class TestWhatIsSaid:
    """fp32, XLA off and a GPU were asserted of every log; fp16, bf16 and pure fp16 all became amp, tf32 fp32."""

    def test_words_for_precision_keep_runs_apart_as_they_were_said(self, tmp_path, bring):
        words = ("amp", "fp16", "bf16", "purefp16", "fp32", "tf32")
        for number, word in enumerate(words):
            log(tmp_path / f"logs/{word}.log", seconds=0.5 + number / 100)

        bring(tmp_path / "logs", "--pattern", "{precision}.log", *WHAT)

        assert repeats(bring.store) == [1] * len(words)
        assert {folder.command().stated["precision"] for folder in bring.store.finished()} == set(words)

    def test_what_nobody_says_is_no_fact_and_no_repeat_of_what_somebody_said(self, tmp_path, bring):
        bring(log(tmp_path / "a.log"), *WHAT)
        bring(log(tmp_path / "b.log", seconds=0.6), *WHAT, "--set", "precision=fp32")

        silent, told = sorted((folder.command().stated for folder in bring.store.finished()), key=len)
        assert repeats(bring.store) == [1, 1]
        assert not {"precision", "xla", "device"} & silent.keys()
        assert told["precision"] == "fp32"

    def test_a_report_takes_no_axis_for_what_nobody_said(self, tmp_path, bring):
        bring(log(tmp_path / "a.log"), *WHAT)
        bring(log(tmp_path / "b.log", seconds=0.6), *WHAT, "--set", "precision=purefp16")

        known = [facts.of_run(folder.run().case, folder.command(), {}) for folder in bring.store.finished()]
        said = [{fact.value for fact in found if fact.key == "precision"} for found in known]
        assert sorted(said, key=len) == [set(), {"fp16"}]

    @pytest.mark.parametrize(
        ("words", "ranked"),
        [(("fp16", "fp16"), 2), (("fp16", "fp16_amp"), 2), (("fp16_amp", "fp16_amp"), 1), (("half", "purefp16"), 2)],
    )
    def test_fp16_of_two_frameworks_is_ranked_only_where_both_say_which_fp16(self, words, ranked, tmp_path, bring):
        rows = [
            f"{framework},resnet50_v1.5,1,8,64,{word},{speed},images/s,V100"
            for framework, word, speed in zip(("pytorch", "mxnet"), words, (100, 90), strict=True)
        ]

        bring(table(tmp_path, *rows, head=f"{HEAD},device"), "--set", "recipe=resnet50")

        members = valid(evaluate(bring.store).summaries)
        assert len(fairness.groups([_of_one_name(one) for one in members], fairness.FRAMEWORKS)) == ranked

    def test_a_compiler_that_nobody_spoke_of_is_not_off(self, tmp_path, bring):
        rows = [f"{name},resnet50_v1.5,1,8,64,fp32,100,images/s,V100" for name in ("pytorch", "mxnet")]

        bring(table(tmp_path, *rows, head=f"{HEAD},device"), "--set", "recipe=resnet50")

        found = fairness.comparison(valid(evaluate(bring.store).summaries))
        assert found.standing == "indicative" and "compiler" in [row.rule.key for row in found.untold]

    def test_the_device_of_a_pattern_keeps_two_machines_apart_and_a_free_placeholder_is_an_option(
        self, tmp_path, bring
    ):
        for number, name in enumerate(("nccl-8x3090", "nccl-8xA100")):
            log(tmp_path / f"logs/{name}.log", seconds=0.5 + number / 100)

        bring(tmp_path / "logs", "--pattern", "{backend}-{any}x{device}.log", *WHAT)

        cases = [folder.run().case for folder in bring.store.finished()]
        assert sorted(case.option("device_model") for case in cases) == ["3090", "A100"]
        assert {case.option("backend") for case in cases} == {"nccl"}
        assert {folder.command().stated["device_model"] for folder in bring.store.finished()} == {"3090", "A100"}

    @pytest.mark.parametrize(("fact", "told"), [("devices=64", "devices is said to be 64, and the log says 2")])
    def test_what_contradicts_the_log_stops_the_import_of_that_log_alone(self, fact, told, tmp_path, bring):
        header = "reference workload: framework=pytorch batch_per_device=32 processes=2 global_batch=64\n"
        log(tmp_path / "logs/told.log", before=header)
        log(tmp_path / "logs/silent.log")

        words = ("model=resnet50", "framework=pytorch", fact, "batch=32")
        code, answers, _ = bring(tmp_path / "logs", *(part for word in words for part in ("--set", word)))

        assert code == Exit.SOME_FAILED
        assert [answer["run"] is None for answer in answers] == [False, True]
        assert answers[1]["reason"].startswith(told)


class TestCorrections:
    """The same logs with other facts were “already there”, exit 0, and the old facts stayed."""

    def test_other_facts_for_the_same_bytes_are_told_and_change_nothing(self, tmp_path, bring):
        file = log(tmp_path / "a.log")
        bring(file, *WHAT)

        code, (answer,), _ = bring(file, *WHAT[:-1], "batch=32")

        assert code == Exit.USAGE
        assert 'with other facts: batch "32" (recorded: 64); --amend corrects them' in answer["reason"]
        assert [folder.run().case.batch_per_device for folder in bring.store.finished()] == [64]

    def test_amend_corrects_them_and_keeps_the_old(self, tmp_path, bring):
        file = log(tmp_path / "a.log")
        bring(file, *WHAT)

        code, _, _ = bring(file, *WHAT[:-1], "batch=32", "--amend")

        (folder,) = bring.store.finished()
        (aside,) = bring.store.root.glob("*/amended-r0-1")
        assert code == Exit.DONE
        assert folder.run().case.batch_per_device == 32
        assert folder.command().corrected == {"batch": "64"}
        assert (aside / "outcome.json").is_file()

    def test_amend_wins_over_a_path_and_not_over_the_log(self, tmp_path, bring):
        header = "reference workload: framework=pytorch batch_per_device=32 processes=2 global_batch=64\n"
        log(tmp_path / "b64.log", before=header)
        few = ("--set", "model=resnet50", "--pattern", "b{batch}.log", "--amend")

        wins, _, _ = bring(tmp_path / "b64.log", *few, "--set", "batch=32")
        loses, (answer,), _ = bring(tmp_path / "b64.log", "--set", "model=resnet50", "--set", "batch=16", "--amend")

        assert (wins, loses) == (Exit.DONE, Exit.USAGE)
        assert answer["reason"].startswith("batch is said to be 16, and the log says 32")
        assert [folder.run().case.batch_per_device for folder in bring.store.finished()] == [32]

    def test_rows_of_a_table_are_corrected_alike(self, tmp_path, bring):
        file = table(tmp_path, "pytorch,resnet50,1,8,64,,100,images/s")
        bring(file)

        told, (answer,), _ = bring(file, "--set", "precision=bf16")
        amended, _, _ = bring(file, "--set", "precision=bf16", "--amend")

        (folder,) = bring.store.finished()
        assert (told, amended) == (Exit.USAGE, Exit.DONE)
        assert 'precision "bf16" (recorded: not said)' in answer["reason"]
        assert folder.command().stated["precision"] == "bf16"
        assert folder.command().corrected == {"precision": "not said"}


class TestFiguresOfATable:
    """Copies of one figure became repeats, with “99.997 %” coverage; a stale figure the third repeat of another."""

    HEAD = f"{HEAD},source_file,published_speedup,kind"
    ONE = "pytorch,resnet50,1,1,64,fp32,100.00,images/s"

    def test_a_figure_printed_in_three_places_is_one_figure_cited_three_times(self, tmp_path, bring):
        rows = [f"{self.ONE},{source},," for source in ("README.md", "report.md")]
        rows.append(f"{self.ONE.replace('100.00', '100.0')},report_cn.md,,")

        code, answers, _ = bring(table(tmp_path, *rows, head=self.HEAD))

        (folder,) = bring.store.finished()
        assert code == Exit.DONE
        assert [answer["status"] for answer in answers] == ["partial", "cited", "cited"]
        assert [one.source for one in folder.command().figure.citations] == ["README.md", "report.md", "report_cn.md"]

    def test_two_figures_for_one_case_are_two_and_told(self, tmp_path, bring):
        rows = [f"{self.ONE},{source},," for source in ("a.md", "b.md")]
        rows.append(f"{self.ONE.replace('100.00', '99.00')},stale.md,,")

        bring(table(tmp_path, *rows, head=self.HEAD))

        assert repeats(bring.store) == [1, 1]
        assert {english(finding) for finding in wrong(bring.store)} == {
            "stale.md gives 99.00, and a.md gives 100.00 for the same case; they are not treated as repeats",
            "a.md gives 100.00, and stale.md gives 99.00 for the same case; they are not treated as repeats",
        }

    @pytest.mark.parametrize(
        ("values", "found"),
        [(("99.00", "100.00", "104.00"), []), (("99.00", "101.00", "104.00"), [("D16_cited", 101.0)])],
    )
    def test_a_median_and_its_runs_are_no_repeats_and_one_that_is_not_theirs_is_found(
        self, values, found, tmp_path, bring
    ):
        runs = [f"{self.ONE.replace('100.00', value)},a.md,,run" for value in values]

        bring(table(tmp_path, f"{self.ONE},a.md,,median", *runs, head=self.HEAD))

        assert repeats(bring.store) == [1, 3]
        assert [(one.code, one.median_items_per_s) for one in wrong(bring.store)] == found

    def test_two_log_sets_are_not_one(self, tmp_path, bring):
        head = f"{HEAD},log_dir,run"
        rows = [
            f"pytorch,resnet50,1,1,64,fp32,{value},images/s,{day},{run}"
            for day, values in (("0821", (100, 101)), ("0822", (140, 141)))
            for run, value in enumerate(values, 1)
        ]

        code, _, _ = bring(table(tmp_path, *rows, head=head))

        assert (code, repeats(bring.store)) == (Exit.DONE, [2, 2])

    def test_one_repeat_printed_with_two_figures_is_named(self, tmp_path, bring):
        rows = [f"pytorch,resnet50,1,1,64,fp32,{value},images/s,1" for value in (100, 100, 140)]

        code, answers, _ = bring(table(tmp_path, *rows, head=f"{HEAD},run"))

        assert (code, repeats(bring.store)) == (Exit.SOME_FAILED, [1])
        assert answers[2]["reason"] == f"repeat 1 is 140 here, and 100 at {tmp_path / 'table.csv'}:2"

    def test_one_figure_is_not_a_repeat_of_another_table_s(self, tmp_path, bring):
        bring(table(tmp_path, self.ONE))
        again, (same,), _ = bring(table(tmp_path, self.ONE, name="copy.csv"))
        other, _, _ = bring(table(tmp_path, self.ONE.replace("100.00", "120"), name="other.csv"))

        assert (again, other, same["status"]) == (Exit.DONE, Exit.DONE, "already there")
        assert repeats(bring.store) == [1, 1]

    def test_two_units_are_not_one_case_s_repeats(self, tmp_path, bring):
        bring(table(tmp_path, self.ONE, self.ONE.replace("images", "samples")))

        assert repeats(bring.store) == [1, 1]

    def test_a_wrong_speedup_is_found_against_the_base_of_its_own_source_and_none_without_a_base(self, tmp_path, bring):
        four = "pytorch,resnet50,1,4,64,fp32,390.00,images/s"
        other, baseless = self.ONE.replace("100.00", "97.50"), "pytorch,resnet50,4,8,32,fp32,9000,images/s,a.md,28.67,"
        rows = (f"{self.ONE},a.md,1.00,", f"{four},a.md,4.00,", f"{other},b.md,1.00,", f"{four},b.md,4.00,", baseless)

        bring(table(tmp_path, *rows, head=self.HEAD))

        (finding,) = [one for one in wrong(bring.store) if one.code == "D16_speedup"]
        assert (finding.printed, finding.computed) == ("4.00", pytest.approx(3.9))
        assert [one.printed for one in evaluate(bring.store).findings if one.code == "D16_speedup"] == ["4.00"]


class TestColumns:
    """`published_speedup` was dropped in silence, and a table in long form was taken for a log."""

    def test_columns_that_are_not_read_are_named_with_what_they_could_be_and_map_says_what_they_are(
        self, tmp_path, bring
    ):
        head = HEAD.replace("throughput", "img_per_sec").replace("gpus_per_node", "gpus_per_nod")
        file = table(tmp_path, "pytorch,resnet50,2,8,64,fp32,100,images/s", head=head)

        _, _, silent = bring(file, "--map", "throughput=img_per_sec")
        code, _, said = bring(file, "--map", "throughput=img_per_sec", "--map", "gpus=gpus_per_nod", "--amend")

        assert "gpus_per_nod (--map gpus=gpus_per_nod)" in silent
        assert (code, said) == (Exit.DONE, "")
        assert "2x8" in {folder.run().case.scale for folder in bring.store.finished()}

    @pytest.mark.parametrize(
        ("head", "cells", "kind"),
        [
            ("metric,value,unit", "scaling_efficiency,66,%", "percent"),
            ("metric,value,unit", "speedup,1.57,", "speed-up"),
            ("metric,value,unit", "top1,75.9,%", "accuracy"),
            ("metric,value,unit", "epochs,90,", "epochs"),
            ("throughput,latency_ms,unit", ",22.4,", "latency"),
            ("throughput,memory_mib,unit", ",1115,", "memory"),
            ("throughput,note,unit", "49.43,,teraFLOP/s per GPU", "tflops"),
        ],
    )
    def test_what_is_no_throughput_is_called_by_its_kind(self, head, cells, kind, tmp_path, bring):
        common = "framework,model,nodes,gpus_per_node,batch_size_per_gpu,precision"

        _, (answer,), _ = bring(table(tmp_path, f"pytorch,resnet50,1,8,64,fp32,{cells}", head=f"{common},{head}"))

        assert answer["status"] == "other kind"
        assert answer["reason"].startswith(f"a row of kind {kind} (")

    def test_a_long_table_gives_its_throughputs(self, tmp_path, bring):
        head = "framework,model,nodes,gpus_per_node,batch_size_per_gpu,precision,metric,value,unit"

        code, _, _ = bring(table(tmp_path, "BlueFog,ResNet-50,4,4,64,fp32,throughput_total,4310.6,images/s", head=head))

        (folder,) = bring.store.finished()
        assert (code, folder.command().figure.printed) == (Exit.DONE, "4310.6")


class TestWhatIsPrinted:
    def test_many_equal_complaints_are_one_with_the_command_that_would_work(self, tmp_path, capsys):
        for number in range(22):
            log(tmp_path / f"logs/{number}.log", seconds=0.5 + number / 100)

        main(["import", str(tmp_path / "logs"), "--runs", str(tmp_path / "runs")])

        first, summary = capsys.readouterr().out.splitlines()
        assert first.startswith("22 of them, ")
        assert "neither path nor log says model, devices, batch; try --set model=resnet50_v1.5 --set devices=8" in first
        assert summary.startswith("0 run folders made")

    def test_every_name_stands_in_the_help(self):
        listed = set(EXAMPLES.replace(",", " ").split())

        assert listed >= user_facts.FIELDS.keys() | published_tables.COLUMNS.keys()

    def test_the_terminal_is_given_no_command(self, tmp_path, capsys):
        main(["import", str(log(tmp_path / "\x1b[31mred.log")), "--runs", str(tmp_path / "runs")])

        assert "\x1b" not in capsys.readouterr().out


class TestDLPerf:
    """291 of its cases pooled copies; not one wrong speed-up was found, and three right ones were accused."""

    def test_its_wrong_cells_are_found_and_no_right_one_in_the_report_too(self, bring):
        bring(ROWS, "--map", "kind=note")

        found, evaluation = list(wrong(bring.store)), evaluate(bring.store)
        assert {one.printed for one in found if one.code == "D16_speedup"} == WRONG
        pairs = {(one.printed, one.other) for one in found if one.code == "D16_sources"}
        assert pairs == {("11233.92", "11331.93"), ("11331.93", "11233.92")}
        assert not [one for one in found if one.code == "D16_cited"]
        assert {one.printed for one in evaluation.findings if one.code == "D16_speedup"} == WRONG
        assert max(one.n for one in valid(evaluation.summaries)) == 7  # a log set, and no copy of it

    def test_the_whole_table_as_it_is(self, shared, bring):
        bring(shared / "reference" / "dlperf.csv", "--map", "kind=note")

        found = list(wrong(bring.store))
        runs = [folder.command().figure.runs for folder in bring.store.finished()]
        printed = [one for folder in bring.store.finished() for one in folder.command().figure.citations]
        assert sorted(one.printed for one in found if one.code == "D16_speedup") == sorted(WRONG)
        assert not [one for one in found if one.code == "D16_cited"]
        assert sum(bool(one) for one in runs) == 25  # medians with their single runs
        assert sum(one.speedup is not None and one.base is not None for one in printed) == 615
        assert set(repeats(bring.store)) <= {1, 7}

    def test_every_group_of_its_runs_is_one_case(self, shared, bring):
        """22 of 508 rows were dropped as “already there”, since two dated log sets were one case."""
        code, answers, _ = bring(shared / "reference" / "dlperf_runs.csv")

        assert (code, len(answers), len(bring.store.finished())) == (Exit.DONE, 508, 508)
        assert len(repeats(bring.store)) == 92


class TestKnownWords:
    @pytest.mark.parametrize(
        "said", ["colour=red", "data=imagenette", "optimiser=adamw", "optimizer=sgd", "data=laion"]
    )
    def test_what_is_unlike_all_that_is_known_is_a_word_of_its_own(self, tmp_path, bring, said):
        assert bring(log(tmp_path / "a.log"), *WHAT, "--set", said)[0] == Exit.DONE

    def test_every_fact_that_reports_know_is_known_here_and_no_axis_of_a_recipe_is_taken_for_a_misspelt_name(self):
        keys = {rule.key for rule in facts.rules().fact} | set(facts.OPTION_OF) | set(facts.LAYOUT_AXES)
        axes = {name for one in registry.discover().values() for recipe in one.recipes for name in recipe.options or {}}

        assert keys <= {*vocabulary.FACTS, *user_facts.FIELDS, *user_facts.RECORDED}
        vocabulary.check_spelling(dict.fromkeys(axes, "2"), (*user_facts.FIELDS, *user_facts.RECORDED))
