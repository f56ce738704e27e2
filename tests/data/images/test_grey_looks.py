"""Small grey versions are nearly equal for other sizes and qualities, and not for others."""

import io

import numpy as np
from PIL import Image

from samovar.data.images.grey_looks import grey_look, grey_looks


def picture(seed: int) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), np.uint8)
    return Image.fromarray(pixels).resize((200, 160), Image.Resampling.BICUBIC)


def test_size_and_quality_do_not_matter():
    buffer = io.BytesIO()
    picture(0).resize((90, 72)).save(buffer, "JPEG", quality=40)
    with Image.open(buffer) as small:
        assert grey_look(picture(0)) @ grey_look(small) > 0.975
    assert abs(grey_look(picture(0)) @ grey_look(picture(1))) < 0.9


def test_a_picture_of_one_shade_is_like_no_other():
    blank = grey_look(Image.new("RGB", (30, 30), "white"))
    assert blank @ blank == 0


def test_several_have_a_row_each():
    looks = grey_looks([picture(0), picture(1)])
    np.testing.assert_allclose(np.linalg.norm(looks, axis=1), 1, rtol=1e-5)
    assert grey_looks([]).shape == (0, 256)
