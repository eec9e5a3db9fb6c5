"""Hugging Face's Trainer and those built on it: TRL, Axolotl, Unsloth, LLaMA-Factory, ms-swift."""

import functools
import math
import re
from collections.abc import Callable
from dataclasses import replace

from evalsuite.contracts.dialect import Dialect, Fields, Line, line
from evalsuite.logs.text.records import clock_s

_NUMBER = rb"-?[\d.]+(?:e[+-]?\d+)?(?![\d.]|,\d)"  # transformers 5 prints four digits: '1.234e+04'
_BAR = rb"\s*(?:Train: *)?\d+%\|[^|\r\n]*\| *(\d+)/(\d+) \[([\d:]+)<[^\]\r\n]*\]"
_LOSS_AND_BAR = rb"\{'loss': '?(?P<loss>%b|nan)'?, [^{}\r\n]*\}(?=%b)" % (_NUMBER, _BAR)  # it may arrive with the next
_ENTRY_BYTES = 8192  # of a JSON object or a printed dictionary: more than one has
_STEP = re.compile(rb'"step": (\d+)')
_MAX_STEPS = re.compile(rb'"max_steps": (\d+)')
_LOSS = re.compile(rb"""['"]loss['"]: ['"]?(%b|nan|NaN)""" % _NUMBER)
_PER_SECOND = re.compile(rb"""['"]train_speed\(iter/s\)['"]: ['"]?(%b)""" % _NUMBER)
_PER_STEP = re.compile(rb"""['"]train_speed\(s/it\)['"]: ['"]?(%b)""" % _NUMBER)
_ELAPSED = re.compile(rb"""['"]elapsed_time['"]: ['"]([\ddhms ]+)['"]""")
_STEPS_PER_SECOND = re.compile(rb"'train_steps_per_second': '?(%b)" % _NUMBER)
_RUNTIME = re.compile(rb"'train_runtime': '?(%b)" % _NUMBER)
_TOKENS = re.compile(rb"'\w*tokens\w*': '?(%b)" % _NUMBER)
_RATES = re.compile(rb"'train_samples_per_second': '?(\d+\.\d+)'?, 'train_steps_per_second': '?(\d+\.\d+)")
_ROUNDED_RATE = 0.01
_ROUNDED = 0.001  # of steps/s with three decimals, or of figures with four digits
_UNITS = {b"d": 86_400, b"h": 3600, b"m": 60, b"s": 1}


def _clock_s(text: bytes) -> float:
    """`49:39`, `1:20:35`, `1 day, 2:03:04` and `10h 17m 46s` as seconds."""
    if b":" not in text:
        return sum(int(number) * _UNITS[unit] for number, unit in re.findall(rb"(\d+)([dhms])", text))
    days, _, clock = text.rpartition(b",")
    return clock_s(clock) + (86_400 * int(days.split()[0]) if days else 0)


def _entry(match: "re.Match[bytes]") -> bytes:
    text, at = match.string, match.start()
    begin = max(text.rfind(b"{", max(0, at - _ENTRY_BYTES), at), 0)
    end = text.find(b"}", match.end(), match.end() + _ENTRY_BYTES)
    return text[begin : end if end >= 0 else match.end()]


def _at_bar(match: "re.Match[bytes]") -> Fields:
    """Step and time of the bar after a loss, whose s/it are of the last steps and no mean."""
    step, of, elapsed = match.group(2, 3, 4)
    return {"loss": match["loss"], "step": step, "of": of, "mean_s": _clock_s(elapsed) / int(step)}


def _with_tokens(key: bytes) -> Callable[["re.Match[bytes]"], Fields | None]:
    """With the tokens so far, under *key*; transformers 5 prints '2.813e+06': enough over a window of many reports."""
    seen = re.compile(rb"'%b': '?(\d+(?:\.\d+)?(?:e\+\d+)?)'?[,}]" % key)

    def fields(match: "re.Match[bytes]") -> Fields | None:
        tokens = seen.search(match[0])
        return None if tokens is None else {**_at_bar(match), "consumed": tokens[1]}

    return fields


def _as_trained(match: "re.Match[bytes]") -> Fields | None:
    """The final figure counts the samples planned; the bar after it shows the steps taken. None: it counts tokens."""
    begin = match.string.rfind(b"{", max(0, match.start() - _ENTRY_BYTES), match.start())
    if match.string.endswith(b"metrics=", 0, max(0, begin)) or _tokens_trained(match):
        return None  # TrainOutput, which repeats the dictionary
    taken, planned = match.group(2, 3)
    share = int(taken) / int(planned) if taken and _is_total(int(planned), _entry(match)) else 1.0
    both = _RATES.search(match.string, match.start())
    batch = _batch_of_rates(both) if both and both.start() == match.start() else {}
    return {"rate": float(match["rate"]) * share, **batch}


def _tokens_trained(match: "re.Match[bytes]") -> Fields | None:
    """MLX's trainers print tokens ÷ seconds under the name of samples: by the tokens and seconds of the same entry."""
    entry, rate = _entry(match), float(match["rate"])
    runtime = _RUNTIME.search(entry)
    counted = (float(tokens) / float(runtime[1]) for tokens in _TOKENS.findall(entry) if runtime and float(runtime[1]))
    return {"rate": rate} if any(abs(each - rate) < _ROUNDED_RATE * rate for each in counted) else None


def _batch_of_rates(match: "re.Match[bytes]") -> Fields:
    """Samples ÷ steps per second, where one whole number alone rounds to both."""
    (samples, by), (steps, of) = ((float(text), 0.5 / 10 ** len(text.partition(b".")[2])) for text in match.groups())
    least, most = (samples - by) / (steps + of), (samples + by) / max(steps - of, 1e-9)
    return {"global_batch": float(int(most))} if int(most) == math.ceil(least) else {}


def _is_total(steps: int, entry: bytes) -> bool:
    """Of the training's bar, not an evaluation's: steps/s × seconds are the steps planned."""
    rate, runtime = _STEPS_PER_SECOND.search(entry), _RUNTIME.search(entry)
    if rate is None or runtime is None:
        return False
    seconds = float(runtime[1])
    return abs(float(rate[1]) * seconds - steps) <= 1 + _ROUNDED * seconds + _ROUNDED * steps


def _state(match: "re.Match[bytes]") -> Fields:
    """The final figure in `trainer_state.json`, of the steps taken."""
    step, planned = _STEP.search(_entry(match)), _MAX_STEPS.search(match.string, match.end())
    return {"rate": float(match["rate"]) * (int(step[1]) / int(planned[1]) if step and planned else 1.0)}


def _swift(match: "re.Match[bytes]") -> Fields | None:
    entry = _entry(match)
    loss, per_second, per_step, elapsed = (find.search(entry) for find in (_LOSS, _PER_SECOND, _PER_STEP, _ELAPSED))
    if loss is None or elapsed is None:
        return None  # an evaluation, or the final figure
    step, whole_s = int(match["step"]), _clock_s(elapsed[1])
    seconds = step / float(per_second[1]) if per_second else step * float(per_step[1]) if per_step else whole_s
    mean_s = min(max(seconds, whole_s - 0.5), whole_s + 1) / step  # cut off, since 4.6 rounded
    return {**match.groupdict(), "loss": loss[1], "mean_s": mean_s}


_SPEED_METRICS = "huggingface/transformers@c599e989ac:src/transformers/trainer_utils.py, speed_metrics()"
_TRAINER = "huggingface/transformers@2cda12cbf6:src/transformers/trainer.py"
_FINAL = (
    line(
        rb"'train_samples_per_second': '?(?P<rate>%b)(?:[^{}\r\n]*\}%b)?" % (_NUMBER, _BAR),
        b"{'train_runtime': 919.097, 'train_samples_per_second': 1.088, 'train_steps_per_second': 0.017",
        f"{_SPEED_METRICS}: the samples of all processes that were planned, over the time since train() began",
        fields=_as_trained,
    )
    + line(
        rb"train_samples_per_second +=\s+(?P<rate>%b)" % _NUMBER,
        b"[INFO|trainer_pt_utils.py:912] 2021-05-25 06:53:45,862 >>   train_samples_per_second =      1.088",
        "huggingface/transformers@2cda12cbf6:src/transformers/trainer_pt_utils.py, log_metrics()",
        fields=lambda m: None if b"'train_samples_per_second'" in m.string[: m.start()] else m.groupdict(),
    )
    + line(
        rb'"train_samples_per_second": (?P<rate>%b)' % _NUMBER,
        b'    "train_samples_per_second": 14.427,\n',
        "huggingface/transformers@2cda12cbf6:src/transformers/trainer_pt_utils.py, save_metrics() and save_state()",
        fields=_state,
    )
)


def _jumped(match: "re.Match[bytes]") -> Fields | None:
    """What a resumed Trainer skips, it skips a hundred times as fast as it trains."""
    skipped, until, step, at = int(match["resumed_step"]), clock_s(match[3]), int(match[4]), clock_s(match[5])
    trained = step > skipped and (at - until) / (step - skipped) > _SKIPS * max(1.0, until) / skipped
    return match.groupdict() if trained else None


_SKIPS = 20
_JUMPED = Line(
    pattern=rb"\| 0/(\d+) \[00:00<\?[^|]*\|[^|\r\n]*\| (?P<resumed_step>\d+)/\1 \[([\d:]+)<[^|]*\|[^|\r\n]*\| (\d+)/\1 \[([\d:]+)<",
    sample="  0%|          | 0/3252 [00:00<?, ?it/s]\r 50%|█████     | 1627/3252 [00:05<00:05, 305.36it/s]\r"
    " 50%|█████     | 1630/3252 [00:19<00:05, 305.36it/s]".encode(),
    source=f"{_TRAINER}: the batches before the checkpoint, and a bar at which the steps trained are counted from it",
    fields=_jumped,
)
_NAMED_FACTS = {"per_device": "batch_per_device", "accumulation": "accumulation", "all": "global_batch"}
_DEEPSPEED = Line(
    pattern=rb"\] +train_batch_size \.+ (?P<global_batch>\d+)",
    sample=b"[2021-05-25 06:38:26,359] [INFO] [config.py:752:print]   train_batch_size ............. 64",
    source="deepspeedai/DeepSpeed@edaa722126:deepspeed/runtime/config.py, print(), where the Trainer runs on DeepSpeed",
)
_RESUMED = Line(
    pattern=rb"Continuing training from global step (?P<resumed_step>\d+)",
    sample=b"  Continuing training from global step 500",
    source=f"{_TRAINER}: the final figure then counts the samples before the checkpoint, and the time since",
)
_EVALUATION = line(
    rb"\{'eval_",
    b"{'eval_loss': 1.2345, 'eval_runtime': 10.5, 'eval_samples_per_second': 47.6",
    f"{_SPEED_METRICS}, called by Trainer.evaluate()",
) + line(rb"Saving model checkpoint to ", b">> Saving model checkpoint to output_dir", _TRAINER)

_LOG_CALLBACK = "hiyouga/LLaMA-Factory@0583d06676:src/llamafactory/train/callbacks.py, LogCallback.on_log()"
_EVALUATED = line(
    rb'"current_steps": \d+, "total_steps": \d+, "eval_loss"',
    b'{"current_steps": 50, "total_steps": 93, "eval_loss": 0.61, "epoch": 1.65, "percentage": 53.76, ',
    _LOG_CALLBACK,
)

_dialect = functools.partial(Dialect, framework="pytorch", scope="global", averaging="cumulative")
_by_clock = functools.partial(_dialect, clock_s=1.0, zero_based=False, evaluation_inside=True)

DIALECTS = (
    _by_clock(
        name="hf_trainer",
        title="Hugging Face Trainer",
        unit="samples/s",
        step=line(
            _LOSS_AND_BAR,
            "{'loss': 2.0251, 'learning_rate': 0.0002, 'epoch': 0.02}\n\r 10%|█         | 20/200 [00:50<07:30,  2.50s/it]".encode(),
            "huggingface/transformers@2cda12cbf6:src/transformers/trainer_callback.py, ProgressCallback.on_log(): the bar is drawn again behind it",
            fields=_at_bar,
        ),
        final=_FINAL,
        evaluation=_EVALUATION,
        named_facts=_NAMED_FACTS,
        facts=(_DEEPSPEED, _RESUMED, _JUMPED),
        yields_to=("hf_trainer_tokens", "hf_trainer_seconds", "trl", "axolotl", "ms_swift", "ms_swift_tokens"),
        notes="The final figure is over the whole run, start-up and checkpoints inside, and counts the "
        "samples planned; evaluations and checkpoints are not taken off. The steps take the whole seconds of the bar, in reports of at least ten seconds. On DeepSpeed its "
        "timers print beside: they see the engine alone, and the Trainer's own clock is read.",
    ),
    _by_clock(
        name="hf_trainer_tokens",
        tokens="slots",
        title="Hugging Face Trainer, tokens",
        unit="tokens/s",
        step=line(
            _LOSS_AND_BAR,
            "{'loss': 2.0251, 'grad_norm': 0.5, 'learning_rate': 0.0002, 'epoch': 0.02, 'num_input_tokens_seen': 655360}\n\r 10%|█         | 20/200 [00:50<07:30,  2.50s/it]".encode(),
            "huggingface/transformers@2cda12cbf6:src/transformers/trainer_callback.py, ProgressCallback.on_log(); with include_num_input_tokens_seen: gathered over all processes",
            fields=_with_tokens(b"num_input_tokens_seen"),
        ),
        final=line(
            rb"'train_samples_per_second': '?(?P<rate>%b)" % _NUMBER,
            b"{'train_loss': 2.1, 'train_runtime': 2500.0, 'train_steps': 100, 'trained_tokens': 105000, 'train_samples_per_second': 42.0",
            "huggingface/transformers@2cda12cbf6:src/transformers/trainer_utils.py, speed_metrics(); MLX's trainers call tokens so",
            fields=_tokens_trained,
        ),
        evaluation=_EVALUATION,
        yields_to=("hf_trainer_seconds", "trl", "ms_swift", "ms_swift_tokens"),
        notes="Tokens of all processes, padding included unless the Trainer is told otherwise.",
    ),
    _by_clock(
        name="trl",
        tokens="non_padding",
        title="TRL",
        unit="tokens/s",
        step=line(
            _LOSS_AND_BAR,
            b"{'loss': 1.5618, 'grad_norm': 1.2, 'learning_rate': 9.98e-05, 'num_tokens': 52000.0, 'mean_token_accuracy': 0.65, 'epoch': 0.01}\n\r  5%|          | 10/200 [00:16<05:04,  1.60s/it]",
            "huggingface/trl@d11f0f530e:trl/trainer/sft_trainer.py, SFTTrainer.compute_loss(): gathered over all processes, without padding",
            fields=_with_tokens(b"num_tokens"),
        ),
        evaluation=_EVALUATION,
        yields_to=("hf_trainer_seconds", "ms_swift", "ms_swift_tokens"),
        notes="Tokens of all processes without padding; where the trainer generates (GRPO), prompts and completions, "
        "and the time of generating is inside.",
    ),
    _by_clock(
        name="axolotl",
        title="Axolotl, tokens",
        unit="tokens/s",
        step=line(
            _LOSS_AND_BAR,
            b"{'loss': '1.562', 'grad_norm': '1.203', 'learning_rate': '0.0002', 'ppl': '4.768', 'memory/max_active (GiB)': '18.2', "
            b"'memory/max_allocated (GiB)': '18.2', 'memory/device_reserved (GiB)': '20.31', 'tokens/trainable': 163840, 'tokens/total': 655360, "
            b"'epoch': '0.01', 'tokens/train_per_sec_per_gpu': '512'}\n\r  5%|          | 10/200 [00:50<15:50,  5.00s/it]",
            "axolotl-ai-cloud/axolotl@000724ed3a:src/axolotl/core/trainers/base.py, AxolotlTrainer.compute_loss(): with include_tkps, summed over all processes",
            fields=_with_tokens(b"tokens/total"),
        ),
        evaluation=_EVALUATION,
        notes="tokens/total counts all places of the labels, padding inside, summed over all processes: with tensor or context "
        "parallelism the same token counts once for each of its devices. tokens/train_per_sec_per_gpu is not used: it counts "
        "the tokens that have a label, until 2026 of the last forward pass alone, which is too little with gradient accumulation.",
    ),
    _dialect(
        name="ms_swift",
        title="ms-swift",
        unit="samples/s",
        clock_s=0.1,
        zero_based=False,
        evaluation_inside=True,
        step=line(
            rb"""global_step/max_steps['"]: ['"](?P<step>\d+)/(?P<of>\d+)['"]""",
            b"{'loss': 1.47077751, 'grad_norm': 10.5625, 'learning_rate': 2e-06, 'token_acc': 0.65511727, 'epoch': 0.01, "
            b"'global_step/max_steps': '1/94', 'percentage': '1.06%', 'elapsed_time': '2s', 'remaining_time': '4m 28s', "
            b"'memory(GiB)': 4.87, 'train_speed(iter/s)': 0.345807}",
            "modelscope/ms-swift@018a548842:swift/trainers/callback.py, add_train_message(): global_step ÷ seconds since on_train_begin()",
            fields=_swift,
        ),
        final=tuple(replace(line, telling=False) for line in _FINAL),
        evaluation=_EVALUATION,
        named_facts=_NAMED_FACTS,
        facts=(_DEEPSPEED, _RESUMED, _JUMPED),
        yields_to=("ms_swift_tokens",),
        notes="train_speed is a mean since training began, evaluation inside, from which each report is taken apart.",
    ),
    _dialect(
        name="llamafactory_tokens",
        title="LLaMA-Factory trainer_log.jsonl, tokens",
        unit="tokens/s",
        zero_based=False,
        evaluation_inside=True,
        step=line(
            rb'"current_steps": (?P<step>\d+), "total_steps": (?P<of>\d+), "loss": (?P<loss>%b|NaN)[^{}\r\n]*?'
            rb'"throughput": (%b), "total_tokens": (?P<consumed>\d+)' % (_NUMBER, _NUMBER),
            b'{"current_steps": 5, "total_steps": 93, "loss": 5.7013, "lr": 1e-06, "epoch": 0.16, "percentage": 5.38, '
            b'"elapsed_time": "0:02:00", "remaining_time": "0:35:12", "throughput": 13000.0, "total_tokens": 1560000}',
            _LOG_CALLBACK,
            # tokens ÷ their mean rate are the seconds since the start, finer than printed
            fields=lambda match: {**match.groupdict(), "elapsed_s": float(match["consumed"]) / float(match[4])},
        ),
        evaluation=_EVALUATED,
        notes="num_input_tokens_seen of all processes, padding included unless the Trainer is told otherwise; the "
        "printed throughput is a mean since the start.",
    ),
    _by_clock(
        name="llamafactory",
        title="LLaMA-Factory trainer_log.jsonl",
        unit="samples/s",
        step=line(
            rb'"current_steps": (?P<step>\d+), "total_steps": (?P<of>\d+), "loss": (?P<loss>%b|NaN)[^{}\r\n]*?'
            rb'"elapsed_time": "([^"]+)"' % _NUMBER,
            b'{"current_steps": 5, "total_steps": 2178, "loss": 2.3475, "lr": 1.8348623853211011e-06, "epoch": '
            b'0.0022948609457695674, "percentage": 0.23, "elapsed_time": "0:32:48", "remaining_time": "9 days, 21:39:23"}',
            _LOG_CALLBACK,
            fields=lambda match: {**match.groupdict(), "mean_s": _clock_s(match[4]) / int(match["step"])},
        ),
        evaluation=_EVALUATED,
        yields_to=("llamafactory_tokens",),
        notes="Whole seconds since the start, evaluation inside; the batch stands in the training arguments.",
    ),
)
