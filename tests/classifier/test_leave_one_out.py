"""Leaving one image out is a fit without that image."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers import blobs, features_model
from hypothesis import given
from hypothesis import strategies as st

from samovar import FewShotClassifier
from samovar.prediction.rejection import (
    COSINE_DISTANCE,
    RATES,
    Rejection,
    ShapeThresholds,
    threshold_factor,
)


@pytest.mark.parametrize("counts", [(3, 3, 3), (2, 2), (6, 1, 4)])
def test_the_spread_of_a_task_is_by_fits_without_each_image_and_is_kept(tmp_path, counts):
    features, labels = blobs(seed=3, classes=len(counts), each=8)
    kept = np.concatenate(
        [np.flatnonzero(labels == label)[:count] for label, count in enumerate(counts)]
    )
    features, labels = features[kept], labels[kept]
    shots = (1, 2, 3, 5)
    table = Rejection(
        "test",
        tuple(ShapeThresholds(len(counts), shot, (0.1 * shot,) * len(RATES)) for shot in shots),
    )
    folder = replace(features_model(5), rejection=table).save_pretrained(tmp_path / "model")
    classifier = FewShotClassifier(folder, reject=0.05).fit(features, labels)
    distances, shots_left = [], []
    for image, label in enumerate(labels):
        if (labels == label).sum() > 1:
            rest = np.arange(len(labels)) != image
            means = [features[rest & (labels == name)].mean(0) for name in np.unique(labels)]
            query, others = torch.tensor(features[[image]]), torch.tensor(np.stack(means))
            distances.append(float(COSINE_DISTANCE(query, others)))
            shots_left.append((labels[rest] == label).sum())
    expected = np.median(distances) / (0.1 * np.median(shots_left))
    assert classifier.spread_ == pytest.approx(expected, rel=1e-3)
    assert (
        f"multiplied by {threshold_factor(classifier.spread_):.2f} for" in classifier.rejection_note
    )
    loaded = FewShotClassifier.load(classifier.save(tmp_path / "t.safetensors"))
    assert loaded.rejection_note == classifier.rejection_note
    assert loaded.partial_fit(features[:1], labels[:1]).spread_ == classifier.spread_
    first = [np.flatnonzero(labels == label)[0] for label in np.unique(labels)]
    alone = FewShotClassifier(folder, reject=0.05).fit(features[first], labels[first])
    assert alone.spread_ is None
    assert "spread" not in alone.rejection_note


@given(seed=st.integers(0, 50))
def test_the_same_image_twice_is_at_no_distance_and_rejects_nothing_of_itself(seed):
    features = np.repeat(np.random.default_rng(seed).random((2, 7)), 2, axis=0)
    table = Rejection("test", (ShapeThresholds(2, 1, (0.1,) * len(RATES)),))
    model = replace(features_model(7), rejection=table)
    classifier = FewShotClassifier(model, reject=0.05).fit(features, ["a", "a", "b", "b"])
    assert 0 <= classifier.spread_ < 1e-4
    assert classifier.predict(features).tolist() == ["a", "a", "b", "b"]
    assert "multiplied by 0.50" in classifier.rejection_note


def test_leave_one_out_is_a_fit_without_the_image():
    features, labels = blobs(seed=3, classes=3, each=3)
    model = features_model(5, method="samovar", classifier="linear")
    classifier = FewShotClassifier(model, samples=16).fit(features, labels)
    wrong = []
    for i in range(len(labels)):
        rest = np.arange(len(labels)) != i
        without = FewShotClassifier(model, samples=16).fit(features[rest], labels[rest])
        answer = without.predict(features[[i]])[0]
        if answer != labels[i]:
            wrong.append({"image": i, "label": labels[i], "answer": answer})
    assert 0 < len(wrong) < 9
    assert classifier.leave_one_out() == {
        "images": 9,
        "accuracy": pytest.approx(1 - len(wrong) / 9),
        "rejected": None,
        "wrong": wrong,
    }
    assert FewShotClassifier(model).fit(features[::3], labels[::3]).leave_one_out() is None
