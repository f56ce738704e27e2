"""Model settings that make no sense are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samovar.errors import SettingsError
from samovar.settings.model import ModelSettings, balanced_beta


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"method": "prototypes"}, "--model.method prototypes and --model.classifier linear do"),
        ({"classifier": "euclidean"}, "--model.method samovar and --model.classifier euclidean do"),
        ({"task_embedding": True}, "--model.task-embedding works with --model.backbone resnet12"),
        ({"shared": False, "backbone": "resnet12"}, "Separate networks .--model.no-shared."),
        ({"backbone": "conv5", "size": 28}, "at least 32 pixels, but --model.size is 28"),
        ({"dropout": 1.0}, "--model.dropout must be at least 0 and below 1"),
        ({"dropout": 0.5, "backbone": "resnet12"}, "--model.backbone resnet12 has no dropout"),
        ({"beta": -1.0}, "--model.beta must not be negative"),
        ({"samples": 0}, "--model.samples must be positive"),
        (
            {"method": "prototypes", "classifier": "squared", "count_input": True},
            "--model.method prototypes has no inference network",
        ),
        ({"first_log_variance": -4.0}, "are for residual inference networks"),
        ({"log_variance_skip": False}, "are for residual inference networks"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_the_flag(wrong, words):
    with pytest.raises(SettingsError, match=words):
        ModelSettings(**wrong)


@given(st.integers(2, 50), st.integers(1, 50), st.sampled_from([64, 256, 512]))
def test_the_balanced_beta_weighs_mean_nll_and_mean_kl_equally(way, queries, feature_dim):
    """sum NLL + beta sum KL over M queries and N d weights is M (mean NLL + mean KL)."""
    nll, kl = 0.7, 0.3
    total_queries = way * queries
    beta = balanced_beta(total_queries, way, feature_dim)
    total = total_queries * nll + beta * way * feature_dim * kl
    assert total == pytest.approx(total_queries * (nll + kl))
