"""Rivals answer with and without a temperature; energy is high where no class claims a query."""

import numpy as np
import torch
from helpers_photos import clouds

from samovar.evaluation.fitted_rivals import FittedRivals, energy_of
from samovar.evaluation.outcomes import OUTSIDE
from samovar.evaluation.predictors import RIVALS, Predictor
from samovar.evaluation.rivals import LOGITS, TaskFeatures


def test_a_temperature_changes_probabilities_and_neither_answers_nor_energy():
    vectors, labels = (torch.from_numpy(array) for array in clouds(classes=4, each=6))
    inside = labels < 3
    support = inside & (torch.arange(24) % 6 < 2)
    query = ~support
    tasks = TaskFeatures.of(vectors[support][None], labels[support][None], vectors[query][None], 3)
    truth = torch.where(inside, labels, OUTSIDE)[query][None]
    order = torch.argsort(truth[0], descending=True)  # queries from outside come last
    tasks = TaskFeatures(tasks.support, tasks.support_labels, tasks.query[:, order], 3)
    rivals = FittedRivals({Predictor.PROTOTYPES: 50.0}, "by hand")
    outcomes = rivals.outcomes(tasks, truth[:, order], np.array([[0, 1, 2]]))
    assert set(outcomes) == {*RIVALS, Predictor.PROTOTYPES_TEMPERED}
    plain, tempered = outcomes[Predictor.PROTOTYPES], outcomes[Predictor.PROTOTYPES_TEMPERED]
    np.testing.assert_array_equal(plain.predicted, tempered.predicted)
    np.testing.assert_array_equal(plain.energy, tempered.energy)
    logits = LOGITS[Predictor.PROTOTYPES](tasks)
    np.testing.assert_allclose(tempered.top, (logits / 50).softmax(-1).amax(-1), rtol=1e-5)
    from_outside = plain.label == OUTSIDE
    assert plain.energy[from_outside].min() > plain.energy[~from_outside].max()
    assert plain.distance[from_outside].mean() > plain.distance[~from_outside].mean()
    assert rivals.temperature_of(Predictor.PROTOTYPES_TEMPERED) == 50
    assert rivals.temperature_of(Predictor.PROTOTYPES) is None


def test_energy_by_hand():
    energy = energy_of(torch.tensor([[0.0, 0.0], [3.0, -1e9]]))
    np.testing.assert_allclose(energy, [-np.log(2), -3], rtol=1e-6)
