"""Lets MindSpore's programs for GPUs train on a CPU: "GPU" is the CPU, whose collectives sum numbers as floats."""

from after_import import after_import


def _stand_in(mindspore):
    choose, summed, cast = mindspore.set_context, mindspore.ops.AllReduce, mindspore.ops.cast

    def set_context(**named):
        choose(**{name: "CPU" if value == "GPU" else value for name, value in named.items()})

    class AllReduce(mindspore.nn.Cell):
        def __init__(self, *words):
            super().__init__()
            self.summed = summed(*words)

        def construct(self, x):
            return cast(self.summed(cast(x, mindspore.float32)), x.dtype)

    mindspore.set_context, mindspore.ops.AllReduce = set_context, AllReduce


after_import("mindspore", _stand_in)
