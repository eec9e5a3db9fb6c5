"""Face recognition in PaddlePaddle: IResNet with an ArcFace head, DataParallel under paddle.distributed.launch.

Prints the line of PaddleClas on rank 0, every step (`paddlepaddle_steps.py`); its `ips` counts one card. Layers are
called as in deepinsight/insightface. Every process holds the whole head.
"""

import math

import common
import face
import paddlepaddle_loop
import paddlepaddle_steps


def main() -> None:
    arguments = face.arguments()
    job = paddlepaddle_loop.started(arguments)
    size = face.SIZES[arguments.size]
    model = face_model(job.paddle, size)
    if job.rank == 0:
        face.announce_case("paddlepaddle", job.paddle.__version__, arguments, job.world_size)
        face.announce_model(size, "evalsuite_paddle_layers", paddlepaddle_loop.trainable(model), "NCHW")
    images, labels = _batch(job.paddle, arguments, job.rank)
    goal, updates = loss_of(job.paddle, labels), optimiser(job.paddle, model)
    step = paddlepaddle_loop.stepper(job, model, [images], goal, updates, arguments)
    paddlepaddle_steps.train(job, step, arguments, face.LEARNING_RATE)


def _batch(paddle, arguments, rank: int):
    paddle.seed(common.SEED + rank)
    images = paddle.randn([arguments.batch_size, 3, face.IMAGE_SIZE, face.IMAGE_SIZE])
    return images, paddle.to_tensor(face.labels(arguments, rank))


def optimiser(paddle, model, learning_rate: float = face.LEARNING_RATE, weight_decay: float = face.WEIGHT_DECAY):
    return paddle.optimizer.Momentum(
        learning_rate,
        momentum=common.MOMENTUM,
        parameters=model.parameters(),
        weight_decay=weight_decay,
    )


def loss_of(paddle, labels):
    own = labels.unsqueeze(1)

    def loss(cosines):
        cosines = cosines if cosines.dtype == paddle.float64 else cosines.astype("float32")
        moved = with_margin(paddle, paddle.take_along_axis(cosines, own, 1))
        scores = face.SCALE * paddle.put_along_axis(cosines, own, moved, 1)
        return paddle.nn.functional.cross_entropy(scores, labels)

    return loss


def with_margin(paddle, cosines):
    """The cosines of the angles that are larger by the margin."""
    sines = paddle.clip(1 - cosines.square(), min=face.LEAST_SQUARE).sqrt()
    moved = cosines * math.cos(face.MARGIN) - sines * math.sin(face.MARGIN)
    return paddle.where(cosines > face.LEAST_COSINE, moved, cosines - face.LINE)


def face_model(paddle, size: face.Size):
    nn = paddle.nn

    def convolution(inward: int, out: int, kernel: int = 3, stride: int = 1):
        start = nn.initializer.Normal(std=face.DEVIATION)
        return nn.Conv2D(inward, out, kernel, stride, kernel // 2, weight_attr=start, bias_attr=False)

    def norm(channels: int):
        return nn.BatchNorm2D(channels, epsilon=face.BATCH_NORM_EPSILON)

    def prelu(channels: int):
        return nn.PReLU(channels, face.SLOPE)

    class Block(nn.Layer):
        def __init__(self, inward: int, out: int, stride: int) -> None:
            super().__init__()
            self.bn1, self.conv1 = norm(inward), convolution(inward, out)
            self.bn2, self.prelu = norm(out), prelu(out)
            self.conv2, self.bn3 = convolution(out, out, stride=stride), norm(out)
            widened = nn.Sequential(convolution(inward, out, 1, stride), norm(out)) if stride > 1 else nn.Identity()
            self.downsample = widened

        def forward(self, x):
            straight = self.conv2(self.prelu(self.bn2(self.conv1(self.bn1(x)))))
            return self.bn3(straight) + self.downsample(x)

    class Shifted(nn.Layer):
        """Batch norm without a scale. That of PaddlePaddle 3.3.1 trains no bias if its scale is fixed."""

        def __init__(self) -> None:
            super().__init__()
            fixed = {"weight_attr": False, "bias_attr": False}
            self.norm = nn.BatchNorm1D(size.features, epsilon=face.BATCH_NORM_EPSILON, **fixed)
            self.bias = self.create_parameter([size.features], is_bias=True)

        def forward(self, x):
            return self.norm(x) + self.bias

    class Backbone(nn.Layer):
        """The numbers that describe each face."""

        def __init__(self) -> None:
            super().__init__()
            first, last = size.widths[0], size.widths[-1]
            self.conv1, self.bn1, self.prelu = convolution(3, first), norm(first), prelu(first)
            blocks = {name: Block(*shape) for name, *shape in face.stages(size)}
            for stage in range(1, 5):
                ours = [block for name, block in blocks.items() if name.startswith(f"layer{stage}.")]
                self.add_sublayer(f"layer{stage}", nn.Sequential(*ours))
            self.bn2, self.fc = norm(last), nn.Linear(last * face.SIDE**2, size.features)
            self.features = Shifted()

        def forward(self, images):
            x = self.prelu(self.bn1(self.conv1(images)))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.features(self.fc(self.bn2(x).flatten(1)))

    class Cosines(nn.Linear):
        """Of the angles between each face and the centre of each identity, which is a column of the weight."""

        def forward(self, faces):
            normalize = nn.functional.normalize
            return paddle.matmul(normalize(faces), normalize(self.weight, axis=0))

    class Face(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            start = nn.initializer.Normal(std=face.CENTRE_DEVIATION)
            self.backbone = Backbone()
            self.classifier = Cosines(size.features, size.identities, weight_attr=start, bias_attr=False)

        def forward(self, images):
            return self.classifier(self.backbone(images))

    return Face()


if __name__ == "__main__":
    main()
