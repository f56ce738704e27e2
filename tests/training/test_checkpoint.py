"""A damaged checkpoint is noticed, and the run goes on from the one before."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
import torch
from helpers_training import TINY, events, stop_at, weights

from samovar.artifacts.tensors import deserialize, serialize
from samovar.core.stored_json import seal
from samovar.errors import RunError
from samovar.training.checkpoint import optimizer_tensors, restore_optimizer
from samovar.training.run import train

pytestmark = pytest.mark.usefixtures("toy_data")


def test_a_damaged_checkpoint_is_noticed_and_the_one_before_is_used(stopped, toy_runs):
    newest = sorted((stopped / "checkpoints").glob("*.safetensors"))[-1]
    content = bytearray(newest.read_bytes())
    content[-1] ^= 1
    newest.write_bytes(content)
    lines: list[dict] = []
    train(TINY, stopped, watch=lines.append)
    assert events(lines) == [
        "the checkpoint 00000006.json is damaged (its checksum is wrong) and is not used",
        "resuming after update 3",
    ]
    assert weights(stopped) == weights(toy_runs / "whole")
    assert len(list((stopped / "checkpoints").glob("*.json"))) == 2


def rewrite(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"update": 6', b'"update": 106'),
        (b'"update": 6', b'"update": 1e999'),
        (b'"waited": 0', b'"waited": 1'),
        (b'"best_update": 4', b'"best_update": 3'),
        (b'"finished": false', b'"finished": true'),
        (b'"progressed"', b'"progress"'),
        (b'"seal"', b'"seam"'),
    ],
)
def test_a_changed_number_in_the_progress_is_noticed(stopped, toy_runs, old, new):
    rewrite(stopped / "checkpoints" / "00000006.json", old, new)
    lines: list[dict] = []
    train(TINY, stopped, watch=lines.append)
    assert "the checkpoint 00000006.json is damaged (" in events(lines)[0]
    assert events(lines)[1] == "resuming after update 3"
    assert weights(stopped) == weights(toy_runs / "whole")


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"[" * 10**5, b'{"format": 2}', b"null"])
def test_any_other_content_is_noticed(stopped, toy_runs, content):
    (stopped / "checkpoints" / "00000006.json").write_bytes(content)
    lines: list[dict] = []
    train(TINY, stopped, watch=lines.append)
    assert "the checkpoint 00000006.json is damaged (" in events(lines)[0]
    assert weights(stopped) == weights(toy_runs / "whole")


def without_seal(path: Path) -> None:
    """Make the JSON file one of an earlier version."""
    facts = json.loads(path.read_bytes())
    del facts["seal"]
    path.write_text(json.dumps(facts))


def test_a_checkpoint_of_an_earlier_version_is_used_with_a_warning(stopped, toy_runs):
    without_seal(stopped / "checkpoints" / "00000006.json")
    lines: list[dict] = []
    train(TINY, stopped, watch=lines.append)
    assert "is of an earlier version" in events(lines)[0]
    assert events(lines)[1] == "resuming after update 6"
    assert weights(stopped) == weights(toy_runs / "whole")


@pytest.mark.parametrize(
    "change", [("update", 106), ("best_update", 7), ("waited", -1), ("best", 9)]
)
def test_without_a_seal_the_progress_must_still_fit_the_name_of_the_file(stopped, toy_runs, change):
    path = stopped / "checkpoints" / "00000006.json"
    without_seal(path)
    facts = json.loads(path.read_bytes())
    facts["progressed"][change[0]] = change[1]
    path.write_text(json.dumps(facts))
    lines: list[dict] = []
    train(TINY, stopped, watch=lines.append)
    assert "the checkpoint 00000006.json is damaged (" in events(lines)[0]
    assert weights(stopped) == weights(toy_runs / "whole")


def test_a_whole_checkpoint_of_other_tensors_is_refused_by_name(stopped):
    path = stopped / "checkpoints" / "00000006.json"
    tensors = deserialize(path.with_suffix(".safetensors").read_bytes(), path)
    content = serialize(tensors | {"few_shot.x.step": torch.zeros(1)})
    path.with_suffix(".safetensors").write_bytes(content)
    facts = json.loads(path.read_bytes()) | {"sha256": hashlib.sha256(content).hexdigest()}
    path.write_text(json.dumps(facts | {"seal": seal(facts)}))
    with pytest.raises(RunError, match=r"00000006\.json does not belong to this run"):
        train(TINY, stopped)


def test_a_terabyte_is_not_read(stopped, toy_runs):
    os.truncate(max(stopped.glob("checkpoints/*.safetensors")), 2**40)
    lines: list[dict] = []
    train(TINY, stopped, watch=lines.append)
    assert "at most 8,000,000,000 are read" in events(lines)[0]
    assert weights(stopped) == weights(toy_runs / "whole")


def test_a_pipe_is_not_waited_for(stopped, toy_runs):
    newest = max(stopped.glob("checkpoints/*.safetensors"))
    newest.unlink()
    os.mkfifo(newest)
    lines: list[dict] = []
    train(TINY, stopped, watch=lines.append)
    assert "is not a file" in events(lines)[0]
    assert weights(stopped) == weights(toy_runs / "whole")


def test_without_an_undamaged_checkpoint_it_starts_again_and_keeps_the_new_ones(stopped, toy_runs):
    for path in (stopped / "checkpoints").glob("*.safetensors"):
        path.write_bytes(b"damaged")
    lines: list[dict] = []

    def stop_later(line: dict) -> None:
        lines.append(line)
        stop_at(5)(line)

    with pytest.raises(KeyboardInterrupt):
        train(TINY, stopped, watch=stop_later)
    assert events(lines)[2] == "all checkpoints are damaged: starting from the beginning"
    assert [path.stem for path in (stopped / "checkpoints").glob("*.json")] == ["00000003"]
    train(TINY, stopped)
    assert weights(stopped) == weights(toy_runs / "whole")


def test_a_resumed_run_removes_what_killed_processes_left(stopped, toy_runs):
    """A checkpoint that outlived its pruning, tensors without their JSON, temporary files."""
    folder = stopped / "checkpoints"
    for suffix in (".json", ".safetensors"):
        shutil.copy(folder / f"00000003{suffix}", folder / f"00000002{suffix}")
    shutil.copy(folder / "00000003.safetensors", folder / "00000001.safetensors")
    for path in (
        folder / ".00000009.json",
        stopped / ".metrics.jsonl",
        stopped / "model/.README.md",
    ):
        path.with_name(f"{path.name}.0123abcd").write_bytes(b"half")
    names = []

    def look(line: dict) -> None:
        if "update" in line and not names:
            names.extend(sorted(path.name for path in folder.iterdir()))

    train(TINY, stopped, watch=look)
    kept = ["00000003", "00000006"]
    assert names == [f"{name}{suffix}" for name in kept for suffix in (".json", ".safetensors")]
    assert {path.name for path in stopped.rglob(".*")} == {".lock"}
    assert weights(stopped) == weights(toy_runs / "whole")


def test_a_restored_optimizer_goes_on_as_the_stored_one():
    """Also in another memory order, which a stored tensor does not have."""

    def adam() -> tuple[torch.Tensor, torch.optim.Optimizer]:
        kernel = torch.arange(24.0).view(2, 3, 2, 2).to(memory_format=torch.channels_last)
        kernel.requires_grad_()
        return kernel, torch.optim.Adam([kernel], 0.1)

    def step(kernel: torch.Tensor, optimizer: torch.optim.Optimizer) -> None:
        optimizer.zero_grad()
        kernel.square().sum().backward()
        optimizer.step()

    first, stored = adam()
    step(first, stored)
    second, restored = adam()
    content = serialize(optimizer_tensors(stored, "a") | {"b.0.step": torch.tensor(7.0)})
    restore_optimizer(restored, "a", deserialize(content, Path("memory")))
    with torch.no_grad():
        second.copy_(first)
    step(first, stored)
    step(second, restored)
    assert torch.equal(first, second)
    assert restored.state[second]["exp_avg"].stride() == second.stride()
