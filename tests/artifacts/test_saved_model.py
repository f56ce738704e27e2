"""A saved model answers as before when it is loaded, and a config of other contents is refused."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers import features_model, image_model
from helpers_training import RESNET

from samovar import FewShotClassifier, SavedModel
from samovar.artifacts.locate import locate_model
from samovar.artifacts.saved_model import load_model
from samovar.encoders.encoder_facts import EncoderFacts
from samovar.encoders.preprocessing import clip
from samovar.errors import ModelError
from samovar.prediction.rejection import COSINE_DISTANCE, RATES, Rejection, ShapeThresholds
from samovar.training.run import train


def test_thresholds_of_another_score_are_none(tmp_path):
    table = Rejection("test", (ShapeThresholds(2, 2, (0.1,) * len(RATES)),))
    folder = replace(features_model(3), rejection=table).save_pretrained(tmp_path / "model")
    assert SavedModel.from_pretrained(folder).rejection == table
    config = json.loads((folder / "config.json").read_bytes())
    config["rejection"].pop("score")
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="earlier version"):
        FewShotClassifier(folder, reject=0.05).fit(np.eye(3), [0, 1, 2])


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("model", "backbone", "resnet18"),
        ("model", "classifier", "magic"),
        ("model", "size", 12.5),
        ("model", "shared", 1),
        ("conversion", "resampling", "magic"),
        ("conversion", "colour", "grey"),
        ("normalisation", "mean", [0.5]),
        ("normalisation", "std", ["a", "b", "c"]),
        ("normalisation", "std", [0.1, 0.1, -1]),
        ("normalisation", "mean", [0.5, 0.5, float("nan")]),
        ("normalisation", "mean", []),
        ("normalisation", "mean", [1e300] * 3),
        ("normalisation", "mean", [10**400] * 3),
        ("normalisation", "std", [0, 0, 0]),
        ("normalisation", "std", [0.2, 0.2, 0]),
        ("normalisation", "scale", 0),
        ("normalisation", "scale", 1e-300),
        ("normalisation", "scale", float("nan")),
        ("conversion", "size", 100_000),
        ("conversion", "size", -1),
        (None, "training", [1]),
        (None, "training", {"figures": 3}),
        (None, "training", {"results": {"finished": 1}}),
        (None, "rejection", [1]),
        (
            None,
            "rejection",
            {
                "score": COSINE_DISTANCE.name,
                "about": "",
                "cells": [{"way": float("inf"), "shot": 1, "thresholds": []}],
            },
        ),
    ],
)
def test_configs_with_other_contents_are_refused(tmp_path, part, field, value):
    folder = image_model().save_pretrained(tmp_path / "m")
    config = json.loads((folder / "config.json").read_text())
    (config if part is None else config[part])[field] = value
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="not a model folder that can be read"):
        SavedModel.from_pretrained(folder)


@pytest.mark.usefixtures("toy_data")
def test_a_loaded_model_answers_as_the_saved_one(tmp_path):
    run = train(RESNET, tmp_path / "run")
    loaded = load_model(tmp_path / "run" / "model")
    images, labels = torch.randn(1, 6, 3, 12, 12), torch.tensor([[0, 0, 1, 1, 2, 2]])
    with torch.no_grad():
        ours, theirs = (
            model.task_prior(images, labels, 3).weights.mean
            for model in (run.model.model.eval(), loaded.model)
        )
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    assert loaded.normalisation == run.model.normalisation
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    assert "trained on toy" in card
    assert f"Trained by {RESNET.updates} updates" in card
    del loaded.training["settings"][
        "tasks"
    ]  # settings told in part: the card says nothing of the recipe
    assert (
        "Trained by" not in (loaded.save_pretrained(tmp_path / "partial") / "README.md").read_text()
    )


@pytest.mark.slow
def test_loading_a_model_imports_neither_lightning_nor_matplotlib():
    """And training draws nothing: of matplotlib it only has the fonts of the glyphs."""
    script = (
        "import sys, samovar\n"
        "samovar.SavedModel.from_pretrained('glyphs')\n"
        "print(sorted({'lightning_fabric', 'matplotlib', 'rich'} & sys.modules.keys()))\n"
        "samovar.train\n"
        "print('matplotlib.figure' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[]", "False"]


def test_the_encoder_travels_with_the_model_and_is_left_out_where_there_is_none(tmp_path):
    plain = features_model(3)
    folder = plain.save_pretrained(tmp_path / "plain")
    assert "encoder" not in json.loads((folder / "config.json").read_bytes())
    assert load_model(folder).encoder is None
    facts = EncoderFacts("/models/clip.onnx", "1" * 64, 3, clip())
    saved = replace(plain, encoder=facts)
    folder = saved.save_pretrained(tmp_path / "model")
    loaded = load_model(folder)
    assert loaded.encoder == facts
    assert loaded.identity == saved.identity != plain.identity
    assert "/models/clip.onnx" in (folder / "README.md").read_text()
    assert not loaded.encoder_is_chosen


@pytest.mark.parametrize("encoder", [3, {"name": "x"}, {"name": "x", "identity": "1", "length": 9}])
def test_an_encoder_that_does_not_fit_is_refused(tmp_path, encoder):
    folder = features_model(3).save_pretrained(tmp_path / "model")
    config = json.loads((folder / "config.json").read_bytes()) | {"encoder": encoder}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="not a model folder that can be read"):
        load_model(folder)


def test_the_identity_of_models_without_an_encoder_is_that_of_earlier_versions():
    """It is in the task files of users. Shipped models have weights that never change."""
    expected = "d9e1836887fb0373482029c31f3302476e7dcac82c86750bd111a9f6319e0b43"
    assert load_model(locate_model("glyphs")).identity == expected
