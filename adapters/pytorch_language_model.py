"""PyTorch's word-level language model: the Transformer of pytorch/examples on WikiText-2."""

from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case


def _transformer(case: Case) -> Command:
    texts = {"train": "train", "valid": "validation", "test": "validation"}
    return Command(
        argv=(
            *("{python}", "{checkout}/word_language_model/main.py", "--data", "{scratch}/wikitext"),
            *("--model", "Transformer", "--lr", "5", "--batch_size", str(case.batch_per_device)),
            *("--log-interval", "1", "--save", "{scratch}/model.pt", *(("--accel",) if case.device == "gpu" else ())),
        ),
        links={f"wikitext/{name}.txt": f"{{data}}/wikitext/{of}.txt" for name, of in texts.items()},
    )


def _unsupported(case: Case) -> str | None:
    return Message("adapters.one_process") if case.total_devices > 1 else None


ADAPTER = Adapter(
    name="pytorch",
    title="PyTorch",
    recipes=(
        Recipe(
            name="examples-word-language-model",
            model="transformer_lm",
            unit="sequences/s",
            checkout="pytorch-examples-language-model",
            dialect="pytorch_word_language_model",
            command=_transformer,
            unsupported=_unsupported,
            options={},
            facts={  # main.py:32, 189 and 194
                **{"optimiser": "sgd without momentum", "clipping": "0.25", "weight_decay": "none", "data": "text"},
                **{"parallel_layout": "DP", "input_size": "35"},
            },
            step_bound="none",
            outside="the run is ended within its first epoch; where an epoch is shorter, what lies between is left out",
            requirements=("torch==2.13.0", "torchvision==0.28.0"),
            import_name="torch",
            image="nvcr.io/nvidia/pytorch:26.06-py3",
        ),
    ),
)
