"""What is stated of a run: by whom, what is believed, and what contradicts."""

from dataclasses import replace

import pytest
import synthetic

from evalsuite.contracts import registry
from evalsuite.contracts.adapter import INPUT_SIZES
from evalsuite.core.documents import Gpu, HostEnvironment, ReadData, RunCommand, UsedRecipe
from evalsuite.core.findings import FactsDisagree
from evalsuite.core.model import Fact, Measurement, Run
from evalsuite.logs import options
from evalsuite.logs.extra_metrics import AlsoPrinted
from evalsuite.results.measure import facts
from tests import sources
from tools import recipe_cases

STATED = sources.table("facts.toml")
CASE = synthetic.case("pytorch", (2, 8), device="gpu")
GPU_HOST = HostEnvironment(
    host="a",
    cpu_model="AMD EPYC 7543",
    cpu_count=64,
    gpus=(Gpu(name="A100", memory_total_bytes=80 * 2**30),) * 8,
    driver="550.54.15",
    environment_variables={"NCCL_IB_DISABLE": "1", "NCCL_DEBUG": "INFO", "CUDNN_BENCHMARK": "1"},
)


def command(*words, recipe=None, **changes):
    return RunCommand(argv=(), command=words, environment={}, recipe=recipe or UsedRecipe(), **changes)


def of(case=CASE, made=None, hosts=None, printed=None, options=()):
    return facts.of_run(case, made or command(), hosts or {}, printed, options)


def measured(case, found):
    return Measurement(run=Run(case=case, repeat=0), status="ok", facts=found)


def known(found):
    return {key: (fact.value, fact.source) for key, fact in facts.believed(found).items()}


def test_what_nobody_states_is_no_fact_and_a_log_is_believed():
    ours = {"model_variant", "precision", "batch_per_device", "global_batch", "compiler"}

    assert set(known(of(replace(CASE, options=())))) == ours
    assert known(of(printed={"global_batch": "4096"}))["global_batch"] == ("4096", "log")  # believed before all others


@pytest.mark.parametrize(["words", "key", "value"], [(*row, None)[:3] for row in STATED["options"]])
def test_options_of_a_script_state_facts(words, key, value):
    found = known(of(made=command("python", "train.py", *words)))

    assert found.get(key) == (value and (value, "command_line"))


def test_hosts_state_devices_driver_and_settings():
    found = known(of(hosts={"a": GPU_HOST, "b": replace(GPU_HOST, host="b")}))

    expected = {
        **{"device_model": "A100", "device_memory": "80 GiB", "driver_generation": "550"},
        **{"host_kind": "AMD EPYC 7543 (64 cores)", "communication": "NCCL_IB_DISABLE=1"},
        **{"kernel_switches": "CUDNN_BENCHMARK=1", "hosts": "2"},
    }
    assert {key: found[key] for key in expected} == {key: (it, "environment") for key, it in expected.items()}


@pytest.mark.parametrize(("changes", "key", "expected"), sources.cases("facts.toml")["host_does_say"])
def test_what_one_host_does_not_say_is_unknown_and_a_record_of_no_variables_says_none_was_set(changes, key, expected):
    hosts = {name: replace(GPU_HOST, host=name, **changes) for name in "ab"}
    hosts |= {"c": GPU_HOST} if key == "driver_generation" else {}

    assert known(of(hosts=hosts)).get(key) == expected


@pytest.mark.parametrize(("name", "variables", "expected"), sources.cases("facts.toml")["tf32"])
def test_a_device_that_may_compute_in_tf32_leaves_it_open(name, variables, expected):
    host = replace(GPU_HOST, gpus=(Gpu(name=name),), environment_variables=variables)

    assert known(of(hosts={"a": host})).get("tf32") == expected


@pytest.mark.parametrize(["device", "text", "expected"], STATED["amp"])
def test_a_recipe_says_what_amp_is_in_its_own_words(device, text, expected):
    case = replace(CASE, precision="amp", device=device)

    found = of(case, command(recipe=UsedRecipe(amp=text)))

    assert facts.believed(found)["precision"].value == expected
    assert list(facts.disagreements(found)) == []


@pytest.mark.parametrize(("word", "expected"), STATED["precision"])
def test_the_word_for_a_precision_at_import_is_kept(word, expected):
    found = known(of(replace(CASE, precision="amp"), command(stated={"precision": word, "device_model": "V100"})))

    assert found["precision"][0] == expected
    assert found["device_model"] == ("V100", "stated")


@pytest.mark.parametrize("word", ["fp16", "FP16", "half", "float16", "bf16", "bfloat16"])
def test_fp16_at_import_may_be_amp_or_pure_and_is_unknown_until_something_says_which(word):
    case = replace(CASE, precision="amp", options=(("stated_precision", word),))
    exact = "bf16_amp" if word.startswith("b") else "fp16_amp"
    open_, told = command(stated={"precision": word}), command("--precision", exact, stated={"precision": word})

    assert "precision" not in facts.of_runs([measured(case, of(case, open_))])
    assert facts.of_runs([measured(case, of(case, told))])["precision"][0].value == exact
    assert not list(facts.disagreements(of(case, told)))


def test_a_run_made_elsewhere_has_no_compiler_off_and_no_precision_where_nobody_said_so():
    silent, told = command(stated={"precision": "fp32"}), command(stated={"xla": "off"})

    assert "compiler" not in known(of(made=silent))
    assert "compiler" not in facts.of_runs([measured(CASE, of(made=silent))])
    assert known(of(made=told))["compiler"] == ("off", "case")
    assert "precision" not in known(of(replace(CASE, options=(("stated_precision", "unknown"),))))


def test_two_sources_that_differ_are_a_finding():
    found = of(made=command("--optimizer", "lamb", recipe=UsedRecipe(facts={"optimiser": "adam"})))
    (precision,) = facts.disagreements(of(made=command("--bf16")))
    as_a_folder_writes_it = replace(CASE, options=(("device_model", "Tesla_V100"),))

    assert list(facts.disagreements(found)) == [
        FactsDisagree(fact="optimiser", source="command_line", value="lamb", other_source="recipe", other_value="adam")
    ]
    assert known(found)["optimiser"] == ("lamb", "command_line")
    assert (precision.value, precision.other_value) == ("bf16_amp", "fp32")
    assert not list(facts.disagreements(of(as_a_folder_writes_it, command(stated={"device_model": "Tesla V100"}))))


BF16 = {"ONEDNN_DEFAULT_FPMATH_MODE": "BF16"}


@pytest.mark.parametrize(
    ("words", "variables", "head", "said"),
    [
        ("--batch-size 4", {}, "", [("batch_per_device", "4")]),
        ("", BF16, "", [("precision", "bf16_amp")]),
        ("", {"XLA_USE_BF16": "1"}, "workload: precision=fp32 seed=1 steps=9", [("precision", "fp32")]),
        ("", {}, "workload: framework=jax version=0.10.2 seed=1", [("framework", "jax")]),
        ("", {}, "workload: framework=pytorch version=2.15.0 seed=1", [("framework_version", "2.15.0")]),
        ("", {}, "workload: layout=NCHW trainable_parameters=11689512", [("parameters", "11689512")]),
        ("--batch-size 64", {"JAX_DEFAULT_MATMUL_PRECISION": "highest"}, "trainable_parameters=25557032", []),
        ("", {}, "gradient_accumulation_steps: 4", [("accumulation", "4")]),
        ("", {}, "optimizer_step_every: 10", [("accumulation", "10")]),
        ("", {}, "autocast enabled: dtype=torch.bfloat16", [("precision", "bf16_amp")]),
        ("", {}, "quantization: int8", [("precision", "8 bits or fewer")]),
        ("--batch-size 8 --accum-steps 2", {}, "w: batch_per_device=8 accumulation=2 global_batch=128", []),
    ],
)
def test_what_a_run_of_ours_prints_was_given_or_has_around_it_is_held_against_its_case(words, variables, head, said):
    made = command(*words.split(), framework_version="2.13.0+cpu")
    found = of(CASE, made, {"a": replace(GPU_HOST, environment_variables=variables)})

    denied = facts.disagreements(found, CASE, facts.of_head(CASE, head.encode(), found, AlsoPrinted()), elsewhere=False)
    assert [(each.fact, each.value) for each in denied] == said


def test_a_fact_that_one_run_does_not_state_is_unknown_of_the_case_and_a_model_of_several_variants_says_none():
    run = replace(synthetic.measured(CASE, 0, 100.0), facts=(Fact(key="data", value="synthetic", source="recipe"),))
    several = synthetic.measured(replace(CASE, model="resnet50"), 0, 100.0)

    assert "data" in facts.of_runs([run]) and "data" not in facts.of_runs([run, replace(run, facts=())])
    assert "model_variant" not in facts.of_runs([several])


def test_every_fact_that_an_adapter_states_is_known():
    keys = {rule.key for rule in facts.rules().fact}
    stated = {key for adapter in registry.discover().values() for recipe in adapter.recipes for key in recipe.facts}

    assert stated <= keys
    assert {flag.key for flag in facts._flags().values()} <= keys
    assert {facts.rules().options[name] for name in INPUT_SIZES} <= keys


UNKNOWN = {  # (framework, recipe): facts that no line of the script states, and why
    ("insightface", "arcface-mxnet-2020"): {"parallel_layout"},  # an axis of its own: classifier
    ("paddlepaddle", "paddlenlp-bert-base"): {"input_size"},  # sequences are as long as those of the files
}
OFFICIAL = [
    pytest.param(adapter.name, recipe, id=f"{adapter.name}-{recipe.name}")
    for adapter in registry.discover().values()
    for recipe in adapter.recipes
    if recipe.kind == "official"
]


@pytest.mark.parametrize(("framework", "recipe"), OFFICIAL)
def test_an_official_script_says_how_it_updates_and_exchanges(framework, recipe):
    wanted = {"model_variant", "precision", "data", "optimiser", "clipping", "weight_decay", "parallel_layout"}
    wanted |= set() if recipe.unit == "samples/s" else {"input_size"}  # a row of a table has no size
    served = 0
    for _, case in recipe_cases.points(framework, recipe):
        case = replace(case, options=recipe.meant(case.options))
        if recipe.refusal(case):
            continue
        served += 1
        made = command(
            *recipe.command(case).argv, recipe=UsedRecipe(kind=recipe.kind, amp=recipe.amp, facts=recipe.stated(case))
        )

        found = facts.of_runs([measured(case, of(case, made))])  # without the words that mean several things
        missing = wanted - found.keys() - UNKNOWN.get((framework, recipe.name), set())
        assert not missing, f"{case.id}: nobody states {sorted(missing)}"
        if case.device == "gpu":
            assert found["precision"][0].value != "amp", f"{case.key}: what is amp here?"
    assert served


@pytest.mark.parametrize(("framework", "recipe"), OFFICIAL)
def test_no_official_script_contradicts_its_case_but_those_that_cast_unasked(framework, recipe):
    for precision in ("fp32", *(("amp",) if recipe.amp else ())):
        named = replace(CASE, framework=framework, recipe=recipe.name, model=recipe.model)
        case = replace(named, precision=precision, options=recipe.meant(()))
        words = [] if recipe.refusal(case) else recipe.command(case).argv
        made = command(*words, recipe=UsedRecipe(kind=recipe.kind, amp=recipe.amp, facts=recipe.stated(case)))

        found = [disagreement.fact for disagreement in facts.disagreements(of(case, made))]
        assert found == (["precision"] if recipe.checkout.startswith("torchtitan") else [])


def test_an_axis_left_at_its_default_is_stated_by_the_recipe_and_a_loader_is_no_data():
    recipe = registry.discover()["ngc_mxnet"].recipe("resnet50")
    left, chosen = replace(CASE, options=()), replace(CASE, options=(("data", "dali-gpu"),))

    def facts_of(case):
        return known(of(case, command(recipe=UsedRecipe(facts=recipe.stated(case)))))

    assert facts_of(left)["data"] == ("synthetic", "recipe") and "loader" not in facts_of(left)
    assert facts_of(chosen)["data"] == ("imagenet", "case") and facts_of(chosen)["loader"] == ("dali-gpu", "case")


def test_made_up_data_are_no_imagenet_and_are_known_by_the_hash_of_their_items():
    case = replace(CASE, options=(("data", "dali-gpu"),))
    index = ReadData(name="imagenet-tfrecord-index", source="images", decoded_sha256={})
    in_records, in_folders = (
        ReadData(name=name, source="images", seed=1, size="tiny", decoded_sha256={"train": "b86c59ab9acb12dd"})
        for name in ("imagenet-tfrecord", "imagenet")
    )

    found = of(case, command(data_sets=(in_records, index), recipe=UsedRecipe(facts={"data": "imagenet"})))

    assert known(found)["data"] == ("made-up images", "environment") and not list(facts.disagreements(found))
    assert known(found)["data_source"] == ("images, tiny, seed 1 (b86c59ab9acb)", "environment")
    assert known(found)["loader"] == ("dali-gpu", "case")
    assert known(of(case, command(data_sets=(in_folders,))))["data_source"] == known(found)["data_source"]
    assert known(of(case, command(data_sets=(ReadData(name="imagenet"),))))["data"] == ("imagenet", "case")


def test_an_axis_that_somebody_chose_is_believed_before_what_the_script_does_by_itself():
    case = replace(CASE, options=(("gradient_clipping", "off"),))

    found = of(case, command(recipe=UsedRecipe(facts={"clipping": "1.0"})))
    assert known(found)["clipping"] == ("none", "case") and not list(facts.disagreements(found))
    again = replace(CASE, options=(("recompute", "on"),))
    assert not list(facts.disagreements(of(again, command("--recompute"))))


@pytest.mark.parametrize(("text", "expected"), sources.cases("facts.toml")["the_options_that_a_log"])
def test_the_options_that_a_log_prints_are_facts_of_the_log(text, expected, tmp_path):
    (file := tmp_path / "log.txt").write_text(text)

    found = of(options=options.printed(options.head(file)))
    assert {fact.key: fact.value for fact in found if fact.source == "log"} == expected


@pytest.mark.parametrize(["text", "expected"], [(*row, None)[:2] for row in STATED["parameters"]])
def test_a_number_of_parameters_is_read_where_it_is_one_whole_number(text, expected, tmp_path):
    (file := tmp_path / "log.txt").write_text(text + "\n")

    assert facts.spoken(options.head(file), stated=False).get("parameters") == expected


def test_of_lines_that_differ_in_numbers_alone_two_are_kept_and_are_one_by_their_words():
    head = b"\n".join(b"Epoch %d: batch of %d images on 0x7fab%d" % (n % 9, 10 + n, n % 7) for n in range(20))
    run = measured(CASE, (*facts.statements(head), *facts.statements(b"mixed precision")))

    said = {words: len(lines) for words, lines in facts.statements_of(run).items()}
    assert said == {"epoch batch images": 2, "mixed precision": 1}
    assert "statement" not in facts.of_measurement(run)


def test_an_object_on_a_command_line_is_no_word_for_a_fact():
    given = ["--optimizer", '{"class_path": "torch.optim.AdamW", "init_args": {"lr": 0.001}}', "--packing", "[1]"]

    assert facts._of_words(given) == {"packing": "packed"}


@pytest.mark.parametrize(
    ("model", "unit", "denied"),
    [
        *(("resnet50_v1.5", "tokens/s", "images/s"), ("resnet50_v1.5", "images/s", None)),
        *(("llama3_8b", "images/s", "tokens/s"), ("llama3_8b", "sequences/s", None), ("toy", "tokens/s", None)),
        ("resnet50_v1.5", None, None),
    ],
)
def test_a_log_that_counts_what_its_model_does_not_train_on_is_of_another_model(model, unit, denied):
    found = [*facts.other_items(replace(CASE, model=model), unit)]

    assert [(each.fact, each.value, each.other_value) for each in found] == ([("unit", unit, denied)] if denied else [])
