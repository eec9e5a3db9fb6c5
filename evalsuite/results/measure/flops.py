"""Floating-point operations of training a transformer, from the fields of its Hugging Face `config.json`. Two for each
multiplication with its addition, and twice as many in the backward pass: six for each weight that a token meets, and
each value that meets another in attention (Kaplan et al., "Scaling Laws for Neural Language Models", 2020). Rules are
data: `seen`, the share of the sequence that attention is counted of; `windows`, no further back than these; `also`,
weights beside the matrices; `words`, the vocabulary is padded to a multiple; `again`, recomputation counts too;
`images`, so does the tower that makes tokens of them, with what joins its patches."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError, look_up

HOUSE = "causal"
SHOWN = ("causal", "full", "6n")  # beside every figure


@dataclass(frozen=True, kw_only=True)
class Transformer:
    """The weights that a token meets, in all layers together."""

    matrices: int  # without head, router and norms
    router: int
    idle: int  # of experts that are not chosen
    routed: int = 0  # of all experts that are chosen among
    norms: int
    hidden: int
    groups: int = 0  # heads of keys and values, where a config names them
    divided: tuple[int, int] = (1, 0)  # attention heads, and experts of a layer: what TP and EP divide
    width: int  # of a dense layer's feed-forward part
    vocabulary: int
    tied: bool  # the head is the table of the embedding
    places: int  # learned embeddings of positions
    attention: int  # values of queries, keys and values that meet, in a layer
    windows: tuple[int | None, ...]  # of each layer; None: it has none
    both_ways: bool = False  # an encoder, whose head is asked of an unknown number of tokens
    predicted: int = 0  # layers that predict a further token (MTP), each with a head,
    predictor: int = 0  # and the weights of one
    tower: "Transformer | None" = None
    merged: int = 1  # patches of a tower that make a token
    images: tuple[int, int, int] = (0, 0, 6)  # in a sequence, tokens of each, and 2 where their tower is not trained
    source: str = ""

    @property
    def parameters(self) -> int:
        tables = self.places + self.hidden * self.vocabulary * (1 if self.tied else 2)
        return self.matrices + self.router + self.idle + self.norms + tables

    def flops_per_token(self, sequence: int, rule: str = HOUSE, *, frozen: bool = False, again: bool = False) -> float:
        """Forward and backward; *frozen*: no gradients of weights (LoRA); *again*: forward twice."""
        counted = look_up("core.unknown", listed()["rules"], rule, where="rule", names=[*listed()["rules"]])
        table = -(-self.vocabulary // (words := counted.get("words", 1))) * words * self.hidden
        head = 0 if self.both_ways else table
        also = {**vars(self), "table": 0 if self.tied and head else table, "untied": -head if self.tied else 0}
        weights = self.matrices + head + self.predicted * (self.predictor + head)
        weights += int(sum(also[name] for name in counted.get("also", ())))
        seen, share = 0.0, 1 if self.both_ways and counted["seen"] else counted["seen"]
        for window in self.windows + (None,) * self.predicted:  # by one token on average, over all layers
            near = window if counted.get("windows") and window and window < sequence else 0
            seen += near - near**2 / (2 * sequence) if near else share * sequence
        repeated = 2 * (weights - head + self.attention * seen) if again or counted.get("again") else 0
        number, tokens, times = self.images if self.tower and counted.get("images") else (0, 0, 6)
        patches = tokens * self.tower.merged if self.tower else 0
        each = patches * self.tower.flops_per_token(patches, rule) * times / 6 if self.tower and patches else 0.0
        return (4 if frozen else 6) * weights + 6 * self.attention * seen + repeated + number * each / sequence


@dataclass(frozen=True, kw_only=True)
class _Config:
    """The fields of a `config.json`. Raises EvalsuiteError by the name of one that is missing or impossible."""

    fields: Mapping[str, Any]
    usual: Mapping[str, Any]  # of the model's type, where its configs leave a field out
    where: Path | str

    def whole(self, name: str, otherwise: int | None = None) -> int:
        keys = [own] if isinstance(own := self.usual.get(name), str) else listed()["fields"].get(name, [name])
        key = next((key for key in keys if self.get(key) is not None), keys[0])
        value = otherwise if self.get(key) is None else self.get(key)
        if type(value) is not int or not (otherwise != 0) <= value <= (10**4 if name == "layers" else 10**9):
            raise self.wrong(key, "–" if value is None else value)
        return value

    def get(self, key: str) -> Any:
        value = self.fields.get(key, self.usual.get(key))
        if isinstance(value, list) != (key in ("layer_types", "mlp_only_layers")) and value is not None:
            raise self.wrong(key, value)
        return value

    def wrong(self, key: str, value: object) -> EvalsuiteError:
        return EvalsuiteError.of("results.flops_field", where=self.where, field=key, value=str(value)[:60])


def from_config(config: Mapping[str, Any], where: Path | str, source: str = "", into: int = 0) -> Transformer:
    """*into*: of a tower, its tokens' hidden size. Raises EvalsuiteError for what is unknown, missing or impossible."""
    known = listed()["towers" if into else "types"]
    inner = found if isinstance(found := config.get("text_config"), dict) else config
    kind = str(inner.get("model_type") or config.get("model_type"))[:60]
    usual = look_up("results.flops_type", known, kind, where=where, names=sorted(known))
    read = _Config(fields=inner, usual=usual, where=where)
    hidden, layers, heads = read.whole("hidden"), read.whole("layers"), read.whole("heads")
    (projections, attention), each = _attention(read, hidden, heads), hidden * (3 if read.get("gated") else 2)
    width = read.whole("width", read.whole("mlp_ratio", 4) * hidden if read.get("four_wide") else None)
    merged, pixels = read.whole("spatial_merge_size", 1) ** 2, 3 * read.whole("patch_size", 0) ** 2
    joins = {"linear": hidden * into // merged, "mlp": (hidden + into) * into}
    joins["merger"] = hidden * (hidden * merged + into)
    patch = hidden * pixels * read.whole("temporal_patch_size", 1) + joins.get(read.get("projector"), 0)
    own, outer = config.get("vision_config") or config.get("audio_config"), {"model_type": config.get("model_type")}
    sparse, idle, routed, router = _experts(read, each)
    step, dense = read.whole("sparse_step", 1), read.get("mlp_only_layers") or ()
    later = range(read.whole("first_k_dense_replace", 0), layers)
    many = sum(layer not in dense and not (layer + 1) % step for layer in later) if sparse else 0
    return Transformer(
        matrices=layers * projections + (layers - many) * each * width + many * sparse + patch,
        router=many * router * hidden,
        idle=many * idle,
        routed=many * routed,
        norms=hidden * (2 * layers + 1) * read.whole("norm_weights", 0),
        hidden=hidden,
        groups=read.whole("groups", 0),
        divided=(heads, router),
        width=width,
        vocabulary=read.whole("vocabulary"),
        tied=bool(read.get("tie_word_embeddings")),
        places=hidden * read.whole("positions") if read.get("learned_positions") else 0,
        attention=attention,
        windows=_windows(read, layers),
        both_ways=bool(read.get("encoder")),
        predicted=read.whole("num_nextn_predict_layers", 0),
        predictor=projections + (sparse or each * width) + 2 * hidden**2,
        tower=from_config({**own, **outer}, where, into=hidden) if isinstance(own, dict) else None,
        merged=merged,
        source=source or str(where),
    )


def _attention(read: _Config, hidden: int, heads: int) -> tuple[int, int]:
    """Weights of a layer's projections; and heads × the width of what meets in it."""
    if read.get("kv_lora_rank"):
        plain, turned, value = (read.whole(name) for name in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"))
        low, queries = read.whole("kv_lora_rank"), read.whole("q_lora_rank", 0)
        asked = queries * (hidden + heads * (plain + turned)) if queries else hidden * heads * (plain + turned)
        kept = hidden * (low + turned) + low * heads * (plain + value)
        return asked + kept + heads * value * hidden, heads * (plain + turned + value)
    size = read.whole("head_dim", hidden // heads)
    groups = 1 if read.get("multi_query") else read.whole("groups", heads)
    if heads % groups or (read.get("head_dim") is None and hidden % heads):
        raise read.wrong("num_attention_heads", f"{heads} (hidden {hidden}, key/value {groups})")
    return 2 * hidden * size * (heads + groups), heads * 2 * size


def _experts(read: _Config, each: int) -> tuple[int, int, int, int]:
    """Of a sparse layer: the weights that a token meets, those of experts that it does not, of all, and the experts."""
    if not (experts := read.whole("experts", 0)):
        if unread := next((key for key, value in read.fields.items() if "expert" in key and value), None):
            raise read.wrong(unread, f"{read.fields[unread]}, without {listed()['fields']['experts'][1]}")
        return 0, 0, 0, 0
    chosen, width = read.whole("chosen"), read.whole("expert_width")
    if chosen > experts:  # more weights would be active than there are
        raise read.wrong("num_experts_per_tok", f"{chosen} > {experts}")
    shared = read.whole("shared_expert_intermediate_size", 0) or read.whole("n_shared_experts", 0) * width
    return each * (chosen * width + shared), each * (experts - chosen) * width, each * experts * width, experts


def _windows(read: _Config, layers: int) -> tuple[int | None, ...]:
    kinds = read.get("layer_types")
    if kinds is None:
        every, first = read.whole("sliding_window_pattern", 0), read.whole("max_window_layers", 0)
        on = bool(read.get("sliding_window")) and read.get("use_sliding_window") is not False
        local = (on and layer >= first and not (every and (layer + 1) % every == 0) for layer in range(layers))
        kinds = ["sliding_attention" if each else "full_attention" for each in local]
    if len(kinds) != layers or not {*map(str, kinds)} <= {"sliding_attention", "full_attention"}:
        raise read.wrong("layer_types", f"{len(kinds)}: {', '.join(sorted({*map(str, kinds)}))}")
    return tuple(read.whole("sliding_window") if kind == "sliding_attention" else None for kind in kinds)


@functools.cache
def listed() -> dict[str, Any]:
    return files.read_json(paths.DATA / "models.json")  # known by name; and what configs of a type leave out


@functools.cache
def plain(model: str) -> str:
    return re.sub(r"[^a-z0-9]", "", model.lower())


def read_model(named: str) -> Transformer:
    """The model of a `config.json`, or that is known by a name. Raises EvalsuiteError."""
    file = Path(named, "config.json") if Path(named).is_dir() else Path(named)
    if file.suffix == ".json":
        return from_config(files.read_json(file), file)
    known = {plain(name): each for each in listed()["transformers"] for name in each["names"] if "options" not in each}
    each = look_up("results.flops_model", {named: known[key]} if (key := plain(named)) in known else known, named)
    return from_config(each["config"], named, each["source"])
