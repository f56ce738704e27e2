"""ClassMeans over classes are those of a loop, for any unequal shots."""

import torch
from helpers_models import FEATURES, batch_for
from hypothesis import given, settings
from hypothesis import strategies as st

from samovar.models.class_means import ClassMeans


@given(st.lists(st.integers(0, 3), min_size=8, max_size=8), st.integers(0, 100))
@settings(max_examples=25)
def test_sums_are_those_of_a_loop_over_classes_for_any_unequal_shots(labels, seed):
    features = torch.randn(1, 12, 5, generator=torch.Generator().manual_seed(seed))
    labels = torch.tensor([[0, 1, 2, 3, *labels]])
    sums = ClassMeans.of(features, labels, 4)
    for n in range(4):
        torch.testing.assert_close(sums.means[0, n], features[0, labels[0] == n].mean(0))


def test_union_weighs_every_image_equally():
    batch = batch_for(FEATURES)
    union = ClassMeans.of(batch.support, batch.support_labels, 3) | ClassMeans.of(
        batch.query, batch.query_labels, 3
    )
    together = ClassMeans.of(
        torch.cat([batch.support, batch.query], 1),
        torch.cat([batch.support_labels, batch.query_labels], 1),
        3,
    )
    torch.testing.assert_close(union.means, together.means)


def test_means_know_how_many_images_they_are_taken_over():
    batch = batch_for(FEATURES)
    support = ClassMeans.of(batch.support, batch.support_labels, 3)
    assert torch.equal(support.images, torch.full((2, 3), 2.0))
    kept = ClassMeans(support.means, torch.ones(2, 3), averaged=support.counts)
    assert torch.equal(kept.images, support.images)
    assert torch.equal(kept.means, support.means)
