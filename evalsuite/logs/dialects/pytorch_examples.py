"""pytorch/examples imagenet: seconds of the last step, and their running mean in brackets."""

from evalsuite.dialect import Dialect, Line

DIALECTS = (
    Dialect(
        name="pytorch_examples",
        title="pytorch/examples imagenet",
        framework="pytorch",
        unit="images/s",
        scope="global",
        averaging="step",
        steps_restart="epoch",
        step=(
            Line(
                pattern=rb"Epoch: \[(?P<epoch>\d+)\]\[ *(?P<step>\d+)/(?P<of>\d+)\]\s+Time +(?P<seconds>[\d.]+)"
                rb"(?: \( *(?P<mean_s>[\d.]+)\))?(?:\s+Data +[\d.]+ \( *[\d.]+\))?"
                rb"(?:\s+Loss +(?P<loss>[\d.e+-]+|nan))?",
                sample=b"Epoch: [0][     6/320292]\tTime  0.551 ( 0.654)\tData  0.003 ( 0.019)\t"
                b"Loss 8.2782e+01 (7.0250e+01)\tAcc@1   0.00 (  0.00)\tAcc@5   0.00 (  0.00)",
                source="pytorch/examples@77f55b9121:imagenet/main.py, ProgressMeter; first index 0 before 2022",
            ),
        ),
        evaluation=(
            Line(
                pattern=rb"Test: \[ *\d+/\d+\]",
                sample=b"Test: [  1/196]\tTime  1.204 ( 1.204)\tLoss 6.9078e+00 (6.9078e+00)\t",
                source="pytorch/examples@77f55b9121:imagenet/main.py, validate()",
            ),
        ),
        scores=(
            Line(
                pattern=rb"\*\s+Acc@1 (?P<validation_top1>[\d.]+) Acc@5 (?P<validation_top5>[\d.]+)",
                sample=b"*   Acc@1 7.030 Acc@5 18.340",
                source="pytorch/examples@77f55b9121:imagenet/main.py, ProgressMeter.display_summary(), once an epoch",
            ),
        ),
        yields_to=("apex_imagenet",),
        notes="The rate is not printed: the batch size comes from the options. Time contains Data. Every rank prints.",
    ),
)
