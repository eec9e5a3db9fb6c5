"""MXNet's Speedometer callback and the scripts that print its line: NVIDIA and MLPerf ResNet-50, GluonCV, Horovod."""

from evalsuite.dialect import Dialect, Line

DIALECTS = (
    Dialect(
        name="mxnet_speedometer",
        title="MXNet Speedometer",
        framework="mxnet",
        unit="images/s",
        scope="auto",
        averaging="interval",
        steps_restart="epoch",
        step=(
            Line(
                pattern=rb"Epoch\[(?P<epoch>\d+)\] Batch ?\[(?:(?P<since>\d+)-)?(?P<step>\d+)\]\s+"
                rb"Speed: (?P<rate>[\d.]+(?:e[+-]?\d+)?) samples/sec",
                sample=b"2020-07-10 18:52:50,644 Node[0] Epoch[0] Batch [40-60]\tSpeed: 21621.24 samples/sec\t"
                b"accuracy=0.000490",
                source="apache/mxnet@c981848068:python/mxnet/callback.py, Speedometer; 1.5 and later print a range, "
                "train_imagenet.py of dmlc/gluon-cv one number",
            ),
            Line(
                pattern=rb"Iter\[(?P<epoch>\d+)\] Batch \[(?P<step>\d+)\]\s+Speed: (?P<rate>[\d.]+) samples/sec",
                sample=b"INFO:root:Iter[0] Batch [20]\tSpeed: 1910.41 samples/sec",
                source="apache/mxnet@c981848068:python/mxnet/callback.py, Speedometer without a metric",
            ),
        ),
        evaluation=(
            Line(
                pattern=rb"Epoch\[\d+\] (?:Validation-|Train-|Time cost)",
                sample=b"INFO:root:Epoch[0] Time cost=11.004",
                source="apache/mxnet@c981848068:python/mxnet/module/base_module.py, fit()",
            ),
            Line(
                pattern=rb"\] validation: ",
                sample=b"[Epoch 119] validation: err-top1=0.226662 err-top5=0.063795",
                source="dmlc/gluon-cv@f9a8a284b8:scripts/classification/imagenet/train_imagenet.py",
            ),
        ),
        first_epoch=0,
        scores=(
            Line(
                pattern=rb"Epoch\[(?P<epoch>\d+)\] Validation-accuracy=(?P<validation_accuracy_share>[\d.]+)",
                sample=b"Epoch[0] Validation-accuracy=0.067840",
                source="apache/mxnet@c981848068:python/mxnet/module/base_module.py, fit()",
            ),
            Line(
                pattern=rb"Epoch\[(?P<epoch>\d+)\] Train-accuracy=(?P<train_accuracy_share>[\d.]+)",
                sample=b"[2020-06-22 19:39:07] Rank[0] Epoch[0] Train-accuracy=0.028929",
                source="apache/mxnet@c981848068:python/mxnet/module/base_module.py, fit()",
            ),
            Line(
                pattern=rb"poch (?P<epoch>\d+)\] validation: err-top1=(?P<validation_top1_error_share>[\d.]+) "
                rb"err-top5=(?P<validation_top5_error_share>[\d.]+)",
                sample=b"[Epoch 119] validation: err-top1=0.226662 err-top5=0.063795",
                source="dmlc/gluon-cv@f9a8a284b8:scripts/classification/imagenet/train_imagenet.py",
            ),
        ),
        facts=(
            # kvstore dist_sync: batch_size is one worker's; only its name is the same in the other scripts
            Line(
                pattern=rb"start with arguments Namespace\([^\n]*?\bbatch_size=(?P<batch_per_device>\d+)"
                rb"[^\n]*?\bgpus=None",
                sample=b"INFO:root:start with arguments Namespace(batch_size=4, benchmark=1, ... gpus=None, ",
                source="apache/mxnet@c981848068:example/image-classification/common/fit.py, fit(), on a CPU",
            ),
            Line(
                pattern=rb'"key": "global_batch_size", "value": (?P<global_batch>\d+)',
                sample=b'"event_type": "POINT_IN_TIME", "key": "global_batch_size", "value": 408',
                source="mlcommons/logging@7bbf792686:mlperf_logging/mllog/constants.py, in MLPerf's ResNet-50",
            ),
        ),
        tagged_print_all=True,
        yields_to=("dllogger_mxnet",),
        notes="Under kvstore dist_sync each worker prints its own share; in the NVIDIA script the whole job's.",
    ),
)
