"""TensorFlow's official models: the TimeHistory callback, in its two forms."""

from evalsuite.dialect import Dialect, line

DIALECTS = (
    Dialect(
        name="tf_time_history",
        title="tensorflow/models TimeHistory",
        framework="tensorflow",
        unit="images/s",
        scope="global",
        averaging="interval",
        zero_based=False,
        step=line(
            rb"TimeHistory: (?:(?P<report_s>[\d.]+) seconds, )?(?P<rate>[\d.]+) examples/second "
            rb"between steps (?P<since>\d+) and (?P<step>\d+)",
            b"I1120 23:37:53.561630 140651157302144 keras_utils.py:145] TimeHistory: 1.09 seconds, "
            b"7.33 examples/second between steps 2 and 4",
            "tensorflow/models@999fae6208:official/utils/misc/keras_utils.py, TimeHistory; 2.1.0.dev2 "
            "without the seconds",
        )
        + line(
            rb"BenchmarkMetric: \{'global step': ?(?P<step>\d+), 'time_taken': (?P<report_s>[\d.]+), ?"
            rb"'examples_per_second': (?P<rate>[\d.]+)\}",
            b"I0917 12:01:18.520732 139914427299648 keras_utils.py:88] BenchmarkMetric: "
            b"{'global step':200, 'time_taken': 9.275636,'examples_per_second': 1379.959218}",
            "tensorflow/models@v2.1.0:official/utils/misc/keras_utils.py, TimeHistory, until 2.1",
        ),
        evaluation=line(
            rb"(?:BenchmarkMetric: \{'epoch'|eval \| step:)",
            b"BenchmarkMetric: {'epoch':0, 'time_taken': 43.452109}",
            "tensorflow/models@v2.1.0:official/utils/misc/keras_utils.py, TimeHistory.on_epoch_end()",
        ),
        final=line(
            rb"'avg_exp_per_second': (?P<rate>[\d.]+)",
            b"'train_finish_time': 1631844096.0887015, 'avg_exp_per_second': 1094.6318289056542}",
            "tensorflow/models@7124ed1227:official/vision/image_classification/common.py; with start-up",
        ),
        notes="Every node's process prints the rate of the whole job (the flag batch_size is the global batch).",
    ),
)
