"""A damaged checkpoint is noticed, and the run goes on from the one before."""

import pytest
from helpers_training import TINY, stop_at, weights

from samovar.training.run import train

pytestmark = pytest.mark.usefixtures("toy_data")


def test_a_damaged_checkpoint_is_noticed_and_the_one_before_is_used(tmp_path):
    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(TINY, run, watch=stop_at(8))
    newest = sorted((run / "checkpoints").glob("*.safetensors"))[-1]
    content = bytearray(newest.read_bytes())
    content[-1] ^= 1
    newest.write_bytes(content)
    said: list[dict] = []
    train(TINY, run, watch=said.append)
    events = [line["event"] for line in said if "event" in line]
    assert events[0] == "00000006.json is damaged (its checksum is wrong) and is passed over"
    assert events[1] == "going on after update 3"
    train(TINY, tmp_path / "whole")
    assert weights(run) == weights(tmp_path / "whole")
    assert len(list((run / "checkpoints").glob("*.json"))) == 2


def test_without_a_whole_checkpoint_it_starts_again_and_keeps_the_new_ones(tmp_path):
    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(TINY, run, watch=stop_at(10))
    for path in (run / "checkpoints").glob("*.safetensors"):
        path.write_bytes(b"damaged")
    said: list[dict] = []

    def stop_later(line: dict) -> None:
        said.append(line)
        stop_at(5)(line)

    with pytest.raises(KeyboardInterrupt):
        train(TINY, run, watch=stop_later)
    assert said[2]["event"] == "no checkpoint is whole: starting from the beginning"
    assert [path.stem for path in (run / "checkpoints").glob("*.json")] == ["00000003"]
    train(TINY, run)
    train(TINY, tmp_path / "whole")
    assert weights(run) == weights(tmp_path / "whole")
