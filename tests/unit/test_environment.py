from evalsuite.core.documents import ContainerLimits
from evalsuite.machine import environment
from evalsuite.machine.cgroups import Limits
from tests.sources import lay


def test_system_and_processor_are_named_as_the_kernel_names_them(tmp_path):
    lay(tmp_path, {"etc/os-release": 'ID=debian\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'})
    model = "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz"
    root = lay(tmp_path, {"proc/cpuinfo": f"processor\t: 0\nmodel name\t: {model}\n"})

    assert environment.operating_system(root) == "Debian GNU/Linux 12 (bookworm)"
    assert environment.cpu_model(root) == model


def test_what_does_not_change_the_speed_limits_nothing_or_fails_is_absent():
    kept = {"NCCL_DEBUG": "INFO", "CUDA_VISIBLE_DEVICES": "0"}
    assert environment.relevant({**kept, "AWS_SECRET_ACCESS_KEY": "s", "TF_TOKEN_x": "s", "HOME": "/"}) == kept

    assert environment.container(Limits()) is None
    assert environment.container(Limits(cpus=2.0)) == ContainerLimits(cpus=2.0, memory_bytes=None)
    assert environment.output("no-such-program-anywhere") is None
    assert environment.output("false") is None


def test_the_facts_say_what_cannot_be_known_as_absent(tmp_path):
    found = environment.read_environment("n", node_rank=3, root=tmp_path)

    assert (found.host, found.node_rank) == ("n", 3)
    assert found.container is None


def test_disks_cards_and_memory_have_their_models_where_the_machine_says_them(tmp_path):
    there = {
        **{"sys/block/sda/size": "1875385008\n", "sys/block/sda/queue/rotational": "0\n"},
        **{"sys/block/sda/device/model": "SAMSUNG MZ7LH960\n", "sys/block/vdb/size": "٣\n"},
        **{"sys/class/net/eth0/device/vendor": "0x8086\n", "sys/class/net/eth0/device/device": "0x10fb\n"},
        **{"sys/class/infiniband/mlx5_0/hca_type": "MT4119\n", "sys/class/infiniband/mlx5_0/fw_ver": "16.28.2006\n"},
    }
    root = lay(tmp_path, there)

    expected = {"sda": "SAMSUNG MZ7LH960, 960 GB SSD", "eth0": "8086:10fb", "mlx5_0/1": "MT4119 16.28.2006"}
    assert environment.models(["sda", "vdb"], ["eth0", "mlx5_0/1", "lo"], root) == expected
