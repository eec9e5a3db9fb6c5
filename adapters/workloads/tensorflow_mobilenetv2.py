"""MobileNetV2 in Keras layers, as torchvision has it.

`tf.keras.applications.MobileNetV2` pads strided convolutions on one side alone, normalises with another epsilon and
has no dropout before the classifier, which makes it another function.
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


def mobilenetv2(tf, image_size: int, classes: int, dropout: float = DROPOUT):
    """Layers are named as torchvision's, so that a weight of one can be laid into the other."""
    layers = tf.keras.layers

    def normalised(x, convolution, name: str, activated: bool = True):
        x = layers.BatchNormalization(momentum=0.9, epsilon=1e-5, name=name)(convolution(x))
        return layers.ReLU(6.0)(x) if activated else x

    def pointwise(x, names: tuple[str, str], channels: int, activated: bool = True):
        convolution = layers.Conv2D(channels, 1, use_bias=False, name=names[0])
        return normalised(x, convolution, names[1], activated)

    def depthwise(x, name: str, stride: int):
        convolution = layers.DepthwiseConv2D(3, stride, "valid", use_bias=False, name=f"{name}.0")
        return normalised(layers.ZeroPadding2D(1)(x), convolution, f"{name}.1")

    def block(x, name: str, expansion: int, channels: int, stride: int):
        inside, narrow = int(x.shape[-1]), int(expansion > 1) + 1
        y = pointwise(x, (f"{name}.0.0", f"{name}.0.1"), expansion * inside) if expansion > 1 else x
        y = depthwise(y, f"{name}.{narrow - 1}", stride)
        y = pointwise(y, (f"{name}.{narrow}", f"{name}.{narrow + 1}"), channels, activated=False)
        return layers.Add()([x, y]) if stride == 1 and inside == channels else y

    inputs = layers.Input((image_size, image_size, 3))
    first = layers.Conv2D(FIRST, 3, 2, "valid", use_bias=False, name="features.0.0")
    x = normalised(layers.ZeroPadding2D(1)(inputs), first, "features.0.1")
    number = 0
    for expansion, channels, blocks, stride in STAGES:
        for place in range(blocks):
            number += 1
            x = block(x, f"features.{number}.conv", expansion, channels, stride if place == 0 else 1)
    x = pointwise(x, (f"features.{number + 1}.0", f"features.{number + 1}.1"), LAST)
    x = layers.Dropout(dropout)(layers.GlobalAveragePooling2D()(x))
    return tf.keras.Model(inputs, layers.Dense(classes, name="classifier.1")(x))
