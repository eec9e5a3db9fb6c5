"""OneFlow: OneFlow-Benchmark (CNN, BERT), the `models` repository, LiBai."""

import functools

from evalsuite.dialect import Dialect, line, step_before

_dialect = functools.partial(Dialect, framework="oneflow", scope="global", averaging="interval")

DIALECTS = (
    _dialect(
        name="oneflow_cnn",
        title="OneFlow-Benchmark CNN",
        unit="images/s",
        steps_restart="epoch",
        zero_based=False,
        step=line(
            rb"train: epoch (?P<epoch>\d+), iter (?P<step>\d+), loss: (?P<loss>[\d.]+|nan), top_1: [\d.]+, top_k: [\d.]+, "
            rb"samples/s: (?P<rate>[\d.]+)(?: (?P<unix_s>\d+\.\d+))?",
            b"train: epoch 89, iter 100, loss: 1.787400, top_1: 0.815599, top_k: 0.938366, samples/s: 7673.906 1606135171.3983235",
            "Oneflow-Inc/OneFlow-Benchmark@638d8f42aa:Classification/cnns/util.py, Metric",
        ),
        evaluation=line(
            rb"(?:validation: epoch|Saving model to)",
            b"validation: epoch 88, iter 125, top_1: 0.770380, top_k: 0.932920, samples/s: 2896.833",
            "Oneflow-Inc/OneFlow-Benchmark@638d8f42aa:Classification/cnns/util.py, Metric and Snapshot",
        ),
        notes="The first report holds start-up. validation lines carry the same key.",
    ),
    _dialect(
        name="oneflow_bert",
        title="OneFlow-Benchmark BERT",
        unit="sequences/s",
        step=line(
            rb"step: (?P<step>\d+), total_loss: (?P<loss>[\d.]+|nan), mlm_loss: [\d.]+, nsp_loss: [\d.]+, "
            rb"throughput: (?P<rate>[\d.]+)(?: (?P<unix_s>\d{10}\.\d+))?",
            b"step: 39, total_loss: 10.884, mlm_loss: 10.190, nsp_loss: 0.694, throughput: 142.735",
            "Oneflow-Inc/OneFlow-Benchmark@638d8f42aa:LanguageModeling/BERT/util.py, Metric",
        ),
    ),
    _dialect(
        name="oneflow_models",
        title="OneFlow models ResNet-50",
        unit="images/s",
        scope="own",
        steps_restart="epoch",
        zero_based=False,
        step=line(
            rb"\[(?P<rank>\d+)\] ?\[train\], epoch: (?P<epoch>\d+)/\d+, iter: (?P<step>\d+)/(?P<of>\d+), "
            rb"loss: (?P<loss>[\d.]+|nan), [^\r\n]*?throughput: (?P<rate>[\d.]+)",
            b"[1] [train], epoch: 0/50, iter: 100/3336, loss: 1.73143, lr: 0.004604, top1: 0.00167, throughput: 161.66",
            "Oneflow-Inc/models@1b291f78:Vision/classification/image/resnet50/utils/logger.py; each rank its own",
        )
        + line(
            rb"\[rank:(?P<rank>\d+)\] \[train\], epoch: (?P<epoch>\d+)/\d+, iter: (?P<step>\d+)/(?P<of>\d+), "
            rb"loss: (?P<loss>[\d.]+|nan), [^\r\n]*?throughput: (?P<rate>[\d.]+)(?:[^\r\n]*? \| (?P<stamp>[-\d]+ [\d:.]+))?",
            b"[rank:0] [train], epoch: 0/50, iter: 100/834, loss: 6.90123, top1: 0.00125, throughput: 1360.11 | 2022-01-02 03:04:05.678",
            "Oneflow-Inc/models@fc7cbf8da9:Vision/classification/image/resnet50/train.py, with utils/logger.py; each rank its own",
        ),
        evaluation=line(
            rb"\[eval\], epoch:",
            b"[rank:0] [eval], epoch: 0/50, iter: 125/125, loss: 0.00000, top1: 0.10000, throughput: 800.00",
            "Oneflow-Inc/models@fc7cbf8da9:Vision/classification/image/resnet50/train.py",
        ),
    ),
    _dialect(
        name="libai",
        title="LiBai",
        unit="samples/s",
        averaging="cumulative",
        zero_based=False,
        mean_since=3,
        step=line(
            rb"lb\.utils\.events\]: [^\r\n]*?iteration: (?P<step>\d+)/\d+  consumed_samples: (?P<consumed>\d+)  "
            rb"total_loss: (?P<loss>[\d.]+|nan)[^\r\n]*?  time: (?P<mean_s>[\d.]+) s/iter[^\r\n]*? "
            rb"total_throughput: (?P<rate>[\d.]+) samples/s",
            b"[09/19 14:39:44 lb.utils.events]:  eta: 22:07:07  iteration: 88/18660  consumed_samples: 712  total_loss: nan  time: 4.2889 s/iter  data_time: 0.0104 s/iter total_throughput: 1.87 samples/s lr: 7.07e-07",
            "Oneflow-Inc/libai@9dcbe3b281:libai/utils/events.py, CommonMetricPrinter: batch / mean time since iteration 3",
        ),
        notes="The rate is a mean since iteration 3, so it lags; its increments carry its rounding.",
    ),
    _dialect(
        name="oneflow_wdl",
        title="OneFlow Wide & Deep",
        unit="samples/s",
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
    _dialect(
        name="oneflow_gpt",
        title="OneFlow-Benchmark GPT",
        unit="sequences/s",
        zero_based=False,
        step=line(
            rb"step=(?P<step>\d+),micro_batches=\d+,samples=(?P<consumed>\d+),throughput=(?P<rate>[\d.]+),"
            rb"latency=(?P<seconds>[\d.]+),(?:loss=(?P<loss>[\d.]+|nan))?",
            b"step=40,micro_batches=40,samples=320,throughput=12.30769,latency=0.65000,loss=9.92345,",
            "Oneflow-Inc/OneFlow-Benchmark@8da0250a:LanguageModeling/GPT/oneflow_gpt/util.py, Metric.step_print()",
        ),
        notes="Samples of the whole job since the line before / the time they took. The table format is not read.",
    ),
)
