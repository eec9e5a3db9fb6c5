"""What the workloads on 32×32 images share: arguments, the pool of images, the parts of a step and their seconds.

Standard library only. The setting is that of ElasticDL's CIFAR-10 benchmark: ten classes, random bytes of CIFAR-10's
shape, of which each step takes, mirrors and scales its own.

The parts of a step are printed on a CPU alone: on a GPU a call returns when its work is queued. `allreduce`, of all
gradients at once, holds the wait for the slowest process.
"""

import argparse
import sys
import time

import common

CLASSES = 10
IMAGE_SIZE = 32
POOL = 2048  # images that a process holds: enough that no batch is another's
MEAN = 127.5  # of the random bytes; divided by it they lie between -1 and 1
# trainable; those of the ImageNet models (torchvision's tables) less 990 rows of the last layer
PARAMETERS = {"resnet50": 23_528_522, "mobilenetv2": 2_236_682}
TIMED = ("data", "forward", "loss", "backward", "optimiser", "loss_to_host")  # between two readings of the clock
FORWARD_BACKWARD = "forward_backward"


def arguments() -> argparse.Namespace:
    parser = common.parser("ResNet-50 v1.5 or MobileNetV2 on 32×32 images", "images")
    parser.add_argument("--model", choices=tuple(PARAMETERS), required=True)
    return parser.parse_args()


def announce_case(framework: str, version: str, arguments: argparse.Namespace, world_size: int) -> None:
    model = f"{arguments.model}_cifar10"
    common.announce_case(framework, version, arguments, world_size, model, image_size=IMAGE_SIZE)


def announce_model(arguments: argparse.Namespace, definition: str, parameters: int, layout: str) -> None:
    """Says what was built, and ends the process if it is not the model asked for."""
    common.announce(definition=definition, trainable_parameters=parameters, classes=CLASSES, layout=layout)
    wanted = PARAMETERS[arguments.model]
    if parameters != wanted:
        sys.exit(f"not {arguments.model} with {CLASSES} classes: {wanted} trainable parameters were expected")


class Parts:
    """The seconds of each part of one step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.begun = self._since = time.perf_counter()

    def ended(self, part: str) -> None:
        now = time.perf_counter()
        self.seconds[part] = now - self._since
        self._since = now

    @property
    def whole_s(self) -> float:
        """From the start of the step to the end of its last part."""
        return self._since - self.begun


def announce_parts(step: int, parts: Parts, arguments: argparse.Namespace) -> None:
    """`reference workload: step=3 data_s=0.001210 forward_backward_s=… optimiser_s=… step_s=…`, on a CPU."""
    if arguments.device == "cpu":
        seconds = {f"{part}_s": f"{value:.6f}" for part, value in parts.seconds.items()}
        common.announce(step=step, **seconds, step_s=f"{parts.whole_s:.6f}")
