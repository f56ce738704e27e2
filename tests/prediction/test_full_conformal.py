import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samovar.models.closed_form import ClosedForm, TaskShape, unit_features
from samovar.prediction.conformal import members
from samovar.prediction.full_conformal import (
    _Joined,
    comparable,
    full_conformal,
    residuals_of,
)


def task(seed: int, shots: list[int], width: int = 6, queries: int = 3):
    noise = torch.Generator().manual_seed(seed)
    labels = torch.repeat_interleave(torch.arange(len(shots)), torch.tensor(shots))
    centres = torch.randn(len(shots), width, generator=noise)
    support = centres[labels] + torch.randn(len(labels), width, generator=noise)
    query = torch.randn(queries, width, generator=noise)
    return support, labels, query


def refitted(model: ClosedForm, vectors, labels, left_out: int, way: int, ridge):
    """The score and variance of an image by a ridge regression of all others, from scratch."""
    features = unit_features(vectors, model.power)
    others = torch.arange(len(vectors)) != left_out
    targets = torch.nn.functional.one_hot(labels, way).double() - 1 / way
    centre = features[others].mean(0)
    centred = features[others] - centre
    inverse = torch.linalg.inv(
        centred.T @ centred + ridge * torch.eye(len(centre), dtype=torch.float64)
    )
    weights = inverse @ centred.T @ targets[others]
    query = features[left_out] - centre
    # The flat intercept has a variance of its own, lambda / n in units of the noise.
    variance = ridge * (query @ inverse @ query) + ridge / len(centred)
    return targets[others].mean(0) + query @ weights, variance


@pytest.mark.parametrize("shots", [[3, 3, 3], [1, 4, 2], [2, 2]])
def test_all_scores_are_those_of_a_fit_to_all_others(shots):
    support, labels, query = task(1, shots)
    way = len(shots)
    model = ClosedForm().requires_grad_(False)
    regression = model.infer(support, labels, way)
    joined = _Joined.of(regression, residuals_of(regression), query)
    rows = slice(0, len(labels))
    scores, variances = joined.support_moments(rows)
    own_scores, own_variances = joined.query_moments()
    for number, image in enumerate(query):
        vectors = torch.cat([support, image[None]])
        for label in range(way):
            joint = torch.cat([labels, torch.tensor([label])])
            expected = refitted(model, vectors, joint, len(labels), way, regression.ridge)
            torch.testing.assert_close(own_scores[number], expected[0])
            torch.testing.assert_close(own_variances[number], expected[1])
            for position in range(len(labels)):
                expected = refitted(model, vectors, joint, position, way, regression.ridge)
                found = scores[number, position].clone()
                found[label] += joined.steps[number, position]
                torch.testing.assert_close(found, expected[0])
                torch.testing.assert_close(variances[number, position], expected[1])


def misfit(model: ClosedForm, vectors, labels, left_out: int, way: int, ridge, shots):
    """-log p of an image's own label by all others, from scratch."""
    scores, variance = refitted(model, vectors, labels, left_out, way, ridge)
    features = unit_features(vectors, model.power)
    dispersion = float((features - features.mean(0)).square().sum() / (len(features) - 1))
    shape = TaskShape(way, shots, dispersion)
    scale = model.log_scale(shape).exp()
    logits = scale * model.linked(scores, shape)
    shrinkage = 1 + torch.pi / 8 * scale.square() * (model.variance.exp() * variance + 1e-12)
    return float(-(logits / shrinkage.sqrt()).log_softmax(0)[labels[left_out]])


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("shots", [[3, 3, 3], [1, 4, 2]])
def test_p_values_are_ranks_among_all_images_left_out_in_turn(shots, per_class):
    support, labels, query = task(2, shots, queries=4)
    way = len(shots)
    model = ClosedForm().requires_grad_(False)
    with torch.no_grad():
        model.scale[3] = 0.3  # as in trained models, the scale knows the dispersion
    regression = model.infer(support, labels, way)
    found = full_conformal(regression, query, per_class=per_class)
    for number, image in enumerate(query):
        vectors = torch.cat([support, image[None]])
        for label in range(way):
            joint = torch.cat([labels, torch.tensor([label])])
            arguments = (way, regression.ridge, len(labels) / way)
            misfits = [misfit(model, vectors, joint, i, *arguments) for i in range(len(joint))]
            counts = torch.bincount(joint, minlength=way)
            compared = counts[joint] > 1
            if per_class:
                compared = joint == label
            rank = sum(
                value >= misfits[-1] - 1e-9
                for value, chosen in zip(misfits, compared, strict=True)
                if chosen
            )
            assert found.values[number, label] == pytest.approx(rank / int(compared.sum()))
            assert found.compared[label] == int(compared.sum()) - 1


@given(st.integers(0, 10_000))
@settings(max_examples=15)
def test_coverage_holds_exactly_for_each_draw_of_exchangeable_images(seed):
    """Whichever of ten images of a class is the new one: at most one in ten is not covered."""
    support, labels, _ = task(seed, [10, 10], width=4)
    covered = []
    for position in range(10):  # those of the first class
        kept = torch.arange(20) != position
        regression = ClosedForm().requires_grad_(False).infer(support[kept], labels[kept], 2)
        values = full_conformal(regression, support[[position]], per_class=True).values
        covered.append(bool(members(values, 0.9)[0, 0]))
    assert sum(covered) >= 9


def test_many_images_are_worked_on_in_blocks(monkeypatch):
    support, labels, query = task(3, [4, 5, 6], queries=7)
    regression = ClosedForm().requires_grad_(False).infer(support, labels, 3)
    whole = full_conformal(regression, query, per_class=False).values
    monkeypatch.setattr("samovar.prediction.full_conformal.MOST_NUMBERS", 20)
    in_blocks = full_conformal(regression, query, per_class=False).values
    assert (whole == in_blocks).all()
    assert full_conformal(regression, query[:0], per_class=False).values.shape == (0, 3)


def test_an_image_is_compared_if_its_class_has_another():
    support, labels, _ = task(4, [1, 3, 2])
    regression = ClosedForm().requires_grad_(False).infer(support, labels, 3)
    assert comparable(regression, per_class=False).tolist() == [6, 5, 5]
    assert comparable(regression, per_class=True).tolist() == [1, 3, 2]
    assert np.issubdtype(comparable(regression, per_class=False).dtype, np.integer)
