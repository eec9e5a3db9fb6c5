"""Makes the run histories of `tests/exports/`: each is written by the real library, with clocks that are given.

    python tests/exports/make.py DIR wandb mlflow …

in an environment that has the library; the nightly tests make them again. 40 reports of 10 steps, 5 s apart.
"""

import os
import shutil
import sqlite3
import sys
from pathlib import Path

BEGINS_S, REPORTS, STEPS, PERIOD_S = 1_790_000_000, 40, 10, 5
CONFIG = {"framework": "pytorch", "model": "gpt2", "world_size": 8, "per_device_train_batch_size": 4}
RUNS = {"base-seed1": 81_920.0, "base-seed2": 81_000.0}  # name → tokens/s: 8 · 4 · 1,280 tokens · 2 steps/s


def reports(speed: float):
    """(step, seconds since 1970, what a training would log); no two runs have the same values."""
    for number in range(1, REPORTS + 1):
        begins_s, noise = BEGINS_S + int(speed) % 1_000, number * int(speed / 10) % 17  # one run after the other
        step, time_s = number * STEPS, begins_s + number * PERIOD_S
        loss = 3 - number / 50 + noise / 1000
        yield step, time_s, {"train/loss": loss, "train/tokens_per_sec": speed + 9 * noise, "eval/loss": 2.5}


def tensorboard(out: Path) -> None:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        from tensorboardX import SummaryWriter

    for name, speed in RUNS.items():
        with SummaryWriter(str(out / "runs" / name)) as writer:
            for step, time_s, values in reports(speed):
                for tag, value in values.items():
                    writer.add_scalar(tag, value, step, walltime=time_s)


def wandb(out: Path) -> None:
    import wandb as library

    for name, speed in RUNS.items():
        run = library.init(dir=str(out), mode="offline", project="pretrain", name=name, config=CONFIG)
        for step, time_s, values in reports(speed):
            run.log({**values, "_timestamp": time_s}, step=step)
        run.finish()
    kept = {file.parent for file in out.glob("wandb/offline-*/*.wandb")}
    for other in [path for place in (out / "wandb", *kept) for path in place.iterdir() if path not in kept]:
        if other.is_dir() and not other.is_symlink():
            shutil.rmtree(other)
        elif other.suffix != ".wandb":
            other.unlink()


def mlflow(out: Path) -> None:
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    from mlflow.entities import Metric, Param
    from mlflow.tracking import MlflowClient

    (out / "mlflow").mkdir()
    for uri in (f"file:{out}/mlruns", f"sqlite:///{out}/mlflow/mlflow.db"):
        client = MlflowClient(uri, registry_uri=f"file:{out}/mlruns")
        experiment = client.create_experiment("pretrain")
        for name, speed in RUNS.items():
            run = client.create_run(experiment, run_name=name, start_time=BEGINS_S * 1000).info.run_id
            rows = ((step, time_s, each) for step, time_s, values in reports(speed) for each in values.items())
            metrics = [Metric(tag, value, time_s * 1000, step) for step, time_s, (tag, value) in rows]
            client.log_batch(run, metrics, [Param(key, str(value)) for key, value in CONFIG.items()])
            client.set_terminated(run)
    keep_tables(out / "mlflow" / "mlflow.db", ("metrics", "params", "runs", "experiments"))


def trackio(out: Path) -> None:
    os.environ["TRACKIO_DIR"] = str(out / "trackio")
    import trackio as library

    for name, speed in RUNS.items():
        library.init(project="pretrain", name=name, config=CONFIG)
        for step, _, values in reports(speed):
            library.log(values, step=step)
        library.finish()
    keep_tables(out / "trackio" / "pretrain.db", ("metrics", "configs"))


def keep_tables(file: Path, names: tuple[str, ...]) -> None:
    """Without the others, which are empty and large."""
    with sqlite3.connect(file) as base:
        base.execute("pragma foreign_keys = off")
        for name, kind in base.execute("select name, type from sqlite_master where sql is not null").fetchall():
            if name not in names and not name.startswith("sqlite_"):
                base.execute(f"drop {kind} if exists {name}")
        base.commit()
        base.execute("vacuum")


def stable_baselines3(out: Path) -> None:
    from stable_baselines3.common.logger import configure

    logger = configure(str(out / "sb3"), ["csv"])
    for step, time_s, _ in reports(1):
        logger.record("time/fps", 4096)
        logger.record("time/time_elapsed", time_s - BEGINS_S)
        logger.record("time/total_timesteps", step * 2048)
        logger.record("train/loss", 0.5)
        if step == 200:
            logger.record("eval/mean_reward", 1.0)
        logger.dump(step)


def lightning(out: Path) -> None:
    from pytorch_lightning.loggers import CSVLogger

    logger = CSVLogger(str(out), name="lightning_logs", version=0)
    logger.log_hyperparams(CONFIG)
    for step, _, values in reports(81_920.0):
        speed = values["train/tokens_per_sec"] / 160
        logger.log_metrics({"train_loss": values["train/loss"], "samples_per_sec": speed}, step)
        if step % 100 == 0:
            logger.log_metrics({"val_loss": 2.5}, step)
    logger.save()


def transformers(out: Path) -> None:
    import torch
    from transformers import Trainer, TrainingArguments

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def forward(self, x, labels):
            return {"loss": ((self.layer(x) - labels) ** 2).mean()}

    rows = [{"x": torch.ones(8), "labels": torch.zeros(1)} for _ in range(512)]
    said = TrainingArguments(str(out / "hf"), per_device_train_batch_size=4, max_steps=120, logging_steps=10,
                             save_steps=120, report_to=[], use_cpu=True)  # fmt: skip
    trainer = Trainer(Net(), said, train_dataset=rows)
    trainer.train()
    trainer.save_state()
    shutil.rmtree(out / "hf" / "checkpoint-120", ignore_errors=True)


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(exist_ok=True)
    for name in sys.argv[2:]:
        globals()[name](Path(sys.argv[1]).resolve())
