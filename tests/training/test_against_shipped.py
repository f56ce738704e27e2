"""A trained model is compared with the shipped model that fits its data, on the same tasks."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers import make_store, store_of
from helpers_training import TINY
from PIL import Image

from samovar.data.images.looks import looks_of_store
from samovar.data.preparation import prepare
from samovar.errors import DataError
from samovar.evaluation.accuracy import Accuracy
from samovar.evaluation.metrics import Estimate
from samovar.settings.data import DataSettings, PrepareSettings
from samovar.training.against_shipped import (
    PairedAccuracy,
    ShippedComparison,
    best_shipped,
    compare_with_shipped,
    original_files,
)
from samovar.training.run import train

RNG = np.random.default_rng(0)


def draw_colours(root: Path, side: int, classes: int = 6) -> Path:
    """Noisy images around a colour for each class, which any model can tell apart."""
    colours = np.random.default_rng(1).integers(60, 200, (classes, 3))
    for position, colour in enumerate(colours):
        (root / f"class {position}").mkdir(parents=True)
        for number in range(6):
            pixels = RNG.normal(colour, 12, (side, side, 3)).clip(30, 220).astype(np.uint8)
            Image.fromarray(pixels).save(root / f"class {position}" / f"{number}.png")
    return root


def prepared(root: Path, size: int = 12):
    fractions = (2, 2, 2)
    return prepare("folder", root, PrepareSettings(size=size, fractions=fractions))


def trained_on(store, out: Path):
    """A tiny model of a store, trained for one update."""
    validation = replace(TINY.validation, way=2, queries=2, test_tasks=6)
    settings = replace(
        TINY,
        data=DataSettings(store.name),
        updates=1,
        episodes=replace(TINY.episodes, way=2),
        validation=validation,
    )
    return train(settings, out)


def test_small_coloured_images_are_compared_with_cifar_fs(tmp_path):
    run = trained_on(prepared(draw_colours(tmp_path / "own", 20)), tmp_path / "run")
    comparison = compare_with_shipped(run)
    assert comparison.model == "cifar_fs"
    assert comparison.validation.tasks == 4
    assert comparison.test.tasks == 6
    assert comparison.validation.own.mean == run.model.record.results.validation.accuracy
    assert comparison.test.own == Estimate(run.test.mean, run.test.ci95)
    gap = comparison.test.own.mean - comparison.test.shipped.mean
    assert comparison.test.difference.mean == pytest.approx(gap)
    assert comparison.to_json()["test"]["difference"]["mean"] == pytest.approx(gap)


def test_photographs_are_given_to_photos_at_real_size(tmp_path):
    """The folder has images of 64 pixels; stored at 12 pixels, they would be another task."""
    own = draw_colours(tmp_path / "own", 64)
    store = prepared(own)
    comparison = compare_with_shipped(trained_on(store, tmp_path / "run"))
    assert comparison.model == "photos"
    assert comparison.validation.shipped.mean > 0.7, "the colours tell the classes"
    assert original_files(store)[:2] == [own / "class 0" / "0.png", own / "class 0" / "1.png"]
    os.utime(own / "class 0" / "0.png", (1, 1))
    assert original_files(store) is None, "it may be another image by now"


def test_the_shipped_model_is_chosen_by_what_the_images_are(data_folder):
    ink = np.full((6, 2, 28, 28, 1), 255, np.uint8)
    ink[:, :, 10:13] = 0
    coloured = RNG.integers(40, 215, (6, 2, 84, 84, 3), np.uint8)
    stores = {
        "omniglot": store_of(data_folder, ink, "ink"),
        "photos": store_of(data_folder, coloured, "large"),
        "cifar_fs": store_of(data_folder, coloured[:, :, :32, :32], "small"),
    }
    for name, store in stores.items():
        assert best_shipped(store, looks_of_store(store), None) == name
    vectors = make_store(data_folder, [4] * 3, (7,), name="vectors")
    with pytest.raises(DataError, match="unknown encoder"):
        best_shipped(vectors, looks_of_store(vectors), None)


def test_ink_is_turned_to_what_a_model_of_characters_knows(data_folder, tmp_path):
    """The answers on dark ink on white and on bright ink on black are the same."""
    paper = np.full((6, 8, 28, 28, 1), 255, np.uint8)
    for position in range(6):
        for number in range(8):
            row = 2 + 4 * position
            paper[position, number, row : row + 2, number : number + 18] = 0
    shipped = []
    for name, pixels in (("dark", paper), ("bright", 255 - paper)):
        store = store_of(data_folder, pixels, name)
        run = trained_on_grey(store, tmp_path / name)
        shipped.append(compare_with_shipped(run).test.shipped)
    assert shipped[0] == shipped[1]


def trained_on_grey(store, out: Path):
    validation = replace(TINY.validation, way=2, queries=2)
    settings = replace(
        TINY,
        data=DataSettings(store.name),
        model=replace(TINY.model, size=28, channels=1),
        updates=1,
        episodes=replace(TINY.episodes, way=2),
        validation=validation,
    )
    return train(settings, out)


def of_tasks(*values: float) -> Accuracy:
    return Accuracy.of(np.array(values))


def test_the_sentence_says_which_is_better_or_that_nobody_knows():
    low, high = of_tasks(0.5, 0.6, 0.5), of_tasks(0.8, 0.9, 0.8)
    shipped = ShippedComparison(
        "photos", "5-way 5-shot", PairedAccuracy.of(low, high), PairedAccuracy.of(low, high)
    )
    assert shipped.better == shipped.recommended == "shipped"
    assert shipped.sentence() == (
        "On the same 3 validation tasks (5-way 5-shot) your model is right in 53.3 % and the "
        "shipped model photos in 83.3 %: photos is better (-30.0 ± 0.0 points; -30.0 ± 0.0 points "
        "on 3 test tasks)."
    )
    own = replace(
        shipped, validation=PairedAccuracy.of(high, low), test=PairedAccuracy.of(high, low)
    )
    assert own.better == "own"
    assert "your model is better (+30.0 ± 0.0 points" in own.sentence()
    noisy = PairedAccuracy.of(of_tasks(0.5, 0.9, 0.5), of_tasks(0.8, 0.5, 0.7))
    assert "neither is clearly better" in replace(shipped, validation=noisy).sentence()


def test_nothing_is_better_that_the_test_tasks_clearly_deny():
    """The trained model was chosen by the validation tasks, so it may only look better there."""
    low, high = of_tasks(0.5, 0.6, 0.5), of_tasks(0.8, 0.9, 0.8)
    chosen = ShippedComparison(
        "photos", "3-way 5-shot", PairedAccuracy.of(high, low), PairedAccuracy.of(low, high)
    )
    assert chosen.better is None
    assert chosen.recommended == "shipped"
    assert "the test tasks say the opposite, so neither is clearly better" in chosen.sentence()
