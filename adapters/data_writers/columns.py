"""Formats of libraries that lie beside one another: HDF5 by h5py, Parquet by pyarrow, tokenisers."""

from __future__ import annotations

import base64
import io
import itertools
import json
import operator
import struct

import h5py
import numpy
import pyarrow
from pyarrow import parquet
from sources import ROWS, WIDE, byte_letters, gpt2_tokens, merges, vocabulary

NAMES = {"train": "training", "validation": "test"}


def _write_hdf5(order) -> None:
    """As NVIDIA's create_pretraining_data.py writes them: no weights, labels in one dimension."""
    for split, folder, number, items in order.sharded({}):
        rows = [item.row() for item in items]
        with h5py.File(folder / f"part_{number:05d}_{NAMES[split]}.hdf5", "w") as file:
            for name in (name for name in rows[0] if name != "masked_lm_weights"):
                column = numpy.stack([row[name] for row in rows])
                column = column[:, 0] if name == "next_sentence_labels" else column
                small = name in ("input_mask", "segment_ids", "next_sentence_labels")
                file.create_dataset(name, data=column, dtype="i1" if small else "i4", compression="gzip")


LDDL = pyarrow.schema(
    [
        ("A", pyarrow.string()),
        ("B", pyarrow.string()),
        ("is_random_next", pyarrow.bool_()),
        ("num_tokens", pyarrow.uint16()),
        ("masked_lm_positions", pyarrow.binary()),
        ("masked_lm_labels", pyarrow.string()),
    ]
)


def _write_lddl(order) -> None:
    """As lddl/dask/bert/pretrain.py writes them, hidden words fixed; shards hold n or n + 1, both of which must occur
    (lddl/torch/datasets.py), and `.num_samples.json` says which."""
    sizes = {}
    for _, _, number, items in order.sharded({}):
        rows = [_lddl_row(item) for item in items]
        name = f"part.{number}.parquet"
        parquet.write_table(pyarrow.Table.from_pylist(rows, schema=LDDL), order.folder / name)
        sizes[name] = len(rows)
    (order.folder / ".num_samples.json").write_text(json.dumps(sizes))


def _lddl_row(item) -> dict[str, object]:
    words = vocabulary()
    shown = [words[each] for each in item.masked()]
    half = len(item.first) + 1
    positions = io.BytesIO()
    numpy.save(positions, item.positions.astype(numpy.uint16))
    return {
        "A": " ".join(shown[1:half]),
        "B": " ".join(shown[half + 1 : -1]),
        "is_random_next": bool(item.random_next),
        "num_tokens": len(shown),
        "masked_lm_positions": positions.getvalue(),
        "masked_lm_labels": " ".join(words[token] for token in item.tokens()[item.positions]),
    }


CONTINUOUS = [f"I{number}" for number in range(1, 14)]
CATEGORIES = ["C1_C2", "C3_C4", *(f"C{number}" for number in range(1, 27))]
CLICK_FOLDERS = {"train": "train", "validation": "val"}
IN_RUN = "criteo_data"  # how the samples call the folder, from where they are started


def _write_clicks(order) -> None:
    """As preprocess_nvt.py of HugeCTR leaves them: a category counts its own rows; `_metadata.json`
    says which column is what, and `keyset` has every row that occurs, counted through all categories."""
    numbers = [(name, pyarrow.float32()) for name in ("label", *CONTINUOUS)]
    schema = pyarrow.schema([*numbers, *((name, pyarrow.int64()) for name in CATEGORIES)])
    starts = numpy.concatenate(([0], numpy.cumsum((*WIDE, *ROWS))[:-1]))
    for split, shards in itertools.groupby(order.sharded(CLICK_FOLDERS), operator.itemgetter(0)):
        sizes, keys = {}, set()
        for _, folder, number, items in shards:
            rows = [_click_row(item) for item in items]
            name = f"{number}.parquet"
            parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), folder / name)
            sizes[name] = len(rows)
            keys.update(row[name] + int(start) for row in rows for name, start in zip(CATEGORIES, starts))
        listed = "".join(f"./{IN_RUN}/{CLICK_FOLDERS[split]}/{name}\n" for name in sizes)
        (folder / "_file_list.txt").write_text(f"{len(sizes)}\n{listed}")
        (folder / "_metadata.json").write_text(json.dumps(_click_metadata(sizes)))
        (folder / "keyset").write_bytes(numpy.array(sorted(keys), dtype="<i8").tobytes())


def _click_row(item) -> dict[str, object]:
    dense = zip(CONTINUOUS, map(float, item.dense))
    rows = zip(CATEGORIES, map(int, (*item.crossed(), *item.categories)))
    return {"label": float(item.label), **dict(dense), **dict(rows)}


def _click_metadata(sizes: dict[str, int]) -> dict[str, object]:
    names = ["label", *CONTINUOUS, *CATEGORIES]
    kinds = (("labels", ["label"]), ("conts", CONTINUOUS), ("cats", CATEGORIES))
    columns = {kind: [{"col_name": each, "index": names.index(each)} for each in own] for kind, own in kinds}
    return {"file_stats": [{"file_name": name, "num_rows": count} for name, count in sizes.items()], **columns}


BEGIN, END, PADDING = "<|begin_of_text|>", "<|end_of_text|>", "<|finetune_right_pad_id|>"
OF_DIALOGUES = ("<|step_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>")
SPECIAL = (BEGIN, END, PADDING, *OF_DIALOGUES, "<|image|>")  # of Llama 3.2


def _write_tokeniser(order) -> None:
    """A tokeniser as those of Llama 3, by the words of `documents`; the ids are those of the made-up GPT-2's."""
    _save_tokeniser(order.folder, gpt2_tokens(), merges(), (BEGIN, END), {})


def _save_tokeniser(folder, tokens, merged, special, more) -> None:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    made = Tokenizer(models.BPE(vocab=tokens, merges=list(merged)))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(name, special=True) for name in special])
    made.save(str(folder / "tokenizer.json"))
    facts = {"bos_token": BEGIN, "eos_token": END, "tokenizer_class": "PreTrainedTokenizerFast", **more}
    (folder / "tokenizer_config.json").write_text(json.dumps(facts, indent=1) + "\n")


LLAMA = {
    **{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "float32"},
    **{"vocab_size": 2048, "hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 4},
    **{"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 32, "max_position_embeddings": 2048},
    **{"hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "initializer_range": 0.02},
    **{"attention_bias": False, "mlp_bias": False, "attention_dropout": 0.0, "tie_word_embeddings": False},
    "fuse_rms_norm": False,  # read by PaddleFormers alone, whose fused kernel is one of GPUs
}


def _write_llama(order) -> None:
    """A Llama of 4 M parameters as on Hugging Face's hub, its weights drawn, and the documents as text: JSON lines, and
    two plain files. `tokenizer.model` has the ids as tiktoken reads them; `dataset_info.json` is LLaMA-Factory's."""
    merged = merges()[: LLAMA["vocab_size"] - len(byte_letters()) - len(SPECIAL)]
    names = [*byte_letters().values(), *map("".join, merged)]
    ids = {f"{name}_token_id": len(names) + number for number, name in enumerate(("bos", "eos", "pad"))}
    for name, content in (("config", {**LLAMA, **ids}), ("generation_config", ids)):
        (order.folder / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
    more = {"pad_token": PADDING, "model_max_length": LLAMA["max_position_embeddings"]}
    _save_tokeniser(order.folder, {name: number for number, name in enumerate(names)}, merged, SPECIAL, more)
    octets = {letter: code for code, letter in byte_letters().items()}
    lines = (base64.b64encode(bytes(map(octets.get, name))) + b" %d\n" % n for n, name in enumerate(names))
    (order.folder / "tokenizer.model").write_bytes(b"".join(lines))
    _write_safetensors(order.folder / "model.safetensors", _llama_weights(order.seed))
    whole = [item.text() for item in order.of("train")]
    lines = "".join(f"{json.dumps({'text': each})}\n" for each in whole)
    texts = {"text/train.jsonl": lines, "plain/train.txt": "\n".join(whole), "plain/held.txt": "\n".join(whole[:16])}
    for name, content in texts.items():
        (order.folder / name).parent.mkdir(exist_ok=True)
        (order.folder / name).write_text(content)
    information = {"documents": {"file_name": "text/train.jsonl", "columns": {"prompt": "text"}}}
    (order.folder / "dataset_info.json").write_text(json.dumps(information))


def _llama_weights(seed: int) -> dict[str, numpy.ndarray]:
    drawn = numpy.random.Generator(numpy.random.PCG64(seed))
    hidden, wide, vocabulary = (LLAMA[name] for name in ("hidden_size", "intermediate_size", "vocab_size"))
    narrow = LLAMA["num_key_value_heads"] * LLAMA["head_dim"]
    layer = {
        **{"self_attn.q_proj": (hidden, hidden), "self_attn.k_proj": (narrow, hidden)},
        **{"self_attn.v_proj": (narrow, hidden), "self_attn.o_proj": (hidden, hidden)},
        **{"mlp.gate_proj": (wide, hidden), "mlp.up_proj": (wide, hidden), "mlp.down_proj": (hidden, wide)},
        **{"input_layernorm": (hidden,), "post_attention_layernorm": (hidden,)},
    }
    layers = {f"layers.{n}.{name}": shape for n in range(LLAMA["num_hidden_layers"]) for name, shape in layer.items()}
    model = {"embed_tokens": (vocabulary, hidden), **layers, "norm": (hidden,)}
    shapes = {**{f"model.{name}": shape for name, shape in model.items()}, "lm_head": (vocabulary, hidden)}
    deviation = LLAMA["initializer_range"]
    return {
        f"{name}.weight": numpy.ones(shape) if len(shape) == 1 else drawn.standard_normal(shape) * deviation
        for name, shape in shapes.items()
    }


def _write_safetensors(file, weights: dict[str, numpy.ndarray]) -> None:
    """The length of a JSON head in eight bytes, the head, and the numbers one after another."""
    head, at = {"__metadata__": {"format": "pt"}}, 0
    for name, array in weights.items():
        head[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [at, at := at + 4 * array.size]}
    content = json.dumps(head).encode()
    content += b" " * (-len(content) % 8)
    numbers = b"".join(array.astype("<f4").tobytes() for array in weights.values())
    file.write_bytes(struct.pack("<Q", len(content)) + content + numbers)


FORMATS = {
    "hdf5": _write_hdf5,
    "lddl": _write_lddl,
    "clicks": _write_clicks,
    "tokeniser": _write_tokeniser,
    "llama": _write_llama,
}
