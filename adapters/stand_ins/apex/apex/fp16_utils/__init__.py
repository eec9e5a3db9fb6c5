"""Names of apex.fp16_utils: scripts import them all and test optimisers for the class."""

__all__ = ["FP16_Optimizer", "master_params_to_model_params", "network_to_half", "to_python_float"]


class FP16_Optimizer:
    """No optimiser is one: nothing is in half precision."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("the stand-in for Apex trains in float32; ask the script for no FP16_Optimizer")


def network_to_half(network):
    return network


def master_params_to_model_params(model_params, master_params, flat_master=False):
    for model, master in zip(model_params, master_params):
        model.data.copy_(master.data)


def to_python_float(tensor):
    return tensor.item() if hasattr(tensor, "item") else tensor[0]
