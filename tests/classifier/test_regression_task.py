"""A task of vectors grows by more images and more classes."""

import torch

from samovar.classifier.regression_task import RegressionTask


def test_the_union_has_the_images_and_classes_of_both():
    first = RegressionTask.of(torch.tensor([[1.0], [2.0]]), ["b", "c"])
    second = RegressionTask.of(torch.tensor([[3.0], [4.0]]), ["a", "c"])
    union = first | second
    assert union.classes == ("a", "b", "c")
    assert union.labels == ["b", "c", "a", "c"]
    assert union.vectors.flatten().tolist() == [1, 2, 3, 4]
    assert union.counts.tolist() == [1, 1, 2]
    assert first.classes == ("b", "c"), "the first is as it was"
