"""Llama in JAX: one program for the whole step, a process for each device; AdamW as torch.optim has it.

Each process prints the line of clu's LoggingWriter, as Flax's examples do, every step.
"""

import bert
import common
import jax_loop
import llama

BETAS = 0.9, 0.999


def main() -> None:
    arguments, place = llama.arguments(), common.place()
    if arguments.device == "gpu":
        common.see_one_gpu(place.local_rank)
    jax = jax_loop.started(arguments)
    if place.world_size > 1:
        jax.distributed.initialize(f"{place.master_addr}:{place.master_port}", place.world_size, place.rank)
    size = llama.SIZES[arguments.size]
    weights = started(jax, size)
    llama.announce("jax", jax.__version__, arguments, place.world_size, sum(weight.size for weight in weights.values()))
    inputs = inputs_of(jax, llama.batch(arguments, place.rank))
    loss = loss_of(jax, size, recompute=arguments.recompute, is_mixed=arguments.precision == "amp")
    step = stepper(jax, loss, adamw(jax), inputs, arguments.accumulation)
    state = weights, {}, moments_of(jax, weights)
    if place.world_size > 1:
        state = jax.device_put(state, laid(jax))  # as it will be behind a step, whose program is compiled once
    jax_loop.train(jax, step, state, arguments)


def stepper(jax, loss_of, updated, inputs, accumulation: int):
    """`jax_loop.stepper` on *inputs* in equal parts, one after the other, whose gradients are added up."""
    if accumulation == 1:
        return jax_loop.stepper(jax, loss_of, updated, joined(jax, inputs, 0))
    parts = joined(jax, jax.tree.map(lambda each: each.reshape(accumulation, -1, *each.shape[1:]), inputs), 1)

    def step(state, parts):
        weights, memory, moments = state

        def added(sums, part):
            (loss, _), gradients = jax.value_and_grad(loss_of, has_aux=True)(weights, memory, part)
            return jax.tree.map(lambda total, each: total + each / accumulation, sums, (loss, gradients)), None

        start = jax.tree.map(jax.numpy.zeros_like, (jax.numpy.zeros((), weights["norm.weight"].dtype), weights))
        (loss, gradients), _ = jax.lax.scan(added, start, parts)
        weights, moments = updated(weights, gradients, moments)
        return (weights, memory, moments), loss

    compiled = jax.jit(step, donate_argnums=0)
    return lambda state: compiled(state, parts)


def joined(jax, inputs, batch: int):
    """What all processes have, as one batch over their devices, which *batch* is the dimension of."""
    if jax.process_count() == 1:
        return inputs
    spread = laid(jax, *[None] * batch, "copies")
    return jax.tree.map(lambda own: jax.make_array_from_process_local_data(spread, jax.device_get(own)), inputs)


def laid(jax, *dimensions: str | None):
    """Over all devices: a dimension that is named is divided among them."""
    copies = jax.sharding.Mesh(jax.devices(), ("copies",))
    return jax.sharding.NamedSharding(copies, jax.sharding.PartitionSpec(*dimensions))


def started(jax, size: llama.Size, dtype: str = "float32") -> dict:
    """Weights by name, a matrix as (out, in)."""
    narrow, shapes = size.groups * size.head, {"embed_tokens": (llama.TOKENS, size.hidden)}
    for layer in range(size.layers):
        name = f"layers.{layer}"
        shapes |= {f"{name}.{each}_proj": (size.hidden, size.hidden) for each in "qo"}
        shapes |= {f"{name}.{each}_proj": (narrow, size.hidden) for each in "kv"}
        shapes |= {f"{name}.{each}_proj": (size.width, size.hidden) for each in ("gate", "up")}
        shapes |= {f"{name}.down_proj": (size.hidden, size.width)}
        shapes |= {f"{name}.{each}_layernorm": (size.hidden,) for each in ("input", "post_attention")}
    shapes |= {"norm": (size.hidden,), "lm_head": (llama.TOKENS, size.hidden)}
    keys = jax.random.split(jax.random.key(0), len(shapes))
    return {
        f"{name}.weight": jax.numpy.ones(shape, dtype)
        if len(shape) == 1
        else llama.DEVIATION * jax.random.normal(key, shape, dtype)
        for key, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def moments_of(jax, weights):
    zeros = jax.tree.map(jax.numpy.zeros_like, weights)
    return zeros, jax.tree.map(jax.numpy.zeros_like, weights), 0


def inputs_of(jax, batch):
    return jax.numpy.asarray(batch.tokens), jax.numpy.asarray(batch.following)


def adamw(jax, learning_rate: float = bert.LEARNING_RATE, weight_decay: float = bert.WEIGHT_DECAY):
    """`updated` of `jax_loop.stepper`."""

    def updated(weights, gradients, moments):
        first, second, done = moments
        (slow, slower), done = BETAS, done + 1
        first = jax.tree.map(lambda mean, each: slow * mean + (1 - slow) * each, first, gradients)
        second = jax.tree.map(lambda mean, each: slower * mean + (1 - slower) * each**2, second, gradients)

        def after(weight, mean, square):
            size = jax.numpy.sqrt(square / (1 - slower**done)) + bert.ADAM_EPSILON
            return weight * (1 - learning_rate * weight_decay) - learning_rate * mean / (1 - slow**done) / size

        return jax.tree.map(after, weights, first, second), (first, second, done)

    return updated


def loss_of(jax, size: llama.Size, *, recompute: bool = False, is_mixed: bool = False):
    """weights, nothing, (tokens, those that follow) → (mean loss, nothing)"""

    def loss(weights, memory, inputs):
        tokens, following = inputs
        held = jax.tree.map(lambda each: each.astype("bfloat16"), weights) if is_mixed else weights
        scores = _scores(jax, size, held, tokens, recompute)
        chances = jax.nn.log_softmax(scores.astype("float32") if is_mixed else scores)
        return -jax.numpy.take_along_axis(chances, following[..., None], -1).mean(), memory

    return loss


def _scores(jax, size: llama.Size, weights, tokens, recompute: bool):
    jnp, length = jax.numpy, tokens.shape[1]
    x = weights["embed_tokens.weight"][tokens]
    wide = jnp.promote_types(x.dtype, "float32")
    turns = jnp.outer(jnp.arange(length), llama.ROTARY_BASE ** -(jnp.arange(0, size.head, 2) / size.head))
    cosine, sine = (each(turns).astype(x.dtype)[:, None] for each in (jnp.cos, jnp.sin))
    seen = jnp.tril(jnp.ones((length, length), bool))

    def normalised(x, weight):
        exact = x.astype(wide)
        scale = jax.lax.rsqrt((exact**2).mean(-1, keepdims=True) + llama.NORM_EPSILON)
        return (exact * scale).astype(x.dtype) * weight

    def turned(x):
        first, second = jnp.split(x, 2, -1)
        return jnp.concatenate((first * cosine - second * sine, second * cosine + first * sine), -1)

    def layer(x, of):
        y = normalised(x, of["input_layernorm"])
        q, k, v = (
            (y @ of[f"{name}_proj"].T).reshape(*x.shape[:2], heads, size.head)
            for name, heads in (("q", size.heads), ("k", size.groups), ("v", size.groups))
        )
        k, v = (jnp.repeat(each, size.heads // size.groups, 2) for each in (turned(k), v))
        weighed = jnp.einsum("bqhd,bkhd->bhqk", turned(q), k).astype(wide) * size.head**-0.5
        chances = jax.nn.softmax(jnp.where(seen, weighed, -jnp.inf)).astype(x.dtype)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", chances, v).reshape(x.shape) @ of["o_proj"].T
        y = normalised(x, of["post_attention_layernorm"])
        return x + (jax.nn.silu(y @ of["gate_proj"].T) * (y @ of["up_proj"].T)) @ of["down_proj"].T

    once = jax.checkpoint(layer) if recompute else layer
    for number in range(size.layers):
        begin = f"layers.{number}."
        own = {name[len(begin) : -len(".weight")]: each for name, each in weights.items() if name.startswith(begin)}
        x = once(x, own)
    return normalised(x, weights["norm.weight"]) @ weights["lm_head.weight"].T


if __name__ == "__main__":
    main()
