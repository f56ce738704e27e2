"""Model settings that make no sense are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samovar.errors import SettingsError
from samovar.settings.model import ModelSettings, balanced_beta


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "prototypes"},
        {"classifier": "euclidean"},
        {"task_embedding": True},
        {"shared": False, "backbone": "resnet12"},
        {"dropout": 1.0},
        {"dropout": 0.5, "backbone": "resnet12"},
        {"beta": -1.0},
        {"samples": 0},
    ],
)
def test_settings_that_make_no_sense(wrong):
    with pytest.raises(SettingsError):
        ModelSettings(**wrong)


@given(st.integers(2, 50), st.integers(1, 50), st.sampled_from([64, 256, 512]))
def test_the_balanced_beta_weighs_mean_nll_and_mean_kl_equally(way, queries, feature_dim):
    """sum NLL + beta sum KL over M queries and N d weights is M (mean NLL + mean KL)."""
    nll, kl = 0.7, 0.3
    total_queries = way * queries
    beta = balanced_beta(total_queries, way, feature_dim)
    total = total_queries * nll + beta * way * feature_dim * kl
    assert total == pytest.approx(total_queries * (nll + kl))
