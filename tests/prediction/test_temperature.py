"""A temperature is found again and leaves the answers as they are."""

import pytest
import torch

from samovar.prediction.predictive import Prediction, entropy_of
from samovar.prediction.temperature import fit_temperature, tempered


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_a_temperature_is_found_again_and_leaves_the_answers_as_they_are(temperature):
    g = torch.Generator().manual_seed(0)
    honest = torch.randn(20_000, 4, generator=g) * 2
    labels = torch.multinomial(honest.softmax(-1), 1, generator=g)[:, 0]
    assert fit_temperature(honest * temperature, labels) == pytest.approx(temperature, rel=0.05)
    p = (honest[None] * temperature).softmax(-1)
    after = tempered(Prediction(p, entropy_of(p)), temperature)
    torch.testing.assert_close(after.probabilities[0], honest.softmax(-1), rtol=1e-3, atol=1e-5)
    assert (after.probabilities.argmax(-1) == p.argmax(-1)).all()
    assert after.mutual_information is None
