"""Weights that do not fit the model are refused by the name of the tensor."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from samovar.artifacts.saved_model import load_model
from samovar.errors import ModelError


@pytest.mark.parametrize("damage", ["missing", "extra", "shape", "config", "weights", "format"])
def test_model_folders_that_do_not_fit_are_refused_by_name(damage, finished):
    folder = finished / "model"
    tensors = load_file(folder / "model.safetensors")
    name = "backbone.convolutions.0.weight"
    expected = name
    if damage == "missing":
        del tensors[name]
    elif damage == "extra":
        tensors["evil"] = torch.zeros(1)
        expected = "unknown evil"
    elif damage == "shape":
        tensors[name] = torch.zeros(2, 2)
    save_file(tensors, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    if damage == "config":
        config["model"]["surprise"] = 1
        expected = "surprise"
    elif damage == "format":
        config["format"], expected = 99, "format 99"
    (folder / "config.json").write_text(json.dumps(config))
    if damage == "weights":
        (folder / "model.safetensors").write_bytes(b"garbage")
        expected = "model.safetensors is damaged"
    with pytest.raises(ModelError, match=expected):
        load_model(folder)
