"""Paddle 1.8 BERT; the others are in data/dialects/paddle.toml."""

from evalsuite.contracts.dialect import Dialect, line

DIALECTS = (
    Dialect(
        name="paddle_bert_1.8",
        title="Paddle 1.8 BERT pre-training",
        framework="paddlepaddle",
        unit="sequences/s",
        scope="global",
        averaging="interval",
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
