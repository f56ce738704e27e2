"""The closed form is Bayesian linear regression, and leaving out needs no second fit."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samovar.models import closed_form
from samovar.models.closed_form import ClosedForm, Spectrum, TaskShape, unit_features


def task(seed: int, way: int, shots: list[int], dim: int):
    """Clouds around class means, with unequal shots."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.cat([torch.full((shots[n % len(shots)],), n) for n in range(way)])
    means = torch.randn(way, dim, generator=generator)
    noise = torch.randn(len(labels), dim, generator=generator)
    return (means[labels] + 0.5 * noise).abs(), labels


def written_out(model: ClosedForm, vectors, labels, way: int, queries, ridge: float):
    """Scores and variances by the normal equations, as the docstring has them."""
    features = unit_features(vectors, model.power)
    mean = features.mean(0)
    centred = features - mean
    targets = torch.nn.functional.one_hot(labels, way).double() - 1 / way
    precision = centred.T @ centred + ridge * torch.eye(features.shape[1], dtype=torch.float64)
    query = unit_features(queries, model.power) - mean
    scores = query @ torch.linalg.solve(precision, centred.T @ targets)
    variance = ridge * (query * torch.linalg.solve(precision, query.T).T).sum(1)
    return scores, variance


@given(st.integers(0, 1000), st.integers(2, 5), st.sampled_from([3, 6, 40]))
@settings(max_examples=25)
def test_logits_are_those_of_the_normal_equations_whatever_is_larger(seed, way, dim):
    """With few dimensions the primal is decomposed, with many the dual."""
    model = ClosedForm()
    vectors, labels = task(seed, way, [1, 4, 2], dim)
    queries, _ = task(seed + 1, way, [2], dim)
    with torch.no_grad():
        regression = model.infer(vectors, labels, way)
        logits = regression.logits(queries)
        ridge = model.log_ridge(regression.shape).exp().item()
        scale = model.log_scale(regression.shape).exp().item()
        scores, variance = written_out(model, vectors, labels, way, queries, ridge)
        linked = model.linked(scores, regression.shape)
    torch.testing.assert_close(logits.mean, scale * linked, rtol=1e-6, atol=1e-8)
    expected = scale**2 * (model.variance.exp().item() * variance + 1e-12)
    torch.testing.assert_close(logits.variance[:, 0], expected, rtol=1e-5, atol=1e-9)


@given(st.integers(0, 1000))
@settings(max_examples=15)
def test_left_out_scores_are_those_of_a_fit_without_the_image(seed):
    """With the centre kept, which the identity of leverages takes as given."""
    model = ClosedForm()
    vectors, labels = task(seed, 3, [2, 3, 4], 8)
    with torch.no_grad():
        regression = model.infer(vectors, labels, 3)
        left_out = regression.left_out_moments().scores
        ridge = model.log_ridge(regression.shape).exp().item()
    features = unit_features(vectors, model.power)
    centred = features - features.mean(0)
    for image in range(len(labels)):
        rest = torch.arange(len(labels)) != image
        targets = torch.nn.functional.one_hot(labels, 3).double() - 1 / 3
        precision = centred[rest].T @ centred[rest] + ridge * torch.eye(8, dtype=torch.float64)
        weights = torch.linalg.solve(precision, centred[rest].T @ targets[rest])
        expected = centred[image] @ weights
        torch.testing.assert_close(left_out[image], expected, rtol=1e-6, atol=1e-8)


def test_left_out_logits_have_the_scale_of_one_shot_less():
    model = ClosedForm()
    vectors, labels = task(0, 3, [4], 8)
    with torch.no_grad():
        regression = model.infer(vectors, labels, 3)
        shape = replace(regression.shape, shots=3)
        scores = regression.left_out_moments().scores
        expected = model.log_scale(shape).exp() * model.linked(scores, shape)
        left_out = regression.left_out_logits()
    torch.testing.assert_close(left_out.mean, expected)


@given(
    st.lists(st.integers(-3000, 3000), min_size=2, max_size=9, unique=True),
    st.floats(-5, 3),
    st.integers(2, 1000),
)
def test_the_link_keeps_order_and_sign_and_never_adds_evidence(thousandths, log_bend, way):
    model = ClosedForm()
    with torch.no_grad():
        model.bend.copy_(torch.tensor([log_bend, 0.6]))
        ordered = torch.tensor(thousandths, dtype=torch.float64).sort().values / 1000
        linked = model.linked(ordered, TaskShape(way, 5.0))
    assert (linked.diff() >= 0).all()
    assert (linked.sign() == ordered.sign()).all()
    assert (linked.abs() <= ordered.abs() * (1 + 1e-9)).all()


def test_without_a_bend_the_link_is_a_straight_line():
    model = ClosedForm()
    scores = torch.linspace(-2, 2, 9, dtype=torch.float64)
    with torch.no_grad():
        model.bend.copy_(torch.tensor([-20.0, 0.0]))
        torch.testing.assert_close(model.linked(scores, TaskShape(20, 1.0)), scores)


def test_the_dispersion_is_the_mean_squared_distance_of_two_images_halved():
    """So it does not depend on how many images there are, and the scale is that of the vectors."""
    features = unit_features(torch.rand(12, 6) + 0.1, 1.0)
    distances = torch.cdist(features, features).square()
    expected = distances.sum() / (12 * 11) / 2
    assert Spectrum.of(features).dispersion == pytest.approx(expected.item())


@pytest.mark.parametrize("images", [1, 2, 7])
def test_copies_of_one_image_have_a_dispersion_that_a_scale_can_be_made_from(images):
    model = ClosedForm()
    vectors = torch.rand(1, 5).expand(images, 5)
    with torch.no_grad():
        regression = model.infer(vectors, torch.arange(images), images)
        probabilities = regression.probabilities(torch.rand(3, 5))
    assert probabilities.isfinite().all()


def test_a_support_of_like_images_is_answered_with_less_confidence_at_one_shot():
    """With a positive slope of the dispersion; at many shots left-out images tell more."""
    model = ClosedForm()
    with torch.no_grad():
        model.scale[3] = 1.0
        alike = [model.log_scale(TaskShape(5, shots, 0.1)) for shots in (1, 10)]
        unlike = [model.log_scale(TaskShape(5, shots, 0.6)) for shots in (1, 10)]
    assert alike[0] < unlike[0]
    assert unlike[1] - alike[1] == pytest.approx(0.1 * float(unlike[0] - alike[0]))


def test_a_wide_and_a_narrow_support_span_the_same_space():
    features = torch.randn(5, 5, dtype=torch.float64)
    wide = Spectrum.of(features)
    narrow = Spectrum.of(torch.cat([features, features]))
    torch.testing.assert_close(narrow.values, 2 * wide.values)


@pytest.mark.parametrize("shots", [[1], [2], [1, 3]])
def test_probabilities_are_probabilities_and_the_order_of_images_plays_no_part(shots):
    model = ClosedForm()
    vectors, labels = task(0, 4, shots, 12)
    queries, _ = task(1, 4, [3], 12)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        first = model.infer(vectors, labels, 4).probabilities(queries)
        second = model.infer(vectors[order], labels[order], 4).probabilities(queries)
    torch.testing.assert_close(first.sum(1), torch.ones(len(queries), dtype=torch.float64))
    torch.testing.assert_close(first, second)


def test_a_hard_task_is_given_a_higher_temperature_than_an_easy_one():
    """Labels at random contradict every support image that is left out."""
    model = ClosedForm()
    vectors, labels = task(0, 3, [6], 20)
    shuffled = labels[torch.randperm(len(labels), generator=torch.Generator().manual_seed(1))]
    with torch.no_grad():
        easy, hard = model.infer(vectors, labels, 3), model.infer(vectors, shuffled, 3)
        expected = [float(r.temperature_weights @ r.log_temperatures) for r in (easy, hard)]
    assert expected[0] < 0 < expected[1]


def test_one_image_of_each_class_leaves_the_prior_of_the_temperature():
    model = ClosedForm()
    vectors, labels = task(0, 5, [1], 10)
    with torch.no_grad():
        weights = model.infer(vectors, labels, 5).temperature_weights
    torch.testing.assert_close(weights, weights.flip(0))


def test_the_posterior_of_the_temperature_does_not_depend_on_blocks(monkeypatch):
    model = ClosedForm()
    vectors, labels = task(0, 4, [5], 12)
    with torch.no_grad():
        whole = model.infer(vectors, labels, 4).temperature_weights
        monkeypatch.setattr(closed_form, "BLOCK", 3)
        blocked = model.infer(vectors, labels, 4).temperature_weights
    torch.testing.assert_close(blocked, whole, rtol=1e-12, atol=1e-12)
