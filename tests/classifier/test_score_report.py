"""A score is what one would count by hand, and its interval covers the truth."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samovar.classifier.answer import Answer, Uncertainty
from samovar.classifier.score_report import Honesty, Share, score_answers

CLASSES = ["cat", "dog"]
TRUTHS = ["cat", "cat", "cat", "dog", "owl", "owl"]


def answered(probabilities, rejected) -> Answer:
    table = np.array([[p, 1 - p] for p in probabilities])
    labels = np.array(CLASSES)[table.argmax(1)]
    none = np.zeros(len(labels))
    return Answer(labels, table, Uncertainty(none, None), np.array(rejected), none)


def report():
    rejected = [False, False, True, False, True, False]
    answer = answered([0.9, 0.2, 0.8, 0.3, 0.6, 0.99], rejected)
    return score_answers(answer, TRUTHS, CLASSES, list("abcdef"))


def test_everything_is_counted_as_by_hand():
    scored = report()
    assert (scored.accuracy.count, scored.accuracy.images) == (2, 4)
    assert (scored.missed.count, scored.missed.images) == (1, 4)
    assert (scored.others_rejected.count, scored.others_rejected.images) == (1, 2)
    assert scored.counts.tolist() == [[1, 1, 1], [0, 1, 0], [1, 0, 1]]
    assert scored.of_class("cat").value == pytest.approx(1 / 3)
    assert scored.of_class("owl").value == 0.5
    assert [image.image for image in scored.mistakes] == ["b", "c"], "rejected ones come last"
    assert sorted(scored.confusions) == [("cat", "dog", 1), ("cat", "none of these", 1)]
    assert scored.honesty.mean_probability == pytest.approx((0.9 + 0.8 + 0.8 + 0.7) / 4)
    assert scored.honesty.best.value == 0.75, "the best class of a rejected image counts here"


def test_the_json_is_plain():
    stored = json.loads(json.dumps(report().to_json(), allow_nan=False))
    assert stored["accuracy"]["value"] == 0.5
    assert stored["confusion"]["truths"] == ["cat", "dog", "owl"]
    assert stored["confusion"]["answers"] == ["cat", "dog", "none of these"]
    assert stored["none_of_these"]["labels"]["owl"]["count"] == 1
    assert stored["mistakes"][0] == {
        "image": "b",
        "truth": "cat",
        "label": "dog",
        "best": "dog",
        "probability": 0.8,
        "rejected": False,
    }
    nobody = score_answers(answered([0.9], [False]), ["owl"], CLASSES)
    assert json.loads(json.dumps(nobody.to_json(), allow_nan=False))["calibration"] is None


@given(st.integers(0, 60), st.integers(1, 60))
def test_the_interval_is_wilsons(count, more):
    share = Share(count, count + more)
    low, high = share.ci95
    assert 0 <= low <= share.value <= high <= 1
    for bound in (low, high):  # where the normal test of this share is on the edge
        if 0 < bound < 1:
            deviation = math.sqrt(bound * (1 - bound) / share.images)
            assert abs(share.value - bound) == pytest.approx(1.96 * deviation, abs=1e-9)


def test_no_images_have_no_share():
    assert math.isnan(Share(0, 0).value)
    assert Share(0, 0).to_json()["value"] is None


@pytest.mark.parametrize(
    ("promised", "right", "words"),
    [(0.95, 60, "too sure"), (0.4, 60, "too modest"), (0.62, 60, "honest")],
)
def test_the_sign_of_dishonesty_is_in_words(promised, right, words):
    assert Honesty(promised, Share(right, 100), 0.1).words.startswith(words)
