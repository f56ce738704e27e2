"""torchrun on two hosts trains what one process does.

The hosts are two network namespaces of this machine with a cable between them: each has its own
addresses and its own loopback, so that nothing works by accident through the other's.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from helpers_training import RESNET, TINY, command
from safetensors.torch import load_file

ADDRESSES = ("10.213.7.1", "10.213.7.2")
"""Of the two ends of the cable. No packet leaves the namespaces."""
PORT = "29517"


def run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


@pytest.fixture
def hosts() -> Iterator[list[str]]:
    """The names of two network namespaces that are joined by a cable."""
    if shutil.which("ip") is None:
        pytest.skip("there is no `ip` (iproute2) to make network namespaces with")
    names = [f"samovar{os.getpid()}{end}" for end in "ab"]
    cable = [f"sv{os.getpid()}{end}" for end in "ab"]
    try:
        for name in names:
            run("ip", "netns", "add", name)
        run("ip", "link", "add", cable[0], "type", "veth", "peer", "name", cable[1])
        for name, end, address in zip(names, cable, ADDRESSES, strict=True):
            run("ip", "link", "set", end, "netns", name)
            run("ip", "-n", name, "addr", "add", f"{address}/30", "dev", end)
            run("ip", "-n", name, "link", "set", end, "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
        yield names
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode().strip()
        pytest.skip(f"this machine allows no network namespaces ({reason})")
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


@pytest.mark.slow
@pytest.mark.usefixtures("toy_data")
def test_two_hosts_train_what_one_process_does(hosts, tmp_path):
    sgd = replace(RESNET.optimizer, learning_rate=0.05)
    model = replace(TINY.model, norm="episode")
    settings = replace(TINY, tasks=4, updates=3, model=model, optimizer=sgd)
    alone = subprocess.run(
        command(settings, tmp_path / "one"), capture_output=True, text=True, check=False
    )
    assert alone.returncode == 0, alone.stderr
    processes = []
    for rank, host in enumerate(hosts):
        launcher = ("-m", "torch.distributed.run", "--nnodes", "2", "--nproc_per_node", "1")
        launcher += ("--node_rank", str(rank), "--master_addr", ADDRESSES[0])
        launcher += ("--master_port", PORT)
        words = command(settings, tmp_path / "two", "--accelerator", "cpu", launcher=launcher)
        cable = f"sv{os.getpid()}{'ab'[rank]}"
        environment = os.environ | {"GLOO_SOCKET_IFNAME": cable, "TP_SOCKET_IFNAME": cable}
        process = subprocess.Popen(
            ["ip", "netns", "exec", host, *words],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        processes.append(process)
    outputs = [process.communicate(timeout=240)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    tensors = []
    for name in ("one", "two"):
        checkpoints = sorted((tmp_path / name / "checkpoints").glob("*.safetensors"))
        tensors.append(load_file(checkpoints[-1]))
    for name, tensor in tensors[0].items():
        if name.startswith("model") and "running" not in name:
            torch.testing.assert_close(tensors[1][name], tensor, rtol=1e-3, atol=1e-5)
