import pytest
import torch

from samovar.models.closed_form import ClosedForm, unit_features
from samovar.prediction.full_conformal import (
    _Joined,
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
    joined = _Joined.of(regression, query)
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
