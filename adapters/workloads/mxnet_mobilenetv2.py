"""MobileNetV2 in Gluon blocks, as torchvision has it.

The model zoo's own MobileNetV2 also widens before the first bottleneck, ends in a convolution without a bias and has
no dropout before it, which makes it another function.
"""

STAGES = (  # expansion, channels, blocks, stride of the first: arXiv:1801.04381, table 2
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
FIRST, LAST = 32, 1280  # channels
DROPOUT = 0.2


def mobilenetv2(mx, classes: int, dropout: float = DROPOUT):
    """Blocks are named as torchvision's, so that a weight of one can be laid into the other."""
    nn = mx.gluon.nn

    def sequential(*blocks):
        found = nn.HybridSequential()
        found.add(*blocks)
        return found

    def convolution(inward: int, out: int, kernel: int = 1, stride: int = 1, groups: int = 1):
        shape = {"kernel_size": kernel, "strides": stride, "padding": kernel // 2, "groups": groups}
        return nn.Conv2D(out, in_channels=inward, use_bias=False, **shape)

    def activated(inward: int, out: int, *shape: int):
        relu6 = nn.HybridLambda(lambda F, x: F.clip(x, 0, 6))
        return sequential(convolution(inward, out, *shape), nn.BatchNorm(in_channels=out), relu6)

    class Bottleneck(mx.gluon.HybridBlock):
        """Widens, convolves each channel by itself, and narrows without an activation."""

        def __init__(self, expansion: int, inward: int, out: int, stride: int) -> None:
            super().__init__()
            wide = expansion * inward
            self._added = stride == 1 and inward == out
            self.conv = sequential(
                *([activated(inward, wide)] if expansion > 1 else []),
                activated(wide, wide, 3, stride, wide),
                convolution(wide, out),
                nn.BatchNorm(in_channels=out),
            )

        def hybrid_forward(self, F, x):
            return self.conv(x) + x if self._added else self.conv(x)

    class MobileNetV2(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.features, inward = sequential(activated(3, FIRST, 3, 2)), FIRST
            for expansion, channels, blocks, stride in STAGES:
                for place in range(blocks):
                    self.features.add(Bottleneck(expansion, inward, channels, stride if place == 0 else 1))
                    inward = channels
            self.features.add(activated(inward, LAST))
            self.pool = nn.GlobalAvgPool2D()
            self.classifier = sequential(nn.Dropout(dropout), nn.Dense(classes, in_units=LAST))

        def hybrid_forward(self, F, x):
            return self.classifier(self.pool(self.features(x)).flatten())

    return MobileNetV2()
