"""Scripts that a `[[participant]]` declares in TOML, which become adapters like those of Python."""

import json
import shlex
import sys
from dataclasses import replace

import pytest

from evalsuite import cli
from evalsuite.commands import init
from evalsuite.contracts import own_script, registry
from evalsuite.core.documents import RunCommand, UsedRecipe
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import Case, Protocol, Run, Step
from evalsuite.launch.provision import virtualenvs
from evalsuite.logs import catalogue
from evalsuite.logs.judging import Reading
from evalsuite.results.measure import measurement
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import Store

COMMAND = "torchrun --nproc-per-node {devices_per_node} train.py --batch {batch_per_device} --steps {steps}"
MOON = f'''[[participant]]
name = "moon"
command = "{COMMAND} --dtype {{precision}}"
python = "venv"
unit = "tokens/s"
'''
MOON_S = {"framework": "moon", "recipe": "train", "model": "moon", "nodes": 2, "devices_per_node": 4}
CASE = Case(**MOON_S, batch_per_device=8, protocol=Protocol(warmup_steps=5, measured_steps=15))


@pytest.fixture
def file(tmp_path):
    (tmp_path / "train.py").write_text("raise SystemExit('an adapter is looked for, and this is run')\n")
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python").touch()
    (tmp_path / "moon.toml").write_text(MOON)
    return tmp_path / "moon.toml"


def recipe_of(file, *more, old="", new=""):
    file.write_text("\n".join([MOON.replace(old, new), *more]))
    return registry.discover([file])["moon"].recipe("train")


def words(recipe, case=CASE):
    return recipe.command_of(case).argv


def test_every_placeholder_of_a_case_is_filled_and_those_of_a_run_are_left(file):
    names = [*own_script.PLACEHOLDERS, "sequence_length", "python", "scratch", "node_rank", "master_addr"]
    found = recipe_of(file, old=f"{COMMAND} --dtype {{precision}}", new=" ".join(f"--{n}={{{n}}}" for n in names))
    case = replace(CASE, device="gpu", precision="amp-bf16", xla=True, options=(("sequence_length", "512"),))

    assert words(found, case) == (
        *("--nodes=2", "--devices_per_node=4", "--total_devices=8", "--batch_per_device=8", "--global_batch=64"),
        *("--steps=20", "--last_step=19", "--warmup_steps=5", "--precision=amp-bf16", "--device=cuda", "--xla=on"),
        *("--sequence_length=512", "--python={python}", "--scratch={scratch}"),
        *("--node_rank={node_rank}", "--master_addr={master_addr}"),
    )
    assert found.options == {"sequence_length": ()}


def test_values_are_spelt_as_the_script_has_them_and_a_word_may_be_several_or_none(file):
    found = recipe_of(
        file,
        'precision = { fp32 = "", amp = "--amp --scale dynamic" }',
        'options = { optimiser = { adam = "AdamW", sgd = "SGD" }, sequence_length = 128 }',
        old="--dtype {precision}",
        new="{precision} --o={optimiser}",
    )
    one = replace(CASE, nodes=1, devices_per_node=1)

    assert words(found, one)[-2:] == ("20", "--o=AdamW")
    assert words(found, replace(one, precision="amp", options=(("optimiser", "sgd"),)))[-4:] == (
        *("--amp", "--scale", "dynamic"),
        "--o=SGD",
    )
    assert found.meant([]) == (("sequence_length", "128"),)  # what the script has built in is part of the case
    assert "precision bf16" in found.refusal(replace(one, precision="bf16"))


def test_a_plan_on_npus_says_so(file, capsys):
    file.write_text(MOON + 'devices = ["npu"]\n')

    assert cli.main(["plan", "--spec", str(file), "--device", "npu", "--hosts", "n1:8", "--lang", "en"]) == Exit.DONE
    assert "on NPU" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("axis", "value", "name"),
    [("nodes", 2, "{nodes}"), ("devices_per_node", 2, "{devices_per_node}"), ("precision", "amp", "{precision}")],
)
def test_an_axis_that_the_command_does_not_pass_on_is_refused_at_other_values_by_name(file, axis, value, name):
    plain = "python train.py --batch {batch_per_device} --steps {steps}"
    found, one = recipe_of(file, old=f"{COMMAND} --dtype {{precision}}", new=plain), replace(CASE, nodes=1)

    assert found.refusal(replace(one, devices_per_node=1)) is None
    assert name in str(found.refusal(replace(one, **{"devices_per_node": 1, axis: value})))


def test_a_batch_that_the_script_has_built_in_is_the_only_one_and_a_check_takes_it(file, capsys):
    found = recipe_of(file, "built_in = { batch_per_device = 8 }", old=" --batch {batch_per_device}")

    one = replace(CASE, nodes=1)
    assert found.refusal(one) is None
    assert "batch_per_device is 8 in it" in str(found.refusal(replace(one, batch_per_device=16)))
    cli.main(["adapters", "--check", str(file), "--lang", "en"])
    assert "every case of the small matrix is refused" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (" --steps {steps}", "", "--max-steps {steps}"),
        (" --batch {batch_per_device}", "", "--batch {batch_per_device}"),
        ("{steps}", "{stops}", "Did you mean steps?"),
        ('python = "venv"\n', "", "expected python or"),
        ('python = "venv"', 'python = "99.9"', "there is no Python 99.9"),
        ('unit = "tokens/s"', 'unit = "its/s"', "unit"),
        ("[[participant]]", 'models = ["a", "b"]\n[[participant]]', 'Write model = "…"'),
        ("[[participant]]", MOON + "[[participant]]", "comes twice"),
        ('unit = "tokens/s"', 'line = "done"', "no number in it counts steps"),
        ('unit = "tokens/s"', 'unit = "images/s"\nline = "step 3 | 5.0 tok/s"', "tokens/s"),
        ('unit = "tokens/s"', 'format = "nanogbt"', "nanogpt"),
        ('unit = "tokens/s"', 'environment = { "A=B" = "x" }', "the name of a variable"),
        ('unit = "tokens/s"', 'environment = { WANDB_API_KEY = "x" }', "export it before"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_what_to_add(file, old, new, said, capsys):
    file.write_text(MOON.replace(old, new))

    assert cli.main(["plan", "--spec", str(file), "--lang", "en"]) == Exit.USAGE
    assert said in capsys.readouterr().err


def test_a_line_shows_how_the_log_reads(file):
    recipe = recipe_of(file, 'line = "it 00012/100 | loss 2.31 | 20146.2 tok/s | 31.2 ms/it"')
    found = catalogue.recipe_dialect("moon", recipe, catalogue.known())

    (line,) = found.step
    match = line.compiled.search(b"12:00 it 00013/100 | loss 2.20 | 20150.1 tok/s | 31.1 ms/it")
    assert match is not None and match.groupdict() == {
        **{"step": b"00013", "loss": b"2.20", "rate": b"20150.1", "ms": b"31.1"}
    }
    assert (found.name, found.unit, found.scope) == ("moon_train", "tokens/s", "auto")


def test_a_number_that_no_word_calls_a_step_is_one_where_the_line_marks_it(file):
    (line,) = catalogue.recipe_dialect(
        "moon", recipe_of(file, 'line = "épisode 7 [round {step}] loss 2.31 | 46.1 tok/s"'), catalogue.known()
    ).step

    match = line.compiled.search("épisode 8 [round 931] loss 2.20 | 50.1 tok/s".encode())
    assert match is not None and match.groupdict() == {"step": b"931", "loss": b"2.20", "rate": b"50.1"}


def test_frameworks_of_ours_stand_beside_a_script_in_eight_lines(file, capsys):
    head = 'frameworks = ["pytorch"]\nmodels = ["resnet50_v1.5"]\nscales = ["1x2"]\n'
    file.write_text(head + MOON.replace(" --dtype {precision}", "").replace("tokens/s", "images/s"))
    assert len(file.read_text().splitlines()) == 8

    assert (
        cli.main(["plan", "--spec", str(file), "--device", "gpu", "--json", "--commands", "--hosts", "n1:8"])
        == Exit.DONE
    )
    cases = json.loads(capsys.readouterr().out)["cases"]
    assert {(case["framework"], case["model"], case["scale"]) for case in cases} == {
        ("moon", "resnet50_v1.5", "1x2"),
        ("pytorch", "resnet50_v1.5", "1x2"),
    }


def test_a_script_beside_its_declaration_is_not_run_as_an_adapter(file):
    assert sorted({*registry.discover([file.parent])} - {*registry.discover()}) == ["moon"]


def test_it_is_started_in_its_folder_with_the_programs_of_its_environment_first(file, capsys):
    assert cli.main(["plan", "--spec", str(file), "--commands", "--runs", str(file.parent / "runs")]) == Exit.DONE
    assert cli.main(["plan", "--spec", str(file), "--recipe", "other"]) == Exit.USAGE  # it chooses none of them
    shown = capsys.readouterr().out
    assert f"{file.parent} '{{bin}}:' torchrun" in shown or f"{file.parent} {file.parent}/venv/bin: torchrun" in shown


@pytest.mark.parametrize(
    ("lost", "said"), [("venv/bin/python", "no interpreter"), ("train.py", "where its script lies")]
)
def test_what_is_not_there_is_said_before_the_first_run_and_a_report_elsewhere_needs_it_not(file, lost, said, capsys):
    (file.parent / lost).unlink()

    cli.main(["plan", "--spec", str(file), "--runs", str(file.parent / "runs"), "--lang", "en"])
    assert said in " ".join(capsys.readouterr().out.split())
    assert "moon" in registry.load_author_adapters(file)


def test_doctor_says_what_its_environment_lacks_and_nothing_where_there_is_no_script(file, monkeypatch, capsys):
    (file.parent / "train.py").write_text("import json, torch_of_nobody\n")
    file.write_text(MOON.replace('"venv"', json.dumps(sys.executable)))

    assert cli.main(["doctor", "--spec", str(file), "--lang", "en"]) == Exit.USAGE
    assert "lacks torch_of_nobody: install it there" in capsys.readouterr().out
    file.write_text('frameworks = ["pytorch"]\n')
    assert cli.main(["doctor", "--spec", str(file), "--lang", "en"]) == Exit.DONE


def test_the_same_pins_as_ours_make_the_same_environment(file):
    ours = registry.discover()["pytorch"].recipe("reference-resnet50")
    pins = f"requirements = {json.dumps(list(ours.requirements))}"
    own = recipe_of(file, old='python = "venv"', new=f'python = "{ours.python}"\n{pins}')

    assert virtualenvs.folder_of(own, "cpu") == virtualenvs.folder_of(ours, "cpu")


def test_env_removes_no_environment_that_somebody_else_has_made(file, capsys):
    assert cli.main(["env", "remove", "moon/train", "--adapters", str(file)]) == Exit.DONE
    assert (file.parent / "venv" / "bin" / "python").exists()


def test_a_name_of_ours_is_refused(file):
    file.write_text(MOON.replace('"moon"', '"PyTorch"'))

    with pytest.raises(EvalsuiteError, match="my_"):
        registry.discover([file])


LOG = "".join(f"step {step} | loss {3 / step:.3f} | {1000 + step % 7}.0 tok/s\n" for step in range(1, 21))


@pytest.mark.parametrize(
    ("log", "unit", "said"),
    [
        (LOG, "tokens/s", None),  # it counts to the very step that was asked for: found by itself
        (LOG[: LOG.index("step 15")], "tokens/s", "ended by itself at step 14 of the 20"),
        (LOG, "images/s", 'Write unit = "tokens/s"'),
        ("", "tokens/s", "expected a line for each step"),
        ("Traceback (most recent call last):\nEOFError: EOF when reading a line\n", "tokens/s", "asks at a terminal"),
        ("Traceback (most recent call last):\nModuleNotFoundError: No module named 'x'\n", "tokens/s", "python"),
    ],
)
def test_a_log_without_a_declared_format_is_read_by_itself_or_one_sentence_says_what_to_add(tmp_path, log, unit, said):
    case = replace(CASE, nodes=1, devices_per_node=1)
    died = "Error" in log
    recipe = UsedRecipe(name="train", kind="reference", model="moon", unit=unit)
    with Store(tmp_path).claim(Run(case=case, repeat=0)) as folder:
        (folder.path / "log.n1.txt").write_text(log)
        folder.write_command(RunCommand(argv=(), command=(), environment={}, recipe=recipe))
        folder.write_outcome(
            Outcome(status="failed" if died else "completed", reason="exit code 1" if died else "", exit_code=int(died))
        )

    found = measurement.measurement(folder)
    assert (found.value is not None) is (said is None)
    assert said is None or said in str(found.reason)


def test_a_run_keeps_the_line_that_shows_its_log_so_that_no_reader_needs_a_declaration(tmp_path, capsys):
    case = replace(CASE, nodes=1, devices_per_node=1)
    recipe = UsedRecipe(name="train", kind="reference", model="moon", unit="tokens/s", dialect="moon_train")
    with Store(tmp_path).claim(Run(case=case, repeat=0)) as folder:
        (folder.path / "log.n1.txt").write_text(LOG)
        used = replace(recipe, line=LOG.splitlines()[3])
        folder.write_command(RunCommand(argv=(), command=(), environment={}, recipe=used))
        folder.write_outcome(Outcome(status="completed", reason="", exit_code=0))

    assert measurement.measurement(folder).value is not None
    assert cli.main(["parse", "--json", str(folder.path / "log.n1.txt")]) == Exit.DONE
    assert json.loads(capsys.readouterr().out)[0]["dialect"] == "moon_train"


# evalsuite init


@pytest.mark.parametrize(
    ("given", "command", "asked", "spelt"),
    [
        (
            "torchrun --nproc-per-node=2 --nnodes 1 train.py --batch 32 --steps 1000 --dtype bfloat16",
            "torchrun --nproc-per-node={devices_per_node} --nnodes {nodes} train.py --batch {batch_per_device}"
            " --steps {steps} --dtype {precision}",
            {"devices_per_node": "2", "nodes": "1", "batch_per_device": "32", "steps": "1000", "precision": "bf16"},
            {"bf16": "bfloat16"},
        ),
        (
            "accelerate launch --num_processes 2 run.py --per_device_train_batch_size 8 --max_steps=50 --bf16 True"
            " --output_dir a/out --x",
            "accelerate launch --num_processes {total_devices} run.py --per_device_train_batch_size {batch_per_device}"
            " --max_steps={steps} {precision} --output_dir {scratch}/out --x",
            {"total_devices": "2", "batch_per_device": "8", "steps": "50", "precision": "amp-bf16", "scratch": "a/out"},
            {"fp32": "", "amp-bf16": "--bf16 True"},
        ),
        (
            "python train.py --amp data training.steps=7 --bs auto --lr 3e-4",
            "python train.py {precision} data training.steps={steps} --bs auto --lr 3e-4",
            {"precision": "amp", "steps": "7"},
            {"fp32": "", "amp": "--amp"},
        ),
        ("python train.py --n {steps} 7", "python train.py --n {steps} 7", {}, {}),
    ],
)
def test_numbers_of_known_options_become_placeholders(given, command, asked, spelt):
    words, found, spelling = init._with_placeholders(shlex.split(given))

    assert (" ".join(words), found, spelling) == (command, asked, spelt)


def test_init_writes_no_file_over_another_and_says_which_program_is_not_there(file, monkeypatch, capsys):
    monkeypatch.chdir(file.parent)
    for words, said in (
        ([], "no command"),
        (["-o", "moon.toml", "--", "python3", "train.py"], "there already"),
        (["--", "torchrum", "train.py"], 'no program "torchrum"'),
        (["-o", "new.toml", "--", "python3", "caf\udce9.py"], "not UTF-8"),
    ):
        assert cli.main(["init", "--lang", "en", *words]) == Exit.USAGE
        assert said in capsys.readouterr().err
    assert file.read_text() == MOON


def test_init_says_what_the_command_lacks_and_keeps_the_file(file, monkeypatch, capsys):
    monkeypatch.chdir(file.parent)
    words = ["init", "--lang", "en", "-o", "new.toml"]

    assert cli.main([*words, "--", "python3", "train.py"]) == Exit.USAGE
    line = "evalsuite init --lang en -o new.toml --batch-per-device N -- python3 train.py\n"
    assert line in capsys.readouterr().err and not file.with_name("new.toml").exists()
    new = file.with_name("new.toml")
    for change, code, said in (("", 3, "exit code 1"), ("", 3, "exit code 1"), ("# mended\n", 2, "there already")):
        new.write_text(refused := new.read_text() + change) if new.exists() else None
        assert cli.main([*words, "--batch-per-device", "4", "--", "python3", "train.py"]) == code
        assert said in capsys.readouterr().err
    assert new.read_text() == refused and 'step_bound = "none"\nbuilt_in = { batch_per_device = 4 }' in refused


@pytest.mark.parametrize(
    ("ends", "asked", "reports", "early"),
    [
        ([10], 12, 1, False),  # the next would be the twentieth
        ([10, 20], 30, 2, True),
        ([1, 10, 20], 29, 3, False),
        ([1, 2, 3], 12, 3, True),
        ([5], 12, 2, False),  # of a coarse clock, which leaves the second out
        ([5], 12, 1, True),
        ([], 12, 0, False),
    ],
)
def test_a_script_ended_early_where_its_next_report_would_be_a_step_that_was_asked_for(ends, asked, reports, early):
    steps = tuple(Step(index=end, steps=end - before) for before, end in zip([0, *ends], ends, strict=False))
    read = Reading(dialect=None, framework=None, model=None, scope=None, status="ok", steps=steps)

    assert bool(measurement.ended_early(read, asked, reports)) is early


def test_init_runs_a_script_that_reports_every_ten_steps_for_three_reports(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(
        "import sys\nfor step in range(10, int((sys.argv[4:] or [800])[0]) + 1, 10):\n"
        "    print(f'step {step} loss {3 / step:.3f} {1000 + step}.0 samples/s', flush=True)\n"
    )
    words = ["-o", "ten.toml", "--", sys.executable, "train.py", "--batch", "4", "--steps", "50"]

    assert cli.main(["init", "--lang", "en", *words]) == Exit.DONE
    said = capsys.readouterr()
    assert "30 steps" in said.err
    assert "a step:  step 10 loss" in said.out
    assert (tmp_path / "ten.toml").read_text().startswith("batch_per_device")
    assert cli.main(["init", "--lang", "en", "-o", "own.toml", *words[2:-2]]) == Exit.DONE
    assert "by itself it ends" not in capsys.readouterr().out  # all 800 steps are counted


def test_the_environment_is_that_of_the_program_else_the_active_one(file, monkeypatch):
    for name in ("torchrun", "../run.sh"):
        path = file.parent / "venv" / "bin" / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    (file.parent / "venv" / "bin" / "python").chmod(0o755)
    (file.parent / "venv" / "pyvenv.cfg").touch()
    monkeypatch.chdir(file.parent)
    monkeypatch.setenv("PATH", f"{file.parent}/venv/bin:/usr/bin:/bin")

    found = [init._environment(program, file) for program in ("venv/bin/torchrun", "python", "sh", "./venv/run.sh")]

    assert found == [("venv", "torchrun"), ("venv", "python"), ("venv", "sh"), ("venv", "./venv/run.sh")]
