"""ElasticDL: AllReduce training of ResNet-50 and MobileNetV2 on CIFAR-10, as pods of a Kubernetes cluster."""

from collections.abc import Callable

from adapters.common.reference import PLAIN
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core.model import Case

MINIBATCHES_PER_TASK = 50
DATA = "{data}/cifar10-elasticdl"
# The client returns once it has made the master's pod (elasticdl_client/api.py:141): after its own words come the logs
# of all workers to their end, and whether the master succeeded. The pods go with the run, which names them by
# its folder. Labels: elasticdl_client/common/k8s_client.py:30.
FOLLOW = """\
workers=$1; shift
name=evalsuite-$(pwd -P | cksum | cut -d' ' -f1)
all=elasticdl-job-name=$name
own=$all,elasticdl-replica-type=worker
master=pod/elasticdl-$name-master
trap 'kubectl delete pods,services -l "$all" --timeout=60s' EXIT
trap 'exit 143' TERM INT
"$@" "--job_name=$name" || exit
until [ "$(kubectl get pods -l "$own" -o name | wc -l)" -ge "$workers" ]; do
  [ "$(kubectl get "$master" -o 'jsonpath={.status.phase}')" != Failed ] || { kubectl logs "$master"; exit 1; }
  sleep 2
done
kubectl wait --for=condition=Ready --timeout=600s pods -l "$own" || exit
kubectl logs --follow --prefix --tail=-1 --max-log-requests "$workers" -l "$own" || exit
kubectl wait --for=jsonpath='{.status.phase}'=Succeeded --timeout=60s "$master"
"""


def _train(model: str) -> Callable[[Case], Command]:
    def command(case: Case) -> Command:
        """The client starts a master pod, and that the workers. A worker prints the loss of each step; its timers are
        never reported at this commit (task_data_service.py:52). `--max_step` counts the minibatches of all workers
        (task_manager.py:524); without a number of epochs passes follow each other (:457). The pods find the data where
        the nodes have them (elasticdl_client/common/k8s_volume.py:63).
        """
        gpu = f",nvidia.com/gpu={1}" if case.device == "gpu" else ""
        return Command(
            argv=(
                *("sh", "-c", FOLLOW, "sh", str(case.total_devices)),
                *("{bin}/elasticdl", "train", "--image_name=elasticdl:ci"),
                *("--model_zoo={checkout}/model_zoo", f"--model_def=cifar10.{model}.custom_model"),
                *(f"--training_data={DATA}/train", f"--volume=host_path={DATA},mount_path={DATA}"),
                "--distribution_strategy=AllreduceStrategy",
                *(f"--num_workers={case.total_devices}", f"--minibatch_size={case.batch_per_device}"),
                *(f"--num_minibatches_per_task={MINIBATCHES_PER_TASK}", "--num_epochs=0"),
                f"--max_step={case.protocol.total_steps * case.total_devices}",
                *("--log_loss_steps=1", "--log_level=DEBUG"),
                f"--worker_resource_request=cpu=4,memory=8192Mi{gpu}",
                *("--master_resource_request=cpu=1,memory=2048Mi", "--image_pull_policy=IfNotPresent"),
            )
        )

    return command


def _recipe(name: str, model: str, module: str) -> Recipe:
    return Recipe(
        name=name,
        model=model,
        checkout="elasticdl",
        dialect="elasticdl_steps",
        command=_train(module),
        spawn="once",
        options={"image_size": ("32",)},
        # cifar10_resnet50.py:43, cifar10_mobilenetv2.py:42, data_parser.py:26
        facts={**PLAIN, "optimiser": "sgd without momentum", "input_size": "32", "data": "cifar10"},
        outside="no validation data is given; no checkpoint is asked for",
        python="3.8",
        requirements=("elasticdl_client==0.2.0rc3",),
        import_name="elasticdl_client",
        system=("kubectl",),
    )


ADAPTER = Adapter(
    name="elasticdl",
    title="ElasticDL",
    recipes=(
        _recipe("resnet50-cifar10", "resnet50_cifar10", "cifar10_resnet50"),
        _recipe("mobilenetv2-cifar10", "mobilenetv2_cifar10", "cifar10_mobilenetv2"),
    ),
)
