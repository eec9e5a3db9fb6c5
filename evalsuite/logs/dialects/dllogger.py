"""NVIDIA DeepLearningExamples: DLLogger, as text (`DLL 2023-08-04 … - Epoch: 0 …`) and as JSON (`DLLL {…}`).

The stamp is the host's clock in microseconds. What marks a step differs from script to script.
"""

import functools
import re
from collections.abc import Mapping

from evalsuite.dialect import Dialect, line

_DLE = "NVIDIA/DeepLearningExamples@729963dd47:"
_DLLOGGER = "NVIDIA/dllogger@0478734ff7:dllogger/logger.py, JSONStreamBackend"
_AT = rb"DLL (?P<stamp>\d{4}-\d\d-\d\d [\d:.]+) - "
_NUMBER = rb"[-\d.e+]+|nan|inf"


def _list_of_gpus(match: "re.Match[bytes]") -> Mapping[str, float]:
    """`gpus : [0, 1, 2, 3]` counts four devices; batch_size is the whole job's."""
    return {"devices": match["devices"].count(b",") + 1, "global_batch": float(match["global_batch"])}


_dialect = functools.partial(Dialect, scope="global", averaging="interval")

DIALECTS = (
    _dialect(
        name="dllogger_pytorch",
        title="NVIDIA DeepLearningExamples PyTorch ConvNets",
        framework="pytorch",
        unit="images/s",
        steps_restart="epoch",
        zero_based=False,
        step=line(
            _AT + rb"Epoch: (?P<epoch>\d+) Iteration: (?P<step>\d+)  train\.loss : (?P<loss>[-\d.e+]+|nan)"
            rb"[^\r\n]*?train\.total_ips : (?P<rate>[-\d.e+]+) im",
            b"DLL 2023-08-04 05:50:24.058929 - Epoch: 0 Iteration: 52  train.loss : 5.15500 None train.compute_ips : 6054.00 images/s train.total_ips : 6033.43 images/s train.lr : 0.1",
            f"{_DLE}PyTorch/Classification/ConvNets/image_classification/logger.py; img/s until 2021",
        ),
        evaluation=line(
            _AT + rb"Epoch: \d+ Iteration: \d+ Validation Iteration: \d+ ",
            b"DLL 2023-08-04 05:51:02.210117 - Epoch: 0 Iteration: 100 Validation Iteration: 1  val.top1 : 0.09 %",
            f"{_DLE}PyTorch/Classification/ConvNets/image_classification/logger.py, format_step()",
        ),
        final=line(
            _AT + rb"Summary: train\.loss : [^\r\n]*?train\.total_ips : (?P<rate>[\d.]+) im",
            b"DLL 2020-03-03 19:16:40.681158 - Summary: train.loss : 7.22102  train.total_ips : 248.10 img/s",
            f"{_DLE}PyTorch/Classification/ConvNets/image_classification/logger.py, Logger.end(); the mean of the last epoch",
        ),
        final_ends=True,
        named_facts={"bare": "batch_per_device", "devices": "devices"},
        notes="total_ips contains the wait for data, compute_ips does not. The last iteration is not printed.",
    ),
    _dialect(
        name="dllogger_pytorch_bert",
        title="NVIDIA DeepLearningExamples PyTorch BERT",
        framework="pytorch",
        unit="sequences/s",
        zero_based=None,
        number_repeats=True,
        yields_to=("dllogger_paddle_bert",),
        step=line(
            _AT + rb"Training Epoch: \d+ Training Iteration: (?P<step>\d+)  "
            rb"(?:average_loss : (?P<loss>[\d.e+-]+)|step_loss)",
            b"DLL 2023-07-28 14:31:56.297230 - Training Epoch: 0 Training Iteration: 0  average_loss : 11.181884765625  learning_rate : 0.0010552234016358852  skipped_steps : 7 ",
            f"{_DLE}PyTorch/LanguageModeling/BERT/run_pretraining.py, and run_squad.py",
        ),
        final=line(
            rb"training_sequences_per_second : (?P<rate>[\d.]+)",
            b"DLL 2023-07-28 15:25:07.507816 -  e2e_train_time : 428.120445728302 s training_sequences_per_second : 5055.566265125031 sequences/s",
            f"{_DLE}PyTorch/LanguageModeling/BERT/run_pretraining.py; skipped first steps are left out",
        ),
        final_ends=True,
        # a shell that traces its commands prints another train_batch_size before
        facts=line(
            rb"PARAMETER Config : [^\r\n]*?\bgradient_accumulation_steps=(?P<accumulation>\d+)"
            rb"[^\r\n]*?\btrain_batch_size=(?P<batch_per_device>\d+)",
            b'PARAMETER Config : ["Namespace(... gradient_accumulation_steps=88, ... train_batch_size=96, ',
            f"{_DLE}PyTorch/LanguageModeling/BERT/run_pretraining.py",
        ),
        notes="No rate per step. An overflow repeats the number of the step.",
    ),
    _dialect(
        name="dle_bert_tqdm",
        title="NVIDIA DeepLearningExamples PyTorch BERT fine-tuning, before DLLogger",
        framework="pytorch",
        unit="sequences/s",
        averaging="step",
        zero_based=False,
        step=line(
            rb"Iteration: +\d+%\|[^|\r\n]*\| (?P<step>\d+)/(?P<of>\d+) \[[\d:]+<[\d:]+, +"
            rb"(?:(?P<steps_per_s>[\d.]+)it/s|(?P<seconds>[\d.]+)s/it)",
            b"Iteration:   1%|          | 2/259 [00:01<03:29,  1.23it/s]",
            "NVIDIA/DeepLearningExamples@a6443505:PyTorch/LanguageModeling/BERT/run_squad.py, a tqdm bar",
        ),
        final=line(
            rb" training throughput: (?P<rate>[\d.]+)",
            b" training throughput: 10.16",
            "NVIDIA/DeepLearningExamples@a6443505:PyTorch/LanguageModeling/BERT/scripts/run_squad.sh: GPUs x batch x the last bar's it/s",
        ),
        named_facts={"bare": "batch_per_device"},
        facts=line(
            rb"n_gpu: (?P<devices>\d+), distributed training: False",
            b"device: cuda n_gpu: 1, distributed training: False, 16-bits training: True",
            "NVIDIA/DeepLearningExamples@a6443505:PyTorch/LanguageModeling/BERT/run_squad.py",
        ),
        yields_to=("dllogger_pytorch_bert",),
        notes="tqdm's smoothed rate. The final figure is that of the last bar alone, whose batch is not full.",
    ),
    _dialect(
        name="dllogger_tf1",
        title="NVIDIA DeepLearningExamples TensorFlow 1 ConvNets",
        framework="tensorflow",
        unit="images/s",
        averaging="step",
        zero_based=False,
        step=line(
            _AT + rb"\((?P<epoch>\d+), (?P<step>\d+)\) (?:total_ips|imgs_per_sec) : (?P<rate>[\d.e+]+)",
            b"DLL 2022-11-24 04:11:31.352262 - (0, 200) total_ips : 9360.806356242965 ",
            f"{_DLE}TensorFlow/Classification/ConvNets/utils/hooks/benchmark_hooks.py, and training_hooks.py: batch ÷ seconds of the step",
        ),
        final=line(
            _AT + rb"\(\) train_throughput : (?P<rate>[\d.e+]+)",
            b"DLL 2022-11-24 04:12:37.618463 - () train_throughput : 9421.358309452111 images/s",
            f"{_DLE}TensorFlow/Classification/ConvNets/runtime/runner.py, train(); mean of the rates, without warm-up",
        ),
        final_ends=True,
        named_facts={"bare": "batch_per_device"},
        notes="The steps of the warm-up are not printed at all.",
    ),
    _dialect(
        name="dllogger_tf1_bert",
        title="NVIDIA DeepLearningExamples TensorFlow 1 BERT",
        framework="tensorflow",
        unit="sequences/s",
        zero_based=False,
        number_repeats=True,
        step=line(
            _AT + rb"Iteration: (?P<step>\d+)  throughput_train : (?P<rate>[\d.e+]+) seq",
            b"DLL 2023-08-01 05:45:36.798258 - Iteration: 1  throughput_train : 449.008 sequences/s mlm_loss : 10.4",
            f"{_DLE}TensorFlow/LanguageModeling/BERT/run_pretraining.py, _LogSessionRunHook",
        ),
        evaluation=line(
            rb"throughput_val : ",
            b"DLL 2023-08-01 06:00:29.981860 -  throughput_val : 765.951501333658 ",
            f"{_DLE}TensorFlow/LanguageModeling/BERT/run_pretraining.py",
        ),
        named_facts={"train": "batch_per_device", "accumulation": "accumulation"},
        notes="An overflow repeats the number of the iteration.",
    ),
    _dialect(
        name="dllogger_mxnet",
        title="NVIDIA DeepLearningExamples MXNet RN50v1.5",
        framework="mxnet",
        unit="images/s",
        steps_restart="epoch",
        step=line(
            _AT + rb"Epoch: (?P<epoch>\d+) Iteration: (?P<step>\d+)  train\.loss : (?P<loss>[-\d.e+]+|nan)  "
            rb"train\.ips : (?P<rate>[\d.e+]+) ",
            b"DLL 2023-07-31 06:25:54.436868 - Epoch: 0 Iteration: 39  train.loss : 6.67905101776123  train.ips : 11677.433381196674 images/s train.lr : 0.9984 ",
            f"{_DLE}MxNet/Classification/RN50v1.5/fit.py",
        ),
        evaluation=line(
            _AT + rb"Epoch: \d+  (?:train|val)\.",
            b"DLL 2023-07-31 06:21:20.775433 - Epoch: 0  train.loss : 6.678095985412598  train.ips : 1490.2657629773284 images/s",
            f"{_DLE}MxNet/Classification/RN50v1.5/fit.py, the end of an epoch",
        ),
        final=line(
            _AT + rb"Summary: train\.loss : [^\r\n]*?train\.ips : (?P<rate>[\d.e+]+) ",
            b"DLL 2023-07-31 06:24:15.032213 - Summary: train.loss : 5.9220680227279665  train.ips : 1478.0019509616304 images/s",
            f"{_DLE}MxNet/Classification/RN50v1.5/fit.py; total batch over the mean step time",
        )
        + line(
            rb"\n     +\d+ +\| +(?P<rate>\d+(?:\.\d+)?) +\|",
            b"\n     8     |   10336   |",
            f"{_DLE}MxNet/Classification/RN50v1.5/benchmark.py; harmonic mean over the kept epochs",
        ),
        facts=line(
            rb"DLL [^\r\n]*? PARAMETER arch : [^\r\n]*? gpus : \[(?P<devices>[\d, ]+)\] "
            rb"[^\r\n]*? batch_size : (?P<global_batch>\d+)",
            b"DLL 2023-07-31 06:24:28.055105 - PARAMETER arch : resnetv15  ... gpus : [0, 1, 2, 3, 4, 5, 6, 7]  ... batch_size : 2048 ",
            f"{_DLE}MxNet/Classification/RN50v1.5/train.py",
            fields=_list_of_gpus,
        ),
        notes="The first report of each epoch holds its start-up.",
    ),
    _dialect(
        name="dllogger_paddle",
        title="NVIDIA DeepLearningExamples PaddlePaddle ResNet",
        framework="paddlepaddle",
        unit="images/s",
        averaging="step",
        steps_restart="epoch",
        zero_based=False,
        step=line(
            _AT + rb"Epoch: (?P<epoch>\d+) Iteration: (?P<step>\d+)  train\.loss : (?P<loss>[-\d.e+]+|nan) "
            rb"[^\r\n]*? train\.batch_time : (?P<seconds>[\d.e+-]+)  train\.ips : (?P<rate>[\d.e+]+) ",
            b"DLL 2022-10-02 07:29:43.415571 - Epoch: 0 Iteration: 10  train.loss : 6.95703125  train.top1 : 0.0  train.top5 : 0.00390625  ... train.batch_time : 0.1  train.ips : 20480.0  train.lr : ",
            f"{_DLE}PaddlePaddle/Classification/RN50v1.5/program.py, run(): batch of all cards ÷ seconds of the step",
        ),
        evaluation=line(
            _AT + rb"Epoch: \d+ (?:Iteration: \d+ )? val\.",
            b"DLL 2022-10-02 07:30:33.415571 - Epoch: 0 Iteration: 10  val.loss : ",
            f"{_DLE}PaddlePaddle/Classification/RN50v1.5/program.py, log_info()",
        ),
        final=line(
            _AT + rb"Summary: (?:train\.loss : [^\r\n]*?)?train\.ips : (?P<rate>[\d.e+]+)",
            b"DLL 2022-10-02 07:31:23.415571 - Summary: train.loss : 6.92578125  ... train.ips : 20480.0",
            f"{_DLE}PaddlePaddle/Classification/RN50v1.5/train.py; with --benchmark without its warm-up",
        ),
    ),
    _dialect(
        name="dllogger_paddle_bert",
        title="NVIDIA DeepLearningExamples PaddlePaddle BERT",
        framework="paddlepaddle",
        unit="sequences/s",
        scope="per_device",
        zero_based=False,
        step=line(
            _AT + rb"Epoch: \d+ Step: (?P<step>\d+)  loss : (?P<loss>[-\d.e+]+|nan) [^\r\n]*? step_cost : "
            rb"(?P<report_s>[\d.e+-]+)  step_samples : \d+  seqs_per_sec : (?P<rate>[\d.e+]+)",
            b"DLL 2022-10-02 07:29:43.415571 - Epoch: 0 Step: 1  loss : 11.25  learning_rate : 1.25e-06  step_cost : 20.0  step_samples : 8192  seqs_per_sec : 409.6",
            f"{_DLE}PaddlePaddle/LanguageModeling/BERT/program.py, run(): the samples of one card",
        ),
        final=line(
            _AT + rb"Summary: [^\r\n]*?training_sequences_per_second : (?P<rate>[\d.e+]+)",
            b"DLL 2022-10-02 07:33:03.415571 - Summary: e2e_train_time : 120.5  training_sequences_per_second : 3276.8",
            f"{_DLE}PaddlePaddle/LanguageModeling/BERT/run_pretraining.py; over all cards",
        ),
    ),
    _dialect(
        name="dllogger_ncf",
        title="NVIDIA DeepLearningExamples NCF",
        framework="pytorch",
        unit="samples/s",
        per_epoch=True,
        step=line(
            _AT + rb"\((?P<epoch>\d+),\) train_throughput : (?P<rate>[\d.e+]+) samples/s",
            b"DLL 2024-09-29 10:44:03.739268 - (0,) train_throughput : 6.779e+07 samples/s hr@10 : 0.71059 None",
            f"{_DLE}PyTorch/Recommendation/NCF/ncf.py",
        ),
        final=line(
            rb"mean_train_throughput : (?P<rate>[\d.e+]+)",
            b"DLL 2024-09-29 10:44:03.965558 - () ... mean_train_throughput : 3964550516.995877 samples/s",
            f"{_DLE}PyTorch/Recommendation/NCF/ncf.py",
        ),
        trust_stamps=False,
        notes="One report an epoch. The arithmetic mean that the script prints can be of one absurd value.",
    ),
    _dialect(
        name="dllogger_ssd",
        title="NVIDIA DeepLearningExamples SSD benchmark",
        framework="pytorch",
        unit="images/s",
        scope="per_device",
        step=(),
        final=line(
            rb"Done benchmarking\. Total images: \d+\ttotal time: [\d.]+\tAverage images/sec: (?P<rate>[\d.]+)",
            b"Done benchmarking. Total images: 5600\ttotal time: 80.478\tAverage images/sec: 69.585\tMedian",
            f"{_DLE}PyTorch/Detection/SSD/ssd/logger.py, BenchLogger.print_result()",
        ),
        final_scope="per_device",
        notes="Every process prints its own average; no line per step.",
    ),
    _dialect(
        name="dllogger_gnmt",
        title="NVIDIA DeepLearningExamples GNMT",
        framework="pytorch",
        unit="tokens/s",
        scope="own",
        averaging="step",
        steps_restart="epoch",
        zero_based=True,
        step=line(
            rb"TRAIN \[(?P<epoch>\d+)\]\[(?P<step>\d+)/(?P<of>\d+)\]\tTime [\d.]+ \([\d.]+\)\tData [^\t]+\t"
            rb"Tok/s (?P<rate>\d+) \(\d+\)(?:\tLoss/tok (?P<loss>[\d.]+))?",
            b"2: TRAIN [0][10/54]\tTime 0.519 (0.963)\tData 2.41e-04 (2.31e-04)\tTok/s 33892 (32831)\tLoss/tok 9.2943 (10.0237)\tLR 4.082e-05",
            f"{_DLE}PyTorch/Translation/GNMT/seq2seq/train/trainer.py; every rank prints",
        ),
        evaluation=line(
            rb"VALIDATION \[\d+\]\[",
            b"0: VALIDATION [0][0/160]\tTime 0.166 (0.166)",
            f"{_DLE}PyTorch/Translation/GNMT/seq2seq/train/trainer.py",
        ),
        final=line(
            rb"Performance: Epoch: \d+\tTraining: (?P<rate>[\d.]+) Tok/s",
            b"0: Performance: Epoch: 0\tTraining: 804957 Tok/s",
            f"{_DLE}PyTorch/Translation/GNMT/train.py; over all devices, of an epoch",
            telling=False,
        ),
    ),
    _dialect(
        name="dllogger_transformer",
        title="NVIDIA DeepLearningExamples Transformer (fairseq)",
        framework="pytorch",
        unit="tokens/s",
        zero_based=False,
        step=line(
            rb"Transformer \| epoch (?P<epoch>\d+) \| step (?P<step>\d+) \|avg loss (?P<loss>[\d.]+|nan) "
            rb"\|avg tokens (?P<global_batch>[\d.]+) \|tokens/s (?P<rate>[\d.]+) \|walltime (?P<elapsed_s>[\d.]+)",
            b"Transformer | epoch 0 | step 120 |avg loss 12.120 |avg tokens 35843.200 |tokens/s 210151.677 |walltime 31.672 |",
            f"{_DLE}PyTorch/Translation/Transformer/fairseq/log_helper.py, AggregatorBackend.flush()",
        ),
        evaluation=line(
            rb"\| Translated ",
            b"| Translated 3003 sentences (1902 tokens) in 2.0s (1486.46 sentences/s, 30127.22 tokens/s)",
            f"{_DLE}PyTorch/Translation/Transformer/train.py",
        ),
        notes="avg tokens are those of one step of the whole job; walltime counts from the start of the program.",
    ),
    _dialect(
        name="dllogger_json",
        title="NVIDIA DLLogger JSON, ConvNets",
        framework=None,
        unit="images/s",
        steps_restart="epoch",
        step=line(
            rb'DLLL \{"timestamp": "(?P<unix_s>[\d.]+)"[^\r\n]*?"step": \[(?P<epoch>\d+), (?P<step>\d+)\], '
            rb'"data": \{(?:"train\.loss": (?P<loss>[\d.e+-]+|NaN), )?[^\r\n]*?'
            rb'"(?:train\.total_ips|train\.ips|total_ips|imgs_per_sec)": (?P<rate>[\d.e+]+)',
            b'DLLL {"timestamp": "1609395515.111103", "datetime": "2020-12-31 06:18:35.111103", "elapsedtime": "202.015883", "type": "LOG", "step": [0, 1200], "data": {"train.loss": 2.696261329650879, "train.total_ips": 7850.30881434651}}',
            _DLLOGGER,
        ),
        final=line(
            rb'"step": \[\], "data": \{[^\r\n]*?"(?:train\.total_ips|train\.ips|train_throughput)": (?P<rate>[\d.e+]+)',
            b'"type": "LOG", "step": [], "data": {"train.loss": 2.69, "train.total_ips": 7850.31, ',
            _DLLOGGER,
        ),
        named_facts={"bare": "batch_per_device", "devices": "devices"},
        first_epoch=0,
        scores=line(
            rb'"elapsedtime": "(?P<elapsed_s>[\d.]+)", "type": "LOG", "step": \[(?P<epoch>\d+)\], "data": \{'
            rb'"train\.loss": (?P<train_loss>[\d.e+-]+), [^\r\n]*?"val\.top1": (?P<validation_top1>[\d.]+), '
            rb'"val\.top5": (?P<validation_top5>[\d.]+), "val\.loss": (?P<validation_loss>[\d.e+-]+)',
            b'"elapsedtime": "213.013751", "type": "LOG", "step": [0], "data": {"train.loss": 2.7364323019219663, "train.total_ips": 7749.540281160681, "val.top1": 71.9009088010204, "val.top5": 91.06146364795919, "val.loss": 1.2844293823047561, "val.total_ips": 16824.229643036404}}',
            f"{_DLE}PyTorch/Classification/ConvNets/image_classification/logger.py, JSON back end, once an epoch",
        ),
        notes="The same step can stand in two records with different keys; only the one with the rate is read.",
    ),
    _dialect(
        name="dllogger_json_bert",
        title="NVIDIA DLLogger JSON, BERT",
        framework=None,
        unit="sequences/s",
        number_repeats=True,
        step=line(
            rb'DLLL \{"timestamp": "(?P<unix_s>[\d.]+)"[^\r\n]*?"step": (?P<step>\d+), '
            rb'"data": \{[^\r\n]*?"throughput_train": (?P<rate>[\d.e+]+)',
            b'DLLL {"timestamp": "1664695783.415571", "datetime": "2022-10-02 07:29:43.415571+00:00", "elapsedtime": "10.0", "type": "LOG", "step": 1, "data": {"throughput_train": 4096.0, "mlm_loss": ',
            f"{_DLE}TensorFlow/LanguageModeling/BERT/run_pretraining.py, JSON back end",
        ),
        final=line(
            rb'"training_sequences_per_second": (?P<rate>[\d.e+]+)',
            b'"type": "LOG", "step": [], "data": {"e2e_train_time": 120.5, "training_sequences_per_second": 4096.0,',
            f"{_DLE}PyTorch/LanguageModeling/BERT/run_pretraining.py, JSON back end",
        ),
    ),
    _dialect(
        name="nemo_dllogger",
        title="NVIDIA NeMo, DLLogger JSON",
        framework="pytorch",
        unit="sequences/s",
        averaging="step",
        zero_based=True,
        step=line(
            rb'DLLL \{"timestamp": "(?P<unix_s>[\d.]+)"[^\r\n]*?"step": (?P<step>\d+), "data": '
            rb'\{(?:"reduced_train_loss": (?P<loss>[\d.e+-]+|NaN), )?[^\r\n]*?"consumed_samples": (?P<consumed>[\d.]+)'
            rb'[^\r\n]*?"train_step_timing in s": (?P<seconds>[\d.e-]+)',
            b'DLLL {"timestamp": "1727486904.618568", "datetime": "2024-09-28 01:28:24.618568", "elapsedtime": "444.305037", "type": "LOG", "step": 0, "data": {"reduced_train_loss": 11.06281852722168, "lr": 0.0, ... "consumed_samples": 2048.0, ... "train_step_timing in s": 107.35490417480469',
            "NVIDIA/NeMo@8cfedd7203:nemo/utils/loggers/dllogger.py, log_metrics()",
        ),
        named_facts={"all": "global_batch"},
        notes="train_backward_timing is next to zero and means nothing. Stamps are written by a logger's thread.",
    ),
)
