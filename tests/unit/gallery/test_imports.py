"""What `import` makes of logs and tables; and the ways to make it say something wrong, with what is said now."""

import json
import re
import shlex
import tomllib
from dataclasses import replace

import pages
import pytest

from evalsuite import cli, report
from evalsuite.cli import main
from evalsuite.contracts import registry
from evalsuite.core import layout, paths
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.importing import published_tables, user_facts
from evalsuite.report.text.findings import english
from evalsuite.results.compare import fairness
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure import facts
from evalsuite.results.measure.measurement import measurement
from evalsuite.results.measure.summary import valid
from evalsuite.results.rules.printed_beside import cited_figure
from evalsuite.runs.store import Store
from tests.sources import lay

DONE, USAGE, SOME_FAILED = Exit.DONE, Exit.USAGE, Exit.SOME_FAILED
RESNET = "--set model=resnet50"
FEW = f"{RESNET} --set framework=pytorch --set devices=1"
WHAT = f"{FEW} --set batch=64"
REFERENCE = "reference workload: framework=pytorch batch_per_device=32 processes=2 global_batch=64\n"
HEAD = "framework,model,nodes,gpus_per_node,batch_size_per_gpu,precision,throughput,unit"
ROW = "pytorch,resnet50,1,8,64,fp32,100,images/s"
HEAD_OF_FIGURES = f"{HEAD},source_file,published_speedup,kind"
ONE = "pytorch,resnet50,1,1,64,fp32,100.00,images/s"
ROWS = paths.DATA.parent / "tests" / "published" / "dlperf_rows.csv"  # DLPerf's wrong cells and what they rest on
WRONG = {"27.33", "10.2", "7.55", "7.79", "29.75", "25.59", "28.67"}


def log(seconds=0.5, before=""):
    line = "Epoch: [0][{0:3d}/200]\tTime  {1:.3f} ( 0.600)\tData  0.002 ( 0.001)\tLoss 6.7e+00\n"
    return before + "".join(line.format(step, seconds) for step in range(1, 131))


def logs(*names):
    """Logs of these names, no two of the same speed."""
    return {name: log(0.5 + number / 100) for number, name in enumerate(names)}


def table(*rows, head=HEAD):
    return {"table.csv": "\n".join((head, *rows)) + "\n"}


@pytest.fixture
def bring(tmp_path, capsys, monkeypatch):
    """`import` into a folder of its own, words separated by spaces: (exit code, the answers, standard error)."""
    monkeypatch.chdir(tmp_path)

    def brought(words, texts=()):
        lay(tmp_path, dict(texts))
        code = main(["import", *words.split(), "--runs", str(tmp_path / "runs"), "--json"])
        said = capsys.readouterr()
        return code, json.loads(said.out) if said.out else [], said.err

    brought.store = Store(tmp_path / "runs")
    return brought


def repeats(store):
    cases = [folder.path.parent.name for folder in store.finished()]
    return sorted(map(cases.count, set(cases)))


def only(store):
    (folder,) = store.finished()
    return folder


def cited(store):
    """What is found wrong in cited figures, without the page around it."""
    return [
        finding
        for folder in store.finished()
        for finding in cited_figure(folder.command().figure, folder.run().case.id)
    ]


THERE = paths.DATA.parent / "tests" / "imports"
REFUSED = tomllib.loads((THERE / "refused.toml").read_text(encoding="utf-8"))
SCENES = tomllib.loads((THERE / "scenes.toml").read_text(encoding="utf-8"))


def written(texts):
    """Files of a table: `{log 0.5}` stands for a log whose steps take half a second."""
    return {name: re.sub(r"\{log ([\d.]+)\}\n?", lambda it: log(float(it[1])), text) for name, text in texts.items()}


@pytest.mark.parametrize(
    ("name", "text", "words", "told"),
    [
        *(
            ("table.csv", text if "throughput" in text else f"{HEAD}\n{text}", "", told)
            for text, told in REFUSED["tables"]
        ),
        *((name, log(), f"{WHAT} {words}", told) for name, words, told in REFUSED["logs"]),
    ],
)
def test_what_is_wrong_or_contradicted_is_refused_and_no_run_made(name, text, words, told, bring):
    """nodes 2.0, "four", 0 and −1 all became one node."""
    code, answers, said = bring(f"{name} {words}", {name: f"{text}\n"})

    assert code == USAGE and not list(bring.store.finished())
    assert told in said + "".join(f"{answer['source']} {answer['reason']}" for answer in answers)
    assert [answer["source"] for answer in answers] in ([], [f"{name}:2"], [name])
    assert "Traceback" not in said


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_a_run_is_its_bytes_and_what_is_said_of_them(scene, bring):
    for number, (words, expected, parts) in enumerate(scene["imports"]):
        code, answers, _ = bring(words, written(scene["files"]) if number == 0 else ())

        said = [f"{answer['status']}: {answer['reason']}" for answer in answers]
        assert (code, len(said)) == (Exit[expected], len(parts)), said
        assert [part for part, text in zip(parts, said, strict=True) if part not in text] == []
    assert repeats(bring.store) == scene["repeats"]
    printed = [folder.command().figure.printed for folder in bring.store.finished() if folder.command().figure]
    assert printed == scene.get("printed", printed)


PATTERN = "{framework}/{nodes}n{gpus}g/b{batch}_{precision}_{repeat}.log"
BY_PATH = f"logs --pattern {PATTERN} {RESNET}"
THREE = logs("logs/pytorch/1n1g/b64_fp32_1.log", "logs/pytorch/1n1g/b64_fp32_2.log", "logs/pytorch/2n8g/b64_fp16_1.log")


class TestWhatIsSaid:
    """fp32, XLA off and a GPU were asserted of every log; fp16, bf16 and pure fp16 all became amp, tf32 fp32."""

    def test_paths_say_what_logs_do_not_and_logs_are_kept_byte_for_byte(self, bring):
        code, _, _ = bring(BY_PATH, THREE)

        folders = bring.store.finished()
        values = {(folder.run().case.scale, folder.run().repeat): measurement(folder) for folder in folders}
        assert code == DONE
        assert {key: found.value for key, found in values.items()} == pytest.approx(
            {("1x1", 1): 64 / 0.5, ("1x1", 2): 64 / 0.51, ("2x8", 1): 64 * 16 / 0.52}
        )
        assert {value.origin for value in values.values()} == {"imported"}
        assert values["2x8", 1].run.case.precision == "amp"
        assert {folder.logs()[0].path.read_text() for folder in folders} == set(THREE.values())

    def test_the_logs_of_the_ranks_of_a_run_make_one_run(self, bring):
        ranks = dict.fromkeys(("run_r0.log", "run_r1.log"), log())

        bring(f". --pattern run_r{{rank}}.log {RESNET} --set gpus=2 --set batch=8", ranks)

        folder = only(bring.store)
        assert [log.rank for log in folder.logs()] == [0, 1]
        assert measurement(folder).value == pytest.approx(32.0)

    def test_tasks_of_known_length_make_a_rate(self, bring):
        line = "[2020-07-22 05:12:41,120] [DEBUG] [timing_utils.py:54:report_timing] task_process time is {} seconds\n"
        words = f"tasks.log --set framework=elasticdl --set devices=2 --set batch=64 {RESNET} --set steps_per_report="
        log = "".join(map(line.format, (900, 1131.7, 1131.9)))

        assert bring(f"{words}0", {"tasks.log": log})[0] == USAGE
        bring(f"{words}50")

        measured = measurement(only(bring.store))
        assert (measured.throughput.window.first_step, measured.throughput.window.last_step) == (51, 150)
        assert measured.value == pytest.approx(2 * 64 * 50 / 1131.8)

    def test_what_nobody_says_is_no_fact_no_axis_and_no_repeat_of_what_somebody_said(self, bring):
        bring(f"a.log {WHAT}", logs("a.log", "b.log"))
        bring(f"b.log {WHAT} --set precision=purefp16")

        silent, told = sorted((folder.command().stated for folder in bring.store.finished()), key=len)
        known = [facts.of_run(folder.run().case, folder.command(), {}) for folder in bring.store.finished()]
        said = [{fact.value for fact in each if fact.key == "precision"} for each in known]
        assert repeats(bring.store) == [1, 1]
        assert not {"precision", "xla", "device"} & silent.keys()
        assert told["precision"] == "purefp16"
        assert sorted(said, key=len) == [set(), {"fp16"}]
        cases = {folder.run().case.precision: folder.run().case for folder in bring.store.finished()}
        assert (cases["unknown"].device, cases["unknown"].xla, [*cases]) == ("unknown", None, [*cases, "fp16"][:2])

    def test_a_precision_that_the_log_prints_is_that_of_the_case(self, bring):
        bring(f"a.log {WHAT}", {"a.log": f"Namespace(amp=True, dtype='bfloat16')\n{logs('a.log')['a.log']}"})

        assert only(bring.store).run().case.precision == "amp-bf16"

    @pytest.mark.parametrize(
        ("words", "ranked"),
        [(("fp16", "fp16"), 2), (("fp16", "fp16_amp"), 2), (("fp16_amp", "fp16_amp"), 1), (("half", "purefp16"), 2)],
    )
    def test_fp16_of_two_frameworks_is_ranked_only_where_both_say_which_fp16(self, words, ranked, bring):
        rows = [
            f"{framework},resnet50_v1.5,1,8,64,{word},{speed},images/s,V100"
            for framework, word, speed in zip(("pytorch", "mxnet"), words, (100, 90), strict=True)
        ]

        bring("table.csv --set recipe=resnet50", table(*rows, head=f"{HEAD},device"))

        members = valid(evaluate(bring.store).summaries)
        unnamed = [replace(row, case=replace(row.case, options=())) for row in members]  # of their words for precision
        assert len(fairness.groups(unnamed, fairness.FRAMEWORKS)) == ranked

    def test_a_compiler_that_nobody_spoke_of_is_not_off(self, bring):
        rows = [f"{name},resnet50_v1.5,1,8,64,fp32,100,images/s,V100" for name in ("pytorch", "mxnet")]

        bring("table.csv --set recipe=resnet50", table(*rows, head=f"{HEAD},device"))

        found = fairness.comparison(valid(evaluate(bring.store).summaries))
        assert found.standing == "not_decided" and "compiler" in [row.rule.key for row in found.untold]

    def test_the_device_of_a_pattern_keeps_two_machines_apart_and_a_free_placeholder_is_an_option(self, bring):
        bring(
            f"logs --pattern {{backend}}-{{any}}x{{device}}.log {WHAT}",
            logs(*(f"logs/nccl-8x{name}.log" for name in ("3090", "A100", "TPUv3", "Xeon", "Ascend910"))),
        )

        cases = [folder.run().case for folder in bring.store.finished()]
        kinds = {case.option("device_model"): case.device for case in cases}
        assert kinds == {"3090": "gpu", "A100": "gpu", "TPUv3": "unknown", "Xeon": "cpu", "Ascend910": "npu"}
        assert {case.option("backend") for case in cases} == {"nccl"}
        assert {folder.command().stated["device_model"] for folder in bring.store.finished()} == kinds.keys()

    def test_a_campaign_makes_no_other_case_and_is_not_stated_afterwards(self, bring):
        bring(f"{BY_PATH} --set campaign=tuesday", THREE)
        _, (answer, *_), _ = bring(f"{BY_PATH} --set campaign=friday")

        assert {measurement(folder).campaign for folder in bring.store.finished()} == {"tuesday"}
        assert 'campaign "friday" (recorded: tuesday)' in answer["reason"]
        assert "tuesday" not in "".join(folder.run().case.id for folder in bring.store.finished())


def test_what_the_log_contradicts_is_not_imported(bring):
    """facts_disagree"""
    code, (answer,), _ = bring(f"b.log {RESNET} --set batch=16", {"b.log": log(before=REFERENCE)})

    assert code == USAGE and answer["reason"].startswith("batch is said to be 16, and the log says 32")


def test_what_is_said_of_many_logs_is_not_true_of_one_that_knows_better(bring):
    said = {f"ours/{place}.log": log(0.5 + place / 100, REFERENCE) for place in range(2)}
    code, answers, _ = bring(f". --pattern {{framework}}/{{name}}.log {RESNET} --set scope=per_device", said)

    assert code == 0 and repeats(bring.store) == [2]
    assert all("its format prints global, which is kept" in answer["reason"] for answer in answers)
    assert {folder.command().recipe.scope for folder in bring.store.finished()} == {None}


@pytest.mark.parametrize(("said", "code"), [("amp-bf16", 0), ("pure-bf16", 0), ("mxfp8", USAGE), ("fp16", USAGE)])
def test_a_word_that_says_the_same_more_exactly_is_no_contradiction(said, code, bring):
    row = ONE.replace("fp32", "bf16")
    assert bring(f"table.csv --set precision={said}", table(row))[0] == code


def test_rows_that_nothing_tells_apart_are_repeats_and_no_value_is_a_name(bring):
    head = "framework,model,devices,batch_per_device,precision,unit,throughput"
    rows = [f"{name},gpt2,8,8,amp,samples/s,{value}" for value in ("500.1", "503.2") for name in ("hf", "orca")]

    assert bring("table.csv", table(*rows, rows[0], head=head))[0] == 0

    assert repeats(bring.store) == [2, 2]
    assert not [folder for folder in bring.store.finished() if re.search("50[03]", folder.path.parent.name)]


@pytest.mark.parametrize("text", ["logs/*.log", "{batch}/{batch}.log"])
def test_a_pattern_that_says_nothing_or_twice_is_refused(text):
    with pytest.raises(EvalsuiteError, match="the placeholders are"):
        user_facts.pattern(text)


DALI = """framework,model,nodes,gpus_per_node,total_gpus,batch_size_per_gpu,precision,xla,features,throughput,unit
NGC MXNet,ResNet50-v1.5,1,8,8,128,fp32,na,DALI+Horovod,3006.02,images/sec
NGC MXNet,ResNet50-v1.5,4,8,32,128,fp16,na,DALI+Horovod,-,images/sec
NGC MXNet,ResNet50-v1.5,4,8,32,128,fp32,na,DALI+Horovod,11758.0,furlongs/sec
"""


class TestTables:
    """Copies of one figure became repeats, a stale figure the third of another; columns were dropped in silence."""

    def test_a_row_is_cited_and_never_measured(self, bring):
        code, answers, _ = bring("table.csv", {"table.csv": DALI})

        folder = only(bring.store)
        measured = measurement(folder)
        units = "images/s, sentences/s, sequences/s, samples/s, tokens/s, words/s"
        assert code == SOME_FAILED
        assert [answer["reason"] for answer in answers[1:]] == [
            "no throughput is recorded",
            f'unknown unit "furlongs/sec"; expected one of {units}',
        ]
        assert (measured.origin, measured.value, measured.throughput.unit) == ("cited", 3006.02, "images/s")
        assert measured.run.case.options == (("features", "DALI+Horovod"),)
        assert DALI.splitlines()[1] in folder.logs()[0].path.read_text()

    def test_a_figure_knows_all_places_where_it_is_printed(self, bring):
        bring("table.csv", SCENES["a figure printed in three places is one figure cited three times"]["files"])

        citations = only(bring.store).command().figure.citations
        assert [citation.source for citation in citations] == ["README.md", "a.md", "b.md"]

    def test_two_figures_for_one_case_are_two_and_told(self, bring):
        stale = f"{ONE.replace('100.00', '99.00')},stale.md,,"

        bring("table.csv", table(f"{ONE},a.md,,", f"{ONE},b.md,,", stale, head=HEAD_OF_FIGURES))

        assert repeats(bring.store) == [1, 1]
        assert {english(finding) for finding in cited(bring.store)} == {
            "stale.md gives 99.00, and a.md gives 100.00 for the same case; they are not treated as repeats",
            "a.md gives 100.00, and stale.md gives 99.00 for the same case; they are not treated as repeats",
        }

    def test_numbered_runs_are_repeats_wherever_each_stands(self, bring):
        rows = [f"{ONE.replace('100.00', f'10{place}.00')},march.log:{place},,run,{place}" for place in range(3)]

        bring("table.csv", table(*rows, head=f"{HEAD_OF_FIGURES},repeat"))

        assert repeats(bring.store) == [3]

    @pytest.mark.parametrize(
        ("values", "found"), [(("99.00", "100.00", "104.00"), []), (("99.00", "101.00", "104.00"), [("D16", "101")])]
    )
    def test_a_median_and_its_runs_are_no_repeats_and_one_that_is_not_theirs_is_found(self, values, found, bring):
        runs = [f"{ONE.replace('100.00', value)},a.md,,run" for value in values]

        bring("table.csv", table(f"{ONE},a.md,,median", *runs, head=HEAD_OF_FIGURES))

        assert repeats(bring.store) == [1, 3]
        assert [(citation.code, citation.other) for citation in cited(bring.store)] == found

    def test_a_wrong_speedup_is_found_against_the_base_of_its_own_source_and_none_without_a_base(self, bring):
        four = "pytorch,resnet50,1,4,64,fp32,390.00,images/s"
        other, baseless = ONE.replace("100.00", "97.50"), "pytorch,resnet50,4,8,32,fp32,9000,images/s,a.md,28.67,"
        rows = (f"{ONE},a.md,1.00,", f"{four},a.md,4.00,", f"{other},b.md,1.00,", f"{four},b.md,4.00,", baseless)

        bring("table.csv", table(*rows, head=HEAD_OF_FIGURES))

        (finding,) = [citation for citation in cited(bring.store) if citation.name == "author_differs"]
        assert (finding.written, finding.computed) == ("4.00", pytest.approx(3.9))
        found = [each for each in evaluate(bring.store).findings if each.name == "author_differs"]
        assert [each.written for each in found] == ["4.00"]

    def test_columns_that_are_not_read_are_named_and_facts_are_read(self, bring):
        head = HEAD.replace("gpus_per_node", "gpus_per_nod") + ",optimiser,colour"

        row = "pytorch,resnet50,1,8,64,fp32,100,images/s,sgd,red"
        _, _, said = bring("table.csv --set devices=8", table(row, head=head))

        assert said == "table.csv: columns that are not read: gpus_per_nod, colour\n"
        assert only(bring.store).run().case.option("optimiser") == "sgd"

    def test_what_a_source_prints_beside_a_rate_is_of_the_run_and_makes_no_other_case(self, bring):
        bring(f"logs {WHAT} --set spread=12.5 --set hours=6.1 --set accuracy=75.9", logs("logs/1.log", "logs/2.log"))

        found = [measurement(folder) for folder in bring.store.finished()]
        stated = {"stated_spread_items_per_s": 12.5, "training_stated_h": 6.1, "accuracy_stated_percent": 75.9}
        assert len({run.run.case for run in found}) == 1
        assert [stated.items() <= dict(each.figures).items() for each in found] == [True, True]


class TestWhatIsPrinted:
    def test_many_equal_complaints_are_one_with_the_command_that_would_work(self, tmp_path, capsys):
        lay(tmp_path, logs(*(f"logs/{number}.log" for number in range(22))))

        main(["import", str(tmp_path / "logs"), "--runs", str(tmp_path / "runs")])

        first, summary = capsys.readouterr().out.splitlines()
        assert first.startswith("22 of them, ")
        assert "neither path nor log says model, devices, batch; try --set model=resnet50_v1.5 --set devices=8" in first
        assert summary.startswith("0 run folders made")

    def test_of_many_runs_the_same_is_said_once(self, tmp_path, capsys):
        lay(tmp_path, table(*(ROW.replace("100", str(100 + number)) for number in range(31))))

        main(["import", str(tmp_path / "table.csv"), "--runs", str(tmp_path / "runs")])

        first, summary = capsys.readouterr().out.splitlines()
        assert first.startswith("31 of them, ") and summary.startswith("31 run folders made")

    def test_the_terminal_is_given_no_command(self, tmp_path, capsys):
        lay(tmp_path, logs("\x1b[31mred.log"))

        main(["import", str(tmp_path / "\x1b[31mred.log"), "--runs", str(tmp_path / "runs")])

        assert "\x1b" not in capsys.readouterr().out


class TestLogsToAPage:
    """`report LOGS` imports, asks for all that is lacking at once, and writes the page."""

    SAID = "--set model=resnet50 --set devices=1 --set batch=64"

    @pytest.fixture
    def page(self, tmp_path, capsys, monkeypatch):
        monkeypatch.chdir(tmp_path)
        lay(tmp_path, logs("logs/pytorch/1.log", "logs/mxnet/1.log") | {"logs/README.md": "# Logs of May\n"})

        def written(words):
            code = main(["report", *shlex.split(words), *["--lang", "en"] * ("--lang" not in words)])
            return code, capsys.readouterr().err, (tmp_path / "report" / "report.html").exists()

        written.runs = Store(tmp_path / "report-runs")
        return written

    def test_one_command_makes_the_page_of_these_logs_and_no_others(self, page):
        answers = [page(f"logs/mxnet/1.log logs/pytorch/1.log --pattern {{framework}}/{{any}}.log {self.SAID}")]
        frameworks = [each.run().case.framework for each in page.runs.finished()]
        answers += [page("logs/pytorch --set model=resnet-50 --set devices=1 --set batch=32")]

        assert [(code, made) for code, _, made in answers] == [(DONE, True)] * 2
        assert frameworks == ["mxnet", "pytorch"]
        cases = [each.run().case for each in page.runs.finished()]
        assert [(case.model, case.batch_per_device) for case in cases] == [("resnet-50", 32)]

    def test_what_lacks_is_asked_for_at_once_with_the_line_to_type(self, page):
        code, said, made = page("logs --set batch=64")

        assert (code, made, page.runs.finished()) == (USAGE, False, [])
        assert "devices (such as 8; 2 logs lack it, as logs/mxnet/1.log)" in said
        assert "evalsuite report logs --set batch=64 --lang en --set 'model=…' --set 'devices=…'\n" in said
        assert page(said.splitlines()[-4].partition("report ")[2])[0] == USAGE  # as it stands

    def test_a_log_in_no_known_format_asks_how_it_is_read_too(self, page, tmp_path):
        lines = "".join(f"it {step:4d} | {200 + step % 3}.5 img/s | loss {3 - step / 90:.3f}\n" for step in range(160))
        lay(tmp_path, {"own/a.log": lines})

        _, said, _ = page("own")
        line = said.splitlines()[-4].partition("report ")[2]
        for value in ("toy", "resnet50", "2", "64", "global"):
            line = line.replace("…", value, 1)

        assert "is this right, in own/a.log: in no known dialect; line " in said
        assert page(line)[0] == DONE and page("own --set devices=2")[1].count("scope (") == 1

    def test_a_terminal_is_asked(self, page, monkeypatch):
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        answers = iter(["resnet50", "1", "64"])
        monkeypatch.setattr("builtins.input", lambda prompt: next(answers))

        code, said, made = page("logs")

        assert (code, made) == (SOME_FAILED, True), said  # the README is named
        assert len(page.runs.finished()) == 2

    def test_a_folder_that_is_not_its_own_is_left_alone(self, page, tmp_path):
        lay(tmp_path, {"report-runs/mine.txt": "notes"})

        code, said, _ = page(f"logs {self.SAID}")

        assert code == USAGE and "Give another --out" in said
        assert (tmp_path / "report-runs" / "mine.txt").exists()


class TestDLPerf:
    """291 of its cases pooled copies; not one wrong speed-up was found, and three right ones were accused."""

    def test_its_wrong_cells_are_found_and_no_right_one_in_the_report_too(self, bring):
        bring(str(ROWS))

        found, evaluation = cited(bring.store), evaluate(bring.store)
        assert {finding.written for finding in found if finding.name == "author_differs"} == WRONG
        pairs = {(finding.printed, finding.other) for finding in found if finding.name == "sources_differ"}
        assert pairs == {("11233.92", "11331.93"), ("11331.93", "11233.92")}
        told = {each.written for each in evaluation.findings if each.name == "author_differs"}
        assert told == WRONG
        assert max(summary.n for summary in valid(evaluation.summaries)) == 7  # a log set, and no copy of it

    def test_every_group_of_its_runs_is_one_case(self, shared, bring):
        """22 of 508 rows were dropped as “already there”, since two dated log sets were one case."""
        printed = (shared / "reference" / "dlperf_runs.csv").read_text()
        tidy = re.sub(r"(?m)^((?:[^,]*,){3}[^,]*),", r"\1/", printed).replace("log_dir/log_stem", "log_set")
        code, answers, _ = bring("runs.csv", {"runs.csv": tidy})

        assert (code, len(answers), len(bring.store.finished())) == (DONE, 508, 508)
        assert len(repeats(bring.store)) == 92


def test_the_value_of_an_axis_is_that_of_a_spec(bring):
    bring(f"a.log {WHAT} --set data=dali-gpu", logs("a.log"))

    assert only(bring.store).run().case.option("data") == "dali-gpu"


class TestFactsOfACampaign:
    FACTS = f'device = "A100"\ndata = "{"imagenet_" * 8}"\noptimiser = "sgd"\nclipping = 1.0\ntf32 = false\n'

    def test_they_are_stated_of_each_run_kept_once_and_are_no_part_of_a_name(self, bring):
        code, *_ = bring(f"a.log --facts facts.toml {WHAT}", {"facts.toml": self.FACTS} | logs("a.log"))
        again, *_ = bring(f"b.log {WHAT}", {"b.log": log(0.7)})  # the folder knows them

        first, second = bring.store.finished()
        assert (code, again) == (DONE, DONE)
        assert first.run().case == second.run().case and "data" not in dict(first.run().case.options)
        stated = dict(first.command().stated)
        assert stated == second.command().stated
        assert (stated["device_model"], stated["clipping"], stated["tf32"]) == ("A100", "1.0", "off")

    def test_a_page_says_of_the_scripts_only_what_is_recorded(self, bring, tmp_path):
        bring(f"a.log {WHAT}", logs("a.log"))
        page = pages.read(report.build(evaluate(bring.store), tmp_path / "page")[0].read_text("utf-8"))

        said = page.one("main").text("en")
        assert "official training scripts" not in said and "no container" not in said
        assert "Of their scripts only what these state is known." in said
        assert said.count("evalsuite import … --facts FILE --runs DIR") == 1

    def test_others_are_refused(self, bring, tmp_path):
        bring(f"a.log --facts facts.toml {WHAT}", {"facts.toml": self.FACTS} | logs("a.log"))

        code, _, said = bring(f"b.log --facts other.toml {WHAT}", {"other.toml": 'data = "made"\n', "b.log": log(0.7)})
        assert code == USAGE and "what holds for a whole campaign is stated once" in said

    def test_a_name_of_any_length_is_hashed(self, bring):
        options = " ".join(f"--set option{place}={'x' * 40}" for place in range(6))
        code, *_ = bring(f"a.log {WHAT} {options}", logs("a.log"))

        assert code == DONE
        assert len(only(bring.store).path.parent.name) <= 180


def test_every_name_stands_in_the_help_and_every_fact_of_reports_is_known_and_no_axis_is_taken_for_a_misspelt_name():
    listed = set(cli.parser_of("import").epilog.replace(",", " ").split())
    keys = {rule.key for rule in facts.rules().fact} | {*facts.rules().options, "zero_stage", *layout.table()["parts"]}
    axes = {name for each in registry.discover().values() for recipe in each.recipes for name in recipe.options or {}}

    assert listed >= {*user_facts.FIELDS, *published_tables.COLUMNS}
    assert keys <= {*user_facts.FACTS, *user_facts.FIELDS, *user_facts.RECORDED}
    user_facts.check_facts(dict.fromkeys(axes, "2"))
