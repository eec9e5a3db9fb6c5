"""Logs composed after what training scripts print, of runs whose speed is known: the truth that a reading is held to.

They are composed after the scripts' sources and not after the logs of `tests/logs`, from which the dialects were made.
"""
# ruff: noqa: E501 (a line of a log is kept whole)

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial


@dataclass(frozen=True, kw_only=True)
class Training:
    """A run of 200 steps: a slow first one, then steps of nearly the same time."""

    steps: int = 200
    step_s: float = 0.4
    first_s: float = 12.0
    devices: int = 8
    batch: int = 32  # sequences or images on one device
    tokens: int = 2048  # in a sequence
    start: datetime = datetime(2026, 3, 2, 9, 58, 20)

    @property
    def global_batch(self) -> int:
        return self.batch * self.devices

    def took(self, step: int) -> float:
        return self.first_s if step == 1 else self.step_s * (1 + 0.02 * math.sin(7 * step))

    def seconds(self, step: int) -> float:
        """From the start to the end of *step*."""
        return math.fsum(map(self.took, range(1, step + 1)))

    def mean(self, step: int, last: int) -> float:
        """Of the time of the *last* steps up to *step*."""
        first = max(1, step - last + 1)
        return math.fsum(map(self.took, range(first, step + 1))) / (step - first + 1)

    def at(self, step: int) -> datetime:
        return self.start + timedelta(seconds=self.seconds(step))

    def every(self, steps: int) -> Iterator[int]:
        return iter(range(steps, self.steps + 1, steps))

    def items_per_s(self, unit: str) -> float:
        """The truth."""
        return self.global_batch / self.step_s * (self.tokens if unit == "tokens/s" else 1)


def clock(seconds: float) -> str:
    whole = int(seconds)
    short = f"{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{whole // 3600}:{short}" if whole >= 3600 else short


def comma_ms(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}"


def bar(run: Training, step: int) -> str:
    """As tqdm draws it."""
    passed = run.seconds(step)
    rate = step / passed if step else 0.0
    per = "?it/s" if not rate else f"{rate:5.2f}it/s" if rate >= 1 else f"{1 / rate:5.2f}s/it"
    left = clock((run.steps - step) / rate) if rate else "?"
    share = step * 100 // run.steps
    return f"{share:3d}%|{'█' * (share // 10):<10}| {step}/{run.steps} [{clock(passed)}<{left}, {per}]"


def printer(
    every: int, line: Callable[[Training, int], str], head: Callable[[Training], str] = lambda run: "", begin: int = 0
) -> Callable[[Training], str]:
    """One that prints a line for each so many steps, from the first such or from *begin*, behind a head."""
    return lambda run: head(run) + "".join(line(run, step) for step in range(begin or every, run.steps + 1, every))


# Hugging Face


def hf_head(run: Training) -> str:
    return f"""***** Running training *****
  Num examples = {run.global_batch * run.steps:,}
  Num Epochs = 1
  Instantaneous batch size per device = {run.batch}
  Total train batch size (w. parallel, distributed & accumulation) = {run.global_batch:,}
  Gradient Accumulation steps = 1
  Total optimization steps = {run.steps:,}
"""


def hf_total(run: Training) -> dict[str, float]:
    seconds = run.seconds(run.steps)
    return {
        "train_runtime": round(seconds, 4),
        "train_samples_per_second": round(run.global_batch * run.steps / seconds, 3),
        "train_steps_per_second": round(run.steps / seconds, 3),
        "train_loss": 2.12,
        "epoch": 1.0,
    }


def hf(
    run: Training,
    *,
    head: bool = True,
    quoted: bool = False,
    more: Callable[[Training, int], dict[str, object]] = lambda run, step: {},
) -> str:
    """The Trainer of transformers 4; *quoted*: of transformers 5."""
    said = [hf_head(run) if head else ""]
    for step in range(run.steps + 1):
        said.append("\r" + bar(run, step))
        if step and step % 10 == 0:
            entry = {
                "loss": 2.12,
                "grad_norm": 1.2034,
                "learning_rate": 4.95e-05,
                **more(run, step),
                "epoch": round(step / run.steps, 2),
            }
            shown = {key: str(value) for key, value in entry.items()} if quoted else entry
            said.append(f"\r{' ' * 50}\r{shown}\n")
    total = hf_total(run)
    said.append(
        f"{ {key: str(value) for key, value in total.items()} if quoted else total }\n\r{bar(run, run.steps)}\n"
    )
    return "".join(said)


hf_5 = partial(hf, quoted=True)
hf_tokens = partial(hf, more=lambda run, step: {"num_input_tokens_seen": step * run.global_batch * run.tokens})
trl = partial(
    hf,
    more=lambda run, step: {
        "entropy": 1.43,
        "num_tokens": float(step * run.global_batch * run.tokens),
        "mean_token_accuracy": 0.65,
    },
)
hf_without_head = partial(hf, head=False)


def hf_state(run: Training) -> str:
    history = [{"epoch": step / run.steps, "learning_rate": 4e-5, "loss": 2.0, "step": step} for step in run.every(10)]
    last = {**hf_total(run), "step": run.steps, "total_flos": 1e18}
    return json.dumps(
        {"global_step": run.steps, "log_history": [*history, last], "logging_steps": 10, "max_steps": run.steps},
        indent=2,
    )


llamafactory = printer(5,
    lambda run, step: f"""{{"current_steps": {step}, "total_steps": {run.steps}, "loss": 2.1, "lr": 1e-06, "epoch": {step / run.steps}, "percentage": {round(100 * step / run.steps, 2)}, "elapsed_time": "{timedelta(seconds=int(run.seconds(step)))}", "remaining_time": "0:01:01", "throughput": {round(step * run.global_batch * run.tokens / run.seconds(step), 2)}, "total_tokens": {step * run.global_batch * run.tokens}}}\n""")  # fmt: skip

# vision


def ultralytics(run: Training, per_epoch: int = 25) -> str:
    cards = ",".join(map(str, range(run.devices)))
    epochs = run.steps // per_epoch
    said = [
        f"Ultralytics 8.3.134 🚀 Python-3.11.11 torch-2.6.0+cu124 CUDA:0 (Tesla T4, 15095MiB)\nengine/trainer: agnostic_nms=False, amp=True, batch={run.global_batch}, cache=False, data=coco.yaml, device={cards}, epochs={epochs}, imgsz=640, model=yolo11n.pt, nbs=64, workers=8\nStarting training for {epochs} epochs...\n"
    ]
    for epoch in range(epochs):
        said.append("\n      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n")
        for step in range(0, per_epoch + 1, 5):
            passed = run.seconds(epoch * per_epoch + step) - run.seconds(epoch * per_epoch)
            rate = f"{step / passed:5.2f}it/s" if step else "?it/s"
            left = clock((per_epoch - step) * run.step_s)
            said.append(
                f"\r       {epoch + 1}/{epochs}      5.66G      1.283      1.357      1.213         46        640: {100 * step // per_epoch:3d}%|{'█' * (10 * step // per_epoch):<10}| {step}/{per_epoch} [{clock(passed)}<{left}, {rate}]"
            )
        said.append(
            "\n\r                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|██████████| 17/17 [00:02<00:00,  7.10it/s]\n                   all        535        601      0.665      0.686      0.668      0.513\n"
        )
    said.append(f"\n{epochs} epochs completed in {run.seconds(run.steps) / 3600:.3f} hours.\n")
    return "".join(said)


ultralytics_csv = printer(25,
    lambda run, step: f"{step // 25},{run.seconds(step):.4f},1.2,1.1,1.0,0.6,0.5,0.01\n",
    lambda run: "epoch,time,train/box_loss,train/cls_loss,train/dfl_loss,metrics/precision(B),metrics/recall(B),lr/pg0\n")  # fmt: skip
mmengine = printer(50,
    lambda run, step: f"{run.at(step):%Y/%m/%d %H:%M:%S} - mmengine - INFO - Epoch(train)   [{(step - 1) // 100 + 1}][{(step - 1) % 100 + 1:3d}/100]  lr: 1.0000e-01  eta: 1:23:45  time: {run.mean(step, 50):.4f}  data_time: 0.0123  memory: 5901  loss: 6.9012\n",
    lambda run: f"2026/03/02 09:57:11 - mmengine - INFO - \nSystem environment:\n    GPU 0,1,2,3,4,5,6,7: NVIDIA A100-SXM4-80GB\nRuntime environment:\n    Distributed launcher: pytorch\n    GPU number: {run.devices}\n2026/03/02 09:57:12 - mmengine - INFO - Config:\ntrain_dataloader = dict(\n    batch_size={run.batch},\n    num_workers=5)\nval_dataloader = dict(\n    batch_size=1)\n")  # fmt: skip
mmengine_json = printer(10,
    lambda run, step: f"""{{"lr": 0.1, "data_time": 0.004, "loss": 6.9, "time": {run.mean(step, 10)}, "epoch": 1, "iter": {step}, "memory": 5901, "step": {step}}}\n""")  # fmt: skip
detectron2 = printer(20,
    lambda run, step: f"[{run.at(step):%m/%d %H:%M:%S} d2.utils.events]:  eta: 10:01:43  iter: {step - 1}  total_loss: 1.361  loss_cls: 0.65  time: {run.mean(step, step - 3):.4f}  last_time: {run.took(step):.4f}  data_time: 0.0040  last_data_time: 0.0038   lr: 0.00019981  max_mem: 3961M\n",
    lambda run: f"[03/02 09:57:40 detectron2]: Rank of current process: 0. World size: {run.devices}\n[03/02 09:57:42 detectron2]: Running with full config:\nSOLVER:\n  IMS_PER_BATCH: {run.global_batch}\n")  # fmt: skip
detectron2_json = printer(20,
    lambda run, step: f"""{{"data_time": 0.004, "eta_seconds": 97.5, "iteration": {step - 1}, "loss_cls": 0.7, "lr": 1e-05, "time": {run.mean(step, 20)}, "total_loss": 1.2}}\n""")  # fmt: skip
torchvision = printer(10,
    lambda run, step: f"Epoch: [{(step - 1) // 100}]  [{(step - 1) % 100:3d}/100]  eta: 0:01:18  lr: 0.5  img/s: {run.batch / run.took(step):.4f}  loss: 6.9 (6.9)  acc1: 0.1 (0.1)  time: {run.mean(step, min(20, (step - 1) % 100 + 1)):.4f}  data: 0.0003  max mem: 7000\n",
    lambda run: f"| distributed init (rank 0): env://\nNamespace(amp=True, batch_size={run.batch}, data_path='/data', device='cuda', dist_backend='nccl', distributed=True, epochs=2, gpu=0, lr=0.5, model='resnet50', print_freq=10, rank=0, workers=16, world_size={run.devices})\nStart training\n", begin=1)  # fmt: skip
mae = printer(20,
    lambda run, step: f"Epoch: [0]  [{step - 1:3d}/200]  eta: 0:01:18  lr: 0.000000  loss: 1.8 (1.8)  time: {run.mean(step, 20):.4f}  data: 0.0003  max mem: 9000\n",
    lambda run: f"Namespace(batch_size={run.batch},\nepochs=800,\naccum_iter=1,\nmodel='mae_vit_large_patch16',\nworld_size={run.devices},\nrank=0,\ngpu=0)\neffective batch size: {run.global_batch}\nStart training for 800 epochs\n", begin=1)  # fmt: skip
timm = printer(20,
    lambda run, step: f"Train: 0 [{step - 1:4d}/200 ({100 * (step - 1) / 199:3.0f}%)]  Loss: 6.94 (6.95)  Time: {run.took(step):.3f}s, {run.global_batch / run.took(step):>7.2f}/s  ({run.mean(step, step):.3f}s, {run.global_batch / run.mean(step, step):>7.2f}/s)  LR: 1.000e-06  Data: 0.010 (0.030)\n",
    lambda run: f"Training in distributed mode with multiple processes, 1 device per process. Process 0, total {run.devices}, device cuda:0.\nModel resnet50 created, param count:25557032\n", begin=1)  # fmt: skip
swin = printer(10,
    lambda run, step: f"[{run.at(step):%Y-%m-%d %H:%M:%S} swin_tiny_patch4_window7_224] (main.py 235): INFO Train: [0/300][{step - 1}/200]\teta 0:10:10 lr 0.000001\t wd 0.0500\ttime {run.took(step):.4f} ({run.mean(step, step):.4f})\tloss 6.9 (6.9)\tgrad_norm 1.2 (1.3)\tloss_scale 65536.0 (65536.0)\tmem 8000MB\n",
    lambda run: f"RANK and WORLD_SIZE in environ: 0/{run.devices}\n[2026-03-02 09:57:00 swin_tiny_patch4_window7_224] (main.py 351): INFO AMP_ENABLE: true\nDATA:\n  BATCH_SIZE: {run.batch}\n  CACHE_MODE: part\nTRAIN:\n  ACCUMULATION_STEPS: 1\n", begin=1)  # fmt: skip


def keras(run: Training) -> str:
    said = []
    for epoch in range(run.steps // 100):
        said.append(f"Epoch {epoch + 1}/{run.steps // 100}\n")
        first = run.seconds(100 * epoch + 1)
        for step in range(5, 101, 5):
            mean = 1000 * (run.seconds(100 * epoch + step) - first) / (step - 1)
            said.append(
                f"\r\x1b[1m{step:3d}/100\x1b[0m \x1b[32m━━━━━━━━\x1b[0m\x1b[37m━━━━━━━━━━━━\x1b[0m \x1b[1m{int((100 - step) * run.step_s)}s\x1b[0m {mean:.0f}ms/step - accuracy: 0.1000 - loss: 2.3266"
            )
        said.append("\n")
    return "".join(said)


# language


nemo_2 = printer(10,
    lambda run, step: f"Training epoch 0, iteration {step - 1}/{run.steps - 1} | lr: 2.999e-06 | global_batch_size: {run.global_batch} | global_step: {step - 1} | reduced_train_loss: 11.03 | train_step_timing in s: {run.took(step):.4g} | consumed_samples: {step * run.global_batch}\n")  # fmt: skip
megatron = printer(10,
    lambda run, step: f" [{run.at(step):%Y-%m-%d %H:%M:%S}] iteration {step:8d}/{run.steps:8d} | consumed samples: {step * run.global_batch:12d} | elapsed time per iteration (ms): {1000 * run.mean(step, 10):.1f} | throughput per GPU (TFLOP/s/GPU): 400.0 | learning rate: 6.000000E-05 | global batch size: {run.global_batch:5d} | lm loss: 1.100000E+01 | loss scale: 1.0 | grad norm: 1.040 | number of skipped iterations:   0 | number of nan iterations:   0 |\n",
    lambda run: f"using world size: {run.devices}, data-parallel size: {run.devices}, context-parallel size: 1, tensor-model-parallel size: 1, pipeline-model-parallel size: 1\n  world_size ...................................... {run.devices}\n")  # fmt: skip
megatron_deepspeed = printer(10,
    lambda run, step: f" iteration {step:8d}/{run.steps:8d} | consumed samples: {step * run.global_batch:12d} | consumed tokens: {step * run.global_batch * run.tokens:14d} | elapsed time per iteration (ms): {1000 * run.mean(step, 10):.1f} | learning rate: 6.000E-05 | global batch size: {run.global_batch:5d} | lm loss: 1.1E+01 | loss scale: 1.0 | grad norm: 1.040 | actual seqlen: {run.tokens:5d} | number of skipped iterations:   0 | number of nan iterations:   0 | samples per second: {run.global_batch / run.mean(step, 10):.3f} | tokens per gpu per second (tgs): {run.batch * run.tokens / run.mean(step, 10):.3f} | TFLOPs: 55.11 |\n")  # fmt: skip
nanogpt = printer(10,
    lambda run, step: f"iter {step - 1}: loss 4.1000, time {1000 * run.took(step):.2f}ms, mfu 35.62%\n",
    lambda run: f"tokens per iteration will be: {run.global_batch * run.tokens:,}\ncompiling the model... (takes a ~minute)\nstep 0: train loss 4.28, val loss 4.28\n", begin=1)  # fmt: skip
llm_c = printer(1,
    lambda run, step: f"step {step:4d}/{run.steps} | loss 9.123456 (+nanz)| norm 15.3507 (+nanz)| lr 2.57e-06 | {1000 * run.took(step):.2f} ms | 55.2% bf16 MFU | {run.global_batch * run.tokens / run.mean(step, 20):.0f} tok/s\n")  # fmt: skip
modded_nanogpt = printer(1,
    lambda run, step: f"step:{step}/{run.steps} train_time:{1000 * run.seconds(step):.0f}ms step_avg:{1000 * run.mean(step, step):.2f}ms\n")  # fmt: skip
torchtune = printer(1,
    lambda run, step: f"Step {step} | loss:1.98 lr:2e-05 tokens_per_second_per_gpu:{run.batch * run.tokens / run.took(step)} peak_memory_active:18.1 peak_memory_alloc:18.1 peak_memory_reserved:20.3 \n")  # fmt: skip
composer = printer(10,
    lambda run, step: f"[batch={step}/{run.steps}]:\n\t Train time/batch: {step - 1}\n\t Train time/sample: {(step - 1) * run.global_batch}\n\t Train loss/train/total: 9.6\n\t Train throughput/batches_per_sec: {1 / run.mean(step, 10):.4f}\n\t Train throughput/samples_per_sec: {run.global_batch / run.mean(step, 10):.4f}\n\t Train throughput/device/batches_per_sec: {1 / run.mean(step, 10) / run.devices:.4f}\n\t Train throughput/device/samples_per_sec: {run.batch / run.mean(step, 10):.4f}\n",
    lambda run: f"******************************\nConfig:\nnum_gpus_per_node: {run.devices}\nnum_nodes: 1\n******************************\n")  # fmt: skip
nanochat = printer(1,
    lambda run, step: f"step {step - 1:05d}/{run.steps} ({100 * (step - 1) / run.steps:.2f}%) | loss: 10.400000 | lrm: 1.00 | dt: {1000 * run.took(step):.2f}ms | tok/sec: {int(run.global_batch * run.tokens / run.took(step)):,} | mfu: 50.12 | total time: {run.seconds(step) / 60:.2f}m\n",
    lambda run: f"2026-07-03 20:00:00,123 - nanochat.common - INFO - Distributed world size: {run.devices}\nTotal batch size {run.global_batch * run.tokens:,} => gradient accumulation steps: 1\n")  # fmt: skip
litgpt = printer(1,
    lambda run, step: f"Epoch 1 | iter {step} step {step} | loss train: 1.354, val: n/a | iter time: {1000 * run.took(step):.2f} ms (step)\n")  # fmt: skip
torchtitan = printer(10,
    lambda run, step: f"[rank0]:[titan] {comma_ms(run.at(step))} - root - INFO - step: {step:2d}  loss: 8.1273  grad_norm:  1.2  memory: 30.11GiB(31.70%)  tps: {round(run.batch * run.tokens / run.mean(step, 10)):,}  tflops: 312.20  mfu: 31.57%\n")  # fmt: skip
maxtext = printer(1,
    lambda run, step: f"completed step: {step - 1}, seconds: {run.took(step):.3f}, TFLOP/s/device: 120.123, Tokens/s/device: {run.batch * run.tokens / run.took(step):.3f}, total_weights: {run.global_batch * run.tokens}, loss: 8.123\n")  # fmt: skip
deepspeed = printer(10,
    lambda run, step: f"[{comma_ms(run.at(step))}] [INFO] [timer.py:264:stop] epoch=0/micro_step={step}/global_step={step}, RunningAvgSamplesPerSec={run.global_batch / run.mean(step, step - 2)}, CurrSamplesPerSec={run.global_batch / run.took(step)}, MemAllocated=1.2GB, MaxMemAllocated=10.3GB\n",
    lambda run: f"[2026-03-02 09:57:00,000] [INFO] [config.py:1001:print]   train_batch_size ............. {run.global_batch}\n")  # fmt: skip
gpt_neox = printer(10,
    lambda run, step: f" samples/sec: {run.global_batch / run.mean(step, 10):.3f} | iteration {step:8d}/  320000 | elapsed time per iteration (ms): {1000 * run.mean(step, 10):.1f} | learning rate: 1.875E-06 | approx flops per GPU: 22.5TFLOPS | lm_loss: 1.020000E+01 | loss scale: 4096.0 | number of skipped iterations:   0 | number of nan iterations:   0 |\n")  # fmt: skip


def olmo_core(run: Training) -> str:
    said = []
    for step in run.every(1):
        said.append(
            f"{run.at(step):%Y-%m-%d %H:%M:%S}.{run.at(step).microsecond // 1000:03d}\tnode1:0\tolmo_core.train.callbacks.console_logger:64\tINFO\t[step={step}/{run.steps},epoch=1]\n"
        )
        if step % 5 == 0:
            said.append(
                f"    optim/total grad norm=1.608\n    throughput/total tokens={step * run.global_batch * run.tokens:,}\n    throughput/device/TPS={run.batch * run.tokens / run.took(step):,.0f}\n    train/CE loss=10.98\n"
            )
    return "".join(said)


fairseq = printer(10,
    lambda run, step: f"{run.at(step):%Y-%m-%d %H:%M:%S} | INFO | train_inner | epoch 001: {step:6d} / {run.steps} loss=12.1, nll_loss=11.2, ppl=2500.1, wps={run.global_batch * run.tokens / run.mean(step, 10):.1f}, ups={1 / run.mean(step, 10):.2f}, wpb={run.global_batch * run.tokens:.1f}, bsz={run.global_batch:.1f}, num_updates={step}, lr=1e-05, gnorm=2.1, clip=0, loss_scale=8, train_wall={10 * run.mean(step, 10):.0f}, gb_free=10.1, wall={run.seconds(step):.0f}\n")  # fmt: skip
verl = printer(1,
    lambda run, step: f"\x1b[36m(TaskRunner pid=4321)\x1b[0m step:{step} - actor/pg_loss:0.01 - training/global_step:{step} - timing_s/gen:{run.took(step) / 3} - timing_s/step:{run.took(step)} - perf/total_num_tokens:{run.global_batch * run.tokens} - perf/time_per_step:{run.took(step)} - perf/throughput:{run.batch * run.tokens / run.took(step)}\n")  # fmt: skip
levanter = printer(10,
    lambda run, step: f"{comma_ms(run.at(step))} - 0 - tqdm_loggable.tqdm_logging - tqdm_logging.py:139 - INFO :: Progress on:train {step:.1f}it/{run.steps}it rate:{1 / run.step_s:.1f}it/s remaining:33:10 elapsed:{clock(run.seconds(step))} postfix:loss=10.5\n")  # fmt: skip
