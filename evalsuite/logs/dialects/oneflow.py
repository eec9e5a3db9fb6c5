"""OneFlow Wide & Deep; the others are in data/dialects/oneflow.toml."""

from evalsuite.contracts.dialect import Dialect, line, step_before

DIALECTS = (
    Dialect(
        name="oneflow_wdl",
        title="OneFlow Wide & Deep",
        framework="oneflow",
        unit="samples/s",
        scope="global",
        averaging="interval",
        zero_based=False,
        step=line(
            rb"iter: (?P<step>\d+)/\d+, loss: (?P<loss>[\d.]+|nan), latency\(ms\): (?P<ms>[\d.]+)"
            rb"(?: \| (?P<stamp>[-\d]+ [\d:.]+))?",
            b"[rank:0] iter: 2000/310000, loss: 0.1279000000000000, latency(ms): 4.0549999999999997 | 2021-12-01 12:00:04.178",
            "Oneflow-Inc/models@fc7cbf8da9:RecommenderSystems/wide_and_deep/train.py, with utils/logger.py",
        )
        + line(
            rb" time (?P<unix_s>\d{10}\.\d+) latency\(ms\): (?P<ms>[\d.]+) loss (?P<loss>[\d.]+|nan)",
            b"2000 time 1606135175.5 latency(ms): 4.0 loss 0.1299",
            "Oneflow-Inc/OneFlow-Benchmark@ca874cf8:ClickThroughRate/WideDeepLearning/wdl_train_eval.py",
            fields=step_before(rb"(\d+)$"),
        ),
        evaluation=line(
            rb"eval_auc",
            b"[rank:0] iter: 8000/310000, eval_auc: 0.7412345 | 2021-12-01 12:00:28.508",
            "Oneflow-Inc/models@fc7cbf8da9:RecommenderSystems/wide_and_deep/train.py",
        ),
        notes="Milliseconds per step of the whole job; --batch_size is the global batch.",
    ),
)
