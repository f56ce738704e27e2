"""What holds for every encoder: order, batches, errors, and the kinds of images."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers_encoders import SIZE, jpeg, picture
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from samovar.data.images.pictures import ImageFile
from samovar.encoders.base import Encoder, identity_of
from samovar.encoders.vector_cache import VectorCache
from samovar.errors import DataError, ModelError


class Constant(Encoder):
    """Returns what it is told to."""

    name = "constant"
    preprocessing = None
    length = 2
    identity = "constant"

    def __init__(self, result: Any) -> None:
        self.result = result

    def prepare(self, picture: Image.Image) -> Image.Image:
        return picture

    def run(self, prepared: Sequence[Any]) -> Any:
        return self.result


def test_order_is_kept_whatever_the_batch(tiny):
    pictures = [picture(seed) for seed in range(23)]
    singles = np.concatenate([tiny.encode([image]) for image in pictures])
    assert len(np.unique(singles.round(4), axis=0)) == 23
    np.testing.assert_allclose(tiny.encode(pictures), singles, atol=1e-5)


@settings(max_examples=10)
@given(batch=st.integers(1, 9), workers=st.integers(1, 4), images=st.integers(1, 20))
def test_batch_and_threads_do_not_change_vectors(tiny, batch, workers, images):
    pictures = [picture(seed) for seed in range(images)]
    expected = tiny.encode(pictures)
    before = tiny.batch
    try:
        tiny.batch = batch
        tiny.workers = workers
        np.testing.assert_allclose(tiny.encode(pictures), expected, atol=1e-5)
    finally:
        tiny.batch = before
        del tiny.workers


def test_all_kinds_of_images_have_the_same_vector(tiny, tmp_path):
    image = picture(3)
    path = tmp_path / "photo.png"
    image.save(path)
    array = np.asarray(image)
    kinds = [path, str(path), image, array, torch.from_numpy(array.copy()), array / 255.0]
    vectors = tiny.encode(kinds)
    np.testing.assert_allclose(vectors, np.repeat(vectors[:1], len(kinds), 0), atol=1e-6)


def test_one_image_is_encoded_without_threads_of_its_own(tiny, monkeypatch):
    both = tiny.encode([picture(3), picture(4)])
    monkeypatch.setattr("samovar.encoders.base.ThreadPoolExecutor", None)
    np.testing.assert_allclose(tiny.encode([picture(3)])[0], both[0], atol=1e-5)


def test_no_images_have_no_vectors(tiny):
    assert tiny.encode([]).shape == (0, tiny.length)


def test_an_unreadable_image_is_named_and_the_others_have_vectors(tiny, tmp_path):
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(jpeg(picture(0))[:100])
    images = [picture(1), broken, tmp_path / "missing.png", picture(2)]
    results = list(tiny.stream(images))
    np.testing.assert_array_equal(results[0], tiny.encode([picture(1)])[0])
    assert "broken.jpg" in str(results[1])
    assert "missing.png" in str(results[2])
    with pytest.raises(DataError, match=r"broken\.jpg"):
        tiny.encode(images)


def test_the_same_unread_pil_image_may_be_given_many_times(tiny, tmp_path):
    picture(5, (400, 300)).save(tmp_path / "photo.jpg")
    with Image.open(tmp_path / "photo.jpg") as image:
        vectors = tiny.encode([image] * 30)
    np.testing.assert_allclose(vectors, np.repeat(vectors[:1], 30, 0), atol=1e-5)


def test_a_single_path_is_refused(tiny):
    with pytest.raises(DataError, match="Give several images"):
        tiny.encode("photo.jpg")


def test_few_images_are_read_ahead(tiny):
    read: list[int] = []
    content = jpeg(picture(0))

    def file(number: int) -> ImageFile:
        return ImageFile(str(number), lambda: (read.append(number), content)[1])

    stream = tiny.stream(file(number) for number in range(10_000))
    next(stream)
    stream.close()
    assert len(read) <= tiny.batch * (2 * tiny.workers + 2)


def test_a_cache_hit_has_the_same_bits_and_does_not_need_the_network(tiny, tmp_path):
    content = jpeg(picture(7))
    files = [ImageFile("one", lambda: content), ImageFile("another name", lambda: content)]
    with VectorCache(tmp_path) as cache:
        first = tiny.encode(files[:1], cache=cache)
    digest = hashlib.sha256(content).hexdigest()
    with VectorCache(tmp_path) as cache:
        second = tiny.encode(files, cache=cache)
        assert cache.hits == 2
        assert cache.get(tiny.identity, digest, tiny.length) is not None
    np.testing.assert_array_equal(second, np.repeat(first, 2, 0))


@pytest.mark.parametrize("result", [np.zeros((1, 3)), np.zeros(2), np.full((1, 2), np.nan)])
def test_vectors_of_another_shape_or_not_finite_are_refused(result):
    with pytest.raises(ModelError, match="constant"):
        Constant(result).encode([picture(0)])


def test_progress_ends_at_the_whole(tiny):
    shares: list[float] = []
    tiny.encode([picture(0)] * 3, lambda _, share: shares.append(share))
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_identity_depends_on_every_fact():
    assert identity_of(weights="a") == identity_of(weights="a")
    assert identity_of(weights="a") != identity_of(weights="b")
    assert len(identity_of()) == 64


def test_facts_of_an_encoder_are_stored_with_its_vectors(tiny):
    facts = tiny.to_json()
    assert facts["identity"] == tiny.identity
    assert facts["preprocessing"]["size"] == tiny.input_size == SIZE


def test_turned_photographs_are_set_upright(tiny, tmp_path):
    image = picture(11)
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = Path(tmp_path / "turned.png")
    image.transpose(Image.Transpose.ROTATE_90).save(turned, exif=exif)
    np.testing.assert_allclose(tiny.encode([turned]), tiny.encode([image]), atol=1e-6)
