"""Parts that are put together are the whole, to the byte; other parts are refused."""

import pytest
from helpers_encoders import photo_folder, write_tiny
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samovar.encoders.embedding import embed
from samovar.encoders.image_list import list_images, shard_of
from samovar.encoders.registry import find_encoder
from samovar.encoders.shards import Shards, shard_name, shards_folder
from samovar.errors import DataError


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return find_encoder(write_tiny(tmp_path_factory.mktemp("encoder") / "tiny.onnx"))


def make_parts(images, encoder, folder, count, precision="float32"):
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, count + 1):
        out = folder / shard_name(number, count)
        part = shard_of(images, f"{number}/{count}")
        embed(part, encoder, out, precision=precision, may_be_empty=True)


@given(
    count=st.integers(1, 8),
    broken=st.sets(st.integers(0, 7)),
    precision=st.sampled_from(["float32", "float16"]),
)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_joined_parts_are_the_whole(count, broken, precision, encoder, tmp_path_factory):
    """With any images unreadable, even all of a part."""
    tmp_path = tmp_path_factory.mktemp("parts")
    folder = photo_folder(tmp_path / "photos", classes=2, images=4)
    for number, path in enumerate(sorted(folder.rglob("*.png"))):
        if number in broken and len(broken) < 8:
            path.write_bytes(b"no image")
    images = list_images(folder)
    whole = tmp_path / "whole.npz"
    alone = embed(images, encoder, whole, precision=precision)
    parts = shards_folder(tmp_path / "joined.npz")
    make_parts(images, encoder, parts, count, precision)
    shards = Shards(images, encoder, precision, count)
    joined = shards.join(parts, tmp_path / "joined.npz")
    assert (tmp_path / "joined.npz").read_bytes() == whole.read_bytes()
    assert (joined.images, joined.classes, joined.skipped) == (
        alone.images,
        alone.classes,
        alone.skipped,
    )
    finished = shards.finished(tmp_path / "joined.npz")
    assert finished is not None
    assert finished.already_there


def test_a_part_that_is_missing_or_of_other_images_is_refused(encoder, tmp_path):
    images = list_images(photo_folder(tmp_path / "photos", classes=2, images=4))
    parts = tmp_path / "parts"
    make_parts(images, encoder, parts, 2)
    other = Shards(images[:6], encoder, "float32", 2)
    with pytest.raises(DataError, match="Part 1 of 2"):
        other.join(parts, tmp_path / "out.npz")
    (parts / shard_name(2, 2)).unlink()
    with pytest.raises(DataError, match="Part 2 of 2"):
        Shards(images, encoder, "float32", 2).join(parts, tmp_path / "out.npz")
    assert not (tmp_path / "out.npz").exists()
