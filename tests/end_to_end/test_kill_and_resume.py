"""A run that was killed, locked out or without disk space loses nothing and ends with the same
bits.
"""

import random
import subprocess
from dataclasses import replace

import pytest
from helpers_training import RESNET, TINY, command, stop_at, weights

from samovar.errors import RunError
from samovar.training.run import train
from samovar.training.stored_metrics import read_metrics

pytestmark = pytest.mark.usefixtures("toy_data")


@pytest.mark.slow
@pytest.mark.parametrize("settings", [TINY, RESNET], ids=["conv", "resnet"])
def test_killed_at_random_moments_it_ends_with_the_same_bits(settings, tmp_path):
    """kill -9 after a random number of lines, again and again until the run is through."""
    reference = subprocess.run(
        command(settings, tmp_path / "whole"), capture_output=True, text=True, check=False
    )
    assert reference.returncode == 0, reference.stderr
    dice, kills = random.Random(0), 0
    while True:
        process = subprocess.Popen(
            command(settings, tmp_path / "killed"), stderr=subprocess.PIPE, text=True
        )
        for _ in range(dice.randint(4, 9)):
            line = process.stderr.readline()
        if not line or kills == 3:
            break
        process.kill()
        process.communicate()
        kills += 1
    process.communicate()
    assert process.returncode == 0
    assert kills >= 2
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")
    last = [
        sorted((tmp_path / run / "checkpoints").glob("*.safetensors"))[-1]
        for run in ("killed", "whole")
    ]
    assert last[0].name == last[1].name == "00000012.safetensors"
    assert last[0].read_bytes() == last[1].read_bytes()
    timeless = [
        [
            {k: v for k, v in line.items() if k not in ("images_per_second", "seconds_left")}
            for line in read_metrics(tmp_path / run / "metrics.jsonl")
        ]
        for run in ("killed", "whole")
    ]
    assert timeless[0] == timeless[1]


@pytest.mark.slow
def test_a_second_process_on_the_same_run_is_refused(tmp_path):
    long = replace(TINY, updates=5000)
    with subprocess.Popen(
        command(long, tmp_path / "run"), stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            while not process.stderr.readline().startswith("update "):  # then it has the lock
                assert process.poll() is None
            with pytest.raises(RunError, match="Another process"):
                train(long, tmp_path / "run", watch=stop_at(1))
        finally:
            process.kill()
    reached: list[int] = []

    def stop_soon(line: dict) -> None:
        reached.append(line.get("update", 0))
        if "loss" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):  # the lock has died with its process
        train(long, tmp_path / "run", watch=stop_soon)
    assert reached[-1] > 0


@pytest.mark.slow
def test_full_disk_keeps_the_last_checkpoint(tmp_path):
    """After some updates, a limit on file sizes lets small files through and no checkpoint: as a
    disk that fills up.
    """
    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(TINY, run, watch=stop_at(5))
    before = {path: path.read_bytes() for path in (run / "checkpoints").glob("*")}
    limited = ["bash", "-c", 'ulimit -f 4; exec "$@"', "bash", *command(TINY, run)]
    failed = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert "Cannot write" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert {path: path.read_bytes() for path in (run / "checkpoints").glob("*")} == before
    train(TINY, run)
    train(TINY, tmp_path / "whole")
    assert weights(run) == weights(tmp_path / "whole")
