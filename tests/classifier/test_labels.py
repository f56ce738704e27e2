"""Labels come back as they were given, whatever their type."""

import numpy as np
import pytest
from helpers import features_model

from samovar import FewShotClassifier


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
    assert [type(each) for each in answers] == [type(each) for each in labels]
    assert classifier.score(features, labels) == 1
    assert classifier.predict_proba(features).shape == (4, 2)
