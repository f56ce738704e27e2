"""Photographs, ink on paper and grey images are told apart, whatever they are stored as."""

import numpy as np
from helpers import make_store

from samovar.data.images.looks import Looks, looks_of, looks_of_store

RNG = np.random.default_rng(0)


def test_photographs_are_coloured_and_have_middle_tones():
    photographs = RNG.integers(30, 220, (5, 16, 16, 3), np.uint8)
    assert looks_of(photographs).photographic


def test_ink_is_not_photographic_on_white_or_black_in_grey_or_colour():
    ink = np.full((5, 16, 16, 1), 250, np.uint8)
    ink[:, 4:6] = 5
    assert looks_of(ink) == Looks(coloured=False, drawn=True, bright=True)
    assert looks_of(255 - ink) == Looks(coloured=False, drawn=True, bright=False)
    assert looks_of(np.repeat(ink, 3, -1)) == looks_of(ink)


def test_grey_photographs_stored_in_colour_are_not_coloured():
    grey = RNG.integers(30, 220, (5, 16, 16, 1), np.uint8)
    looks = looks_of(np.repeat(grey, 3, -1))
    assert not looks.coloured
    assert not looks.drawn


def test_a_store_of_vectors_looks_like_nothing(tmp_path):
    assert looks_of_store(make_store(tmp_path, [2] * 3, (7,))) is None
    assert looks_of_store(make_store(tmp_path, [2] * 3, (6, 6, 3), name="images")) is not None
