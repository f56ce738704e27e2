"""Labels come back as they were given, whatever their type."""

import numpy as np
import pytest
from helpers import features_model

from samovar import FewShotClassifier
from samovar.classifier.labels import label_array, sorted_labels


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "b", "a", "a"],
        [3, 3, -1, -1],
        [True, True, False, False],
        [("x", 1), ("x", 1), ("y", 2), ("y", 2)],
        ["a", "a", 1, 1],
    ],
    ids=["text", "numbers", "booleans", "tuples", "mixed"],
)
def test_labels_come_back_as_they_were_given(labels):
    features = np.array([[5.0, 0], [5, 1], [-5, 0], [-5, 1]])
    classifier = FewShotClassifier(features_model(2)).fit(features, labels)
    answers = classifier.predict(features).tolist()
    assert answers == labels
    assert [type(answer) for answer in answers] == [type(label) for label in labels]
    assert classifier.score(features, labels) == 1
    assert classifier.predict_proba(features).shape == (4, 2)


def test_labels_of_types_that_do_not_compare_have_an_order_all_the_same():
    mixed = ["b", 2, ("x",), "a", 1, "a"]
    assert sorted_labels(mixed) == sorted_labels(mixed[::-1]) == [1, 2, "a", "b", ("x",)]


@pytest.mark.parametrize(("labels", "words"), [([0.5, 1.0], "continuous"), ([1.0, np.nan], "NaN")])
def test_numbers_that_are_no_labels_are_refused(labels, words):
    for given in (labels, np.array(labels)):
        with pytest.raises(ValueError, match=words):
            label_array(given)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_labels_that_are_missing_are_refused(missing):
    with pytest.raises(ValueError, match=r"Label 1 is (None|nan)\."):
        label_array(["cat", missing, "dog"])
    with pytest.raises(ValueError, match=r"Label 0 is (None|nan)\."):
        label_array(np.array([missing, "dog"], dtype=object))
