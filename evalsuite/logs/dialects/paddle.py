"""PaddlePaddle's scripts: PaddleClas (static graph), PaddleNLP, PaddleSeg, PaddleRec, and those of Paddle 1.8."""

import functools

from evalsuite.dialect import Dialect, Line, line

_NLP_STEP = (
    rb" step: (?P<step>\d+), epoch: \d+, batch: \d+, loss: (?P<loss>[\d.]+|nan), avg_reader_cost: [\d.]+ sec, "
    rb"avg_batch_cost: (?P<seconds>[\d.]+) sec, avg_samples: [\d.]+, ips: (?P<rate>[\d.]+) sequences/sec"
)

_dialect = functools.partial(Dialect, framework="paddlepaddle", averaging="interval")

DIALECTS = (
    _dialect(
        name="paddleclas_static",
        title="PaddleClas ppcls, static graph",
        unit="images/s",
        scope="per_device",
        averaging="cumulative",
        steps_restart="epoch",
        zero_based=False,
        mean_since=4,  # "ignore the warmup iters: if idx == 5: … reset", counted from 1, in each epoch
        step=line(
            rb"epoch:(?P<epoch>\d+) +train step:(?P<step>\d+) +lr: [\d.e-]+, loss: +(?P<loss>-?[\d.]+|nan) [^\r\n]*?"
            rb"batch_cost: (?P<mean_s>[\d.]+) s, reader_cost: [\d.]+ s, ips: (?P<rate>[\d.]+) (?:samples|images)/sec",
            b"[2023/07/28 07:14:48] ppcls INFO: epoch:0   train step:10   lr: 0.100000, loss:  7.2072 top1:  0.0000 top5:  0.0039 batch_cost: 0.18718 s, reader_cost: 0.00063 s, ips: 1367.69679 samples/sec.",
            "PaddlePaddle/PaddleClas@00455839:ppcls/static/program.py, run()",
        ),
        final=line(
            rb"END epoch:\d+ +train [^\r\n]*?ips: (?P<rate>[\d.]+) (?:samples|images)/sec",
            b"END epoch:0   train  loss:  6.8500 top1:  0.0012 top5:  0.0052 batch_cost: 0.28210 s, reader_cost: 0.00041 s, batch_cost_sum: 219.75590 s, ips: 907.47962 images/sec.",
            "PaddlePaddle/PaddleClas@00455839:ppcls/static/program.py, run(); without the first four steps",
        ),
        final_scope="per_device",
        first_epoch=0,
        scores=(
            Line(  # what it calls top5 is no accuracy: below top1, and below zero
                pattern=rb"END epoch:(?P<epoch>\d+) +train +loss: +(?P<train_loss>-?[\d.]+) top1: +(?P<train_top1_share>[\d.]+)",
                sample=b"[2023/07/28 07:20:17] ppcls INFO: END epoch:1   train  loss:  3.0592 top1:  0.3302 top5:  0.1167 ",
                source="PaddlePaddle/PaddleClas@00455839:ppcls/static/program.py, run()",
            ),
        ),
        evaluation=line(
            rb"(?:eval step:\d+|END eval|END epoch:\d+ +train|Already save model)",
            b"[2023/08/02 20:49:11] ppcls INFO: Already save model in ./output/ResNet50/0",
            "PaddlePaddle/PaddleClas@00455839:ppcls/static/save_load.py, and program.py",
        ),
        notes="The mean is over all steps of the epoch but the first four.",
    ),
    _dialect(
        name="paddlenlp_bert",
        title="PaddleNLP BERT pre-training",
        unit="sequences/s",
        scope="per_device",
        zero_based=False,
        step=line(
            rb"total" + _NLP_STEP,
            b"total step: 270, epoch: 0, batch: 269, loss: 10.842868, avg_reader_cost: 0.00010 sec, avg_batch_cost: 0.14504 sec, avg_samples: 96.00000, ips: 661.42967 sequences/sec",
            "PaddlePaddle/PaddleNLP@9633a59659:examples/language_model/bert/static/run_pretrain.py; misspelt there",
        )
        + line(
            rb"tobal" + _NLP_STEP,
            b"tobal step: 270, epoch: 0, batch: 269, loss: 10.601461, avg_reader_cost: 0.00009 sec, avg_batch_cost: 0.29381 sec, avg_samples: 96.00000, ips: 326.64660 sequences/sec",
            "PaddlePaddle/PaddleNLP@9633a59659:examples/language_model/bert/static/run_pretrain.py",
        )
        + line(
            rb"global" + _NLP_STEP,
            b"global step: 20, epoch: 0, batch: 19, loss: 11.161420, avg_reader_cost: 0.00010 sec, avg_batch_cost: 0.14473 sec, avg_samples: 96.00000, ips: 663.30408 sequences/sec",
            "PaddlePaddle/PaddleNLP@0c448e03cf:examples/language_model/bert/run_pretrain.py, dynamic graph",
        ),
        facts=line(
            rb"avg_samples: (?P<batch_per_device>[\d.]+), ips: [\d.]+ sequences/sec",
            b"avg_batch_cost: 0.14504 sec, avg_samples: 96.00000, ips: 661.42967 sequences/sec",
            "PaddlePaddle/PaddleNLP@9633a59659:examples/language_model/bert/static/run_pretrain.py",
        ),
        notes="The figures are those of one card; the batch stands in each line.",
    ),
    _dialect(
        name="paddlenlp_transformer",
        title="PaddleNLP Transformer",
        unit="words/s",
        scope="per_device",
        step=line(
            rb"step_idx: (?P<step>\d+), epoch: (?P<epoch>\d+), batch: \d+, avg loss: (?P<loss>[\d.]+|nan), [^\r\n]*?"
            rb"avg_speed: [\d.]+ step/s, batch_cost: [\d.]+ sec, reader_cost: [\d.]+ sec, tokens: \d+, ips: (?P<rate>[\d.]+) words/sec",
            b"[2023-07-31 11:41:04,898] [    INFO] - step_idx: 700, epoch: 3, batch: 172, avg loss: 5.526707, normalized loss: 4.159066, ppl: 251.314987, avg_speed: 1.80 step/s, batch_cost: 0.55529 sec, reader_cost: 0.00013 sec, tokens: 437784, ips: 7883.88953 words/sec",
            "PaddlePaddle/PaddleNLP@4ae99415b4:examples/machine_translation/transformer/static/train.py",
        ),
        notes="Words of one card; avg_speed on the same line counts steps. Each epoch's first report holds start-up.",
    ),
    _dialect(
        name="paddleseg",
        title="PaddleSeg",
        unit="images/s",
        scope="per_device",
        zero_based=False,
        step=line(
            rb"\[TRAIN\] epoch: \d+, iter: (?P<step>\d+)/\d+, loss: (?P<loss>[\d.]+|nan), lr: [\d.e-]+, "
            rb"batch_cost: (?P<seconds>[\d.]+), reader_cost: [\d.]+, ips: (?P<rate>[\d.]+) samples/sec",
            b"2022-02-05 04:29:11 [INFO]\t[TRAIN] epoch: 1, iter: 35/200, loss: 0.8048, lr: 0.008456, batch_cost: 0.6989, reader_cost: 0.00366, ips: 5.7235 samples/sec | ETA 00:01:55",
            "PaddlePaddle/PaddleSeg@d7975e7cb3:paddleseg/core/train.py",
        ),
        evaluation=line(
            rb"\[EVAL\]",
            b"[EVAL] #Images: 500 mIoU: 0.7803 Acc: 0.9613 Kappa: 0.9499 Dice: 0.8685",
            "PaddlePaddle/PaddleSeg@d7975e7cb3:paddleseg/core/val.py, evaluate()",
        ),
    ),
    _dialect(
        name="paddle_ctr",
        title="PaddleRec CTR, Wide & Deep: lines per epoch",
        unit="samples/s",
        scope="unstated",
        per_epoch=True,
        trust_stamps=False,
        step=line(
            rb"Epoch: (?P<epoch>\d+), using time:? (?P<report_s>[\d.]+) second, ips:? (?P<rate>[\d.]+) example/sec",
            b"2021-02-22 02:22:19,513 - INFO - Epoch: 0, using time 130.599303007 second, ips 84225.62561 example/sec.",
            "PaddlePaddle/PaddleRec@656326adf3:tools/static_ps_trainer.py; lines per batch count something else",
        ),
        notes="Lines per epoch and lines per batch differ by more than ten times: thread or node scope is not said.",
    ),
    _dialect(
        name="paddle_word2vec",
        title="PaddleRec word2vec",
        unit="words/s",
        scope="unstated",
        per_epoch=True,
        trust_stamps=False,
        step=line(
            rb"Epoch: (?P<epoch>\d+), using time:? (?P<report_s>[\d.]+) second, ips:? (?P<rate>[\d.]+) word/sec",
            b"2021-02-22 11:20:23,050 - INFO - Epoch: 0, using time 1108.05867314 second, ips 14824.6048681 word/sec.",
            "PaddlePaddle/PaddleRec@656326adf3:tools/static_ps_trainer.py",
        ),
    ),
    _dialect(
        name="paddlecv_1.8",
        title="PaddleCV 1.8 image classification",
        unit="images/s",
        scope="global",
        averaging="step",
        steps_restart="epoch",
        zero_based=True,
        step=line(
            rb"\[Pass (?P<epoch>\d+), train batch (?P<step>\d+)\]\s+loss (?P<loss>[\d.]+|nan), [^\r\n]*?"
            rb"elapse (?P<seconds>[\d.]+) sec",
            b"INFO:utils.utility:[Pass 0, train batch 2] \tloss 64.00000, acc1 0.00000, acc5 1.00000, lr 0.10000, elapse 0.9339 sec",
            "PaddlePaddle/models@b71cf6322a:PaddleCV/image_classification/utils/utility.py, print_info()",
        ),
        evaluation=line(
            rb"\[(?:Pass \d+, test  batch|End pass) \d+\]",
            b"INFO:utils.utility:[Pass 0, test  batch 0] \tloss 6.91000, acc1 0.00000, acc5 0.00000, elapse 0.2104 sec",
            "PaddlePaddle/models@b71cf6322a:PaddleCV/image_classification/utils/utility.py, print_info()",
        ),
        named_facts={"bare": "global_batch"},
        notes="Trainer 0 prints; the time is that of one step of the whole job.",
    ),
    _dialect(
        name="paddle_bert_1.8",
        title="Paddle 1.8 BERT pre-training",
        unit="sequences/s",
        scope="global",
        zero_based=False,
        steps_times_nodes=True,
        step=line(
            rb"epoch: \d+, progress: \d+/\d+, step: (?P<step>\d+), loss: (?P<loss>[\d.]+|nan), [^\r\n]*?"
            rb"next_sent_acc: [\d.]+, speed: (?P<steps_per_s>[\d.]+) steps/s",
            b"epoch: 1, progress: 1/1, step: 60, loss: 10.487363, ppl: 17796.216797, next_sent_acc: 0.560417, speed: 1.060437 steps/s, file: demo_wiki_train.gz",
            "PaddlePaddle/models@b71cf6322a:PaddleNLP/pretrain_language_models/BERT/train.py: skip_steps times the trainers ÷ the seconds",
        ),
        evaluation=line(
            rb"\[validation_set\] epoch:",
            b"[validation_set] epoch: 1, step: 100, loss: 10.036789, global ppl: 12706.841797, ",
            "PaddlePaddle/models@b71cf6322a:PaddleNLP/pretrain_language_models/BERT/train.py",
        ),
        facts=line(
            rb"Device count (?P<devices_per_node>\d+)",
            b"Device count 8",
            "PaddlePaddle/models@b71cf6322a:PaddleNLP/pretrain_language_models/BERT/train.py",
        )
        + line(
            rb"worker_endpoints:\[[^\r\n]*\] trainers_num:(?P<nodes>\d+)",
            b"worker_endpoints:['10.0.0.1:6170', '10.0.0.2:6170'] trainers_num:2",
            "PaddlePaddle/models@b71cf6322a:PaddleNLP/pretrain_language_models/BERT/train.py",
        )
        + line(
            rb"args\.is_distributed: False",
            b"args.is_distributed: False",
            "PaddlePaddle/models@b71cf6322a:PaddleNLP/pretrain_language_models/BERT/train.py",
            fields=lambda match: {"nodes": 1.0},
        ),
        notes="The printed steps/s are already multiplied by the number of nodes.",
    ),
)
