"""The batch policy `max`: a table of its own where somebody declares it, and nowhere else."""

from dataclasses import replace

import pages
import pytest
import synthetic

from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Run
from evalsuite.finished import finished
from evalsuite.importing import published_figures, user_facts
from evalsuite.plan import spec
from evalsuite.report.book import blocks, heading
from evalsuite.report.book.book import Book
from evalsuite.report.book.result_tables import tables as results_tables
from evalsuite.report.data import summary_json
from evalsuite.report.text import words
from evalsuite.runs.store import Store

SPOKEN = words.read()
SIZES = {"oneflow": 256, "mxnet": 224, "pytorch": 192}


def evaluation(policy, sizes=SIZES):
    found = []
    for framework, batch in {**sizes, **({"tensorflow": 256} if policy is None else {})}.items():
        for scale in ((1, 1), (1, 8)):
            about = {"device": "gpu", "options": (), "protocol": synthetic.FULL, "batch_per_device": batch}
            of = synthetic.case(framework, scale, batch_policy=policy, **about)
            found.append(synthetic.summary(synthetic.measured(of, k, 400.0 * of.total_devices + k) for k in range(5)))
    return synthetic.evaluation(found, repeats=5)


def tables(of):
    (model,) = blocks.models(Book(evaluation=of))
    return results_tables(model.blocks)


def test_declared_sizes_are_called_the_most_that_fits_and_those_of_a_sweep_are_not():
    (table,) = tables(evaluation("max"))
    (swept,) = tables(evaluation(None))

    assert {(row.column.example.framework, row.block.batch) for row in table.throughput.rows} == set(SIZES.items())
    said = [heading.setting(block, SPOKEN, table.blocks).plain("zh") for block in table.blocks]
    assert said == ["bsz max = 192", "bsz max = 224", "bsz max = 256"]
    assert not any("max" in heading.setting(block, SPOKEN).plain("en") for block in swept.blocks)


def test_page_and_summary_have_the_table_by_its_name(tmp_path):
    from evalsuite import report

    of = evaluation("max", {"oneflow": 256, "mxnet": 256})
    report.build(of, tmp_path)

    page = pages.read((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "bsz max" in page.one("section", id="model-resnet50_v1.5").text("zh-CN")
    (facts, *_) = summary_json.document(Book(evaluation=of), "0" * 64)["summaries"]
    assert finished.case_of(facts["case"]).batch_policy == "max"


def test_a_spec_declares_it_for_its_part_and_a_run_folder_keeps_it(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(
        'frameworks = ["pytorch"]\nbatch_per_device = [128]\n[[parts]]\n[[parts]]\n'
        'batch_per_device = [192]\nbatch_policy = "max"\n'
    )

    assert [part.batch_policy for part in spec.read(file).parts] == [None, "max"]
    of = synthetic.case(batch_policy="max")
    store = Store(tmp_path / "runs")
    with store.claim(Run(case=of, repeat=0)) as folder:
        folder.write_case(Run(case=of, repeat=0))
    assert '"batch_policy": "max"' in next((tmp_path / "runs").rglob("case.json")).read_text()
    assert of == replace(of, batch_policy=None)  # the same work, whatever is said of its batch


@pytest.mark.parametrize("said", ["maximum", "", "256"])
def test_another_word_is_refused(said, tmp_path):
    (tmp_path / "a.toml").write_text(f'batch_policy = "{said}"\n')
    with pytest.raises(EvalsuiteError, match=f'batch_policy: got "{said}"; expected one of max'):
        spec.read(tmp_path / "a.toml")
    with pytest.raises(ValueError, match="expected max"):
        user_facts.case({**user_facts.NEEDED, "batch_policy": said}, published_figures._NOTHING)
