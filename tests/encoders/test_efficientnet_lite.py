"""EfficientNet-Lite agrees with the reference, and takes only the published weights."""

import zipfile

import numpy as np
import pytest
from helpers_encoders import jpeg, picture
from PIL import Image, ImageFilter

from samovar.data.images.pictures import ImageFile, decode_picture
from samovar.encoders.efficientnet_lite import (
    LITE0,
    LITE2,
    EfficientNetLite,
    Variant,
    read_weights,
    weights_path,
)
from samovar.errors import ModelError


def cosine(first: np.ndarray, second: np.ndarray) -> float:
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


def test_vectors_agree_with_the_reference(lite0, archives):
    check = np.load(archives("photos/lite0-check.npz"))
    with zipfile.ZipFile(archives("photos/caltech101-24.zip")) as archive:
        contents = [archive.read(str(name)) for name in check["names"]]
    files = [ImageFile("photo", lambda content=content: content) for content in contents]
    np.testing.assert_allclose(lite0.encode(files), check["features"], atol=1e-3)


def test_both_engines_agree(lite0):
    pictures = [picture(seed, (300, 240)) for seed in range(3)]
    other = EfficientNetLite(LITE0, "torch")
    assert other.identity == lite0.identity
    np.testing.assert_allclose(other.encode(pictures), lite0.encode(pictures), atol=1e-4)


def test_a_vector_does_not_depend_on_the_other_images_by_a_bit(lite0):
    pictures = [picture(seed, (300, 240)) for seed in range(5)]
    together = lite0.encode(pictures)
    for image, vector in zip(pictures, together, strict=True):
        np.testing.assert_array_equal(lite0.encode([image])[0], vector)


def test_a_large_jpeg_decoded_at_reduced_scale_keeps_its_vector(lite0):
    large = picture(1, (3000, 2200)).filter(ImageFilter.GaussianBlur(1))
    # Fine texture besides the large shapes, which a careless reduction would alias.
    noise = np.random.default_rng(0).normal(0, 12, (2200, 3000, 1))
    textured = Image.fromarray((np.asarray(large) + noise).clip(0, 255).astype(np.uint8))
    content = jpeg(textured, quality=92)
    full = decode_picture(content, "large")
    reduced = decode_picture(content, "large", 2 * lite0.preprocessing.resize)
    assert full.size == (3000, 2200)
    assert reduced.size == (750, 550)
    vectors = lite0.encode([full, reduced])
    assert cosine(vectors[0], vectors[1]) > 0.999
    file = ImageFile("large", lambda: content)
    np.testing.assert_array_equal(lite0.encode([file])[0], vectors[1])


def test_a_picture_of_one_pixel_has_a_vector(lite0):
    assert np.isfinite(lite0.encode([Image.new("RGB", (1, 1))])).all()


def test_lite2_has_its_own_size_and_both_engines_agree():
    pytest.importorskip(LITE2.package, reason="the extra lite2 is not installed")
    images = [picture(seed, (300, 280)) for seed in range(2)]
    lite2 = EfficientNetLite(LITE2)
    assert lite2.input_size == 260
    vectors = lite2.encode(images)
    assert vectors.shape == (2, 1280)
    np.testing.assert_allclose(EfficientNetLite(LITE2, "torch").encode(images), vectors, atol=1e-4)


def test_lite2_names_its_package_where_it_is_missing():
    fields = vars(LITE2) | {"package": "samovar_no_such_package"}
    with pytest.raises(ModelError, match=r"samovar_no_such_package.*samovar\[lite2\]"):
        weights_path(Variant(**fields))


def test_altered_weights_are_refused_before_they_are_read(tmp_path):
    path = tmp_path / "weights.pth"
    content = bytearray(weights_path(LITE0).read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"weights\.pth are not the published.*force-reinstall"):
        read_weights(path, LITE0)


def test_missing_weights_are_named(tmp_path):
    with pytest.raises(ModelError, match=r"gone\.pth.*cannot be read.*force-reinstall"):
        read_weights(tmp_path / "gone.pth", LITE0)
