"""The canonical names of the TensorFlow workloads' weights, and how each lies here, for `evalsuite equivalence`."""

import numpy
from equivalence import Placed, whole

OWN_NAMES = {
    "kernel": "weight",
    "depthwise_kernel": "weight",
    "gamma": "weight",
    "alpha": "weight",
    "beta": "bias",
    "bias": "bias",
}


def named(network) -> dict[str, Placed]:
    if hasattr(network, "decoder"):
        return of_gpt2(network)
    if hasattr(network, "wide"):
        return of_wide_deep(network)
    return of_bert(network) if hasattr(network, "next_sentence") else of_images(network)


def of_images(network) -> dict[str, Placed]:
    """The layers are called as torchvision's."""
    found = {}
    for variable in network.trainable_variables:
        layer, _, own = variable.name.split(":")[0].rpartition("/")
        found[f"{layer}.{OWN_NAMES[own]}"] = (
            _behind_a_map(variable, network) if layer == "backbone.fc" else _turned(variable)
        )
    return found


def _behind_a_map(variable, network) -> Placed:
    """The dense layer behind a flattened map, which has the channels last here."""
    if len(variable.shape) == 1:
        return _as_it_is(variable)
    _, height, width, channels = network.get_layer("backbone.bn2").output_shape
    out = int(variable.shape[1])
    return Placed(
        (out, int(variable.shape[0])),
        (variable,),
        lambda array: [array.reshape(out, channels, height, width).transpose(2, 3, 1, 0).reshape(-1, out)],
    )


def of_bert(network) -> dict[str, Placed]:
    found = {
        f"{name}.weight": _as_it_is(getattr(network, name).embeddings) for name in ("words", "positions", "segments")
    }
    found |= _norm("norm", network.norm)
    for number, layer in enumerate(network.encoder):
        found |= _encoder_layer(f"encoder.layers.{number}", layer)
    found |= _dense("pooler.0", network.pooler) | _dense("transform.0", network.transform)
    found |= _norm("transform.2", network.transform_norm) | _dense("next_sentence", network.next_sentence)
    return found | {"bias": _as_it_is(network.bias)}


def of_gpt2(network) -> dict[str, Placed]:
    found = {"wte.weight": _as_it_is(network.tokens.embeddings), "wpe.weight": _as_it_is(network.positions.embeddings)}
    for number, layer in enumerate(network.decoder):
        name = f"h.{number}"
        found |= _norm(f"{name}.ln_1", layer.norms[0]) | _norm(f"{name}.ln_2", layer.norms[1])
        found |= _attention(layer.attention, f"{name}.attn.c_attn.", f"{name}.attn.c_proj")
        found |= _dense(f"{name}.mlp.c_fc", layer.widen) | _dense(f"{name}.mlp.c_proj", layer.narrow)
    return found | _norm("ln_f", network.norm)


def of_wide_deep(network) -> dict[str, Placed]:
    found = {f"{name}.weight": _as_it_is(getattr(network, name).embeddings) for name in ("wide", "deep")}
    for number, layer in enumerate(network.hidden):
        found |= _dense(f"hidden.{number}", layer)
    return found | _dense("score", network.score)


def _encoder_layer(name: str, layer) -> dict[str, Placed]:
    return {
        **_attention(layer.attention, f"{name}.self_attn.in_proj_", f"{name}.self_attn.out_proj"),
        **_dense(f"{name}.linear1", layer.widen),
        **_dense(f"{name}.linear2", layer.narrow),
        **_norm(f"{name}.norm1", layer.norms[0]),
        **_norm(f"{name}.norm2", layer.norms[1]),
    }


def _attention(attention, inward: str, outward: str) -> dict[str, Placed]:
    """Queries, keys and values, which are one weight called *inward* elsewhere, and the dense layer behind them."""
    parts = (attention._query_dense, attention._key_dense, attention._value_dense)
    heads_of, out = parts[0].kernel.shape, attention._output_dense
    hidden = int(heads_of[0])
    return {
        f"{inward}weight": Placed(
            (3 * hidden, hidden),
            tuple(part.kernel for part in parts),
            lambda array: [each.T.reshape(heads_of) for each in numpy.split(array, 3)],
        ),
        f"{inward}bias": Placed(
            (3 * hidden,),
            tuple(part.bias for part in parts),
            lambda array: [each.reshape(heads_of[1:]) for each in numpy.split(array, 3)],
        ),
        f"{outward}.weight": Placed((hidden, hidden), (out.kernel,), lambda array: [array.T.reshape(out.kernel.shape)]),
        f"{outward}.bias": _as_it_is(out.bias),
    }


def _dense(name: str, layer) -> dict[str, Placed]:
    return {f"{name}.weight": _turned(layer.kernel), f"{name}.bias": _as_it_is(layer.bias)}


def _norm(name: str, layer) -> dict[str, Placed]:
    return {f"{name}.weight": _as_it_is(layer.gamma), f"{name}.bias": _as_it_is(layer.beta)}


def _as_it_is(variable) -> Placed:
    return whole(variable, variable.shape)


def _turned(variable) -> Placed:
    """(height, width, in, out), (height, width, channels, 1) of a depthwise convolution, or (in, out) here."""
    shape = tuple(variable.shape)
    if len(shape) == 3:  # of PReLU: a slope for each channel
        return Placed(shape[2:], (variable,), lambda array: [array.reshape(shape)])
    if len(shape) == 4 and "depthwise" in variable.name:
        return Placed((shape[2], 1, *shape[:2]), (variable,), lambda array: [array.transpose(2, 3, 0, 1)])
    if len(shape) == 4:
        return Placed((shape[3], shape[2], *shape[:2]), (variable,), lambda array: [array.transpose(2, 3, 1, 0)])
    return Placed(shape[::-1], (variable,), lambda array: [array.T])
