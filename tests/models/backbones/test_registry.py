"""A backbone is added by one call, from outside the package too, and mistakes are named."""

import pytest
import torch
from torch import nn

from samovar.errors import SettingsError
from samovar.models.backbones.base import Backbone
from samovar.models.backbones.registry import BUILDERS, build_backbone, register_backbone
from samovar.models.few_shot_model import FewShotModel
from samovar.models.initialization import tadam
from samovar.settings.model import BACKBONES, BackboneTraits, ModelSettings


class Flat(Backbone):
    """A linear map of the pixels, with a film for its outputs."""

    initialization = staticmethod(tadam)

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        self.feature_dim = settings.width
        self.film_widths = [settings.width]
        self.layer = nn.Linear(settings.channels * settings.size**2, settings.width)

    def forward(self, x, groups=1, films=None, noise=None):
        features = self.layer(x.flatten(1))[:, :, None, None]
        if films is not None:
            features = films[0](features)
        return features.flatten(1)


class Forgetful(Flat):
    """The same without an initialisation."""

    initialization = None


@pytest.fixture
def flat():
    register_backbone("flat", Flat, BackboneTraits(has_films=True))
    register_backbone("forgetful", Forgetful)
    yield ModelSettings(backbone="flat", size=4, channels=1, width=6)
    for name in ("flat", "forgetful"):
        del BACKBONES[name], BUILDERS[name]


def test_a_registered_backbone_is_built_by_name_with_ten_too(flat):
    settings = ModelSettings(
        backbone="flat", size=4, channels=1, width=6, task_embedding=True, classifier="cosine"
    )
    model = FewShotModel(settings)
    images = torch.randn(2, 6, 1, 4, 4)
    prior = model.task_prior(images, torch.tensor([[0, 0, 1, 1, 2, 2]] * 2), way=3)
    assert prior.weights.mean.shape == (2, 3, 6)
    assert len(model.task_embedding.gammas) == 1


def test_a_forgotten_initialisation_is_an_error(flat):
    with pytest.raises(SettingsError, match=r"backbone\.layer .* has no initialisation"):
        FewShotModel(ModelSettings(backbone="forgetful", size=4, channels=1, width=6))


def test_a_name_is_taken_once_and_an_unknown_one_is_refused(flat):
    with pytest.raises(SettingsError, match="already a backbone called 'flat'"):
        register_backbone("flat", Flat)
    with pytest.raises(SettingsError, match="no backbone called 'flatt'"):
        ModelSettings(backbone="flatt")


def test_the_features_are_as_many_as_the_backbone_says():
    for name in ("conv4", "conv5", "resnet12"):
        settings = ModelSettings(backbone=name, size=32, width=4)
        backbone, feature_dim = build_backbone(settings, None)
        assert backbone(torch.randn(2, 3, 32, 32)).shape == (2, feature_dim)
